//! The list of dense segments that belongs to one tantivy commit, stored as that commit's payload.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Version of the payload.
pub const MANIFEST_VERSION: u32 = 1;

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
    /// [`MANIFEST_VERSION`].
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

    /// Parses a commit payload; no payload is the empty datastore.
    ///
    /// # Errors
    /// [`Error::Corrupt`] or [`Error::Version`], naming the datastore.
    pub fn parse(root: &Path, payload: Option<&str>) -> Result<Self, Error> {
        let Some(payload) = payload else { return Ok(Self::empty()) };
        let manifest: Self = serde_json::from_str(payload)
            .map_err(|error| Error::corrupt(root, format!("commit payload: {error}")))?;
        if manifest.version != MANIFEST_VERSION {
            return Err(Error::Version {
                path: root.to_owned(),
                found: manifest.version,
                supported: MANIFEST_VERSION,
            });
        }
        Ok(manifest)
    }

    /// The payload.
    ///
    /// # Errors
    /// Never in practice: every field has a JSON form.
    pub fn to_payload(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}
