//! What the late-interaction reranker looks at.

use std::sync::Arc;

use scholar_core::{Retrieved, Side};

use super::Reader;
use crate::encoder::TokenStates;
use crate::error::ModelError;
use crate::kernels::{Level, add_scaled, dot};
use crate::lexical::{Lexical, standardised};

/// Number of features.
pub(super) const FEATURES: usize = 6;

/// What they are, in order.
pub(super) const NAMES: [&str; FEATURES] = [
    "retrieval score",
    "best counterpart of each query token (MaxSim)",
    "likeness to the query",
    "likeness to the query moved towards the best candidates",
    "query words in the title",
    "query words side by side",
];

/// Candidates the query's vector is moved towards, the first most: weights 1, 1/√2, 1/√3.
const FEEDBACK: [f32; 3] = [1.0, std::f32::consts::FRAC_1_SQRT_2, 0.577_350_3];

/// Weight of the candidates' mean beside the query's own vector.
const FEEDBACK_WEIGHT: f32 = 1.2;

/// One row per candidate, raw.
pub(super) struct Features(Vec<[f32; FEATURES]>);

impl Features {
    /// Reads the candidates, which come best first.
    ///
    /// # Errors
    /// When the tokenizer refuses a text.
    pub(super) fn compute(
        reader: &Reader,
        query: &str,
        candidates: &[&Retrieved],
    ) -> Result<Self, ModelError> {
        let texts: Vec<String> =
            candidates.iter().map(|candidate| candidate.passage.encoded_text()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let states = reader.states(&texts)?;
        let asked = reader.encoder.late_states(Side::Query, &[query])?;
        let Some(asked) = asked.first() else { return Ok(Self(Vec::new())) };
        let lexical = Lexical::new(query, &texts);
        let moved = expanded(asked, &states);
        let level = Level::detect();
        let row = |at: usize| {
            let candidate = candidates[at];
            [
                candidate.score.value(),
                max_sim(asked, &states[at]),
                dot(level, &asked.pooled, &states[at].pooled),
                dot(level, &moved, &states[at].pooled),
                lexical.coverage(&candidate.passage.title),
                lexical.side_by_side(texts[at]),
            ]
        };
        Ok(Self((0..candidates.len()).map(row).collect()))
    }

    /// The rows with each feature brought to mean 0 and standard deviation 1.
    pub(super) fn standardised(&self) -> Vec<[f32; FEATURES]> {
        standardised(&self.0)
    }
}

/// The mean over query tokens of the best cosine with a passage token.
///
/// Source: `ColBERT`'s `MaxSim`, here on an encoder not trained for it.
fn max_sim(query: &TokenStates, passage: &TokenStates) -> f32 {
    if query.ids.is_empty() || passage.ids.is_empty() {
        return 0.0;
    }
    let level = Level::detect();
    let dim = query.pooled.len();
    let best = |token: &[f32]| {
        passage
            .values
            .chunks_exact(dim)
            .map(|other| dot(level, token, other))
            .fold(f32::NEG_INFINITY, f32::max)
    };
    query.values.chunks_exact(dim).map(best).sum::<f32>() / query.ids.len() as f32
}

/// The query's vector moved towards the first candidates.
///
/// Source: Rocchio's relevance feedback, the retriever's best taken for relevant.
fn expanded(query: &TokenStates, candidates: &[Arc<TokenStates>]) -> Vec<f32> {
    let total: f32 = FEEDBACK.iter().take(candidates.len()).sum();
    let mut vector = query.pooled.clone();
    for (candidate, weight) in candidates.iter().zip(FEEDBACK) {
        let weight = FEEDBACK_WEIGHT * weight / total;
        add_scaled(Level::detect(), &mut vector, &candidate.pooled, weight);
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(tokens: &[[f32; 2]]) -> TokenStates {
        TokenStates {
            ids: (0..).zip(tokens).map(|(id, _)| id).collect(),
            values: tokens.concat(),
            pooled: vec![1.0, 0.0],
        }
    }

    #[test]
    fn max_sim_takes_the_best_counterpart_of_each_token() {
        let query = states(&[[1.0, 0.0], [0.0, 1.0]]);
        assert!((max_sim(&query, &states(&[[0.6, 0.8], [1.0, 0.0]])) - 0.9).abs() < 1e-6);
        assert!(max_sim(&query, &states(&[])).abs() < 1e-6);
        assert!(max_sim(&states(&[]), &query).abs() < 1e-6);
    }
}
