//! Correlation of two lists of scores: Pearson, Spearman, Kendall's tau-b.
//!
//! All are signed and in `[-1, 1]`, and `None` when the lists differ in length, have fewer than two entries, hold
//! something that is not a number, or one of them is constant.

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
