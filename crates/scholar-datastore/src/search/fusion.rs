//! Two rankings, one score.
//!
//! * [`Fusion::ZScores`]: `w · z(dense) + (1 − w) · z(BM25)`, where `z(s) = (s − mean) / deviation` over the best
//!   `depth` scores of that list. Uses how far a passage stands out, which ranks throw away.
//! * [`Fusion::ReciprocalRank`]: `Σ_list weight / (k + rank)`, over the lists a passage is in.
//!
//! Source: Cormack, Clarke and Büttcher 2009 (reciprocal rank); the comparison on the public sets is in docs/results.

use tantivy::DocAddress;

/// A passage with its scores on both sides and the fused one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) address: DocAddress,
    pub(crate) dense: f32,
    pub(crate) lexical: f32,
    pub(crate) score: f32,
}

/// How two scores become one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fusion {
    /// Weighted sum of z-scores.
    ZScores {
        /// Weight of the dense side, 0 to 1; the lexical side has the rest.
        dense_weight: f32,
        /// How many of the best scores give mean and deviation.
        depth: usize,
    },
    /// Weighted sum of `1 / (k + rank)`, ranks from 1.
    ReciprocalRank {
        /// Damps the first ranks.
        k: f32,
        /// Weight of the dense list.
        dense_weight: f32,
        /// Weight of the lexical list.
        lexical_weight: f32,
    },
}

impl Fusion {
    /// 0.6 for the dense side, statistics over 50 scores: see docs/decisions/0006 and, for the weight, 0025.
    pub fn standard_scores() -> Self {
        Self::ZScores { dense_weight: 0.6, depth: 50 }
    }

    /// k = 60, both lists alike.
    pub fn reciprocal_rank() -> Self {
        Self::ReciprocalRank { k: 60.0, dense_weight: 1.0, lexical_weight: 1.0 }
    }
}

/// Mean and deviation of the best scores of a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) mean: f32,
    pub(crate) deviation: f32,
}

impl Spread {
    /// Of the `depth` highest of `scores`; of an empty list, one that maps everything to 0.
    #[expect(clippy::cast_precision_loss, reason = "depth is far below 2^24")]
    pub(crate) fn of(mut scores: Vec<f32>, depth: usize) -> Self {
        if depth < scores.len() {
            scores.select_nth_unstable_by(depth, |a, b| b.total_cmp(a));
            scores.truncate(depth);
        }
        if scores.is_empty() {
            return Self { mean: 0.0, deviation: 0.0 };
        }
        // Selection leaves an order that depends on the input's; the sum must not.
        scores.sort_by(f32::total_cmp);
        let n = scores.len() as f32;
        let mean = scores.iter().sum::<f32>() / n;
        let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f32>() / n;
        Self { mean, deviation: variance.sqrt() }
    }

    /// How many deviations `score` lies above the mean; 0 where all scores are alike.
    pub(crate) fn standardise(self, score: f32) -> f32 {
        if self.deviation > f32::EPSILON { (score - self.mean) / self.deviation } else { 0.0 }
    }
}

/// Place of `score` among `sorted` scores in descending order, from 1; equal scores share the better place.
pub(crate) fn rank(sorted: &[f32], score: f32) -> usize {
    sorted.partition_point(|other| *other > score) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_that_of_the_best() {
        let check = |scores: &[f32], depth: usize, mean: f32, deviation: f32| {
            let spread = Spread::of(scores.to_vec(), depth);
            assert!((spread.mean - mean).abs() < 1e-6, "{spread:?}");
            assert!((spread.deviation - deviation).abs() < 1e-6, "{spread:?}");
        };
        check(&[1.0, 5.0, 3.0], 2, 4.0, 1.0);
        check(&[2.0, 4.0], 10, 3.0, 1.0);
        check(&[2.0], 10, 2.0, 0.0);
        check(&[], 10, 0.0, 0.0);
        assert!(Spread::of(vec![2.0], 1).standardise(9.0).abs() < f32::EPSILON);
    }

    #[test]
    fn equal_scores_share_a_rank() {
        let sorted = [9.0, 7.0, 7.0, 1.0];
        assert_eq!([9.0, 7.0, 1.0, 0.0].map(|score| rank(&sorted, score)), [1, 2, 4, 5]);
    }
}
