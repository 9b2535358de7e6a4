//! How adding is told to do its work, and what it tells.

use std::time::{Duration, Instant};

use scholar_core::PaperId;

use super::known::DuplicateReason;

/// How papers are added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddOptions {
    /// Where the papers come from: shown by `info`.
    pub source: String,
    /// Papers between two commits; what a crash can lose.
    pub commit_every: usize,
    /// Longest time between two commits, where adding is slow.
    pub commit_after: Duration,
    /// Whether a paper is stored although it is there under another identifier.
    pub keep_duplicates: bool,
    /// Words in one call of the encoder.
    pub batch_words: usize,
    /// Words held in memory before they are encoded.
    pub buffer_words: usize,
}

/// Papers between two commits: without an encoder a few seconds of work. A commit costs about 0.1 s, and small ones
/// leave small segments behind that have to be merged.
const COMMIT_EVERY_PAPERS: usize = 20_000;
/// Time between two commits: with an encoder, what a crash can lose.
const COMMIT_AFTER: Duration = Duration::from_secs(60);
/// About 16 full passages.
const BATCH_WORDS: usize = 4_096;
/// About 128 full passages: enough to sort by length.
const BUFFER_WORDS: usize = 32_768;

impl AddOptions {
    /// For any corpus: bounded memory, a commit every 20,000 papers and every minute, duplicates left out.
    pub fn standard(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            commit_every: COMMIT_EVERY_PAPERS,
            commit_after: COMMIT_AFTER,
            keep_duplicates: false,
            batch_words: BATCH_WORDS,
            buffer_words: BUFFER_WORDS,
        }
    }
}

/// A paper that is stored under another identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The paper that was left out.
    pub paper: PaperId,
    /// Title of the record that was left out.
    pub title: String,
    /// Identifier of the stored paper that it repeats.
    pub first: PaperId,
    /// How that is known.
    pub by: DuplicateReason,
    /// Line of its record, from 1; 0 is unknown.
    pub line: u64,
    /// Offset of that line's first byte.
    pub byte: u64,
}

/// Counts of a running or finished [`crate::DatastoreWriter::add`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddProgress {
    /// Papers that came in.
    pub papers_read: u64,
    /// Papers stored or replaced.
    pub papers_added: u64,
    /// Papers that were stored with the same content already.
    pub papers_unchanged: u64,
    /// Papers stored in place of others of the same identifier: changed since then, or twice in the source.
    pub papers_replaced: u64,
    /// Papers stored without a passage, because they have no text.
    pub papers_without_passages: u64,
    /// Papers left out because they are stored under another identifier.
    pub papers_duplicate: u64,
    /// Identifiers of theirs that were added to the stored papers.
    pub identifiers_added: u64,
    /// Papers stored in place of the same ones under another identifier, which they keep, because they have more text.
    pub papers_completed: u64,
    /// Those of them since the last report.
    pub duplicates: Vec<Duplicate>,
    /// Passages encoded and stored so far.
    pub passages_added: u64,
    /// Passages that the encoder cut at its token limit.
    pub passages_truncated: u64,
    /// Whether everything is stored, and segments are merged so that searching is fast.
    pub is_merging: bool,
    started: Instant,
}

impl AddProgress {
    pub(crate) fn start() -> Self {
        Self {
            papers_read: 0,
            papers_added: 0,
            papers_unchanged: 0,
            papers_replaced: 0,
            papers_without_passages: 0,
            papers_duplicate: 0,
            identifiers_added: 0,
            papers_completed: 0,
            duplicates: Vec::new(),
            passages_added: 0,
            passages_truncated: 0,
            is_merging: false,
            started: Instant::now(),
        }
    }

    /// Adds the counts of work that came after.
    pub fn add(&mut self, later: &Self) {
        let Self {
            papers_read,
            papers_added,
            papers_unchanged,
            papers_replaced,
            papers_without_passages,
            papers_duplicate,
            identifiers_added,
            papers_completed,
            duplicates,
            passages_added,
            passages_truncated,
            is_merging: _,
            started: _,
        } = later;
        self.papers_read += papers_read;
        self.papers_added += papers_added;
        self.papers_unchanged += papers_unchanged;
        self.papers_replaced += papers_replaced;
        self.papers_without_passages += papers_without_passages;
        self.papers_duplicate += papers_duplicate;
        self.identifiers_added += identifiers_added;
        self.papers_completed += papers_completed;
        self.duplicates.extend_from_slice(duplicates);
        self.passages_added += passages_added;
        self.passages_truncated += passages_truncated;
    }

    /// Time since the first paper.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Passages stored per second so far.
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    pub fn passages_per_second(&self) -> f64 {
        self.passages_added as f64 / self.elapsed().as_secs_f64().max(1e-9)
    }
}

/// What an `add` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddReport {
    /// Counts at the end of the call.
    pub progress: AddProgress,
    /// Whether the progress callback stopped it.
    pub interrupted: bool,
}
