//! Citation scores over many answers.

use serde::{Deserialize, Serialize};

use super::ItemScore;
use crate::metrics::Column;
use crate::statistics::{self, Estimate, ratio};

/// An answer's score, or why it has none.
pub type Scored = Result<ItemScore, String>;

/// The columns of recall and precision; `name` says which rules they follow.
pub fn columns(name: &str, items: &[(String, Scored)]) -> (Column, Column) {
    let mut recall = Column::new(format!("citation recall ({name})"));
    let mut precision = Column::new(format!("citation precision ({name})"));
    let unreadable = || "no verdict could be read".to_owned();
    for (item, scored) in items {
        let of = |pick: fn(&ItemScore) -> Option<f64>| match scored {
            Ok(score) => pick(score).ok_or_else(unreadable),
            Err(reason) => Err(reason.clone()),
        };
        recall.push_result(item, of(|score| score.recall));
        precision.push_result(item, of(|score| score.precision));
    }
    (recall, precision)
}

/// Harmonic mean of mean recall and mean precision over the answers that have both, with its interval: the answers are
/// resampled whole.
pub fn f1(items: &[(String, Scored)], seed: u64) -> Option<Estimate> {
    statistics::estimate_by(&pairs(items), seed, statistics::harmonic_of_means)
}

/// Recall and precision of the answers that have both.
pub fn pairs(items: &[(String, Scored)]) -> Vec<(f64, f64)> {
    items
        .iter()
        .filter_map(|(_, scored)| {
            let score = scored.as_ref().ok()?;
            Some((score.recall?, score.precision?))
        })
        .collect()
}

/// What the scorer prints about over-citation, as shares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OverCitation {
    /// Sentences with more than one citation, of all scored sentences.
    pub several: f64,
    /// Of them, those that are supported.
    pub supported: f64,
    /// Of these, those with a citation that is not needed.
    pub over_cited: f64,
}

/// Over-citation over all answers; a share of nothing is 0.
pub fn over_citation(items: &[(String, Scored)]) -> OverCitation {
    let total = |count: fn(&ItemScore) -> usize| -> usize { scores(items).map(count).sum() };
    let supported = total(|score| score.several_supported);
    OverCitation {
        several: share(total(|score| score.several), total(|score| score.sentences)),
        supported: share(supported, total(|score| score.several)),
        over_cited: share(total(|score| score.over_cited_sentences), supported),
    }
}

/// The same as the reference scorer prints it: its first denominator is the last answer's sentences alone, and the
/// last numerator counts citations, so that shares beyond 1 occur.
pub fn over_citation_upstream(items: &[(String, Scored)]) -> OverCitation {
    let total = |count: fn(&ItemScore) -> usize| -> usize { scores(items).map(count).sum() };
    let supported = total(|score| score.several_supported);
    let last = scores(items).last().map_or(0, |score| score.sentences);
    OverCitation {
        several: share(total(|score| score.several), last),
        supported: share(supported, total(|score| score.several)),
        over_cited: share(total(|score| score.over_cited), supported),
    }
}

fn scores(items: &[(String, Scored)]) -> impl Iterator<Item = &ItemScore> {
    items.iter().filter_map(|(_, scored)| scored.as_ref().ok())
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { ratio(part, whole) }
}
