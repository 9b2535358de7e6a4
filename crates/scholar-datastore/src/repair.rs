//! Saving what is whole of a damaged datastore: `openscholar datastore repair`.
//!
//! 1. Each file is compared with its checksum ([`source`]). The damaged datastore is only read.
//! 2. A paper is saved if its stored record lies in a whole file, or if the digest that was indexed with it proves that it
//!    is what was stored ([`proof`]).
//! 3. Passages come from whole files as they are. Of a paper that lies in a damaged one they are cut anew by the
//!    datastore's rules, and those that come out the same keep their vectors.
//! 4. A vector is taken from a dense segment whose digest fits; any other is encoded anew.
//! 5. What cannot be saved is named: by identifier and title where these can still be read, else by segment and number.

mod proof;
mod segment;
mod source;

use std::ops::ControlFlow;
use std::path::PathBuf;

use scholar_core::{Encoder, PaperId, Passage};
use serde::Serialize;

use crate::error::Error;
use crate::merge::StoredPaper;
use crate::writer::add::AddRun;
use crate::writer::prepare::{Prepared, encode_in_batches};
use crate::writer::{AddOptions, AddProgress, DatastoreWriter};

pub use source::RepairSource;
use source::Saved;

/// A file that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DamagedFile {
    /// Its path below the datastore's folder.
    pub file: PathBuf,
    /// What is wrong with it.
    pub what: String,
}

/// A paper that could not be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostPaper {
    /// Its identifier, with the registry in front.
    pub paper: String,
    /// Its title, as far as it can be read; it may be damaged.
    pub title: Option<String>,
    /// The lexical segment it lay in.
    pub segment: String,
    /// Why it is lost.
    pub why: &'static str,
}

impl LostPaper {
    fn unreadable(id: &PaperId, title: Option<String>, segment: String) -> Self {
        Self { paper: id.to_string(), title, segment, why: "its record cannot be read" }
    }

    fn unproven(id: &PaperId, title: Option<String>, segment: String) -> Self {
        let why = "its record is in a damaged file and cannot be verified";
        Self { paper: id.to_string(), title, segment, why }
    }
}

/// Documents, papers and passages, of which not even the name can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostDocuments {
    /// Identifier of the lexical segment they lie in.
    pub segment: String,
    /// How many could not be read: papers and passages together.
    pub documents: u64,
}

/// What was saved and what was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// Files that are not as they were written.
    pub damaged: Vec<DamagedFile>,
    /// Papers in the new datastore.
    pub papers_saved: u64,
    /// Papers of them whose passages were cut anew.
    pub papers_cut_anew: u64,
    /// Passages stored; of a repair that continues, since it was started again.
    pub passages_saved: u64,
    /// Passages of them that were encoded anew.
    pub passages_encoded: u64,
    /// Papers that could not be saved.
    pub lost: Vec<LostPaper>,
    /// What else was there.
    pub lost_documents: Vec<LostDocuments>,
    /// Lexical segments whose lists of removed documents are lost: papers that were removed from them are back.
    pub without_deletions: Vec<String>,
    /// Whether the progress callback stopped it.
    pub interrupted: bool,
}

impl RepairReport {
    /// Whether every paper was saved.
    pub fn is_complete(&self) -> bool {
        self.lost.is_empty() && self.lost_documents.is_empty()
    }
}

impl DatastoreWriter {
    /// Copies what can be saved of `source`. Without an `encoder`, papers of which a vector is lost are lost. What is
    /// stored already is skipped, so an interrupted repair goes on where it was.
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`] when this datastore or `encoder` is for other vectors, or a failed write.
    pub fn save_from(
        &mut self,
        source: &RepairSource,
        encoder: Option<&dyn Encoder>,
        options: &AddOptions,
        progress: &mut dyn FnMut(&AddProgress) -> ControlFlow<()>,
    ) -> Result<RepairReport, Error> {
        self.descriptor.check_encoder(&self.root, &source.descriptor().encoder)?;
        if let Some(encoder) = encoder {
            self.descriptor.check_encoder(&self.root, encoder.info())?;
        }
        let (lost, lost_documents) = source.lost();
        let mut report = RepairReport {
            damaged: source.damaged().to_vec(),
            papers_saved: 0,
            papers_cut_anew: 0,
            passages_saved: 0,
            passages_encoded: 0,
            lost: lost.to_vec(),
            lost_documents: lost_documents.to_vec(),
            without_deletions: source.without_deletions().map(str::to_owned).collect(),
            interrupted: false,
        };
        let options = AddOptions { keep_duplicates: true, ..options.clone() };
        let mut work = AddRun::start(&options, progress);
        for id in source.in_order() {
            match source.paper(&id) {
                Ok(saved) => self.save(saved, encoder, &mut work, &mut report)?,
                Err(lost) => report.lost.push(lost),
            }
            if work.is_quiet() && work.report().is_break() {
                report.interrupted = true;
                break;
            }
        }
        self.finish(&mut work, report.interrupted)?;
        report.passages_saved = work.state.passages_added;
        Ok(report)
    }

    fn save(
        &mut self,
        saved: Saved,
        encoder: Option<&dyn Encoder>,
        work: &mut AddRun<'_>,
        report: &mut RepairReport,
    ) -> Result<(), Error> {
        let Saved { stored, passages, is_complete } = saved;
        let StoredPaper { paper, merged, source } = stored;
        let json = |error: serde_json::Error| Error::corrupt(&self.root, error.to_string());
        let mut prepared = Prepared::new(paper, self.descriptor.rules).map_err(json)?;
        let cut = std::mem::take(&mut prepared.passages);
        let title = prepared.paper.meta.title.clone();
        let id = prepared.paper.meta.id.clone();
        self.join(&mut prepared, None, merged)?;
        let passages = if is_complete { passages } else { matched(cut, passages) };
        let missing: Vec<&Passage> =
            passages.iter().filter(|(_, vector)| vector.is_none()).map(|(p, _)| p).collect();
        let fresh = match (missing.is_empty(), encoder) {
            (true, _) => Vec::new(),
            (false, Some(encoder)) => {
                let encoded = encode_in_batches(encoder, &missing, work.options.batch_words);
                let failed = |source| Error::Encode { path: self.root.clone(), source };
                encoded.map_err(failed)?.0
            }
            (false, None) => {
                let segment = String::new();
                let why =
                    "its vectors are lost, and its encoder is not available to recompute them";
                report.lost.push(LostPaper {
                    paper: id.to_string(),
                    title: Some(title),
                    segment,
                    why,
                });
                return Ok(());
            }
        };
        report.papers_saved += 1;
        report.papers_cut_anew += u64::from(!is_complete);
        let Some(mut prepared) = self.admit(prepared, work)? else { return Ok(()) };
        report.passages_encoded += fresh.len() as u64;
        let mut fresh = fresh.into_iter();
        let (passages, vectors) = passages
            .into_iter()
            .map(|(passage, vector)| (passage, vector.or_else(|| fresh.next()).unwrap_or_default()))
            .unzip::<_, _, Vec<Passage>, Vec<Vec<f32>>>();
        prepared.put_passages(passages);
        self.store(&prepared, &vectors, source.as_deref().unwrap_or(&work.options.source))?;
        work.state.papers_added += 1;
        work.state.passages_added += prepared.passages.len() as u64;
        self.commit_when_due(work)
    }
}

/// What was cut anew, with the vectors of the same passages among those that were read.
fn matched(
    cut: Vec<Passage>,
    read: Vec<(Passage, Option<Vec<f32>>)>,
) -> Vec<(Passage, Option<Vec<f32>>)> {
    cut.into_iter()
        .map(|passage| {
            let same = read.iter().filter(|(other, _)| *other == passage);
            let vector = same.filter_map(|(_, vector)| vector.clone()).next_back();
            (passage, vector)
        })
        .collect()
}
