//! Features of the late-interaction reranker.

use std::sync::Arc;

use scholar_core::similarity::max_sim;
use scholar_core::{Retrieved, Side};

use super::state_encoder::StateEncoder;
use crate::encoder::TokenStates;
use crate::error::ModelError;
use crate::kernels::{add_scaled, dot};
use crate::lexical::Lexical;
use crate::simd::SimdLevel;

/// Number of features.
pub(super) const FEATURES: usize = 6;

/// What they are, in order.
pub(super) const NAMES: [&str; FEATURES] = [
    "first-stage score",
    "MaxSim",
    "pooled cosine",
    "pooled cosine after relevance feedback",
    "query terms in the title",
    "query bigrams in the passage",
];

/// Candidates the query's vector is moved towards, the first most: weights 1, 1/√2, 1/√3.
const FEEDBACK: [f32; 3] = [1.0, std::f32::consts::FRAC_1_SQRT_2, 0.577_350_3];

/// Weight of the candidates' mean beside the query's own vector.
const FEEDBACK_WEIGHT: f32 = 1.2;

/// Raw features of the candidates, which come best first; one row each.
///
/// # Errors
/// When the tokenizer refuses a text.
pub(super) fn features(
    encoder: &StateEncoder,
    query: &str,
    candidates: &[&Retrieved],
) -> Result<Vec<[f32; FEATURES]>, ModelError> {
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let texts: Vec<String> =
        candidates.iter().map(|candidate| candidate.passage.encoded_text()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let states = encoder.passages(&texts)?;
    let asked = encoder.encoder().late_states(Side::Query, &[query])?;
    let Some(asked) = asked.first() else { return Ok(Vec::new()) };
    let lexical = Lexical::new(query, &texts);
    let moved = expanded(asked, &states);
    let level = SimdLevel::detect();
    let row = |at: usize| {
        let candidate = candidates[at];
        [
            candidate.score.value(),
            token_max_sim(asked, &states[at]),
            dot(level, &asked.pooled, &states[at].pooled),
            dot(level, &moved, &states[at].pooled),
            lexical.coverage(&candidate.passage.title),
            lexical.bigrams(texts[at]),
        ]
    };
    Ok((0..candidates.len()).map(row).collect())
}

/// `MaxSim` of states of unit length.
fn token_max_sim(query: &TokenStates, passage: &TokenStates) -> f32 {
    let (level, dim) = (SimdLevel::detect(), query.pooled.len());
    let cosine = |asked: usize, other: usize| {
        dot(level, &query.values[asked * dim..][..dim], &passage.values[other * dim..][..dim])
    };
    max_sim(query.ids.len(), passage.ids.len(), cosine).score
}

/// The query's vector moved towards the first candidates.
///
/// Source: Rocchio's relevance feedback, the retriever's best taken for relevant.
fn expanded(query: &TokenStates, candidates: &[Arc<TokenStates>]) -> Vec<f32> {
    let total: f32 = FEEDBACK.iter().take(candidates.len()).sum();
    let mut vector = query.pooled.clone();
    for (candidate, weight) in candidates.iter().zip(FEEDBACK) {
        let weight = FEEDBACK_WEIGHT * weight / total;
        add_scaled(SimdLevel::detect(), &mut vector, &candidate.pooled, weight);
    }
    vector
}
