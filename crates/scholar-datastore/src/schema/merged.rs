//! What records of one work leave in the one that stays.

use scholar_core::PaperId;
use serde::{Deserialize, Serialize};

/// What a paper has from other records of the same work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Merged {
    /// Identifiers that are not in the record whose text it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ids: Vec<PaperId>,
    /// Content keys of all records that need not be read again, its own among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) contents: Vec<String>,
    /// Content keys of records that newer ones of the same identifier took the place of, the newest last. To add one again
    /// brings it back; to merge the datastore again that it came from does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) superseded: Vec<String>,
}

impl Merged {
    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.contents.is_empty() && self.superseded.is_empty()
    }

    /// Takes in what `other` has and this one has not.
    pub(crate) fn extend(&mut self, other: Self) {
        let Self { ids, contents, superseded } = other;
        add_missing(&mut self.ids, ids);
        add_missing(&mut self.contents, contents);
        add_missing(&mut self.superseded, superseded);
        self.superseded.retain(|key| !self.contents.contains(key));
        let old = self.superseded.len().saturating_sub(MOST_SUPERSEDED);
        self.superseded.drain(..old);
    }
}

/// Superseded records that are remembered of a paper. Each takes about 60 bytes.
const MOST_SUPERSEDED: usize = 32;

pub(crate) fn add_missing<T: PartialEq>(to: &mut Vec<T>, from: Vec<T>) {
    for value in from {
        if !to.contains(&value) {
            to.push(value);
        }
    }
}
