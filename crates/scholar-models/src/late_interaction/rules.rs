//! How much each feature counts, as a trained model's folder says it.

use std::path::Path;

use serde::Deserialize;

use super::features::FEATURES;
use crate::error::ModelError;
use crate::second_reading;

/// How much each standardised feature counts.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct LateWeights {
    /// Of the retriever's score.
    pub retrieval: f32,
    /// Of `MaxSim`: does each token of the query have a counterpart in the passage?
    pub tokens: f32,
    /// Of the passage's likeness to the query.
    pub likeness: f32,
    /// Of its likeness to the query moved towards the best candidates.
    pub feedback: f32,
    /// Of the share of the query's words, by rarity, that the title has.
    pub title: f32,
    /// Of the share of the query's neighbouring words that are neighbours in the passage.
    pub pairs: f32,
}

impl LateWeights {
    pub(super) fn in_order(self) -> [f32; FEATURES] {
        let Self { retrieval, tokens, likeness, feedback, title, pairs } = self;
        [retrieval, tokens, likeness, feedback, title, pairs]
    }
}

/// What `reading.json` of a reranker that reads apart says; other keys in it are for people.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct LateRules {
    /// Candidates that are read.
    pub depth: usize,
    /// How much each feature counts.
    #[serde(flatten)]
    pub weights: LateWeights,
}

impl LateRules {
    /// What the folder says; `None` where it says nothing.
    ///
    /// # Errors
    /// When the file is damaged or its numbers make no sense.
    pub fn read(dir: &Path) -> Result<Option<Self>, ModelError> {
        second_reading::rules(dir, |read: &Self| (read.depth, read.weights.in_order()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::second_reading::READING_FILE;

    #[test]
    fn weights_are_the_folders_and_are_checked() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(LateRules::read(dir.path()).expect("none"), None);
        let read = |text: &str| {
            fs_err::write(dir.path().join(READING_FILE), text).expect("written");
            LateRules::read(dir.path())
        };
        let good = r#"{"depth": 20, "retrieval": 1, "tokens": 0.6, "likeness": 0.3, "feedback": 0.3, "title": 0.2, "pairs": 0}"#;
        let rules = read(good).expect("sound").expect("there");
        assert_eq!((rules.depth, rules.weights.in_order()[1]), (20, 0.6));
        let of_another_kind = good.replace("tokens", "logit");
        for bad in [good.replace("20", "0"), of_another_kind, "{".to_owned()] {
            let error = read(&bad).expect_err("refused").to_string();
            assert!(error.contains(READING_FILE), "{error}");
        }
    }
}
