//! Uncertainty of means over queries: the percentile bootstrap, seeded.
//!
//! Beside it are [`correlation`] of scores, [`agreement`] of raters, the [`sign`] test, [`mod@welch`]'s t-test, a [`mixed_model`] and
//! [`logistic`] regression.
//!
//! Nothing here invents a number: what is undefined for the data at hand is `None`, never 0.
//!
//! Source: Efron and Tibshirani 1993; paired form for system comparison as in Sakai 2006.

pub mod agreement;
pub mod correlation;
mod distribution;
mod linear;
pub mod logistic;
pub mod mixed_model;
pub mod share;
pub mod sign;
pub mod welch;

pub use share::Share;

use scholar_core::SplitMix64;
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

/// Mean of `values` with a 95 % interval; `None` without values.
pub fn estimate(values: &[f64], seed: u64) -> Option<Estimate> {
    let means = resampled_means(values, seed)?;
    Some(Estimate {
        mean: mean(values),
        low: percentile(&means, 0.025),
        high: percentile(&means, 0.975),
    })
}

/// Any statistic of `rows` with a 95 % interval: the rows are drawn with replacement, whole.
///
/// Resamples on which the statistic is undefined are left out. `None` when it is undefined on all rows; the mean of
/// the estimate is the statistic itself.
pub fn estimate_by<T>(
    rows: &[T],
    seed: u64,
    statistic: impl Fn(&[&T]) -> Option<f64>,
) -> Option<Estimate> {
    let all: Vec<&T> = rows.iter().collect();
    let value = statistic(&all).filter(|value| value.is_finite())?;
    let values = resampled(rows, seed, &statistic);
    Some(interval_around(value, &values))
}

/// Paired comparison of one statistic of two systems: item `n` of both is drawn together.
///
/// For statistics that are no mean over items, such as the F1 of two corpus means. `None` when the lists differ in
/// length or the statistic is undefined on either.
pub fn difference_by<T>(
    a: &[T],
    b: &[T],
    seed: u64,
    statistic: impl Fn(&[&T]) -> Option<f64>,
) -> Option<Difference> {
    if a.len() != b.len() {
        return None;
    }
    let pairs: Vec<(&T, &T)> = a.iter().zip(b).collect();
    let of_pairs = |sample: &[&(&T, &T)]| {
        let left: Vec<&T> = sample.iter().map(|pair| pair.0).collect();
        let right: Vec<&T> = sample.iter().map(|pair| pair.1).collect();
        Some(statistic(&left)? - statistic(&right)?)
    };
    let all: Vec<&(&T, &T)> = pairs.iter().collect();
    let value = of_pairs(&all).filter(|value| value.is_finite())?;
    let values = resampled(&pairs, seed, &of_pairs);
    let against = values.iter().filter(|drawn| **drawn * value <= 0.0).count();
    let p = if values.is_empty() { 1.0 } else { (2.0 * ratio(against, values.len())).min(1.0) };
    Some(Difference { estimate: interval_around(value, &values), p })
}

/// Harmonic mean of the two column means: the F1 of corpus precision and recall, as the paper reports it.
///
/// 0 when both means are 0; `None` without rows.
pub fn harmonic_of_means(rows: &[&(f64, f64)]) -> Option<f64> {
    let (a, b) = means(rows)?;
    Some(if a + b > 0.0 { 2.0 * a * b / (a + b) } else { 0.0 })
}

/// Ratio of the two column means, first over second; `None` when the second is 0 or there are no rows.
pub fn ratio_of_means(rows: &[&(f64, f64)]) -> Option<f64> {
    let (a, b) = means(rows)?;
    (b.abs() > 0.0).then(|| a / b)
}

/// Mean of all values of all groups, each value counting once; `None` without values. With [`estimate_by`] groups are drawn
/// whole: rubrics of one idea share a report and are not independent.
pub fn mean_of_groups(groups: &[&Vec<f64>]) -> Option<f64> {
    let n: usize = groups.iter().map(|group| group.len()).sum();
    (n > 0).then(|| groups.iter().flat_map(|group| group.iter()).sum::<f64>() / ratio(n, 1))
}

fn means(rows: &[&(f64, f64)]) -> Option<(f64, f64)> {
    if rows.is_empty() {
        return None;
    }
    let (a, b) = rows.iter().fold((0.0, 0.0), |(a, b), row| (a + row.0, b + row.1));
    Some((a / ratio(rows.len(), 1), b / ratio(rows.len(), 1)))
}

/// Sorted values of the statistic on resamples of whole rows.
fn resampled<T>(rows: &[T], seed: u64, statistic: &impl Fn(&[&T]) -> Option<f64>) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    let n = rows.len();
    let mut sample: Vec<&T> = Vec::with_capacity(n);
    let mut values: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            sample.clear();
            sample.extend((0..n).map(|_| &rows[random.below(n)]));
            statistic(&sample).filter(|value| value.is_finite())
        })
        .collect();
    values.sort_by(f64::total_cmp);
    values
}

fn interval_around(value: f64, sorted: &[f64]) -> Estimate {
    if sorted.is_empty() {
        return Estimate { mean: value, low: value, high: value };
    }
    Estimate { mean: value, low: percentile(sorted, 0.025), high: percentile(sorted, 0.975) }
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
    let mut random = SplitMix64::new(seed);
    let n = values.len();
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| (0..n).map(|_| values[random.below(n)]).sum::<f64>() / ratio(n, 1))
        .collect();
    means.sort_by(f64::total_cmp);
    Some(means)
}

/// Nearest-rank percentile of sorted values, of which there is at least one.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list of a few thousand"
)]
pub fn percentile(sorted: &[f64], share: f64) -> f64 {
    let place = (share * (sorted.len() - 1) as f64).round() as usize;
    sorted[place]
}

#[expect(clippy::cast_precision_loss, reason = "counts of queries")]
pub(crate) fn ratio(a: usize, b: usize) -> f64 {
    a as f64 / b as f64
}

#[cfg(test)]
mod golden;

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
    fn a_statistic_of_rows_has_an_interval_and_a_paired_difference() {
        let rows: Vec<(f64, f64)> =
            (0..60).map(|n| (f64::from(n % 4) / 4.0, f64::from(n % 5) / 5.0)).collect();
        let f1 = estimate_by(&rows, 3, harmonic_of_means).expect("rows");
        assert!((f1.mean - 2.0 * 0.375 * 0.4 / 0.775).abs() < 1e-12, "{f1:?}");
        assert!(f1.low < f1.mean && f1.mean < f1.high);
        // The statistic of one column is the mean, and both ways of resampling draw the same rows.
        let firsts: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let by =
            estimate_by(&rows, 3, |rows| Some(rows.iter().map(|row| row.0).sum::<f64>() / 60.0));
        let plain = estimate(&firsts, 3).expect("values");
        assert!(by.is_some_and(|by| (by.low - plain.low).abs() < 1e-12));

        let better: Vec<(f64, f64)> = rows.iter().map(|(a, b)| (a + 0.2, b + 0.2)).collect();
        let sure = difference_by(&better, &rows, 3, harmonic_of_means).expect("paired");
        assert!(sure.p < 1e-9 && sure.estimate.low > 0.1, "{sure:?}");
        assert_eq!(difference_by(&rows[1..], &rows, 3, harmonic_of_means), None);
        assert_eq!(estimate_by(&[], 3, harmonic_of_means), None);
        assert_eq!(estimate_by(&[(1.0, 0.0)], 3, ratio_of_means), None);
        assert_eq!(harmonic_of_means(&[&(0.0, 0.0)]), Some(0.0));
    }

    #[test]
    fn groups_are_drawn_whole() {
        // Values of a group are alike: what is known is five groups, not fifty values.
        let groups: Vec<Vec<f64>> = (0..5).map(|n| vec![f64::from(n); 10]).collect();
        let by_group = estimate_by(&groups, 5, mean_of_groups).expect("groups");
        let single: Vec<f64> = groups.iter().flatten().copied().collect();
        let alone = estimate(&single, 5).expect("values");
        assert!((by_group.mean - 2.0).abs() < 1e-12 && (alone.mean - 2.0).abs() < 1e-12);
        assert!(by_group.high - by_group.low > 2.0 * (alone.high - alone.low), "{by_group:?}");
        // A group counts by its values, not once.
        assert_eq!(mean_of_groups(&[&vec![1.0, 1.0, 1.0], &vec![5.0]]), Some(2.0));
        assert_eq!(mean_of_groups(&[&Vec::new()]), None);
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
