//! The report of a judge against people.

use std::fmt::Write as _;

use super::{AttributionReport, SelectionReport};

/// A document: how well the judge separates supported statements, and how often it selects the right sentences.
pub fn markdown(report: &AttributionReport, command: &str, machine: &str) -> String {
    let mut text = format!(
        "# Judge {}\n\nCommand: `{command}`. Machine: {machine}.\n\n\
         | set | n | supported | AUROC (95 % interval) | accuracy | balanced accuracy | ECE | ECE of a perfectly calibrated judge, by chance: mean, 95th percentile |\n|---|---|---|---|---|---|---|---|\n",
        report.judge,
    );
    for set in &report.sets {
        let auc = set.auc.as_ref().map_or_else(
            || "–".to_owned(),
            |auc| format!("{:.3} ({:.3}–{:.3})", auc.value, auc.low, auc.high),
        );
        let (mean, high) = set.calibration_by_chance;
        let balanced = set
            .balanced_accuracy
            .as_ref()
            .map_or_else(|| "–".to_owned(), |value| format!("{:.3}", value.value));
        let accuracy = match set.accuracy.value {
            value if value.is_nan() => "–".to_owned(),
            value => format!("{value:.3}"),
        };
        let _infallible = writeln!(
            text,
            "| {} | {} | {} | {auc} | {accuracy} | {balanced} | {:.3} | {mean:.3}, {high:.3} |",
            set.name, set.n, set.supported, set.calibration_error
        );
    }
    text.push_str(
        "\n| evidence sentences | selected by | n | candidates | first (95 % interval) | first two |\n|---|---|---|---|---|---|\n",
    );
    for selection in &report.selections {
        let SelectionReport { set, selector, n, mean_candidates, at_1, at_2 } = selection;
        let _infallible = writeln!(
            text,
            "| {set} | {selector} | {n} | {mean_candidates:.0} | {:.3} ({:.3}–{:.3}) | {:.3} |",
            at_1.value, at_1.low, at_1.high, at_2.value
        );
    }
    text
}
