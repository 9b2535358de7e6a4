//! The list of dense segments that belongs to one tantivy commit, stored as that commit's payload.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tantivy::IndexMeta;

use crate::error::Error;
use crate::seal;

/// Version of the payload.
pub const MANIFEST_VERSION: u32 = 2;
/// First version with a checksum and the number of its commit.
const SEALED_VERSION: u32 = 2;
/// Field of the payload: tantivy's number of the commit, which merges of its segments do not change.
const OPSTAMP: &str = "opstamp";

/// One dense segment as a commit sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentEntry {
    /// File name inside `dense/`.
    pub file: String,
    /// Vector ordinal of row 0.
    pub first: u64,
    /// Number of ordinals; those of removed passages may have no row any more.
    pub count: u64,
    /// File name of the inverted index, where the segment is large enough to have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
}

/// What a commit covers beside tantivy's own files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format it was written in; this program writes [`MANIFEST_VERSION`].
    pub version: u32,
    /// Vector ordinal that the next stored passage gets. Ordinals are never used twice.
    pub next_ordinal: u64,
    /// Number in the name of the next dense segment.
    pub next_segment: u64,
    /// Dense segments in ascending order of `first`.
    pub segments: Vec<SegmentEntry>,
}

impl Manifest {
    /// Of a datastore without papers.
    pub fn empty() -> Self {
        Self { version: MANIFEST_VERSION, next_ordinal: 0, next_segment: 0, segments: Vec::new() }
    }

    /// The manifest of a commit; a store to which nothing was ever committed has none and is empty.
    ///
    /// # Errors
    /// [`Error::Corrupt`] or [`Error::Version`], naming the datastore.
    pub fn of_commit(root: &Path, metas: &IndexMeta) -> Result<Self, Error> {
        Self::of_payload(root, metas.payload.as_deref(), metas.opstamp, metas.segments.is_empty())
    }

    /// The same of the commit numbered `opstamp`.
    ///
    /// # Errors
    /// As [`Manifest::of_commit`].
    pub(crate) fn of_payload(
        root: &Path,
        payload: Option<&str>,
        opstamp: u64,
        is_empty: bool,
    ) -> Result<Self, Error> {
        let corrupt = |what: String| Error::corrupt(root, format!("commit payload: {what}"));
        let Some(payload) = payload else {
            if opstamp == 0 && is_empty {
                return Ok(Self::empty());
            }
            return Err(corrupt("is absent".to_owned()));
        };
        let document: Value =
            serde_json::from_str(payload).map_err(|error| corrupt(error.to_string()))?;
        let manifest: Self =
            serde_json::from_value(document.clone()).map_err(|error| corrupt(error.to_string()))?;
        if manifest.version > MANIFEST_VERSION {
            return Err(Error::Version {
                path: root.to_owned(),
                found: manifest.version,
                supported: MANIFEST_VERSION,
            });
        }
        // The first version had no checksum.
        if manifest.version >= SEALED_VERSION || seal::is_sealed(&document) {
            if !seal::is_intact(&document) {
                return Err(corrupt("its checksum does not fit".to_owned()));
            }
            if document[OPSTAMP] != opstamp {
                return Err(corrupt("belongs to another commit".to_owned()));
            }
        }
        Ok(Self { version: MANIFEST_VERSION, ..manifest })
    }

    /// The payload of the commit numbered `opstamp`.
    ///
    /// # Errors
    /// Never in practice: every field has a JSON form.
    pub fn to_payload(&self, opstamp: u64) -> Result<String, serde_json::Error> {
        let mut document = serde_json::to_value(self)?;
        document[OPSTAMP] = Value::from(opstamp);
        serde_json::to_string(&seal::seal(document))
    }
}
