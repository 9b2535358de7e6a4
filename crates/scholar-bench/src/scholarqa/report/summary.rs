//! The scores of one run, for a terminal.

use std::fmt::Write as _;

use super::people::beside;
use crate::scholarqa::score::Scores;

/// A table of all metrics in the order of the scores, and the warnings.
pub fn summary(scores: &Scores) -> String {
    let mut text = format!(
        "{} on {} ({} items)\n\n| metric | mean (95 %) | n | left out | judge |\n|---|---|---|---|---|\n",
        scores.run,
        scores.task.title(),
        scores.items
    );
    for metric in &scores.metrics {
        let summary = &metric.summary;
        let mean = summary.estimate.map_or("none".to_owned(), |estimate| {
            let [mean, low, high] =
                [estimate.mean, estimate.low, estimate.high].map(|value| value * metric.scale);
            format!("{mean:.2} ({low:.2}–{high:.2})")
        });
        let left: Vec<String> =
            summary.left_out.iter().map(|(why, items)| format!("{} {why}", items.count)).collect();
        let mut judge = metric.judge.as_ref().map(|pin| pin.name.clone()).unwrap_or_default();
        if let Some(people) = beside(scores, metric) {
            let _infallible = write!(judge, "; {people}");
        }
        let _infallible = writeln!(
            text,
            "| {} | {mean} | {} | {} | {judge} |",
            summary.metric,
            summary.n,
            left.join("; ")
        );
    }
    if let Some(f1) = scores.citation_f1 {
        let [mean, low, high] = [f1.mean, f1.low, f1.high].map(|value| value * 100.0);
        let _infallible = writeln!(text, "| citation F1 | {mean:.2} ({low:.2}–{high:.2}) | | | |");
    }
    if let Some(totals) = scores.hallucination.as_ref().and_then(|one| one.totals.as_ref()) {
        let _infallible = writeln!(text, "\n{totals}");
    }
    if !scores.warnings.is_empty() {
        text.push('\n');
        for warning in &scores.warnings {
            let _infallible = writeln!(text, "warning: {warning}");
        }
    }
    text
}
