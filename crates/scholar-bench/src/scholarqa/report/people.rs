//! What is known of judges: how they agree with people's labels, and whether two people's rubrics rank systems alike.

use std::collections::BTreeMap;

use serde_json::Value;

use super::document::{Document, Table};
use super::{Measured, citation_judge};
use crate::metrics::Outcome;
use crate::metrics::rubric::agreement::{Comparison, agreement as rubrics_agree};
use crate::scholarqa::score::{Metric, RUBRIC_ITEMS, Scores};
use crate::statistics::SEED;

/// What stands beside a number of `metric`'s judge: its balanced accuracy against people's labels, or that nobody knows.
/// `None` for what nobody judges, and for look-ups, which are no opinion.
pub fn beside(scores: &Scores, metric: &Metric) -> Option<String> {
    let judge = metric.judge.as_ref()?;
    if judge.way == "title lookup" {
        return None;
    }
    Some(if metric.summary.metric.starts_with("citation ") {
        against_labels(scores)
    } else {
        "no human labels to measure it against".to_owned()
    })
}

/// The citation judge's balanced accuracy on each labelled set.
pub(super) fn against_labels(scores: &Scores) -> String {
    let sets = scores.agreement.as_ref().and_then(|report| report["sets"].as_array());
    let values: Vec<String> = sets
        .into_iter()
        .flatten()
        .filter_map(|set| set["balanced_accuracy"]["value"].as_f64())
        .map(|value| format!("{value:.2}"))
        .collect();
    if values.is_empty() {
        "not measured against people".to_owned()
    } else {
        format!("balanced accuracy against people {}", values.join(", "))
    }
}

/// The judges of `runs` on labelled pairs, each once.
pub(super) fn agreement(document: &mut Document, runs: &[Measured]) {
    let mut pairs =
        Table::new(&["judge", "set", "n", "AUROC (95 %)", "accuracy", "balanced accuracy"]);
    let mut selections = Table::new(&[
        "judge",
        "set",
        "selected by",
        "n",
        "sentences",
        "right one first",
        "among the first two",
    ]);
    let mut unknown: Vec<String> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for scores in runs.iter().flat_map(|one| &one.scores) {
        let Some(judge) = citation_judge(scores) else { continue };
        if seen.contains(&judge) {
            continue;
        }
        let Some(report) = &scores.agreement else {
            if !unknown.contains(&judge) {
                unknown.push(judge);
            }
            continue;
        };
        for set in report["sets"].as_array().into_iter().flatten() {
            pairs.row(vec![
                judge.clone(),
                text(&set["name"]),
                set["n"].to_string(),
                with_interval(&set["auc"]),
                share(&set["accuracy"]),
                share(&set["balanced_accuracy"]),
            ]);
        }
        for set in report["selections"].as_array().into_iter().flatten() {
            let candidates = set["mean_candidates"].as_f64();
            selections.row(vec![
                judge.clone(),
                text(&set["set"]),
                text(&set["selector"]),
                set["n"].to_string(),
                candidates.map_or("–".to_owned(), |mean| format!("{mean:.0}")),
                with_interval(&set["at_1"]),
                share(&set["at_2"]),
            ]);
        }
        seen.push(judge);
    }
    unknown.retain(|judge| !seen.contains(judge));
    if pairs.rows.is_empty() && unknown.is_empty() {
        return;
    }
    document.heading("Agreement of the judges with people");
    if !pairs.rows.is_empty() {
        document.text(
            "Scores are only as good as the judge that gives them. How well it separates supported claims from the rest, on labelled pairs:",
        );
        document.table(pairs);
    }
    if !selections.rows.is_empty() {
        document
            .text("The sentence that supports a claim, found among the sentences of its paper:");
        document.table(selections);
    }
    for judge in unknown {
        document.text(&format!(
            "{judge}: not measured; pass --labels DIR to bench score with the folder of labelled claims."
        ));
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn share(value: &Value) -> String {
    value["value"].as_f64().map_or("–".to_owned(), |value| format!("{value:.3}"))
}

fn with_interval(value: &Value) -> String {
    match (value["low"].as_f64(), value["high"].as_f64()) {
        (Some(low), Some(high)) => format!("{} ({low:.3}–{high:.3})", share(value)),
        _ => "–".to_owned(),
    }
}

/// Do two people's rubrics of a question rank the systems alike? Nothing is said without two systems and a question with
/// two rubrics.
pub(super) fn annotators(document: &mut Document, runs: &[&Measured]) {
    let mut by_judge: BTreeMap<String, Vec<(&Measured, &Scores)>> = BTreeMap::new();
    for one in runs {
        for scores in &one.scores {
            let judge = scores.metric(RUBRIC_ITEMS).and_then(|metric| metric.judge.as_ref());
            if let Some(judge) = judge {
                by_judge.entry(judge.name.clone()).or_default().push((one, scores));
            }
        }
    }
    let mut table =
        Table::new(&["judge", "systems", "questions", "measure", "mean (95 %)", "undefined"]);
    for (judge, systems) in by_judge.iter().filter(|(_, systems)| systems.len() > 1) {
        let questions = twice_asked(systems);
        if questions.is_empty() {
            continue;
        }
        for (name, comparison) in [
            ("Pearson's r of scores", Comparison::Pearson),
            ("Pearson's r of ranks", Comparison::Ranks),
            ("Kendall's tau-b", Comparison::Kendall),
        ] {
            let found = rubrics_agree(&questions, comparison, SEED);
            let mean = found.estimate.map_or("none".to_owned(), |estimate| {
                format!("{:.2} ({:.2} to {:.2})", estimate.mean, estimate.low, estimate.high)
            });
            table.row(vec![
                judge.clone(),
                systems.len().to_string(),
                questions.len().to_string(),
                name.to_owned(),
                mean,
                found.undefined.to_string(),
            ]);
        }
    }
    if table.rows.is_empty() {
        return;
    }
    document.text(
        "Do the rubrics of two annotators rank the systems alike? Of questions that two people wrote rubrics for; of two systems, 1 says only that both rubrics prefer the same one:",
    );
    document.table(table);
}

/// For each question with two rubrics, what the systems score under the first and under the second; questions that a
/// system has no score for are left out.
fn twice_asked(systems: &[(&Measured, &Scores)]) -> Vec<(Vec<f64>, Vec<f64>)> {
    let Some((first, _)) = systems.first() else { return Vec::new() };
    let mut rubrics: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for item in first.items.iter().filter(|item| item.doubly_annotated) {
        rubrics.entry(&item.question).or_default().push(&item.id);
    }
    let under = |id: &str| -> Option<Vec<f64>> {
        let of = |scores: &Scores| {
            let cells = &scores.column(RUBRIC_ITEMS)?.cells;
            match &cells.iter().find(|cell| cell.item == id)?.outcome {
                Outcome::Value(value) => Some(*value),
                Outcome::LeftOut(_) => None,
            }
        };
        systems.iter().map(|(_, scores)| of(scores)).collect()
    };
    let both = rubrics.into_values().filter_map(|ids| match ids.as_slice() {
        [a, b] => Some((under(a)?, under(b)?)),
        _ => None,
    });
    both.collect()
}
