//! Validation metrics (nDCG, AUROC, ECE), and temperature scaling.

use serde::{Deserialize, Serialize};

/// Bins of the expected calibration error.
const BINS: usize = 10;

/// nDCG at `k` of a ranking by `scores`, where `relevant` tells what is; ties count as if the relevant came last.
///
/// `None` where nothing is relevant.
pub fn ndcg(scores: &[f32], relevant: impl Fn(usize) -> bool, k: usize) -> Option<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(relevant(*a).cmp(&relevant(*b))));
    let discount = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
    let gain: f64 = order
        .iter()
        .take(k)
        .enumerate()
        .filter(|(_, at)| relevant(**at))
        .map(|(rank, _)| discount(rank))
        .sum();
    let count = (0..scores.len()).filter(|at| relevant(*at)).count();
    let ideal: f64 = (0..count.min(k)).map(discount).sum();
    (count > 0).then(|| gain / ideal)
}

/// AUROC: the probability that a positive scores higher than a negative, ties counting half.
///
/// `None` where one of the two is missing.
pub fn auroc(rows: &[(f32, bool)]) -> Option<f64> {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let positive = rows.iter().filter(|row| row.1).count();
    let negative = rows.len() - positive;
    if positive == 0 || negative == 0 {
        return None;
    }
    let (mut wins, mut below, mut at) = (0.0, 0, 0);
    while at < rows.len() {
        let same = rows[at..].iter().take_while(|row| row.0.total_cmp(&rows[at].0).is_eq()).count();
        let right = rows[at..at + same].iter().filter(|row| row.1).count();
        let wrong = same - right;
        wins += right as f64 * (below as f64 + wrong as f64 / 2.0);
        below += wrong;
        at += same;
    }
    Some(wins / (positive as f64 * negative as f64))
}

/// ECE: expected calibration error of binary probabilities, over ten bins of equal width, 0 to 1.
pub fn ece(rows: &[(f32, bool)]) -> f64 {
    let mut bins = [(0_usize, 0.0_f64, 0_usize); BINS];
    for (probability, happened) in rows {
        let bin = ((probability * BINS as f32) as usize).min(BINS - 1);
        bins[bin].0 += 1;
        bins[bin].1 += f64::from(*probability);
        bins[bin].2 += usize::from(*happened);
    }
    let off: f64 = bins.iter().map(|(_, sum, happened)| (sum - *happened as f64).abs()).sum();
    off / rows.len().max(1) as f64
}

/// Softmax of logits divided by `temperature`.
pub fn softmax(logits: &[f32], temperature: f64) -> Vec<f32> {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let odds: Vec<f64> =
        logits.iter().map(|logit| (f64::from(logit - max) / temperature).exp()).collect();
    let total: f64 = odds.iter().sum();
    odds.iter().map(|odds| (odds / total) as f32).collect()
}

/// What `calibration.json` of an attributor holds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// What logits are divided by before softmax.
    pub temperature: f64,
    /// Held-out rows it was fitted on.
    pub rows: usize,
    /// Mean negative log-likelihood of the right class at temperature 1.
    pub loss_before: f64,
    /// Mean negative log-likelihood at `temperature`.
    pub loss_after: f64,
    /// Expected calibration error of the first class at temperature 1, 0 to 1.
    #[serde(alias = "error_before")]
    pub ece_before: f64,
    /// Expected calibration error of the first class at `temperature`, 0 to 1.
    #[serde(alias = "error_after")]
    pub ece_after: f64,
}

/// Fits the temperature that makes held-out classes most likely, by golden section over its logarithm.
///
/// Source: Guo et al. 2017, *On calibration of modern neural networks*.
pub fn fit_temperature(rows: &[(Vec<f32>, usize)]) -> Calibration {
    let loss = |temperature: f64| -> f64 {
        let sum: f64 = rows
            .iter()
            .map(|(logits, class)| {
                let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let scaled = |logit: f32| f64::from(logit - max) / temperature;
                let total: f64 = logits.iter().map(|logit| scaled(*logit).exp()).sum();
                total.ln() - scaled(logits[*class])
            })
            .sum();
        sum / rows.len().max(1) as f64
    };
    let golden = (5_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (0.05_f64.ln(), 20_f64.ln());
    for _ in 0..60 {
        let (left, right) = (high - golden * (high - low), low + golden * (high - low));
        if loss(left.exp()) <= loss(right.exp()) {
            high = right;
        } else {
            low = left;
        }
    }
    let temperature = f64::midpoint(low, high).exp();
    let ece_at = |temperature: f64| {
        let rows: Vec<(f32, bool)> = rows
            .iter()
            .map(|(logits, class)| (softmax(logits, temperature)[0], *class == 0))
            .collect();
        ece(&rows)
    };
    Calibration {
        temperature,
        rows: rows.len(),
        loss_before: loss(1.0),
        loss_after: loss(temperature),
        ece_before: ece_at(1.0),
        ece_after: ece_at(temperature),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ndcg_is_one_for_the_ideal_order_and_ties_do_not_help() {
        let relevant = |at: usize| at == 1;
        assert!((ndcg(&[0.1, 0.9, 0.5], relevant, 10).expect("some") - 1.0).abs() < 1e-12);
        let second = ndcg(&[0.9, 0.5, 0.1], relevant, 10).expect("some");
        assert!((second - 1.0 / 3_f64.log2()).abs() < 1e-12);
        assert_eq!(ndcg(&[0.9, 0.5, 0.1], relevant, 1), Some(0.0));
        let tied = ndcg(&[0.5, 0.5, 0.5], relevant, 10).expect("some");
        assert!((tied - 0.5).abs() < 1e-12, "last of three");
        assert_eq!(ndcg(&[0.1], |_| false, 10), None);
    }

    #[test]
    fn auc_counts_pairs() {
        let rows = [(0.1, false), (0.4, true), (0.4, false), (0.9, true)];
        assert_eq!(auroc(&rows), Some(0.875));
        assert_eq!(auroc(&rows[..1]), None);
    }

    #[test]
    fn temperature_undoes_overconfidence() {
        // Logits say 0.95 where the class comes in three of four.
        let mut rows = Vec::new();
        for at in 0..400 {
            rows.push((vec![3.0, 0.0], usize::from(at % 4 == 0)));
            rows.push((vec![0.0, 3.0], usize::from(at % 4 != 0)));
        }
        let fit = fit_temperature(&rows);
        assert!((fit.temperature - 3.0 / 3_f64.ln()).abs() < 1e-3, "{fit:?}");
        assert!(fit.loss_after < fit.loss_before);
        assert!(fit.ece_before > 0.15 && fit.ece_after < 1e-3, "{fit:?}");
    }
}
