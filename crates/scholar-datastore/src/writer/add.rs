//! Adding papers: what is new is encoded in batches, what is stored or a duplicate is not.

use std::ops::ControlFlow;
use std::time::Instant;

use scholar_core::{Encoder, Paper, PaperId, PaperMeta};

use super::known::Standing;
use super::prepare::{Prepared, encode_in_batches};
use super::{AddOptions, AddProgress, AddReport, DatastoreWriter, Duplicate};
use crate::error::Error;
use crate::ingest::Numbered;
use crate::schema::Merged;

/// Papers between two reports of progress while nothing is new.
const REPORT_EVERY_PAPERS: u64 = 1_000;

/// A paper with the place in its file, where it has one.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// What is offered, text and references included.
    pub paper: Paper,
    /// Its line, from 1; 0 is unknown.
    pub line: u64,
    /// Offset of the line's first byte.
    pub byte: u64,
}

impl From<Paper> for Offered {
    fn from(paper: Paper) -> Self {
        Self { paper, line: 0, byte: 0 }
    }
}

impl From<Numbered> for Offered {
    fn from(Numbered { paper, line, byte }: Numbered) -> Self {
        Self { paper, line, byte }
    }
}

/// Where a running `add` stands.
pub(crate) struct AddRun<'a> {
    pub(crate) options: &'a AddOptions,
    pub(crate) progress: &'a mut dyn FnMut(&AddProgress) -> ControlFlow<()>,
    pub(crate) state: AddProgress,
    /// Whether a duplicate's record is remembered, so that it is not looked at again.
    pub(crate) remembers: bool,
    committed: Instant,
}

impl<'a> AddRun<'a> {
    pub(crate) fn start(
        options: &'a AddOptions,
        progress: &'a mut dyn FnMut(&AddProgress) -> ControlFlow<()>,
    ) -> Self {
        let (state, committed) = (AddProgress::start(), Instant::now());
        Self { options, progress, state, remembers: false, committed }
    }

    /// Tells the caller; breaks when it wants to stop.
    pub(crate) fn report(&mut self) -> ControlFlow<()> {
        let told = (self.progress)(&self.state);
        self.state.duplicates.clear();
        told
    }

    /// Whether only skipped papers came by for a while.
    pub(crate) fn is_quiet(&self) -> bool {
        self.state.papers_read.is_multiple_of(REPORT_EVERY_PAPERS)
    }
}

impl DatastoreWriter {
    /// Adds `papers` in order, replacing stored papers of the same identifier, and commits every
    /// [`AddOptions::commit_every`] papers, after [`AddOptions::commit_after`], and at the end. A paper already stored
    /// with the same content is skipped, so an interrupted build goes on where it was when it is run again; one that is
    /// stored under another identifier is counted and named as a duplicate, and its identifiers are added to the stored
    /// one's; if its text is the fuller one, it takes the stored one's place and identifier. An `Err` item ends the work
    /// after a commit of what came before it. `progress` is called after each batch and can stop the work, also after a
    /// commit.
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`], [`Error::Encode`], [`Error::Vectors`], the first `Err` item, or a failed write.
    pub fn add(
        &mut self,
        papers: impl IntoIterator<Item = Result<impl Into<Offered>, Error>>,
        encoder: &dyn Encoder,
        options: &AddOptions,
        progress: &mut dyn FnMut(&AddProgress) -> ControlFlow<()>,
    ) -> Result<AddReport, Error> {
        self.descriptor.check_encoder(&self.root, encoder.info())?;
        let mut work = AddRun::start(options, progress);
        let mut batch: Vec<Prepared> = Vec::new();
        let mut buffered = 0;
        let mut failure = None;
        let mut interrupted = false;
        for paper in papers {
            let Offered { paper, line, byte } = match paper {
                Ok(paper) => paper.into(),
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            };
            let prepared = Prepared { place: (line, byte), ..self.prepare(paper)? };
            if let Some(prepared) = self.admit(prepared, &mut work)? {
                buffered += prepared.words();
                batch.push(prepared);
                if buffered >= options.buffer_words {
                    self.store_encoded(&mut batch, encoder, &mut work)?;
                    buffered = 0;
                    self.commit_when_due(&mut work)?;
                    interrupted = work.report().is_break();
                }
            } else if work.is_quiet() {
                interrupted = work.report().is_break();
            }
            if interrupted {
                break;
            }
        }
        self.store_encoded(&mut batch, encoder, &mut work)?;
        self.finish(&mut work, interrupted || failure.is_some())?;
        match failure {
            Some(error) => Err(error),
            None => Ok(AddReport { progress: work.state, interrupted }),
        }
    }

    /// Counts a paper that is offered; `None` when there is nothing to store of it.
    pub(crate) fn admit(
        &mut self,
        mut prepared: Prepared,
        work: &mut AddRun<'_>,
    ) -> Result<Option<Prepared>, Error> {
        work.state.papers_read += 1;
        // Judgements of a collection name documents: one that is printed twice must be found under both names.
        let keep_duplicates = work.options.keep_duplicates || self.descriptor.rules.title_only;
        match self.standing(&prepared, keep_duplicates)? {
            Standing::New => {}
            Standing::Changed(merged) => {
                self.join(&mut prepared, None, merged)?;
                prepared.replaces = true;
                work.state.papers_replaced += 1;
            }
            Standing::Fuller { first, merged } => {
                self.join(&mut prepared, Some(first), merged)?;
                prepared.replaces = true;
                work.state.papers_completed += 1;
            }
            Standing::Same => {
                work.state.papers_unchanged += 1;
                return Ok(None);
            }
            Standing::Duplicate { first, by, new_ids } => {
                work.state.papers_duplicate += 1;
                work.state.identifiers_added += new_ids.len() as u64;
                self.pending.name(new_ids.iter(), &first);
                let contents = if work.remembers { prepared.records() } else { Vec::new() };
                let noted = Merged { ids: new_ids, contents, ..Merged::default() };
                if !noted.is_empty() {
                    self.aliases.entry(first.clone()).or_default().extend(noted);
                }
                let PaperMeta { id: paper, title, .. } = prepared.paper.meta;
                let (line, byte) = prepared.place;
                work.state.duplicates.push(Duplicate { paper, title, first, by, line, byte });
                return Ok(None);
            }
        }
        self.pending.insert(&prepared);
        Ok(Some(prepared))
    }

    /// Puts a record together with others of the same work, under their identifier if they came first.
    pub(crate) fn join(
        &self,
        prepared: &mut Prepared,
        first: Option<PaperId>,
        merged: Merged,
    ) -> Result<(), Error> {
        let joined = match first {
            Some(first) => prepared.refile(first, merged),
            None => prepared.join(merged),
        };
        joined.map_err(|error| Error::corrupt(&self.root, error.to_string()))
    }

    /// Commits, and unless the work was cut short waits for the merges it began.
    pub(crate) fn finish(
        &mut self,
        work: &mut AddRun<'_>,
        is_cut_short: bool,
    ) -> Result<(), Error> {
        self.commit()?;
        if work.report().is_break() || is_cut_short {
            return Ok(());
        }
        work.state.is_merging = true;
        self.settle(&mut || work.report())?;
        work.state.is_merging = false;
        Ok(())
    }

    /// Commits when enough papers or enough time have gone by.
    pub(crate) fn commit_when_due(&mut self, work: &mut AddRun<'_>) -> Result<(), Error> {
        if self.pending.len() >= work.options.commit_every
            || work.committed.elapsed() >= work.options.commit_after
        {
            self.commit()?;
            work.committed = Instant::now();
        }
        Ok(())
    }

    pub(crate) fn prepare(&self, paper: Paper) -> Result<Prepared, Error> {
        Prepared::new(paper, self.descriptor.rules)
            .map_err(|error| Error::corrupt(&self.root, error.to_string()))
    }

    pub(super) fn store_encoded(
        &mut self,
        batch: &mut Vec<Prepared>,
        encoder: &dyn Encoder,
        work: &mut AddRun<'_>,
    ) -> Result<(), Error> {
        let passages: Vec<_> = batch.iter().flat_map(|prepared| &prepared.passages).collect();
        let (rows, truncated) = encode_in_batches(encoder, &passages, work.options.batch_words)
            .map_err(|source| Error::Encode { path: self.root.clone(), source })?;
        let mut rows = rows.into_iter();
        for prepared in batch.drain(..) {
            let own: Vec<Vec<f32>> = rows.by_ref().take(prepared.passages.len()).collect();
            self.store(&prepared, &own, &work.options.source)?;
            work.state.papers_added += 1;
            work.state.papers_without_passages += u64::from(prepared.passages.is_empty());
            work.state.passages_added += prepared.passages.len() as u64;
        }
        work.state.passages_truncated += truncated as u64;
        Ok(())
    }
}
