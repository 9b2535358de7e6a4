//! One scale for the hits of several searches.
//!
//! Retrieval scores of different queries do not compare: BM25 grows with the number of words, a cosine with how general the
//! query is. A reranker that weighs the retrieval score, or reads the best by it first, would favour the passages of whichever
//! query has the larger numbers. So each search's scores are standardised and those of a passage added (`CombSUM`), which leaves
//! a passage that several queries found before one that a single query found.
//!
//! Source: Montague and Aslam 2001, "ZMUV" with a shift; measured against the scores as they are, the best z-score and
//! reciprocal rank fusion in `docs/decisions/0017-pooled-scores.md`.

use scholar_core::{Explanation, RetrievalScore, Retrieved};

/// Added to each z-score: what a search did not find counts as this many standard deviations below its mean hit.
const SHIFT: f64 = 3.0;
/// The least standard deviation: equal scores say nothing, all of them are the mean.
const MIN_DEVIATION: f64 = 1e-6;

/// Puts the scores of one search's hits on a scale that compares with other searches: z-scores among these hits, plus 3.
#[expect(clippy::cast_precision_loss, reason = "a search has few hits")]
#[expect(clippy::cast_possible_truncation, reason = "a z-score needs no more than f32")]
pub(crate) fn standardise(hits: &mut [Retrieved]) {
    let n = hits.len().max(1) as f64;
    let values: Vec<f64> = hits.iter().map(|hit| f64::from(hit.score.value())).collect();
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    let deviation = variance.sqrt().max(MIN_DEVIATION);
    for (hit, value) in hits.iter_mut().zip(values) {
        let score = ((value - mean) / deviation + SHIFT) as f32;
        let before = hit.explanation.clone();
        set(
            hit,
            score,
            Explanation::new(score, "z-score among the hits of its query, plus 3").with(before),
        );
    }
}

/// Adds the score of another search that found the same passage.
pub(super) fn add(hit: &mut Retrieved, other: &Retrieved) {
    let sum = hit.score.value() + other.score.value();
    let parts = Explanation::new(sum, "sum over the queries that found it");
    let parts = parts.with(hit.explanation.clone()).with(other.explanation.clone());
    set(hit, sum, parts);
}

fn set(hit: &mut Retrieved, value: f32, explanation: Explanation) {
    // Finite scores have finite z-scores, and a sum of few of them is finite.
    if let Ok(score) = RetrievalScore::new(value) {
        hit.score = score;
        hit.explanation = explanation;
    }
}
