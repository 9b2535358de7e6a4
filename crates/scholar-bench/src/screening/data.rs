//! Topics of a collection and labelled pairs.

use std::collections::BTreeMap;

use scholar_pipeline::proof::canonical::sha256;
use scholar_pipeline::screen::{Criteria, CriterionKind, Finding};
use serde::{Deserialize, Serialize};

use crate::retrieval::Collection;

/// A review with its criteria and judged papers.
#[derive(Debug, Clone)]
pub struct Topic {
    /// Its name in the collection.
    pub id: String,
    /// Title and criteria.
    pub criteria: Criteria,
    /// Names of its papers in the corpus, sorted, and whether the review included each.
    pub papers: Vec<(String, bool)>,
}

/// A topic that cannot be measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the collection has no judged papers of a topic {0:?}")]
pub struct TopicError(String);

/// The judged papers of the topic `id`, sorted by name, and whether the review included each.
///
/// # Errors
/// [`TopicError`] when the collection judges none.
pub fn topic_papers(collection: &Collection, id: &str) -> Result<Vec<(String, bool)>, TopicError> {
    let grades = collection.grades.get(id).ok_or_else(|| TopicError(id.to_owned()))?;
    let sorted: BTreeMap<&String, bool> =
        grades.iter().map(|(name, grade)| (name, *grade > 0)).collect();
    Ok(sorted.into_iter().map(|(name, wanted)| (name.clone(), wanted)).collect())
}

/// A pair of a paper and a criterion with its label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelledPair {
    /// The review.
    pub topic: String,
    /// The paper's name in the corpus.
    pub paper: String,
    /// The criterion's id in the review.
    pub criterion_id: String,
    /// Its text; a second labeller's file may leave it out.
    #[serde(default)]
    pub criterion: String,
    /// Its kind; likewise.
    #[serde(default)]
    pub kind: CriterionKind,
    /// Whether the paper meets it.
    pub label: Finding,
    /// The words of title or abstract that decide; `None` where nothing does.
    #[serde(default)]
    pub quote: Option<String>,
}

/// Which half of the pairs one belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Half {
    /// For fitting.
    Dev,
    /// For reporting.
    HeldOut,
}

impl LabelledPair {
    /// `topic/paper/criterion`.
    pub fn name(&self) -> String {
        format!("{}/{}/{}", self.topic, self.paper, self.criterion_id)
    }

    /// By the first byte of the SHA-256 of its name: even is for fitting.
    pub fn half(&self) -> Half {
        let digest = sha256(self.name().as_bytes());
        let first = u8::from_str_radix(&digest[..2], 16).unwrap_or(1);
        if first.is_multiple_of(2) { Half::Dev } else { Half::HeldOut }
    }
}

/// A file of pairs that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("line {line} is no labelled pair")]
pub struct PairsError {
    line: usize,
    source: serde_json::Error,
}

/// Reads JSON lines of pairs.
///
/// # Errors
/// [`PairsError`] names the line.
pub fn read_pairs(text: &str) -> Result<Vec<LabelledPair>, PairsError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|source| PairsError { line: at + 1, source })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: &str = include_str!("../../data/screening/screening-pairs.jsonl");

    #[test]
    fn the_committed_pairs_are_read_and_halved() {
        let pairs = read_pairs(PAIRS).expect("well-formed");
        let dev = pairs.iter().filter(|pair| pair.half() == Half::Dev).count();
        assert_eq!((pairs.len(), dev), (100, 52));
        let error = read_pairs("{\"topic\": 1}").expect_err("no pair");
        assert!(error.to_string().contains("line 1"));
    }
}
