//! Merging lexical segments: one merge at a time, and none but those begun here.
//!
//! By itself tantivy's writer merges after each commit, on threads that nobody can wait for. Whoever asks it for another
//! merge meanwhile may name segments that are replaced before it ends, and then it fails. So tantivy's policy is to merge
//! nothing, and what it would have merged is merged here, from the segments of the last commit.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tantivy::index::SegmentId;
use tantivy::merge_policy::{LogMergePolicy, MergePolicy as _};
use tantivy::{IndexWriter, SegmentMeta, TantivyError};

use super::beside::{Beside, PAUSE};
use super::compact::OnCompactProgress;
use super::{DatastoreWriter, sweep};
use crate::dense::ivf::{IvfProgress, IvfStage};
use crate::error::Error;
use crate::layout::LEXICAL_FOLDER;

/// Segments of one size class that are merged: tantivy's own default.
const FACTOR: usize = 8;

/// The lexical merge that runs, if one does.
pub(super) struct LexicalMerging {
    /// Ends what runs: the directory refuses its writes.
    stop: Arc<AtomicBool>,
    running: Option<Beside<Result<Option<SegmentMeta>, TantivyError>>>,
    /// After one that failed no other is begun: what made it fail has not changed since.
    failed: bool,
    /// Segments of one size class that are merged.
    pub(super) factor: usize,
}

impl LexicalMerging {
    /// `stop` is the flag of the writer's directory.
    pub(super) fn none(stop: Arc<AtomicBool>) -> Self {
        Self { stop, running: None, failed: false, factor: FACTOR }
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Waits for the end of what runs, but not for long; whether nothing runs any more.
    pub(super) fn wait(&self, most: Duration) -> bool {
        self.running.as_ref().is_none_or(|running| running.has_ended(most))
    }

    /// Begins to merge `ids`, which are committed, and which nothing else merges.
    fn begin(
        &mut self,
        writer: &mut IndexWriter,
        root: &Path,
        ids: &[SegmentId],
    ) -> Result<(), Error> {
        let merged = writer.merge(ids);
        let job = move |_: &AtomicBool| merged.wait();
        let running = Beside::begin("scholar-merge-lexical", Arc::clone(&self.stop), job);
        self.running = Some(running.map_err(Error::io("start a thread for", root))?);
        Ok(())
    }

    /// What came of the merge, which is over or waited for. tantivy has listed the merged segment by itself.
    fn outcome(&mut self) -> Option<Result<(), TantivyError>> {
        let outcome = self.running.take()?.outcome();
        Some(match outcome {
            Ok(merged) => merged.map(|_| ()),
            Err(_panic) => {
                Err(TantivyError::SystemError("waiting for a merge panicked".to_owned()))
            }
        })
    }

    /// Ends what runs. Its work is lost, unless it was done.
    pub(super) fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            let _whatever_came_of_it = running.stop();
            // The directory is written again by what comes next.
            self.stop.store(false, Ordering::Release);
        }
    }
}

impl Drop for LexicalMerging {
    fn drop(&mut self) {
        self.stop();
    }
}

impl DatastoreWriter {
    /// Takes note of a merge that has ended; whether one has.
    pub(super) fn put_lexical(&mut self) -> bool {
        if !self.lexical.wait(Duration::ZERO) {
            return false;
        }
        match self.lexical.outcome() {
            None => false,
            Some(Ok(())) => true,
            // What was committed stays committed: a merge that fails costs speed, not papers.
            Some(Err(error)) => {
                tracing::warn!(datastore = %self.root.display(), %error, "lexical segments were not merged");
                self.lexical.failed = true;
                true
            }
        }
    }

    /// Begins the lexical merge with the fewest documents that is due, if it has no more than `most`, unless one runs.
    pub(super) fn begin_lexical_due(&mut self, most: u64) -> Result<(), Error> {
        if self.lexical.running.is_some() || self.lexical.failed {
            return Ok(());
        }
        let metas = self.lexical_segments()?;
        let mut policy = LogMergePolicy::default();
        policy.set_min_num_segments(self.lexical.factor);
        let documents = |ids: &[SegmentId]| -> u64 {
            let of = metas.iter().filter(|meta| ids.contains(&meta.id()));
            of.map(|meta| u64::from(meta.max_doc())).sum()
        };
        let due = policy.compute_merge_candidates(&metas).into_iter();
        let due = due.map(|candidate| (documents(&candidate.0), candidate.0));
        match due
            .filter(|(documents, _)| *documents <= most)
            .min_by_key(|(documents, _)| *documents)
        {
            Some((_, ids)) => self.lexical.begin(&mut self.writer, &self.root, &ids),
            None => Ok(()),
        }
    }

    /// Merges all lexical segments into one, and leaves removed documents behind. No other merge may run. `false` when
    /// `progress` stopped it.
    pub(super) fn merge_lexical(&mut self, progress: OnCompactProgress<'_>) -> Result<bool, Error> {
        let failed = || Error::index("merge", &self.root);
        let metas = self.lexical_segments()?;
        if metas.len() > 1 || metas.iter().any(SegmentMeta::has_deletes) {
            let ids: Vec<SegmentId> = metas.iter().map(SegmentMeta::id).collect();
            let total = metas.iter().map(|meta| meta.num_docs() as usize).sum();
            self.lexical.begin(&mut self.writer, &self.root, &ids)?;
            let step = IvfProgress { stage: IvfStage::Lexical, done: 0, total };
            while !self.lexical.wait(PAUSE) {
                if let ControlFlow::Break(()) = progress(step) {
                    self.lexical.stop();
                    return Ok(false);
                }
            }
            self.lexical.outcome().unwrap_or(Ok(())).map_err(failed())?;
        }
        // tantivy removes no file of a segment that anything here still has: neither this list nor an open searcher may.
        drop(metas);
        self.reload()?;
        sweep::remove_lexical_orphans(&self.root.join(LEXICAL_FOLDER), &self.writer)?;
        Ok(true)
    }

    /// The segments of the last commit. They stay as long as no merge runs.
    fn lexical_segments(&self) -> Result<Vec<SegmentMeta>, Error> {
        let metas = self.writer.index().searchable_segment_metas();
        metas.map_err(Error::index("read", &self.root))
    }
}
