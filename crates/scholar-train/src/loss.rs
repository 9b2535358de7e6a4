//! Losses and their gradients.
//!
//! A gradient is that of the loss the function returns; callers weigh both.

/// Cross-entropy of one row of logits against class `target`; `gradient` gets `weight` times its slope.
pub(crate) fn cross_entropy(
    logits: &[f32],
    target: usize,
    weight: f32,
    gradient: &mut [f32],
) -> f64 {
    listwise(logits, |at| at == target, weight, gradient)
}

/// Listwise cross-entropy: minus the logarithm of the share that softmax gives to the members for which `gold` holds, of
/// which there is at least one.
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
    let shares: Vec<f64> = scores.iter().map(|score| f64::from(score - max).exp()).collect();
    let total: f64 = shares.iter().sum();
    let right: f64 = shares.iter().enumerate().filter(|(at, _)| gold(*at)).map(|(_, s)| s).sum();
    for (at, (slope, share)) in gradient.iter_mut().zip(&shares).enumerate() {
        let wanted = if gold(at) { share / right } else { 0.0 };
        *slope = ((share / total - wanted) * f64::from(weight)) as f32;
    }
    total.ln() - right.ln()
}

/// How far the shares that softmax gives to `scores` are from those it gives to a teacher's scores divided by `temperature`:
/// the Kullback–Leibler divergence, 0 where they are alike. Adds `weight` times its slope to `gradient`.
///
/// Source: knowledge distillation as in `FlagEmbedding`, whose loss is this one plus a constant.
pub(crate) fn distilled(
    scores: &[f32],
    (taught, temperature): (&[f32], f32),
    weight: f32,
    gradient: &mut [f32],
) -> f64 {
    let logarithms = |scores: &[f32], temperature: f32| -> Vec<f64> {
        let scaled: Vec<f64> = scores.iter().map(|s| f64::from(s / temperature)).collect();
        let max = scaled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total = scaled.iter().map(|score| (score - max).exp()).sum::<f64>().ln();
        scaled.iter().map(|score| score - max - total).collect()
    };
    let (given, wanted) = (logarithms(scores, 1.0), logarithms(taught, temperature));
    let mut loss = 0.0;
    for (slope, (given, wanted)) in gradient.iter_mut().zip(given.iter().zip(&wanted)) {
        loss += wanted.exp() * (wanted - given);
        *slope += ((given.exp() - wanted.exp()) * f64::from(weight)) as f32;
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

/// Adds `slope` of [`evidence_score`] to the gradient of its three logits.
pub(crate) fn evidence_score_back(logits: &[f32], slope: f32, gradient: &mut [f32]) {
    let share = 1.0 / (1.0 + (logits[1] - logits[0]).exp());
    gradient[0] += slope * share;
    gradient[1] += slope * (1.0 - share);
    gradient[2] -= slope;
}

/// Contrastive loss of `queries` `[n, dim]` against `keys` `[m, dim]`, key `i` being right for query `i`: the mean over
/// queries of the cross-entropy of scaled inner products.
///
/// Keys from `n` on are right for nobody: hard negatives, or a queue. Returns (loss, share of queries whose own key is
/// first), adds the slopes to both gradients; that of the keys may be shorter than the keys, for those that are constant.
///
/// Source: `InfoNCE` as in `MoCo` and Contriever.
pub(crate) fn contrastive(
    (queries, keys): (&[f32], &[&[f32]]),
    dim: usize,
    temperature: f32,
    (query_gradient, key_gradient): (&mut [f32], &mut [f32]),
) -> (f64, f64) {
    let n = queries.len() / dim;
    let weight = 1.0 / n as f32;
    let key_rows: Vec<&[f32]> = keys.iter().flat_map(|part| part.chunks_exact(dim)).collect();
    let mut slopes = vec![0.0; key_rows.len()];
    let (mut loss, mut right) = (0.0, 0.0);
    for (at, query) in queries.chunks_exact(dim).enumerate() {
        let scores: Vec<f32> = key_rows
            .iter()
            .map(|key| query.iter().zip(*key).map(|(a, b)| a * b).sum::<f32>() / temperature)
            .collect();
        loss += listwise(&scores, |key| key == at, weight, &mut slopes);
        let best = scores.iter().enumerate().all(|(key, score)| key == at || *score < scores[at]);
        right += f64::from(u8::from(best));
        let target = &mut query_gradient[at * dim..][..dim];
        for (slope, key) in slopes.iter().zip(&key_rows) {
            for (sum, key) in target.iter_mut().zip(*key) {
                *sum += slope / temperature * key;
            }
        }
        for (slope, target) in slopes.iter().zip(key_gradient.chunks_exact_mut(dim)) {
            for (sum, query) in target.iter_mut().zip(query) {
                *sum += slope / temperature * query;
            }
        }
    }
    (loss / n as f64, right / n as f64)
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

    /// The slope of `loss` along each of `values`, by differences.
    fn slopes(values: &[f32], loss: impl Fn(&[f32]) -> f64) -> Vec<f64> {
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
    fn listwise_has_its_slope_for_one_and_for_several_right_members() {
        let scores = numbers(6, 1);
        for gold in [vec![2], vec![0, 4]] {
            let loss = |scores: &[f32]| {
                listwise(scores, |at| gold.contains(&at), 1.0, &mut vec![0.0; scores.len()])
            };
            let mut gradient = vec![0.0; 6];
            listwise(&scores, |at| gold.contains(&at), 1.0, &mut gradient);
            for (got, expect) in gradient.iter().zip(slopes(&scores, loss)) {
                close(*got, expect, "slope");
            }
        }
        let uniform = cross_entropy(&[0.5; 4], 1, 1.0, &mut [0.0; 4]);
        assert!((uniform - 4_f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn a_teacher_pulls_where_shares_differ() {
        let (scores, taught) = (numbers(5, 3), numbers(5, 4));
        let loss = |scores: &[f32]| distilled(scores, (&taught, 0.5), 1.0, &mut [0.0; 5]);
        let mut gradient = vec![1.0; 5];
        distilled(&scores, (&taught, 0.5), 2.0, &mut gradient);
        for (got, expect) in gradient.iter().zip(slopes(&scores, loss)) {
            close(*got, 1.0 + 2.0 * expect, "slope, added");
        }
        let alike: Vec<f32> = taught.iter().map(|score| score / 0.5 + 7.0).collect();
        assert!(loss(&alike).abs() < 1e-6 && loss(&scores) > 0.0);
    }

    #[test]
    fn the_evidence_score_is_the_log_odds_of_neither_not_being_so() {
        let logits = [0.3, -1.0, 0.8];
        let shares: Vec<f64> = logits.iter().map(|l| f64::from(*l).exp()).collect();
        let odds = ((shares[0] + shares[1]) / shares[2]).ln();
        close(evidence_score(&logits), odds, "score");
        let mut gradient = [0.0; 3];
        evidence_score_back(&logits, 2.0, &mut gradient);
        let expect = slopes(&logits, |logits| 2.0 * f64::from(evidence_score(logits)));
        for (got, expect) in gradient.iter().zip(expect) {
            close(*got, expect, "slope");
        }
    }

    #[test]
    fn contrastive_loss_has_its_slopes() {
        let (dim, n) = (3, 4);
        let (queries, keys, queue) =
            (numbers(n * dim, 2), numbers(n * dim, 3), numbers(2 * dim, 4));
        let run = |queries: &[f32], keys: &[f32]| {
            let (mut q, mut k) = (vec![0.0; n * dim], vec![0.0; n * dim]);
            let (loss, _) = contrastive((queries, &[keys, &queue]), dim, 0.7, (&mut q, &mut k));
            (loss, q, k)
        };
        let (_, q, k) = run(&queries, &keys);
        for (got, expect) in q.iter().zip(slopes(&queries, |queries| run(queries, &keys).0)) {
            close(*got, expect, "query");
        }
        for (got, expect) in k.iter().zip(slopes(&keys, |keys| run(&queries, keys).0)) {
            close(*got, expect, "key");
        }
        let (_, right) =
            contrastive((&keys, &[&keys]), dim, 0.01, (&mut vec![0.0; n * dim], &mut []));
        assert!(right > 0.0, "a vector is most like itself unless another is longer");
    }
}
