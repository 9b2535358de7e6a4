//! Late interaction: query and passages are encoded separately and compared token by token.
//!
//! The score of a passage is the cosine of the mean-pooled states plus `MaxSim` over the tokens, special tokens left out.
//! Source: `ColBERT` for `MaxSim`; the pooled cosine beside it is ours, because the reranker that uses the result has
//! both as features.

use std::ops::Range;

use rayon::prelude::*;
use scholar_core::similarity::{MaxSim, max_sim};
use scholar_models::{MatMulShape, MatMut, MatRef, matmul};

use super::head::{Pooled, pool_mean, pool_mean_back};
use super::packed::Packed;

/// A query, by its place in the batch; its passages follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueryGroup {
    pub(crate) query: usize,
    pub(crate) passages: usize,
}

impl QueryGroup {
    /// Queries of so many passages each, one behind the other.
    pub(crate) fn in_order(sizes: &[usize]) -> Vec<Self> {
        let mut query = 0;
        let mut all = Vec::with_capacity(sizes.len());
        for passages in sizes {
            all.push(Self { query, passages: *passages });
            query += 1 + passages;
        }
        all
    }

    fn pairs(self) -> impl Iterator<Item = [usize; 2]> {
        (0..self.passages).map(move |at| [self.query, self.query + 1 + at])
    }
}

/// What the forward pass leaves for the backward one.
#[derive(Default)]
pub(crate) struct InteractionTape {
    /// Every state at length 1, and the lengths they had.
    units: Vec<f32>,
    lengths: Vec<f32>,
    pooled: Pooled,
    /// Of every pair, for each query token, the passage token of the highest cosine, as a row of the batch.
    best: Vec<Vec<usize>>,
    /// One for each pair.
    pub(crate) scores: Vec<f32>,
}

/// Tokens of a sequence that are compared.
fn compared(batch: &Packed, sequence: usize) -> Range<usize> {
    let (start, end) = (batch.starts[sequence], batch.starts[sequence + 1]);
    if end - start > 2 { start + 1..end - 1 } else { start..start }
}

/// Scores the pairs of `batch` by its `states`, `[tokens, hidden]`; call inside [`crate::backend::Threads::run`].
pub(crate) fn interact(
    states: &[f32],
    batch: &Packed,
    groups: &[QueryGroup],
    hidden: usize,
    tape: &mut InteractionTape,
) {
    tape.units.clear();
    tape.units.extend_from_slice(states);
    tape.lengths.resize(batch.tokens(), 0.0);
    tape.units.par_chunks_mut(hidden).zip(&mut tape.lengths).for_each(|(row, length)| {
        *length = row.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        for value in row {
            *value /= *length;
        }
    });
    tape.pooled = pool_mean(states, batch, hidden, true);
    let pairs: Vec<[usize; 2]> = groups.iter().flat_map(|group| group.pairs()).collect();
    let (units, pooled) = (&tape.units, &tape.pooled.vectors);
    let found: Vec<(f32, Vec<usize>)> = pairs
        .par_iter()
        .map(|[query, passage]| {
            let row = |at: &usize| &pooled[at * hidden..][..hidden];
            let pooled_cosine: f32 = row(query).iter().zip(row(passage)).map(|(a, b)| a * b).sum();
            let [query, passage] = [query, passage].map(|sequence| compared(batch, *sequence));
            let max_sim = token_max_sim(units, query, passage.clone(), hidden);
            let best = max_sim.best.iter().map(|at| passage.start + at).collect();
            (pooled_cosine + max_sim.score, best)
        })
        .collect();
    (tape.scores, tape.best) = found.into_iter().unzip();
}

/// `MaxSim` over rows of unit length, by one matrix product.
fn token_max_sim(
    units: &[f32],
    query: Range<usize>,
    passage: Range<usize>,
    hidden: usize,
) -> MaxSim {
    let (m, n) = (query.len(), passage.len());
    let rows = |range: Range<usize>| {
        MatRef::rows(&units[range.start * hidden..range.end * hidden], hidden)
    };
    let mut cosines = vec![0.0; m * n];
    let mut out = MatMut { data: &mut cosines, row: n };
    matmul(
        MatMulShape { m, n, k: hidden },
        rows(query),
        rows(passage).transposed(),
        &mut out,
        false,
        1,
    );
    max_sim(m, n, |query, passage| cosines[query * n + passage])
}

/// From the gradient of the scores to the gradient of the states.
pub(crate) fn interact_back(
    grad_scores: &[f32],
    batch: &Packed,
    groups: &[QueryGroup],
    hidden: usize,
    tape: &InteractionTape,
) -> Vec<f32> {
    let mut pooled = vec![0.0; batch.len() * hidden];
    // Gradient of the states at length 1.
    let mut flow = vec![0.0; tape.units.len()];
    let pairs = groups.iter().flat_map(|group| group.pairs());
    for (([query, passage], grad), best) in pairs.zip(grad_scores).zip(&tape.best) {
        for [to, from] in [[query, passage], [passage, query]] {
            add(&mut pooled, to, &tape.pooled.vectors, from, hidden, *grad);
        }
        let tokens = compared(batch, query);
        let per_token = grad / tokens.len().max(1) as f32;
        for (token, counterpart) in tokens.zip(best) {
            for [to, from] in [[token, *counterpart], [*counterpart, token]] {
                add(&mut flow, to, &tape.units, from, hidden, per_token);
            }
        }
    }
    let mut out = pool_mean_back(&pooled, &tape.pooled, batch, true);
    let rows = flow.par_chunks(hidden).zip(tape.units.par_chunks(hidden)).zip(&tape.lengths);
    out.par_chunks_mut(hidden).zip(rows).for_each(|(out, ((flow, unit), length))| {
        let along: f32 = flow.iter().zip(unit).map(|(a, b)| a * b).sum();
        for ((out, flow), unit) in out.iter_mut().zip(flow).zip(unit) {
            *out += (flow - along * unit) / length;
        }
    });
    out
}

/// Adds `weight` times row `from` of `values` to row `to` of `sums`.
fn add(sums: &mut [f32], to: usize, values: &[f32], from: usize, hidden: usize, weight: f32) {
    let values = &values[from * hidden..][..hidden];
    for (sum, value) in sums[to * hidden..][..hidden].iter_mut().zip(values) {
        *sum += weight * value;
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::SplitMix64;

    use super::*;

    const HIDDEN: usize = 4;

    /// Two queries with two and one passages; the last passage has nothing to compare.
    fn batch() -> (Packed, Vec<QueryGroup>) {
        let mut batch = Packed::new();
        for len in [4, 6, 5, 3, 2] {
            batch.push(&vec![7; len], &vec![0; len]);
        }
        (batch, QueryGroup::in_order(&[2, 1]))
    }

    fn states(batch: &Packed) -> Vec<f32> {
        let mut random = SplitMix64::new(9);
        (0..batch.tokens() * HIDDEN).map(|_| random.normal() as f32).collect()
    }

    #[test]
    fn scores_are_pooled_cosine_plus_max_sim() {
        let (batch, groups) = batch();
        assert_eq!(groups[1], QueryGroup { query: 3, passages: 1 });
        let states = states(&batch);
        let mut tape = InteractionTape::default();
        interact(&states, &batch, &groups, HIDDEN, &mut tape);
        let row = |at: usize| &states[at * HIDDEN..][..HIDDEN];
        let cosine = |a: &[f32], b: &[f32]| {
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
        };
        let mean = |range: Range<usize>| -> Vec<f32> {
            let count = range.len() as f32;
            (0..HIDDEN).map(|d| range.clone().map(|at| row(at)[d]).sum::<f32>() / count).collect()
        };
        // The first query's tokens 1 and 2 against 5 to 8 of the first passage.
        let best = |token: usize| {
            (5..9).map(|at| cosine(row(token), row(at))).fold(f32::NEG_INFINITY, f32::max)
        };
        let expect = cosine(&mean(0..4), &mean(4..10)) + (best(1) + best(2)) / 2.0;
        assert!((tape.scores[0] - expect).abs() < 1e-5, "{} {expect}", tape.scores[0]);
        let bare = cosine(&mean(15..18), &mean(18..20));
        assert!((tape.scores[2] - bare).abs() < 1e-5, "nothing to compare but the means");
    }

    #[test]
    fn gradients_are_those_of_differences() {
        let (batch, groups) = batch();
        let mut states = states(&batch);
        let weights = [0.7, -1.3, 0.4];
        let loss = |states: &[f32]| {
            let mut tape = InteractionTape::default();
            interact(states, &batch, &groups, HIDDEN, &mut tape);
            tape.scores.iter().zip(weights).map(|(s, w)| f64::from(s * w)).sum::<f64>()
        };
        let mut tape = InteractionTape::default();
        interact(&states, &batch, &groups, HIDDEN, &mut tape);
        let gradient = interact_back(&weights, &batch, &groups, HIDDEN, &tape);
        let h = 1e-3;
        for at in 0..states.len() {
            let kept = states[at];
            states[at] = kept + h;
            let high = loss(&states);
            states[at] = kept - h;
            let low = loss(&states);
            states[at] = kept;
            let expect = (high - low) / f64::from(2.0 * h);
            let off = (f64::from(gradient[at]) - expect).abs();
            assert!(off < 5e-3 * (1.0 + expect.abs()), "{at}: {} {expect}", gradient[at]);
        }
    }
}
