//! The evidence registry: every passage shown gets one number for the whole run.

use std::collections::HashMap;
use std::fmt;

use scholar_core::text::markers::strip_foreign_markers;
use scholar_core::text::normalise::single_spaced;
use scholar_core::{PassageId, Ranked, Reference};
use serde::{Deserialize, Serialize};

/// Number of a shown passage within a run, from 0 as in the benchmark's files; never re-used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EvidenceNumber(pub usize);

impl fmt::Display for EvidenceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.0)
    }
}

/// A passage that a prompt or a reader was shown, under its number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Number in this run.
    pub number: EvidenceNumber,
    /// The passage, its paper and its scores.
    pub ranked: Ranked,
}

impl Evidence {
    /// The line a model reads: `[3] Title: … Text: …`, without the passage's own citation markers, so that they
    /// cannot pass for numbers of ours. The stored text stays as it is.
    ///
    /// Source: OpenScholar's reference block.
    pub fn prompt_line(&self) -> String {
        let passage = &self.ranked.retrieved.passage;
        let text = single_spaced(&strip_foreign_markers(&passage.text));
        if passage.title.is_empty() {
            format!("{} {text}", self.number)
        } else {
            format!("{} Title: {} Text: {text}", self.number, passage.title)
        }
    }
}

/// All shown passages in order of number.
#[derive(Debug, Clone, Default)]
pub struct EvidenceRegistry {
    items: Vec<Evidence>,
    by_passage: HashMap<PassageId, EvidenceNumber>,
    /// References of earlier answers of the thread, which keep their numbers.
    earlier: Vec<Reference>,
}

impl EvidenceRegistry {
    /// No passage shown yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// No passage shown yet, in a thread whose answers have these references.
    pub fn after(earlier: Vec<Reference>) -> Self {
        Self { earlier, ..Self::default() }
    }

    /// References of earlier answers of the thread, numbered from 1.
    pub fn earlier(&self) -> &[Reference] {
        &self.earlier
    }

    /// Numbers `ranked`; a passage shown before keeps its number.
    pub fn add(&mut self, ranked: Ranked) -> EvidenceNumber {
        let id = ranked.retrieved.passage.id.clone();
        if let Some(number) = self.by_passage.get(&id) {
            return *number;
        }
        let number = EvidenceNumber(self.items.len());
        self.by_passage.insert(id, number);
        self.items.push(Evidence { number, ranked });
        number
    }

    /// The passage of that number.
    pub fn get(&self, number: EvidenceNumber) -> Option<&Evidence> {
        self.items.get(number.0)
    }

    /// Whether the passage was shown.
    pub fn contains(&self, id: &PassageId) -> bool {
        self.by_passage.contains_key(id)
    }

    /// All of them, ascending by number.
    pub fn items(&self) -> &[Evidence] {
        &self.items
    }

    /// Number of passages shown.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether no passage was shown.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}
