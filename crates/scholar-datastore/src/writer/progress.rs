//! How adding is told to do its work, and what it tells.

use std::time::{Duration, Instant};

/// How papers are added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddOptions {
    /// Where the papers come from: shown by `info`.
    pub source: String,
    /// Papers between two commits; what a crash can lose.
    pub commit_every: usize,
    /// Words in one call of the encoder.
    pub batch_words: usize,
    /// Words held in memory before they are encoded.
    pub buffer_words: usize,
}

/// Papers between two commits. A commit costs about 0.1 s, 2,000 abstracts a minute and more of encoding.
const COMMIT_EVERY_PAPERS: usize = 2_000;
/// About 16 full passages.
const BATCH_WORDS: usize = 4_096;
/// About 128 full passages: enough to sort by length.
const BUFFER_WORDS: usize = 32_768;

impl AddOptions {
    /// For any corpus: bounded memory, a commit every 2,000 papers.
    pub fn standard(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            commit_every: COMMIT_EVERY_PAPERS,
            batch_words: BATCH_WORDS,
            buffer_words: BUFFER_WORDS,
        }
    }
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
    /// Passages stored.
    pub passages_added: u64,
    /// Passages that the encoder cut at its token limit.
    pub passages_truncated: u64,
    started: Instant,
}

impl AddProgress {
    pub(crate) fn start() -> Self {
        Self {
            papers_read: 0,
            papers_added: 0,
            papers_unchanged: 0,
            passages_added: 0,
            passages_truncated: 0,
            started: Instant::now(),
        }
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
    /// Final counts.
    pub progress: AddProgress,
    /// Whether the progress callback stopped it.
    pub interrupted: bool,
}
