//! Whether the evidence answers the question at all.

use std::collections::BTreeSet;

use scholar_core::Ranked;
use serde::{Deserialize, Serialize};

use super::question::Reading;
use super::score::{Scored, key_share};
use super::terms::stem_set;

/// What the decision to answer rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Highest cosine of a sentence to the question; `None` without an encoder of unit vectors.
    pub similarity: Option<f32>,
    /// Largest share of the question's weight in one sentence and its title.
    pub sentence_coverage: f32,
    /// Largest share of the key terms' weight in one passage and its title.
    pub key_coverage: f32,
    /// Share of the key terms' weight in no passage at all.
    pub missing: f32,
    /// Key terms that no passage mentions, as the question writes them, heaviest first.
    pub missing_terms: Vec<String>,
    /// Probability that the evidence answers the question.
    pub probability: f32,
}

/// Intercept and weights of similarity, sentence coverage, key coverage and missing share.
///
/// Source: logistic regressions on our development questions over the starter papers
/// (`tests/evidence/abstention.tsv`), one with the similarities of all-MiniLM-L6-v2 and one without.
const WITH_ENCODER: [f32; 5] = [-7.0, 9.0, 2.0, 3.0, -3.0];
const WITHOUT_ENCODER: [f32; 4] = [-3.0, 2.0, 4.0, -4.0];

/// Reads the signs off all candidates (`scored`, best first) and passages. `similar` says that the cosines are those of an
/// encoder of unit vectors, for which the regression was made.
pub(crate) fn diagnose(
    scored: &[Scored],
    evidence: &[Ranked],
    reading: &Reading,
    similar: bool,
) -> Diagnosis {
    let passages: Vec<(BTreeSet<String>, BTreeSet<String>)> = evidence
        .iter()
        .map(|ranked| {
            let passage = &ranked.retrieved.passage;
            (stem_set(&passage.text), stem_set(&passage.title))
        })
        .collect();
    let similarity = scored
        .iter()
        .filter_map(|scored| scored.similarity)
        .max_by(f32::total_cmp)
        .filter(|_| similar);
    let sentence_coverage = scored.iter().map(|scored| scored.coverage).fold(0.0, f32::max);
    let key_coverage =
        passages.iter().map(|(text, title)| key_share(reading, text, title)).fold(0.0, f32::max);
    let keys = reading.keys();
    let absent = |term: &&super::question::Term| {
        !passages.iter().any(|(text, title)| term.is_in(text) || term.is_in(title))
    };
    let total: f32 = keys.iter().map(|term| term.weight).sum();
    let gone: Vec<_> = keys.iter().copied().filter(absent).collect();
    let lost = gone.iter().fold(0.0, |sum, term| sum + term.weight);
    let missing = lost / total.max(f32::EPSILON);
    let sum = match similarity {
        Some(similarity) => {
            let [intercept, a, b, c, d] = WITH_ENCODER;
            intercept + a * similarity + b * sentence_coverage + c * key_coverage + d * missing
        }
        None => {
            let [intercept, b, c, d] = WITHOUT_ENCODER;
            intercept + b * sentence_coverage + c * key_coverage + d * missing
        }
    };
    let probability = if scored.is_empty() { 0.0 } else { 1.0 / (1.0 + (-sum).exp()) };
    let missing_terms = gone.into_iter().map(|term| term.word.clone()).collect();
    Diagnosis { similarity, sentence_coverage, key_coverage, missing, missing_terms, probability }
}
