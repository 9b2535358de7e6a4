//! What a datastore holds.

use std::collections::BTreeMap;
use std::path::Path;

use scholar_core::EncoderInfo;
use serde::Serialize;

use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, Searcher, TantivyError};

use super::{DENSE_FOLDER, Datastore, LEXICAL_FOLDER, alive_documents};
use crate::descriptor::BuildRules;
use crate::error::Error;
use crate::schema::{KIND_PAPER, KIND_PASSAGE, column};

/// Papers of one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceCount {
    /// Name given when they were added.
    pub source: String,
    /// How many there are.
    pub papers: u64,
}

/// Counts and sizes of the newest commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DatastoreInfo {
    /// Format version.
    pub format: u32,
    /// Whose vectors are stored.
    pub encoder: EncoderInfo,
    /// How papers were cut.
    pub rules: BuildRules,
    /// Papers.
    pub papers: u64,
    /// Passages.
    pub passages: u64,
    /// Stored vectors, those of removed passages included.
    pub vectors: u64,
    /// Dense segments.
    pub dense_segments: usize,
    /// Lexical segments.
    pub lexical_segments: usize,
    /// Bytes of the dense files.
    pub dense_bytes: u64,
    /// Bytes of inverted indexes among them: what searching reads often, so what should fit in memory.
    pub index_bytes: u64,
    /// Bytes held in memory by an open store to get from vectors to passages.
    pub table_bytes: u64,
    /// Bytes of the lexical index, stored texts included.
    pub lexical_bytes: u64,
    /// Papers per source, by name.
    pub sources: Vec<SourceCount>,
}

impl Datastore {
    /// Papers and passages of the newest commit. Cheap: lists are walked only where something was removed.
    ///
    /// # Errors
    /// [`Error::Index`] and [`Error::Io`] when the store cannot be read.
    pub fn counts(&self) -> Result<(u64, u64), Error> {
        let snapshot = self.snapshot()?;
        let count = |kind: &str| {
            let term = tantivy::Term::from_field_text(self.fields().kind, kind);
            alive_count(&snapshot.searcher, &term).map_err(Error::index("read", self.root()))
        };
        Ok((count(KIND_PAPER)?, count(KIND_PASSAGE)?))
    }

    /// Counts what the newest commit holds. Reads columns, not texts.
    ///
    /// # Errors
    /// [`Error::Index`] and [`Error::Io`] when the store cannot be read.
    pub fn info(&self) -> Result<DatastoreInfo, Error> {
        let snapshot = self.snapshot()?;
        let failed = || Error::index("read", self.root());
        let count = |kind: &str| {
            let term = tantivy::Term::from_field_text(self.fields().kind, kind);
            alive_documents(&snapshot.searcher, &term).map_err(failed())
        };
        let papers = count(KIND_PAPER)?;
        let mut sources: BTreeMap<String, u64> = BTreeMap::new();
        let readers = snapshot.searcher.segment_readers();
        let columns = readers
            .iter()
            .map(|reader| reader.fast_fields().str(column::SOURCE))
            .collect::<Result<Vec<_>, _>>()
            .map_err(failed())?;
        for address in &papers {
            let Some(names) = &columns[address.segment_ord as usize] else { continue };
            let Some(ord) = names.ords().first(address.doc_id) else { continue };
            let mut name = String::new();
            names.ord_to_str(ord, &mut name).map_err(Error::io("read", self.root()))?;
            *sources.entry(name).or_default() += 1;
        }
        let passages = count(KIND_PASSAGE)?;
        Ok(DatastoreInfo {
            format: self.descriptor().format,
            encoder: self.descriptor().encoder.clone(),
            rules: self.descriptor().rules,
            papers: papers.len() as u64,
            passages: passages.len() as u64,
            vectors: snapshot.manifest.segments.iter().map(|segment| segment.count).sum(),
            dense_segments: snapshot.dense.len(),
            lexical_segments: readers.len(),
            dense_bytes: folder_bytes(&self.root().join(DENSE_FOLDER))?,
            index_bytes: snapshot.dense.iter().map(|segment| segment.index_bytes()).sum(),
            table_bytes: snapshot.ordinals.memory_bytes() as u64,
            lexical_bytes: folder_bytes(&self.root().join(LEXICAL_FOLDER))?,
            sources: sources
                .into_iter()
                .map(|(source, papers)| SourceCount { source, papers })
                .collect(),
        })
    }
}

/// Documents that carry `term` and are not deleted.
fn alive_count(searcher: &Searcher, term: &tantivy::Term) -> Result<u64, TantivyError> {
    let mut count = 0;
    for reader in searcher.segment_readers() {
        let index = reader.inverted_index(term.field())?;
        count += match reader.alive_bitset() {
            None => u64::from(index.doc_freq(term)?),
            Some(alive) => index
                .read_postings(term, IndexRecordOption::Basic)?
                .map_or(0, |mut postings| u64::from(postings.count(alive))),
        };
    }
    Ok(count)
}

fn folder_bytes(folder: &Path) -> Result<u64, Error> {
    let mut total = 0;
    for entry in fs_err::read_dir(folder).map_err(Error::io("read", folder))? {
        let entry = entry.map_err(Error::io("read", folder))?;
        // A file that a merge removes meanwhile has no size.
        total += entry.metadata().map_or(0, |metadata| metadata.len());
    }
    Ok(total)
}
