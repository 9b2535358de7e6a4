//! The folder of a run that is being written: whether it may go on, what is left to ask, how it ended.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{Counts, Ended, MANIFEST_FILE, Manifest, RunState, copy_duplicates};
use crate::scholarqa::item::Item;
use crate::scholarqa::journal::{JOURNAL_FILE, Journal, Written, read_journal};
use crate::scholarqa::json::DataError;
use crate::scholarqa::prediction::Prediction;

/// System of a run that holds what another program answered.
pub const PREDICTIONS: &str = "predictions";

/// Why a run cannot be written into a folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another run is there.
    #[error("{} contains a run with a different {}", .folder.display(), .differences.join(", other "))]
    OtherRun {
        /// Folder of the other run.
        folder: PathBuf,
        /// Names of the settings that differ.
        differences: Vec<&'static str>,
    },
    /// What is there cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
}

/// A run's folder with its manifest and journal. The manifest is written by whoever holds this: [`Self::manifest_text`].
pub struct RunFolder {
    folder: PathBuf,
    manifest: Manifest,
    journal: Journal,
    written: Written,
}

impl RunFolder {
    /// Opens the journal in `folder`, which must exist. A run that is there goes on if it is the one of `manifest`, and keeps
    /// the time of its beginning.
    ///
    /// # Errors
    /// [`FolderError`] when another run is there, or the files cannot be read.
    pub fn open(folder: &Path, mut manifest: Manifest) -> Result<Self, FolderError> {
        if folder.join(MANIFEST_FILE).exists() {
            let before = Manifest::read(folder)?;
            let differences = before.differences(&manifest);
            if !differences.is_empty() {
                return Err(FolderError::OtherRun { folder: folder.to_owned(), differences });
            }
            manifest.started = before.started;
        }
        let (journal, written) = Journal::open(&folder.join(JOURNAL_FILE))?;
        Ok(Self { folder: folder.to_owned(), manifest, journal, written })
    }

    /// What the run is about, and how far it came.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Where the manifest belongs.
    pub fn manifest_path(&self) -> PathBuf {
        self.folder.join(MANIFEST_FILE)
    }

    /// The manifest as it is written, with a line break at its end.
    ///
    /// # Errors
    /// When it holds what JSON cannot say.
    pub fn manifest_text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(&self.manifest).map(|text| text + "\n")
    }

    /// Where predictions are appended.
    pub fn journal(&mut self) -> &mut Journal {
        &mut self.journal
    }

    /// The items without a final answer that repeat no other, in order.
    pub fn todo(&self, items: &[Item]) -> Vec<Item> {
        let answered = |id: &str| self.written.get(id).is_some_and(Prediction::is_final);
        let open = items.iter().filter(|item| item.duplicate_of.is_none() && !answered(&item.id));
        open.cloned().collect()
    }

    /// Answers repeated items like the first of them, and notes how the loop over `items` ended.
    ///
    /// # Errors
    /// When the journal cannot be read or written.
    pub fn finish(&mut self, items: &[Item], ended: Ended) -> Result<RunState, DataError> {
        let written = read_journal(&self.folder.join(JOURNAL_FILE))?;
        copy_duplicates(items, &mut self.journal, &written)?;
        match ended {
            Ended::Asked => self.finish_answered(),
            Ended::Budget(why) => self.end(RunState::OutOfBudget, Some(why)),
            Ended::GaveUp(why) => self.end(RunState::GaveUp, Some(why)),
        }
    }

    /// Notes that everything was asked: done if every item has an answer.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn finish_answered(&mut self) -> Result<RunState, DataError> {
        self.end(RunState::Done, None)?;
        let Counts { items: _, answered: _, abstained: _, failed, cut, missing } =
            self.manifest.counts;
        if failed + cut + missing > 0 {
            self.manifest.state = RunState::SomeFailed;
        }
        Ok(self.manifest.state)
    }

    /// Notes that it was interrupted.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn interrupt(&mut self) -> Result<RunState, DataError> {
        self.end(RunState::Interrupted, None)
    }

    fn end(&mut self, state: RunState, why: Option<String>) -> Result<RunState, DataError> {
        self.written = read_journal(&self.folder.join(JOURNAL_FILE))?;
        self.manifest.count(&self.written);
        self.manifest.state = state;
        self.manifest.ended_by = why;
        Ok(state)
    }

    /// What happened, what it cost and what comes next, for a terminal.
    pub fn summary(&self) -> String {
        summary(&self.manifest, &self.written, &self.folder)
    }
}

fn summary(manifest: &Manifest, written: &Written, folder: &Path) -> String {
    let Manifest { task, system, ablation, state, ended_by, counts, usage, seconds, .. } = manifest;
    let Counts { items, answered, abstained, failed, cut, missing } = counts;
    let why = ended_by.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let given = system == PREDICTIONS;
    let parts = if given { String::new() } else { format!(" ({ablation})") };
    let unasked = if given { "without a prediction" } else { "not asked" };
    let mut text = format!(
        "{} by {system}{parts}: {state}{why}\n{answered} of {items} answered, {abstained} abstained, {failed} failed, {cut} cut, {missing} {unasked}\n",
        task.title()
    );
    let tokens = usage.prompt_tokens + usage.completion_tokens;
    let cost = match usage.cost_usd {
        Some(usd) if usd > 0.0 => format!(", ${usd:.4}"),
        Some(_) => String::new(),
        None if usage.calls == 0 => String::new(),
        None => ", at an unknown price".to_owned(),
    };
    let _infallible =
        writeln!(text, "{} model calls, {tokens} tokens{cost}, {seconds:.1} s", usage.calls);
    let first = written.predictions.iter().find_map(|one| one.error.as_ref());
    if let Some(error) = first {
        let _infallible = writeln!(text, "first failure: {error}");
    }
    let _infallible = match state {
        RunState::Done => write!(text, "next: openscholar bench score {}", folder.display()),
        _ if given => write!(
            text,
            "score the existing answers: openscholar bench score {}; or add the missing ones to the file and run this again",
            folder.display()
        ),
        _ => write!(text, "the same command retries the items without an answer"),
    };
    text
}
