//! The report for readers.

use std::fmt::Write as _;

use scholar_core::ContentCheck;

use super::blind::{BlindReport, BlindShare};
use super::calibration::{CalibrationReport, SourceCalibration};
use super::{GatesReport, Shares};
use crate::statistics::Share;

/// A document: false alarms by source, what is caught, and every judged sentence that is not fully supported.
pub fn markdown(report: &GatesReport, command: &str, machine: &str) -> String {
    let mut text = format!(
        "# Content gates\n\nCommand: `{command}`. Machine: {machine}.\n\n\
         The checks of names, numbers, direction and scope, without any judge. Lists and thresholds were tuned on the training \
         splits and halves and on conclusions of trials in PMC beside the rest of their abstracts; these are the development splits and held-out halves, except the judged sentences, which were seen. \
         Intervals: 95 %, Wilson.\n\n## False alarms: supported sentences that are flagged\n\n"
    );
    table_head(&mut text, "source");
    for source in &report.sources {
        row(&mut text, &source.name, &source.supported);
    }
    row(&mut text, "**judged, PubMedQA and BioASQ together**", &report.supported);
    let _infallible = writeln!(
        text,
        "\nTarget: upper bound at most 3 % over at least 300 supported sentences: {}. Every alarm is in the JSON by \
         identifier.\n",
        target(report.supported.any)
    );
    for source in &report.sources {
        let _infallible = writeln!(text, "- {}: {}.", source.name, source.remark);
    }
    if let Some(blind) = &report.blind {
        judged(&mut text, blind);
    }
    text.push_str("\n## Sentences that are not supported, and are flagged\n\n");
    table_head(&mut text, "source");
    for source in report.sources.iter().filter(|source| source.others.any.n > 0) {
        row(&mut text, &source.name, &source.others);
    }
    swaps(&mut text, report);
    text.push_str("\n## Judged sentences that are not fully supported\n\n| id | label | what a check misses | sentence |\n|---|---|---|---|\n");
    for one in &report.listed {
        let missing: Vec<String> = one
            .missing
            .iter()
            .map(|missing| format!("{}: {}", missing.check.name(), missing.words))
            .collect();
        let missing = if missing.is_empty() { "–".to_owned() } else { missing.join("; ") };
        let sentence = one.sentence.replace('|', "\\|");
        let _infallible = writeln!(text, "| {} | {} | {missing} | {sentence} |", one.id, one.label);
    }
    if let Some(calibration) = &report.calibration {
        calibrated(&mut text, calibration);
    }
    text
}

/// Whether the target is met.
fn target(share: Share) -> String {
    let verdict = if share.high <= 0.03 && share.n >= 300 { "met" } else { "missed" };
    format!("{verdict} with {:.1} %", 100.0 * share.high)
}

fn judged(text: &mut String, report: &BlindReport) {
    let BlindReport { judges, agreement, random, sources, pooled } = report;
    let _infallible = writeln!(
        text,
        "\n### After blind judges read the alarms\n\nJudges saw all alarms of these sources among as many random sentences \
         without one, shuffled, each with its whole evidence, and said whether it has every name, number, direction and scope \
         that the sentence states: {}. Two of them agree on a sentence in {}. Not supported is what more of them \
         refuse than accept. Of {} random sentences without an alarm {} are not supported, {}; as many of the others are taken \
         out of the supported ones.\n\n| source | alarms | judged | not supported after all, by blind judges | false alarms left |\n\
         |---|---|---|---|---|",
        judges.join(", "),
        percent(*agreement),
        random.n,
        random.hits,
        percent(*random)
    );
    for BlindShare { name, alarms, judged, unsupported, left } in sources.iter().chain([pooled]) {
        let _infallible = writeln!(
            text,
            "| {name} | {alarms} | {judged} | {unsupported} | {} of {}: {} |",
            left.hits,
            left.n,
            percent(*left)
        );
    }
    let _infallible = writeln!(
        text,
        "\nThe target, of what these judges leave supported: {}.",
        target(pooled.left)
    );
}

fn calibrated(text: &mut String, report: &CalibrationReport) {
    let _infallible = writeln!(
        text,
        "\n## Calibration of the small judge across sources\n\nJudge: {}. Expected calibration error over ten bins: of the score \
         as given, refitted by Platt scaling on all sources, and refitted without the source's corpus. The last column is what \
         95 of 100 perfectly calibrated judges stay below. The judge does not tell which pairs it cut at its token limit, so \
         they are not counted.\n\n\
         | source | n | supported | as given | in sample | left out | by chance |\n|---|---|---|---|---|---|---|",
        report.judge
    );
    for one in report.sources.iter().chain([&report.pooled]) {
        let SourceCalibration { name, n, supported, as_given, in_sample, left_out, by_chance } =
            one;
        let _infallible = writeln!(
            text,
            "| {name} | {n} | {supported} | {as_given:.3} | {in_sample:.3} | {left_out:.3} | {by_chance:.3} |"
        );
    }
}

fn swaps(text: &mut String, report: &GatesReport) {
    text.push_str(
        "\n## Seeded swaps in supported sentences that pass\n\nOne name, number, direction or scope changed; caught by the \
         check that is meant, and by any.\n\n| source | changed | n | by its check | by any |\n|---|---|---|---|---|\n",
    );
    for source in &report.sources {
        for swap in &source.swaps {
            let _infallible = writeln!(
                text,
                "| {} | {} | {} | {} | {} |",
                source.name,
                swap.check.name(),
                swap.own.n,
                percent(swap.own),
                percent(swap.any)
            );
        }
    }
}

fn table_head(text: &mut String, first: &str) {
    let names: Vec<&str> = ContentCheck::ALL.iter().map(|check| check.name()).collect();
    let _infallible = writeln!(
        text,
        "| {first} | n | {} | any |\n|---|---|---|---|---|---|---|",
        names.join(" | ")
    );
}

fn row(text: &mut String, name: &str, shares: &Shares) {
    let cells: Vec<String> =
        shares.by_check.iter().map(|(_, share)| share.hits.to_string()).collect();
    let any = shares.any;
    let _infallible = writeln!(
        text,
        "| {name} | {} | {} | {}: {} |",
        any.n,
        cells.join(" | "),
        any.hits,
        percent(any)
    );
}

fn percent(share: Share) -> String {
    if share.n == 0 {
        return "–".to_owned();
    }
    let value = 100.0 * share.hits as f64 / share.n as f64;
    format!("{value:.1} % ({:.1}–{:.1})", 100.0 * share.low, 100.0 * share.high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_a_bound_over_enough_sentences() {
        assert_eq!(target(Share::of(3, 1000)), "met with 0.9 %");
        assert_eq!(target(Share::of(30, 1000)), "missed with 4.3 %");
        assert_eq!(target(Share::of(0, 200)), "missed with 1.9 %");
    }
}
