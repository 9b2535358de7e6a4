//! What both rerankers of several features share: z-scores, weighted sums, the order of what was not scored, and the file
//! that holds a model's weights.

use std::path::{Path, PathBuf};

use scholar_core::{Explanation, PortError, RerankScore, RerankerInfo};
use serde::de::DeserializeOwned;

use crate::cross_encoder::finite;
use crate::error::ModelError;

/// Name of the file of a reranker's feature weights.
pub const RERANK_WEIGHTS_FILE: &str = "rerank_weights.json";
/// The name it had until November 2026.
const FORMER_RERANK_WEIGHTS_FILE: &str = "reading.json";

/// Stretches scores to about the spread of a cross-encoder's logits, against which the pipeline's citation bonus is sized.
const SPREAD: f32 = 4.0;

/// The weights file of model folder `dir`, under its name or the former one; `None` where there is none.
fn weights_file(dir: &Path) -> Option<PathBuf> {
    [RERANK_WEIGHTS_FILE, FORMER_RERANK_WEIGHTS_FILE]
        .map(|name| dir.join(name))
        .into_iter()
        .find(|path| path.is_file())
}

/// What the weights file of folder `dir` says, if there is one; `numbers` are its depth and weights.
///
/// # Errors
/// When the file is damaged, its depth is 0 or a weight is not finite.
pub(crate) fn read_weights<T: DeserializeOwned, const N: usize>(
    dir: &Path,
    numbers: impl Fn(&T) -> (usize, [f32; N]),
) -> Result<Option<T>, ModelError> {
    let Some(path) = weights_file(dir) else { return Ok(None) };
    let text = fs_err::read_to_string(&path).map_err(|e| ModelError::read(&path, e))?;
    let read: T = serde_json::from_str(&text).map_err(|e| ModelError::damaged(&path, e))?;
    let (depth, weights) = numbers(&read);
    if depth > 0 && weights.iter().all(|weight| weight.is_finite()) {
        return Ok(Some(read));
    }
    Err(ModelError::damaged(&path, "depth must be at least 1 and every weight finite"))
}

/// Feature names with their weights, in the order of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightedFeatures<const N: usize> {
    pub(crate) names: [&'static str; N],
    pub(crate) weights: [f32; N],
}

/// Positions of the candidates by the score of the first stage, best first, ties by input order.
pub(crate) fn by_first_stage(scores: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    order
}

/// Explained scores of all candidates, in input order.
///
/// `order` is [`by_first_stage`]; `rows` are the raw features of its first candidates. Those are z-scored over the rows,
/// weighted and added; the candidates without features come below all of them, in the first stage's order.
pub(crate) fn fused<const N: usize>(
    order: &[usize],
    rows: &[[f32; N]],
    features: WeightedFeatures<N>,
) -> Vec<Explanation> {
    let WeightedFeatures { names, weights } = features;
    let (head, tail) = order.split_at(rows.len().min(order.len()));
    let mut explanations = vec![Explanation::new(0.0, "not scored"); order.len()];
    let mut lowest = 0.0_f32;
    for (at, row) in head.iter().zip(z_scores(rows)) {
        let parts: Vec<f32> =
            row.iter().zip(weights).map(|(value, weight)| SPREAD * weight * value).collect();
        let sum: f32 = parts.iter().sum();
        lowest = lowest.min(sum);
        explanations[*at] = names.iter().zip(parts).fold(
            Explanation::new(sum, "weighted sum of z-scores over the candidates"),
            |all, (name, part)| all.with(Explanation::new(part, *name)),
        );
    }
    for (rank, at) in tail.iter().enumerate() {
        let score = lowest - SPREAD * (1.0 + rank as f32);
        let reason =
            format!("beyond the {} candidates that are reranked: first-stage order", head.len());
        explanations[*at] = Explanation::new(score, reason);
    }
    explanations
}

/// The values of explanations as scores, in their order; `reranker` names it in the error.
///
/// # Errors
/// `Corrupt` for a number that is not finite.
pub(crate) fn scores(
    reranker: &RerankerInfo,
    explained: &[Explanation],
) -> Result<Vec<RerankScore>, PortError> {
    finite(&reranker.name, explained.iter().map(|explanation| explanation.value).collect())
}

/// Each feature brought to mean 0 and standard deviation 1 over the rows; a constant feature becomes 0.
pub(crate) fn z_scores<const N: usize>(raw: &[[f32; N]]) -> Vec<[f32; N]> {
    let n = raw.len().max(1) as f64;
    let mut rows = raw.to_vec();
    for feature in 0..N {
        let values = || raw.iter().map(|row| f64::from(row[feature]));
        let mean = values().sum::<f64>() / n;
        let deviation = (values().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
        for (row, value) in rows.iter_mut().zip(values()) {
            row[feature] = ((value - mean) / (deviation + 1e-6)) as f32;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEATURES: WeightedFeatures<4> =
        WeightedFeatures { names: ["a", "b", "c", "d"], weights: [1.0, 0.6, 0.2, 0.2] };

    #[test]
    fn a_feature_can_overturn_the_first_stage_and_the_rest_stay_below() {
        // Equal but for the first two features; two candidates have none.
        let raw = [[3.0, -1.0, 0.5, 0.0], [2.0, 9.0, 0.5, 0.0], [2.9, -1.0, 0.5, 0.0]];
        let scores = fused(&[4, 0, 2, 1, 3], &raw, FEATURES);
        let values: Vec<f32> = scores.iter().map(|score| score.value).collect();
        let reranked = [values[0], values[2], values[4]];
        assert!(reranked.iter().all(|value| *value > values[1]), "{values:?}");
        assert!(values[1] > values[3], "{values:?}");
        assert!(values[4] > values[2], "the first stage decides between equals: {values:?}");
        let strong = WeightedFeatures { weights: [0.5, 1.0, 0.0, 0.0], ..FEATURES };
        let strong = fused(&[0, 1, 2], &raw, strong);
        assert!(strong[1].value > strong[0].value, "the logit decides where it weighs more");
        assert!(fused(&[], &[], FEATURES).is_empty());
    }

    #[test]
    fn the_parts_add_up() {
        let raw = [[3.0, -1.0, 0.2, 0.1], [2.0, 4.0, 0.5, 0.3], [2.9, -1.5, 0.1, 0.0]];
        for explanation in fused(&[0, 1, 2], &raw, FEATURES) {
            let sum: f32 = explanation.details.iter().map(|part| part.value).sum();
            assert!((sum - explanation.value).abs() < 1e-4);
            assert_eq!(explanation.details.len(), 4);
        }
    }

    #[test]
    fn z_scores_have_mean_zero_and_constants_vanish() {
        let rows = z_scores(&[[1.0, 5.0], [3.0, 5.0]]);
        for row in rows {
            assert!((row[0].abs() - 1.0).abs() < 1e-4 && row[1].abs() < 1e-6);
        }
        assert!(z_scores::<2>(&[]).is_empty());
    }

    #[test]
    fn ties_keep_the_order_they_came_in() {
        assert_eq!(by_first_stage(&[0.1, 0.5, 0.1, 0.9]), [3, 1, 0, 2]);
    }
}
