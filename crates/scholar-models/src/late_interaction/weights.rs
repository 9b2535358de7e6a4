//! Feature weights of a late-interaction reranker, as a trained model's folder states them.

use std::path::Path;

use serde::Deserialize;

use super::features::FEATURES;
use crate::error::ModelError;
use crate::fusion::read_weights;

/// Weights of the z-scored features.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct LateInteractionWeights {
    /// Weight of the retriever's score.
    pub retrieval: f32,
    /// Weight of `MaxSim`: the mean over query tokens of the best cosine with a passage token.
    #[serde(alias = "tokens")]
    pub max_sim: f32,
    /// Weight of the cosine of the mean-pooled vectors.
    #[serde(alias = "likeness")]
    pub pooled_cosine: f32,
    /// Weight of that cosine after the query's vector was moved towards the best candidates (pseudo-relevance feedback).
    pub feedback: f32,
    /// Weight of the IDF-weighted fraction of the query's terms that the title has.
    pub title: f32,
    /// Weight of the fraction of the query's bigrams that the passage has.
    #[serde(alias = "pairs")]
    pub bigrams: f32,
}

impl LateInteractionWeights {
    pub(super) fn in_order(self) -> [f32; FEATURES] {
        let Self { retrieval, max_sim, pooled_cosine, feedback, title, bigrams } = self;
        [retrieval, max_sim, pooled_cosine, feedback, title, bigrams]
    }
}

/// `rerank_weights.json` of a late-interaction reranker; other keys in it are for people.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct LateInteractionConfig {
    /// Candidates that are reranked.
    pub depth: usize,
    /// Weights of the features.
    #[serde(flatten)]
    pub weights: LateInteractionWeights,
}

impl LateInteractionConfig {
    /// What the folder says; `None` where it says nothing.
    ///
    /// # Errors
    /// When the file is damaged, its depth is 0 or a weight is not finite.
    pub fn read(dir: &Path) -> Result<Option<Self>, ModelError> {
        read_weights(dir, |read: &Self| (read.depth, read.weights.in_order()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fusion::RERANK_WEIGHTS_FILE;

    #[test]
    fn weights_are_the_folders_and_are_checked() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(LateInteractionConfig::read(dir.path()).expect("none"), None);
        // What the shipped reranker had until November 2026.
        let former = include_str!("../../tests/compat/1/late-interaction/reading.json");
        fs_err::write(dir.path().join("reading.json"), former).expect("written");
        let config = LateInteractionConfig::read(dir.path()).expect("sound").expect("there");
        assert_eq!((config.depth, config.weights.in_order()), (30, [1.0, 0.5, 0.0, 0.6, 0.3, 0.3]));
        let read = |text: &str| {
            fs_err::write(dir.path().join(RERANK_WEIGHTS_FILE), text).expect("written");
            LateInteractionConfig::read(dir.path())
        };
        let good = r#"{"depth": 20, "retrieval": 1, "max_sim": 0.6, "pooled_cosine": 0.3, "feedback": 0.3, "title": 0.2, "bigrams": 0}"#;
        let config = read(good).expect("sound").expect("there");
        assert_eq!((config.depth, config.weights.in_order()[1]), (20, 0.6));
        let of_a_cross_encoder = good.replace("max_sim", "logit");
        for bad in [good.replace("20", "0"), of_a_cross_encoder, "{".to_owned()] {
            let error = read(&bad).expect_err("refused").to_string();
            assert!(error.contains(RERANK_WEIGHTS_FILE), "{error}");
        }
    }
}
