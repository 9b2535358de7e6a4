//! Paired comparison of runs: the same items, the differences resampled.

use std::collections::BTreeMap;

use serde::Serialize;

use super::document::Table;
use super::{CITATION_F1, Measured, judge_of};
use crate::judge::preference::Pairwise;
use crate::metrics::{Column, Outcome};
use crate::scholarqa::score::Scores;
use crate::statistics::{Difference, SEED, difference, difference_by, harmonic_of_means};

/// Fewest items that a comparison rests on. Ours: below, an interval says nothing.
const LEAST_ITEMS: usize = 5;

/// One metric of two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the first run.
    pub a: String,
    /// Name of the second run.
    pub b: String,
    /// Name of the metric, with its variant.
    pub metric: String,
    /// Multiply by this to print.
    pub scale: f64,
    /// Items both have a value for.
    pub n: usize,
    /// Mean of `a − b`, interval and p.
    pub difference: Difference,
}

/// Every pair of runs in every metric that both have by the same judge.
pub(super) fn comparisons(runs: &[&Measured]) -> Vec<Comparison> {
    let mut found = Vec::new();
    for (nth, a) in runs.iter().enumerate() {
        for b in &runs[nth + 1..] {
            for (left, right) in same_judge(&a.scores, &b.scores) {
                found.extend(of_pair(left, right, &a.run.manifest.name, &b.run.manifest.name));
            }
        }
    }
    found
}

fn same_judge<'a>(
    a: &'a [Scores],
    b: &'a [Scores],
) -> impl Iterator<Item = (&'a Scores, &'a Scores)> {
    a.iter().filter_map(move |left| {
        let same = |right: &&Scores| judge_of(left) == judge_of(right) && left.rules == right.rules;
        Some((left, b.iter().find(same)?))
    })
}

fn of_pair(left: &Scores, right: &Scores, a: &str, b: &str) -> Vec<Comparison> {
    let mut found = Vec::new();
    let comparison = |metric: &str, scale, n, difference| Comparison {
        a: a.to_owned(),
        b: b.to_owned(),
        metric: metric.to_owned(),
        scale,
        n,
        difference,
    };
    for column in &left.columns {
        let Some(other) = right.column(&column.metric) else { continue };
        let scale = left.metric(&column.metric).map_or(1.0, |metric| metric.scale);
        let pairs = paired(column, other);
        let (ours, theirs): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        if ours.len() >= LEAST_ITEMS
            && let Some(difference) = difference(&ours, &theirs, SEED)
        {
            found.push(comparison(&column.metric, scale, ours.len(), difference));
        }
    }
    let both: Vec<((f64, f64), (f64, f64))> = left
        .verdicts
        .iter()
        .filter_map(|(id, ours)| {
            let theirs = right.verdicts.get(id)?;
            Some(((ours.recall?, ours.precision?), (theirs.recall?, theirs.precision?)))
        })
        .collect();
    if both.len() >= LEAST_ITEMS {
        let (ours, theirs): (Vec<_>, Vec<_>) = both.into_iter().unzip();
        if let Some(difference) = difference_by(&ours, &theirs, SEED, harmonic_of_means) {
            found.push(comparison(CITATION_F1, 100.0, ours.len(), difference));
        }
    }
    found
}

/// Values of the items that both columns have one for.
fn paired(a: &Column, b: &Column) -> Vec<(f64, f64)> {
    let value = |outcome: &Outcome| match outcome {
        Outcome::Value(value) => Some(*value),
        Outcome::LeftOut(_) => None,
    };
    let others: BTreeMap<&str, &Outcome> =
        b.cells.iter().map(|cell| (cell.item.as_str(), &cell.outcome)).collect();
    a.cells
        .iter()
        .filter_map(|cell| {
            let other = others.get(cell.item.as_str())?;
            Some((value(&cell.outcome)?, value(other)?))
        })
        .collect()
}

/// One row per comparison, what is certain marked.
pub(super) fn table(comparisons: &[Comparison]) -> Table {
    let mut table = Table::new(&["metric", "first", "second", "first − second (95 %)", "n", "p"]);
    for one in comparisons {
        let Difference { estimate, p } = one.difference;
        let [mean, low, high] = [estimate.mean, estimate.low, estimate.high].map(|v| v * one.scale);
        let certain = if p < 0.05 { " *" } else { "" };
        table.row(vec![
            one.metric.clone(),
            one.a.clone(),
            one.b.clone(),
            format!("{mean:+.2} ({low:+.2} to {high:+.2}){certain}"),
            one.n.to_string(),
            format!("{p:.3}"),
        ]);
    }
    table
}

/// What a model preferred, one row per pair of runs.
pub(super) fn preferences(runs: &[&Measured]) -> Table {
    let mut table = Table::new(&[
        "first",
        "second",
        "judge",
        "pairs",
        "first wins (95 %)",
        "ties",
        "second wins",
        "sign test p",
        "changed with the order",
        "first place",
        "length ratio",
        "not judged",
    ]);
    for one in runs.iter().flat_map(|one| &one.pairwise) {
        let rates = &one.rates;
        let wins = rates.win_rate.map_or("–".to_owned(), |rate| {
            format!("{:.2} ({:.2}–{:.2})", rate.mean, rate.low, rate.high)
        });
        let number =
            |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.2}"));
        let unread = format!("{} unreadable", rates.unreadable);
        table.row(vec![
            one.system_a.clone(),
            one.system_b.clone(),
            format!("{} ({}, {})", one.judge.name, one.judge.way, one.judge.prompts.join(", ")),
            rates.n.to_string(),
            wins,
            rates.ties.to_string(),
            rates.losses.to_string(),
            format!("{:.3}", rates.p),
            rates.inconsistent.map_or("–".to_owned(), |pairs| pairs.to_string()),
            number(rates.first_place_share),
            number(one.length_ratio),
            one.incomplete.clone().map_or(unread.clone(), |why| format!("{unread}; {why}")),
        ]);
    }
    table
}

/// What speaks against the verdicts, a line each.
pub(super) fn doubts(runs: &[&Measured]) -> Vec<String> {
    let doubts = |one: &Pairwise| -> Vec<String> {
        let pair = format!("{} against {}", one.system_a, one.system_b);
        one.doubts().into_iter().map(|doubt| format!("{pair}: {doubt}")).collect()
    };
    runs.iter().flat_map(|one| &one.pairwise).flat_map(doubts).collect()
}
