//! A reranker without a cross-encoder: late interaction of the encoder's token states, and lexical evidence.
//!
//! It reads each candidate once more with the query at hand: does every word of the query have a counterpart among the
//! words of the passage (in meaning: `MaxSim`; in form: coverage, title, neighbouring words)? The features are put on a
//! common scale within the candidates of one query and added with fixed weights. It is the default until a trained
//! cross-encoder is there, and says so in its name.

use std::collections::HashSet;
use std::sync::Arc;

use scholar_core::text::words::{Idf, content_stems};
use scholar_core::{PortError, Query, RerankScore, Retrieved, Side};

use crate::encoder::{LocalEncoder, TokenStates};
use crate::kernels::{Level, dot};

/// Number of features of a candidate.
pub const FEATURES: usize = 9;

/// What the features are, in order.
pub const FEATURE_NAMES: [&str; FEATURES] = [
    "retrieval score",
    "MaxSim",
    "MaxSim weighted by rarity",
    "coverage",
    "title coverage",
    "neighbouring words",
    "BM25 among the candidates",
    "whole text",
    "best window",
];

/// Tokens of a window and from one window to the next.
const WINDOW: usize = 48;
const WINDOW_STEP: usize = 16;

/// Computes the features of `passages` for `query`: one row each, in order, raw.
///
/// # Errors
/// When the encoder cannot run.
pub fn features(
    encoder: &LocalEncoder,
    query: &Query,
    passages: &[Retrieved],
) -> Result<Vec<[f32; FEATURES]>, PortError> {
    let texts: Vec<String> =
        passages.iter().map(|retrieved| retrieved.passage.encoded_text()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let query_states = encoder.late_states(Side::Query, &[query.as_str()])?;
    let states = encoder.late_states(Side::Passage, &texts)?;
    let titles: Vec<&str> = passages.iter().map(|r| r.passage.title.as_str()).collect();
    let scores: Vec<f32> = passages.iter().map(|r| r.score.value()).collect();
    Ok(combine(&query_states[0], &states, query.as_str(), &texts, &titles, &scores))
}

/// The features from token states.
pub fn combine(
    query_states: &TokenStates,
    states: &[TokenStates],
    query: &str,
    texts: &[&str],
    titles: &[&str],
    scores: &[f32],
) -> Vec<[f32; FEATURES]> {
    let rarity = rarity(query_states, states);
    let lexical = Lexical::new(query, texts);
    (0..texts.len())
        .map(|at| {
            let (plain, weighted) = max_sim(query_states, &states[at], &rarity);
            let [coverage, title, neighbours, bm25] = lexical.features(at, titles[at]);
            let level = Level::detect();
            let whole = dot(level, &query_states.pooled, &states[at].pooled);
            let window = best_window(query_states, &states[at]);
            [scores[at], plain, weighted, coverage, title, neighbours, bm25, whole, window]
        })
        .collect()
}

/// How rare each query token is among the candidates, summing to 1.
fn rarity(query: &TokenStates, candidates: &[TokenStates]) -> Vec<f32> {
    let n = candidates.len() as f32;
    let sets: Vec<HashSet<u32>> =
        candidates.iter().map(|states| states.ids.iter().copied().collect()).collect();
    let weights: Vec<f32> = query
        .ids
        .iter()
        .map(|id| {
            let count = sets.iter().filter(|set| set.contains(id)).count() as f32;
            (1.0 + (n - count + 0.5) / (count + 0.5)).ln()
        })
        .collect();
    let total: f32 = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    weights.iter().map(|weight| weight / total).collect()
}

/// For each query token its best counterpart in the passage; the mean over query tokens, plain and weighted.
fn max_sim(query: &TokenStates, passage: &TokenStates, weights: &[f32]) -> (f32, f32) {
    if query.ids.is_empty() || passage.ids.is_empty() {
        return (0.0, 0.0);
    }
    let level = Level::detect();
    let dim = query.pooled.len();
    let (mut plain, mut weighted) = (0.0, 0.0);
    for (token, weight) in query.values.chunks_exact(dim).zip(weights) {
        let best = passage
            .values
            .chunks_exact(dim)
            .map(|other| dot(level, token, other))
            .fold(f32::NEG_INFINITY, f32::max);
        plain += best;
        weighted += weight * best;
    }
    (plain / query.ids.len() as f32, weighted)
}

/// The best similarity of the whole query with a window of the passage.
fn best_window(query: &TokenStates, passage: &TokenStates) -> f32 {
    let dim = query.pooled.len();
    let level = Level::detect();
    let tokens = passage.ids.len();
    if tokens == 0 {
        return 0.0;
    }
    let mut best = f32::NEG_INFINITY;
    let mut start = 0;
    loop {
        let end = (start + WINDOW).min(tokens);
        let mut sum = vec![0.0; dim];
        for state in passage.values[start * dim..end * dim].chunks_exact(dim) {
            crate::kernels::add_scaled(level, &mut sum, state, 1.0);
        }
        let norm = dot(level, &sum, &sum).sqrt().max(1e-12);
        best = best.max(dot(level, &sum, &query.pooled) / norm);
        if end == tokens {
            return best;
        }
        start += WINDOW_STEP;
    }
}

struct Lexical {
    query: Vec<String>,
    idf: Idf,
    stems: Vec<Vec<String>>,
    mean_len: f32,
}

impl Lexical {
    fn new(query: &str, texts: &[&str]) -> Self {
        let stems: Vec<Vec<String>> = texts.iter().map(|text| content_stems(text)).collect();
        let total: usize = stems.iter().map(Vec::len).sum();
        let mean_len = (total as f32 / texts.len().max(1) as f32).max(1.0);
        Self {
            query: content_stems(query),
            idf: Idf::of_texts(texts.iter().copied()),
            stems,
            mean_len,
        }
    }

    fn features(&self, at: usize, title: &str) -> [f32; 4] {
        let stems = &self.stems[at];
        let mut distinct: Vec<&String> = self.query.iter().collect();
        distinct.sort();
        distinct.dedup();
        let total: f32 = distinct.iter().map(|stem| self.idf.weight(stem)).sum();
        let total = total.max(f32::MIN_POSITIVE);
        let share = |words: &HashSet<&String>| -> f32 {
            let found = distinct.iter().filter(|stem| words.contains(*stem));
            found.map(|stem| self.idf.weight(stem)).sum::<f32>() / total
        };
        let words: HashSet<&String> = stems.iter().collect();
        let title_stems = content_stems(title);
        let title_words: HashSet<&String> = title_stems.iter().collect();
        let pairs: HashSet<(&String, &String)> =
            stems.windows(2).map(|pair| (&pair[0], &pair[1])).collect();
        let neighbours = self.query.windows(2).filter(|p| pairs.contains(&(&p[0], &p[1]))).count()
            as f32
            / self.query.len().saturating_sub(1).max(1) as f32;
        let length = stems.len() as f32 / self.mean_len;
        let bm25: f32 = distinct
            .iter()
            .map(|stem| {
                let count = stems.iter().filter(|other| other == stem).count() as f32;
                self.idf.weight(stem) * count / (count + 0.9 * (0.6 + 0.4 * length))
            })
            .sum();
        [share(&words), share(&title_words), neighbours, bm25]
    }
}
