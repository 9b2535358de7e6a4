//! Agreement statistics with bootstrap intervals.

use scholar_core::SplitMix64;
use serde::Serialize;

/// Resamples of an interval.
const RESAMPLES: usize = 1000;
/// Bins of the expected calibration error.
const BINS: usize = 10;

/// A judged pair with the annotators' label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Score of the judge; higher is better supported.
    pub score: f64,
    /// Whether the judge calls it positive.
    pub called: bool,
    /// Whether annotators call it positive.
    pub truth: bool,
}

/// A statistic with its 95 % bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// On the whole set; `null` in JSON when there was nothing to measure.
    pub value: f64,
    /// 2.5th percentile of the resamples.
    pub low: f64,
    /// 97.5th percentile of the resamples.
    pub high: f64,
}

impl Interval {
    /// Of an empty set.
    pub const UNKNOWN: Self = Self { value: f64::NAN, low: f64::NAN, high: f64::NAN };
}

/// `statistic` of the set and of 1,000 resamples with replacement, drawn from a fixed seed; `None` when it is undefined
/// on the whole set. Resamples on which it is undefined are left out.
pub fn interval(
    scored: &[Scored],
    statistic: impl Fn(&[Scored]) -> Option<f64>,
) -> Option<Interval> {
    if scored.is_empty() {
        return None;
    }
    let value = statistic(scored)?;
    let mut random = SplitMix64::new(0x5eed);
    let mut values: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let sample: Vec<Scored> =
                (0..scored.len()).map(|_| scored[place(&mut random, scored.len())]).collect();
            statistic(&sample)
        })
        .collect();
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let n = (share * values.len() as f64) as usize;
        values.get(n.min(values.len().saturating_sub(1))).copied().unwrap_or(value)
    };
    Some(Interval { value, low: at(0.025), high: at(0.975) })
}

/// By the remainder, as when the published intervals were drawn.
fn place(random: &mut SplitMix64, n: usize) -> usize {
    (random.next_u64() % n as u64) as usize
}

/// Share of pairs on which both agree.
pub fn accuracy(scored: &[Scored]) -> f64 {
    let right = scored.iter().filter(|one| one.called == one.truth).count();
    right as f64 / scored.len().max(1) as f64
}

/// Mean of the agreement within the positives and within the negatives.
pub fn balanced_accuracy(scored: &[Scored]) -> Option<f64> {
    let share = |truth: bool| {
        let class: Vec<&Scored> = scored.iter().filter(|one| one.truth == truth).collect();
        let right = class.iter().filter(|one| one.called == truth).count();
        (!class.is_empty()).then(|| right as f64 / class.len() as f64)
    };
    Some(f64::midpoint(share(true)?, share(false)?))
}

/// F1 of the positive class.
pub fn f1(scored: &[Scored]) -> Option<f64> {
    let both = scored.iter().filter(|one| one.called && one.truth).count();
    let sum =
        scored.iter().map(|one| usize::from(one.called) + usize::from(one.truth)).sum::<usize>();
    (sum > 0).then(|| 2.0 * both as f64 / sum as f64)
}

/// AUROC: the probability that a positive scores above a negative; ties count half.
pub fn auroc(scored: &[Scored]) -> Option<f64> {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| a.score.total_cmp(&b.score));
    let positives = sorted.iter().filter(|one| one.truth).count();
    let negatives = sorted.len() - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    let mut below = 0;
    let mut wins = 0.0;
    for group in sorted.chunk_by(|a, b| a.score.total_cmp(&b.score).is_eq()) {
        let up = group.iter().filter(|one| one.truth).count();
        let down = group.len() - up;
        wins += up as f64 * (f64::from(below) + down as f64 / 2.0);
        below += down as u32;
    }
    Some(wins / (positives as f64 * negatives as f64))
}

/// ECE, expected calibration error: mean distance between mean score and fraction of positives over ten equal bins of the score, weighted by their size.
pub fn ece(scored: &[Scored]) -> f64 {
    let mut bins = [(0.0, 0.0); BINS];
    for one in scored {
        let bin = ((one.score * BINS as f64) as usize).min(BINS - 1);
        bins[bin].0 += one.score;
        bins[bin].1 += f64::from(u8::from(one.truth));
    }
    bins.iter().map(|(score, truth): &(f64, f64)| (score - truth).abs()).sum::<f64>()
        / scored.len().max(1) as f64
}

/// The [`ece`] that chance alone gives a perfectly calibrated judge of these scores: the mean and the 95th
/// percentile of sets of labels drawn by them, from a fixed seed.
///
/// A few hundred pairs in ten bins never show the shares that they were drawn from.
pub fn calibration_by_chance(scored: &[Scored]) -> (f64, f64) {
    let mut random = SplitMix64::new(0x5eed);
    let mut errors: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn: Vec<Scored> = scored
                .iter()
                .map(|one| Scored { truth: random.unit() < one.score, ..*one })
                .collect();
            ece(&drawn)
        })
        .collect();
    errors.sort_by(f64::total_cmp);
    (errors.iter().sum::<f64>() / RESAMPLES as f64, errors[RESAMPLES * 95 / 100])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(rows: &[(f64, bool, bool)]) -> Vec<Scored> {
        rows.iter().map(|&(score, called, truth)| Scored { score, called, truth }).collect()
    }

    fn close(a: Option<f64>, b: f64) {
        assert!(a.is_some_and(|a| (a - b).abs() < 1e-9), "{a:?} is not {b}");
    }

    #[test]
    fn known_values() {
        let rows = scored(&[
            (0.9, true, true),
            (0.8, true, false),
            (0.6, true, true),
            (0.5, false, false),
            (0.5, false, true),
        ]);
        // By hand: of 3 × 2 pairs 3 are in order and one is tied.
        close(auroc(&rows), 3.5 / 6.0);
        close(Some(accuracy(&rows)), 0.6);
        close(balanced_accuracy(&rows), (2.0 / 3.0 + 0.5) / 2.0);
        close(f1(&rows), 4.0 / 6.0);
        assert_eq!(auroc(&rows[..1]), None);
        let interval = interval(&rows, auroc).expect("both classes");
        assert!(interval.low <= interval.value && interval.value <= interval.high);
    }

    #[test]
    fn a_calibrated_judge_has_no_error() {
        let rows: Vec<Scored> =
            (0..4).map(|n| Scored { score: 0.25, called: false, truth: n == 0 }).collect();
        assert!(ece(&rows) < 1e-9);
        assert!((ece(&scored(&[(1.0, true, false)])) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn chance_spares_the_certain_and_many_pairs() {
        let certain = scored(&[(1.0, true, true), (0.0, false, false)]);
        assert_eq!(calibration_by_chance(&certain), (0.0, 0.0));
        let even = |n: usize| calibration_by_chance(&scored(&vec![(0.5, true, true); n]));
        // One bin: the mean distance of a share of n fair draws from a half is √(1/(2πn)).
        let (mean, high) = even(100);
        assert!((mean - (1.0 / (200.0 * std::f64::consts::PI)).sqrt()).abs() < 3e-3, "{mean}");
        assert!((high - 1.96 * 0.05).abs() < 0.015, "{high}");
        assert!(even(2000).0 < mean / 3.0);
    }
}
