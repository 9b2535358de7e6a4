//! Terms by which a paper is found from what its source records state: files, bytes, citation keys.
//!
//! They stand in [`Fields::digest`] beside what is there, so that datastores of before need not be built again. No digest
//! has a colon.

use std::path::Path;

use scholar_core::text::hex;
use scholar_core::{Paper, RecordSource};
use sha2::{Digest as _, Sha256};
use tantivy::{TantivyDocument, Term};

use super::{DIGEST_BYTES, Fields};

/// Stands on every paper that has source records.
const RECORDED: &str = "recorded:";

fn path_key(path: &Path) -> String {
    // Names need not be valid text, and they may be long.
    let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
    format!("path:{}", hex(&digest[..DIGEST_BYTES]))
}

fn bytes_key(sha256: &str) -> String {
    format!("bytes:{sha256}")
}

fn citation_key(key: &str) -> String {
    format!("key:{}", hex(&Sha256::digest(key)[..DIGEST_BYTES]))
}

impl Fields {
    /// The term of each paper with source records.
    pub(crate) fn recorded_term(&self) -> Term {
        Term::from_field_text(self.digest, RECORDED)
    }

    /// The term of each paper that was read from `path`, or whose library entry names it.
    pub(crate) fn path_term(&self, path: &Path) -> Term {
        Term::from_field_text(self.digest, &path_key(path))
    }

    /// The term of each paper that was read from a file with this SHA-256, in hexadecimal digits.
    pub(crate) fn bytes_term(&self, sha256: &str) -> Term {
        Term::from_field_text(self.digest, &bytes_key(sha256))
    }

    /// The term of each paper that a library has under the citation key `key`.
    pub(crate) fn citation_key_term(&self, key: &str) -> Term {
        Term::from_field_text(self.digest, &citation_key(key))
    }

    pub(crate) fn add_records(&self, document: &mut TantivyDocument, paper: &Paper) {
        if paper.records.is_empty() {
            return;
        }
        document.add_text(self.digest, RECORDED);
        for record in &paper.records {
            for path in record.source.paths() {
                document.add_text(self.digest, path_key(path));
            }
            match &record.source {
                RecordSource::File(file) => {
                    document.add_text(self.digest, bytes_key(&file.sha256));
                }
                RecordSource::Library { key: Some(key), .. } => {
                    document.add_text(self.digest, citation_key(key));
                }
                RecordSource::Library { key: None, .. }
                | RecordSource::Registry { .. }
                | RecordSource::Collection { .. } => {}
            }
        }
    }
}
