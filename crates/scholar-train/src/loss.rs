//! Losses and their gradients.
//!
//! A gradient is that of the loss the function returns; callers weigh both.

/// Cross-entropy of one row of logits against class `target`; `gradient` becomes `weight` times its gradient.
pub(crate) fn cross_entropy(
    logits: &[f32],
    target: usize,
    weight: f32,
    gradient: &mut [f32],
) -> f64 {
    listwise(logits, |at| at == target, weight, gradient)
}

/// Listwise cross-entropy: minus the logarithm of the probability that softmax gives to the members for which `gold`
/// holds, of which there is at least one.
///
/// With one gold member this is the loss of the published reranker. Source: `FlagEmbedding`'s reranker; several gold members
/// count as one event, ours, because a passage may hold several sentences of evidence.
pub(crate) fn listwise(
    scores: &[f32],
    gold: impl Fn(usize) -> bool,
    weight: f32,
    gradient: &mut [f32],
) -> f64 {
    let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let odds: Vec<f64> = scores.iter().map(|score| f64::from(score - max).exp()).collect();
    let total: f64 = odds.iter().sum();
    let right: f64 = odds.iter().enumerate().filter(|(at, _)| gold(*at)).map(|(_, s)| s).sum();
    for (at, (grad, odds)) in gradient.iter_mut().zip(&odds).enumerate() {
        let wanted = if gold(at) { odds / right } else { 0.0 };
        *grad = ((odds / total - wanted) * f64::from(weight)) as f32;
    }
    total.ln() - right.ln()
}

/// A teacher's scores of the passages of a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Teacher<'a> {
    /// One for each, as logits.
    pub(crate) scores: &'a [f32],
    /// What they are divided by before softmax.
    pub(crate) temperature: f32,
}

/// Distillation loss: the Kullback–Leibler divergence from the teacher's distribution, softmax of its scores at its
/// temperature, to the softmax of `scores`; 0 where they are equal. Adds `weight` times its gradient to `gradient`.
///
/// Source: knowledge distillation as in `FlagEmbedding`, whose loss is this one plus a constant.
pub(crate) fn distillation(
    scores: &[f32],
    teacher: Teacher<'_>,
    weight: f32,
    gradient: &mut [f32],
) -> f64 {
    let logarithms = |scores: &[f32], temperature: f32| -> Vec<f64> {
        let scaled: Vec<f64> = scores.iter().map(|s| f64::from(s / temperature)).collect();
        let max = scaled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total = scaled.iter().map(|score| (score - max).exp()).sum::<f64>().ln();
        scaled.iter().map(|score| score - max - total).collect()
    };
    let (given, wanted) =
        (logarithms(scores, 1.0), logarithms(teacher.scores, teacher.temperature));
    let mut loss = 0.0;
    for (grad, (given, wanted)) in gradient.iter_mut().zip(given.iter().zip(&wanted)) {
        loss += wanted.exp() * (wanted - given);
        *grad += ((given.exp() - wanted.exp()) * f64::from(weight)) as f32;
    }
    loss
}

/// How much the three logits (supports, contradicts, neither) say that a sentence is evidence at all: the logarithm of
/// the odds of one of the first two.
///
/// Ours, because one model then judges and selects, and selection needs no head of its own.
pub fn evidence_score(logits: &[f32]) -> f32 {
    let top = logits[0].max(logits[1]);
    top + ((logits[0] - top).exp() + (logits[1] - top).exp()).ln() - logits[2]
}

/// Adds `grad_score`, the gradient of [`evidence_score`], to that of its three logits.
pub(crate) fn evidence_score_back(logits: &[f32], grad_score: f32, gradient: &mut [f32]) {
    let supports = 1.0 / (1.0 + (logits[1] - logits[0]).exp());
    gradient[0] += grad_score * supports;
    gradient[1] += grad_score * (1.0 - supports);
    gradient[2] -= grad_score;
}

/// Vectors of one side of a contrast, `[n, dim]`, and the gradient that is added to; a gradient may be shorter than its
/// vectors, for those that are constant.
pub(crate) struct Side<'a> {
    pub(crate) vectors: &'a [&'a [f32]],
    pub(crate) gradient: &'a mut [f32],
}

/// What [`contrastive`] found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Contrast {
    /// Mean over the queries.
    pub(crate) loss: f64,
    /// Fraction of the queries whose own key scores highest.
    pub(crate) accuracy: f64,
}

/// `InfoNCE`: the mean over queries of the cross-entropy of inner products divided by `temperature`, key `i` being the
/// positive of query `i`.
///
/// Keys from the number of queries on are negatives for all: hard negatives, or a queue. Gradients of both sides are added.
///
/// Source: `MoCo` and Contriever.
pub(crate) fn contrastive(
    queries: Side<'_>,
    keys: Side<'_>,
    dim: usize,
    temperature: f32,
) -> Contrast {
    let rows = |side: &[&[f32]]| -> usize { side.iter().map(|part| part.len() / dim).sum() };
    let n = rows(queries.vectors);
    let weight = 1.0 / n as f32;
    let key_rows: Vec<&[f32]> =
        keys.vectors.iter().flat_map(|part| part.chunks_exact(dim)).collect();
    let mut grad_scores = vec![0.0; key_rows.len()];
    let (mut loss, mut right) = (0.0, 0.0);
    let query_rows = queries.vectors.iter().flat_map(|part| part.chunks_exact(dim));
    for (at, query) in query_rows.enumerate() {
        let scores: Vec<f32> = key_rows
            .iter()
            .map(|key| query.iter().zip(*key).map(|(a, b)| a * b).sum::<f32>() / temperature)
            .collect();
        loss += listwise(&scores, |key| key == at, weight, &mut grad_scores);
        let best = scores.iter().enumerate().all(|(key, score)| key == at || *score < scores[at]);
        right += f64::from(u8::from(best));
        let target = &mut queries.gradient[at * dim..][..dim];
        for (grad, key) in grad_scores.iter().zip(&key_rows) {
            for (sum, key) in target.iter_mut().zip(*key) {
                *sum += grad / temperature * key;
            }
        }
        for (grad, target) in grad_scores.iter().zip(keys.gradient.chunks_exact_mut(dim)) {
            for (sum, query) in target.iter_mut().zip(query) {
                *sum += grad / temperature * query;
            }
        }
    }
    Contrast { loss: loss / n as f64, accuracy: right / n as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, seed: u64) -> Vec<f32> {
        let mut random = scholar_core::SplitMix64::new(seed);
        (0..n).map(|_| random.normal() as f32).collect()
    }

    fn close(got: f32, expect: f64, what: &str) {
        assert!(
            (f64::from(got) - expect).abs() < 2e-3 * (1.0 + expect.abs()),
            "{what}: {got} {expect}"
        );
    }

    /// The gradient of `loss` with respect to `values`, by central differences.
    fn numeric_gradient(values: &[f32], loss: impl Fn(&[f32]) -> f64) -> Vec<f64> {
        let h = 1e-2;
        (0..values.len())
            .map(|at| {
                let moved = |by: f32| {
                    let mut values = values.to_vec();
                    values[at] += by;
                    loss(&values)
                };
                (moved(h) - moved(-h)) / f64::from(2.0 * h)
            })
            .collect()
    }

    #[test]
    fn listwise_has_its_gradient_for_one_and_for_several_right_members() {
        let scores = numbers(6, 1);
        for gold in [vec![2], vec![0, 4]] {
            let loss = |scores: &[f32]| {
                listwise(scores, |at| gold.contains(&at), 1.0, &mut vec![0.0; scores.len()])
            };
            let mut gradient = vec![0.0; 6];
            listwise(&scores, |at| gold.contains(&at), 1.0, &mut gradient);
            for (got, expect) in gradient.iter().zip(numeric_gradient(&scores, loss)) {
                close(*got, expect, "gradient");
            }
        }
        let uniform = cross_entropy(&[0.5; 4], 1, 1.0, &mut [0.0; 4]);
        assert!((uniform - 4_f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn distillation_pulls_towards_the_teacher() {
        let (scores, taught) = (numbers(5, 3), numbers(5, 4));
        let teacher = Teacher { scores: &taught, temperature: 0.5 };
        let loss = |scores: &[f32]| distillation(scores, teacher, 1.0, &mut [0.0; 5]);
        let mut gradient = vec![1.0; 5];
        distillation(&scores, teacher, 2.0, &mut gradient);
        for (got, expect) in gradient.iter().zip(numeric_gradient(&scores, loss)) {
            close(*got, 1.0 + 2.0 * expect, "gradient, added");
        }
        let alike: Vec<f32> = taught.iter().map(|score| score / 0.5 + 7.0).collect();
        assert!(loss(&alike).abs() < 1e-6 && loss(&scores) > 0.0);
    }

    #[test]
    fn the_evidence_score_is_the_log_odds_of_neither_not_being_so() {
        let logits = [0.3, -1.0, 0.8];
        let odds: Vec<f64> = logits.iter().map(|l| f64::from(*l).exp()).collect();
        let log_odds = ((odds[0] + odds[1]) / odds[2]).ln();
        close(evidence_score(&logits), log_odds, "score");
        let mut gradient = [0.0; 3];
        evidence_score_back(&logits, 2.0, &mut gradient);
        let expect = numeric_gradient(&logits, |logits| 2.0 * f64::from(evidence_score(logits)));
        for (got, expect) in gradient.iter().zip(expect) {
            close(*got, expect, "gradient");
        }
    }

    #[test]
    fn contrastive_loss_has_its_gradient() {
        let (dim, n) = (3, 4);
        let (queries, keys, queue) =
            (numbers(n * dim, 2), numbers(n * dim, 3), numbers(2 * dim, 4));
        let run = |queries: &[f32], keys: &[f32]| {
            let (mut q, mut k) = (vec![0.0; n * dim], vec![0.0; n * dim]);
            let contrast = contrastive(
                Side { vectors: &[queries], gradient: &mut q },
                Side { vectors: &[keys, &queue], gradient: &mut k },
                dim,
                0.7,
            );
            (contrast.loss, q, k)
        };
        let (_, q, k) = run(&queries, &keys);
        for (got, expect) in
            q.iter().zip(numeric_gradient(&queries, |queries| run(queries, &keys).0))
        {
            close(*got, expect, "query");
        }
        for (got, expect) in k.iter().zip(numeric_gradient(&keys, |keys| run(&queries, keys).0)) {
            close(*got, expect, "key");
        }
        let found = contrastive(
            Side { vectors: &[&keys], gradient: &mut vec![0.0; n * dim] },
            Side { vectors: &[&keys], gradient: &mut [] },
            dim,
            0.01,
        );
        assert!(found.accuracy > 0.0, "a vector is most like itself unless another is longer");
    }
}
