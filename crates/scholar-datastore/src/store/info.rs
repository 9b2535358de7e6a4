//! What a datastore holds, and what it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use scholar_core::EncoderInfo;
use serde::Serialize;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, Searcher, TERMINATED, TantivyError, Term};

use super::{Datastore, Snapshot};
use crate::dense::file::DENSE_VERSION;
use crate::descriptor::BuildRules;
use crate::error::Error;
use crate::layout::{DENSE_FOLDER, LEXICAL_FOLDER, UNFINISHED};
use crate::manifest::MANIFEST_VERSION;
use crate::schema::{KIND_PAPER, KIND_PASSAGE, column};

/// Bytes of a document's score while a query is searched.
const SCORE_BYTES: u64 = 4;

/// Papers of one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceCount {
    /// Name given when they were added.
    pub source: String,
    /// How many there are.
    pub papers: u64,
}

/// Versions of what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Formats {
    /// The folder, its descriptor and the schema.
    pub datastore: u32,
    /// What a commit says of dense segments.
    pub manifest: u32,
    /// New dense segments; older ones are read.
    pub dense: u32,
    /// tantivy's files of the lexical index.
    pub lexical: u32,
}

/// Files of one purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiskPart {
    /// What is in them.
    pub part: &'static str,
    /// Their bytes on disk.
    pub bytes: u64,
    /// Whether every query reads them all over, so that they had better be in memory.
    pub hot: bool,
}

/// Estimated memory of a process that searches. Files are mapped: what does not fit is read again, more slowly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MemoryNeed {
    /// Allocated once opened, to get from vectors to passages.
    pub allocated_bytes: u64,
    /// Allocated for each query while it runs: four bytes for each document.
    pub per_query_bytes: u64,
    /// Mapped files that every query reads all over: dictionaries, columns, norms, inverted indexes, and the vectors of
    /// segments without one.
    pub hot_bytes: u64,
    /// Mapped files of which a query reads a little: lists of its terms, vectors it compares, texts of its results.
    pub cold_bytes: u64,
}

/// Counts and sizes of the newest commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DatastoreInfo {
    /// Format version that the descriptor states.
    pub format: u32,
    /// Versions of all that is written.
    pub formats: Formats,
    /// Whose vectors are stored.
    pub encoder: EncoderInfo,
    /// How papers were cut.
    pub rules: BuildRules,
    /// Papers, those without passages included.
    pub papers: u64,
    /// Passages that can be found, each with a vector.
    pub passages: u64,
    /// Stored vectors, those of removed passages included.
    pub vectors: u64,
    /// Number of dense segments.
    pub dense_segments: usize,
    /// Dense segments with an inverted index.
    pub indexed_segments: usize,
    /// Number of tantivy's segments.
    pub lexical_segments: usize,
    /// Bytes of the dense files that the commit names.
    pub dense_bytes: u64,
    /// Bytes of inverted indexes among them: what searching reads often, so what should fit in memory.
    pub index_bytes: u64,
    /// Bytes of the lexical files that the commit names, stored texts included.
    pub lexical_bytes: u64,
    /// Bytes of files that no commit names: what a running writer has not committed yet, and what the next one removes.
    pub unnamed_bytes: u64,
    /// The same by purpose, largest first.
    pub parts: Vec<DiskPart>,
    /// Estimate of the memory that searching needs.
    pub memory: MemoryNeed,
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
            let term = Term::from_field_text(self.fields().kind, kind);
            self.reading(|| {
                alive_count(&snapshot.searcher, &term).map_err(Error::index("read", self.root()))
            })
        };
        Ok((count(KIND_PAPER)?, count(KIND_PASSAGE)?))
    }

    /// Counts what the newest commit holds. Reads columns, not texts.
    ///
    /// # Errors
    /// [`Error::Index`] and [`Error::Io`] when the store cannot be read.
    pub fn info(&self) -> Result<DatastoreInfo, Error> {
        self.reading(|| self.described())
    }

    fn described(&self) -> Result<DatastoreInfo, Error> {
        let snapshot = self.snapshot()?;
        let (papers, passages) = self.counts()?;
        let entries = &snapshot.manifest.segments;
        let indexed = |file: &str| {
            let of_it = entries.iter().find(|entry| entry.file == file);
            of_it.is_some_and(|entry| entry.index.is_some())
        };
        let lexical = self.index.load_metas().map_err(Error::index("open", self.root()))?;
        let lexical = lexical.list_segment_files();
        let is_named_dense = |file: &str| {
            entries.iter().any(|entry| entry.file == file || entry.index.as_deref() == Some(file))
        };
        let is_named_lexical =
            |file: &str| !is_of_segment(file) || lexical.contains(Path::new(file));
        let mut parts = Parts::default();
        let dense_bytes = parts.add(&self.root().join(DENSE_FOLDER), is_named_dense, indexed)?;
        let lexical_bytes =
            parts.add(&self.root().join(LEXICAL_FOLDER), is_named_lexical, indexed)?;
        let unnamed_bytes = parts.unnamed;
        let parts = parts.sorted();
        let hot_bytes = parts.iter().filter(|part| part.hot).map(|part| part.bytes).sum();
        let documents: u64 = snapshot
            .searcher
            .segment_readers()
            .iter()
            .map(|reader| u64::from(reader.max_doc()))
            .sum();
        let format = self.descriptor().format;
        Ok(DatastoreInfo {
            format,
            formats: Formats {
                datastore: format,
                manifest: MANIFEST_VERSION,
                dense: DENSE_VERSION,
                lexical: tantivy::INDEX_FORMAT_VERSION,
            },
            encoder: self.descriptor().encoder.clone(),
            rules: self.descriptor().rules,
            papers,
            passages,
            vectors: snapshot.dense.iter().map(|segment| segment.rows()).sum(),
            dense_segments: snapshot.dense.len(),
            indexed_segments: snapshot.dense.iter().filter(|s| s.index().is_some()).count(),
            lexical_segments: snapshot.searcher.segment_readers().len(),
            dense_bytes,
            index_bytes: snapshot.dense.iter().map(|segment| segment.index_bytes()).sum(),
            lexical_bytes,
            unnamed_bytes,
            memory: MemoryNeed {
                allocated_bytes: snapshot.ordinals.memory_bytes() as u64,
                per_query_bytes: SCORE_BYTES * documents,
                hot_bytes,
                cold_bytes: dense_bytes + lexical_bytes - hot_bytes,
            },
            parts,
            sources: self.sources(&snapshot).map_err(Error::index("read", self.root()))?,
        })
    }

    fn sources(&self, snapshot: &Snapshot) -> Result<Vec<SourceCount>, TantivyError> {
        let kind = Term::from_field_text(self.fields().kind, KIND_PAPER);
        let mut sources: BTreeMap<String, u64> = BTreeMap::new();
        for reader in snapshot.searcher.segment_readers() {
            let Some(names) = reader.fast_fields().str(column::SOURCE)? else { continue };
            let index = reader.inverted_index(kind.field())?;
            let Some(mut papers) = index.read_postings(&kind, IndexRecordOption::Basic)? else {
                continue;
            };
            let mut by_ord: BTreeMap<u64, u64> = BTreeMap::new();
            let mut doc = papers.doc();
            while doc != TERMINATED {
                if !reader.is_deleted(doc)
                    && let Some(ord) = names.ords().first(doc)
                {
                    *by_ord.entry(ord).or_default() += 1;
                }
                doc = papers.advance();
            }
            for (ord, papers) in by_ord {
                let mut name = String::new();
                names.ord_to_str(ord, &mut name)?;
                *sources.entry(name).or_default() += papers;
            }
        }
        let counts = sources.into_iter();
        Ok(counts.map(|(source, papers)| SourceCount { source, papers }).collect())
    }
}

/// Documents that carry `term` and are not deleted.
fn alive_count(searcher: &Searcher, term: &Term) -> Result<u64, TantivyError> {
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

/// Whether tantivy gave the file its name for a segment, which is 32 hexadecimal digits, or while it was writing it.
fn is_of_segment(file: &str) -> bool {
    let stem = file.split('.').next().unwrap_or_default();
    file.starts_with(UNFINISHED)
        || (stem.len() == 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Bytes by purpose.
#[derive(Default)]
struct Parts {
    unnamed: u64,
    bytes: BTreeMap<&'static str, u64>,
    hot: BTreeSet<&'static str>,
}

impl Parts {
    /// Adds the files of `folder` that are `named` and returns their bytes.
    fn add(
        &mut self,
        folder: &Path,
        named: impl Fn(&str) -> bool,
        indexed: impl Fn(&str) -> bool,
    ) -> Result<u64, Error> {
        let mut total = 0;
        for entry in fs_err::read_dir(folder).map_err(Error::io("read", folder))? {
            let entry = entry.map_err(Error::io("read", folder))?;
            // A file that a merge removes meanwhile has no size.
            let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if !named(&name) {
                self.unnamed += bytes;
                continue;
            }
            let (part, hot) = match name.rsplit('.').next().unwrap_or_default() {
                "vec" if indexed(&name) => ("vectors, read where the index points", false),
                "vec" => ("vectors, read by every query", true),
                "ivf" => ("inverted indexes of vectors", true),
                "store" => ("texts and metadata", false),
                "term" => ("dictionaries", true),
                "idx" => ("lists of terms", false),
                "fieldnorm" => ("lengths", true),
                "fast" => ("columns", true),
                _ => ("other", false),
            };
            *self.bytes.entry(part).or_default() += bytes;
            if hot {
                self.hot.insert(part);
            }
            total += bytes;
        }
        Ok(total)
    }

    fn sorted(self) -> Vec<DiskPart> {
        let Self { unnamed: _, bytes, hot } = self;
        let mut parts: Vec<DiskPart> = bytes
            .into_iter()
            .map(|(part, bytes)| DiskPart { part, bytes, hot: hot.contains(part) })
            .collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
        parts
    }
}
