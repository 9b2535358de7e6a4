//! Correlation of two lists of scores: Pearson, Spearman, Kendall's tau-b.
//!
//! All are signed and in `[-1, 1]`, and `None` when the lists differ in length, have fewer than two entries, hold
//! something that is not a number, or one of them is constant.

use serde::{Deserialize, Serialize};

use super::distribution::t_two_sided;
use super::{mean, ratio};

/// Pearson's r, −1 to 1, of equally long samples; `None` where it is undefined.
pub fn pearson(a: &[f64], b: &[f64]) -> Option<f64> {
    if !comparable(a, b) {
        return None;
    }
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (x - mean_a, y - mean_b);
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    Some((ab / (aa.sqrt() * bb.sqrt())).clamp(-1.0, 1.0))
}

/// Pearson's r with its test against 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    /// Pearson's r, −1 to 1.
    pub r: f64,
    /// Two-sided p by Student's t with `n − 2` degrees of freedom.
    pub p: f64,
    /// Pairs.
    pub n: usize,
}

/// Pearson's r and whether it differs from 0; `None` where r is undefined or there are fewer than three pairs.
pub fn pearson_test(a: &[f64], b: &[f64]) -> Option<Correlation> {
    let (r, n) = (pearson(a, b)?, a.len());
    if n < 3 {
        return None;
    }
    let df = ratio(n - 2, 1);
    let unexplained = 1.0 - r * r;
    let p = if unexplained > 0.0 { t_two_sided(r * (df / unexplained).sqrt(), df) } else { 0.0 };
    Some(Correlation { r, p, n })
}

/// Spearman's rho: Pearson's r of the ranks, ties at their mean rank.
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    if comparable(a, b) { pearson(&ranks(a), &ranks(b)) } else { None }
}

/// Kendall's tau-b, which corrects for ties on either side. Quadratic in the length.
pub fn kendall(a: &[f64], b: &[f64]) -> Option<f64> {
    if !comparable(a, b) {
        return None;
    }
    let (mut concordant, mut discordant, mut tied_a, mut tied_b) = (0, 0, 0, 0);
    for i in 0..a.len() {
        for j in 0..i {
            let (x, y) = (a[i].total_cmp(&a[j]), b[i].total_cmp(&b[j]));
            match (x.is_eq(), y.is_eq()) {
                (true, true) => {}
                (true, false) => tied_a += 1,
                (false, true) => tied_b += 1,
                (false, false) if x == y => concordant += 1,
                (false, false) => discordant += 1,
            }
        }
    }
    let untied = concordant + discordant;
    let both = ratio(untied + tied_a, 1) * ratio(untied + tied_b, 1);
    Some((ratio(concordant, 1) - ratio(discordant, 1)) / both.sqrt())
}

/// Rank of each value from 1, ties at their mean rank.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for group in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        let rank = f64::midpoint(ratio(before + 1, 1), ratio(before + group.len(), 1));
        for n in group {
            ranks[*n] = rank;
        }
        before += group.len();
    }
    ranks
}

fn comparable(a: &[f64], b: &[f64]) -> bool {
    let varies = |values: &[f64]| {
        values.iter().all(|value| value.is_finite())
            && values.iter().any(|value| (value - values[0]).abs() > 0.0)
    };
    a.len() == b.len() && a.len() >= 2 && varies(a) && varies(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_of_a_correlation_is_students() {
        // r = 0.8 of five pairs: t = 0.8 * sqrt(3 / 0.36) = 2.3094, p = 0.10408.
        let found = pearson_test(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 1.0, 4.0, 3.0, 5.0]);
        let found = found.expect("defined");
        assert!((found.r - 0.8).abs() < 1e-12 && (found.p - 0.104_088).abs() < 1e-5, "{found:?}");
        // The paper's check of blindness: r = -0.12 of 46 evaluations has p 0.43 by rounding of r.
        let df = 44.0_f64;
        let p = t_two_sided(-0.12 * (df / (1.0 - 0.0144)).sqrt(), df);
        assert!((p - 0.427).abs() < 0.001, "{p}");
        let straight = pearson_test(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]).expect("defined");
        assert!(straight.p < 1e-6, "{straight:?}");
        assert_eq!(pearson_test(&[1.0, 2.0], &[1.0, 3.0]), None);
    }
}
