//! One merge of dense segments beside what the writer does, so that no commit waits for it.
//!
//! * What it reads does not change: segments of the last commit, and which of their passages there were then. Those that
//!   are removed meanwhile stay in the merged segment as rows that nobody finds, until they are merged again.
//! * No commit lists what it writes until the writer's next one does. A crash leaves files that the next writer sweeps.
//! * What is begun is bounded by what this writer has stored: adding one paper to millions begins no work of hours. Such
//!   merges wait for a writer that adds much, or for [`DatastoreWriter::compact`].

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::DatastoreWriter;
use super::beside::{Beside, PAUSE};
use super::compact::alive_ordinals;
use crate::dense::merge::Merge;
use crate::error::Error;
use crate::layout::DENSE_FOLDER;
use crate::manifest::{Manifest, SegmentEntry};
use crate::writer::sweep;

/// Rows that any writer may merge at a time: about ten seconds of work.
const FEW_ROWS: u64 = 1 << 18;
/// Rows that may be merged at a time for each that was stored: with ten segments in a merge, a writer that stores a store
/// anew merges all that is due.
const ROWS_PER_STORED: u64 = 16;

type Outcome = Result<Option<SegmentEntry>, Error>;

/// The merge that runs, if one does.
pub(super) struct Merging {
    folder: PathBuf,
    running: Option<Running>,
    /// After one that failed no other is begun: what made it fail has not changed since.
    failed: bool,
}

struct Running {
    replaces: Vec<SegmentEntry>,
    /// In the names of the files it writes.
    number: u64,
    job: Beside<Outcome>,
}

impl Merging {
    pub(super) fn none(folder: PathBuf) -> Self {
        Self { folder, running: None, failed: false }
    }

    /// Starts `job`, which writes the segment numbered `number` in place of `replaces`, and stops when it is told to.
    fn begin(
        &mut self,
        replaces: Vec<SegmentEntry>,
        number: u64,
        job: impl FnOnce(&AtomicBool) -> Outcome + Send + 'static,
    ) -> Result<(), Error> {
        let job = Beside::begin("scholar-merge", Arc::default(), job)
            .map_err(Error::io("start a thread for", &self.folder))?;
        self.running = Some(Running { replaces, number, job });
        Ok(())
    }

    /// Waits for the end of what runs, but not for long; whether nothing runs any more.
    fn wait(&self, most: Duration) -> bool {
        self.running.as_ref().is_none_or(|running| running.job.has_ended(most))
    }

    /// Lists the merged segment in place of what it was merged from, if it is ready.
    pub(super) fn put_finished(&mut self, manifest: &mut Manifest) -> bool {
        if !self.wait(Duration::ZERO) {
            return false;
        }
        let Some(Running { replaces, number, job }) = self.running.take() else {
            return false;
        };
        let entry = match job.outcome() {
            Ok(Ok(Some(entry))) => entry,
            Ok(Ok(None)) => return false,
            // What was committed stays committed: a merge that fails costs speed, not papers.
            Ok(Err(error)) => {
                tracing::warn!(folder = %self.folder.display(), %error, "dense segments were not merged");
                return self.fail(number);
            }
            Err(_panic) => {
                tracing::warn!(folder = %self.folder.display(), "merging dense segments panicked");
                return self.fail(number);
            }
        };
        let listed = manifest.segments.windows(replaces.len()).position(|run| run == replaces);
        match listed {
            Some(at) => {
                manifest.segments.splice(at..at + replaces.len(), [entry]);
                true
            }
            None => self.fail(number),
        }
    }

    fn fail(&mut self, number: u64) -> bool {
        self.failed = true;
        sweep::remove_numbered(&self.folder, number);
        false
    }

    /// Ends what runs. Its work is lost.
    pub(super) fn stop(&mut self) {
        if let Some(Running { number, job, replaces: _ }) = self.running.take() {
            let _whatever_came_of_it = job.stop();
            sweep::remove_numbered(&self.folder, number);
        }
    }
}

impl Drop for Merging {
    fn drop(&mut self) {
        self.stop();
    }
}

impl DatastoreWriter {
    /// Begins the merges that are due, unless some run: one of dense segments, one of lexical ones.
    pub(super) fn merge_due(&mut self) {
        let most = self.stored.saturating_mul(ROWS_PER_STORED).max(FEW_ROWS);
        let begun = self.begin_due(most).and_then(|()| self.begin_lexical_due(most));
        if let Err(error) = begun {
            self.merging.failed = true;
            tracing::warn!(datastore = %self.root.display(), %error, "segments are not merged");
        }
    }

    fn begin_due(&mut self, most: u64) -> Result<(), Error> {
        if self.merging.running.is_some() || self.merging.failed {
            return Ok(());
        }
        let policy = self.merge_policy;
        let rows: Vec<u64> = self.manifest.segments.iter().map(|entry| entry.count).collect();
        let Some(run) = policy.due(&rows, most) else { return Ok(()) };
        let replaces = self.manifest.segments[run.clone()].to_vec();
        let segments = self.open_segments(run)?;
        let number = self.manifest.next_segment;
        // Not durable before the next commit, nor need it be: what bears the number is swept if that does not come.
        self.manifest.next_segment += 1;
        let (searcher, ordinals) = (self.searcher(), self.manifest.next_ordinal);
        let (root, encoder) = (self.root.clone(), self.descriptor.encoder.clone());
        self.merging.begin(replaces, number, move |stop| {
            let alive = alive_ordinals(&searcher, &root, ordinals)?;
            let merge = Merge {
                folder: &root.join(DENSE_FOLDER),
                number,
                encoder: &encoder,
                alive: &alive,
                indexed_from: policy.indexed_from,
                nlist: None,
                bits: None,
            };
            merge.run(&segments, &mut |_| match stop.load(Ordering::Acquire) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        })
    }

    /// Waits for the merges that run, commits them, and goes on until none is due that this writer may begin. `go_on` is
    /// asked from time to time; `Break` leaves the rest to another writer.
    ///
    /// # Errors
    /// [`Error::Index`] and [`Error::Io`] when a commit fails; what was committed before stays.
    pub fn settle(&mut self, go_on: &mut dyn FnMut() -> ControlFlow<()>) -> Result<(), Error> {
        loop {
            self.merge_due();
            if self.merging.running.is_none() && !self.lexical.is_running() {
                return Ok(());
            }
            while !self.one_has_ended() {
                if go_on().is_break() {
                    return Ok(());
                }
            }
            self.commit()?;
        }
    }

    /// Whether one of the merges that were begun has ended, after a while of waiting.
    fn one_has_ended(&self) -> bool {
        let (dense, lexical) = (self.merging.running.is_some(), self.lexical.is_running());
        (dense && self.merging.wait(if lexical { Duration::ZERO } else { PAUSE }))
            || (lexical && self.lexical.wait(PAUSE))
    }

    /// Removes dense files that no commit lists. Nothing may be writing any.
    pub(super) fn sweep(&self) -> Result<(), Error> {
        sweep::remove_orphans(&self.root.join(DENSE_FOLDER), &self.manifest)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    fn entry(number: u64, first: u64, count: u64) -> SegmentEntry {
        SegmentEntry { file: format!("dense-{number:06}.vec"), first, count, index: None }
    }

    fn manifest(segments: &[SegmentEntry]) -> Manifest {
        Manifest { segments: segments.to_vec(), ..Manifest::empty() }
    }

    /// A merge of `of` that ends when it is told what came of it.
    fn begin(merging: &mut Merging, of: &[SegmentEntry]) -> Sender<Outcome> {
        let (tell, told) = channel();
        merging
            .begin(of.to_vec(), 9, move |_| told.recv().expect("the test tells"))
            .expect("a thread");
        tell
    }

    fn end(merging: &Merging, tell: &Sender<Outcome>, outcome: Outcome) {
        tell.send(outcome).expect("it waits");
        assert!(merging.wait(Duration::MAX));
    }

    #[test]
    fn a_commit_goes_on_without_what_is_not_ready_and_lists_it_later() {
        let folder = tempfile::tempdir().expect("temp dir");
        let mut merging = Merging::none(folder.path().to_owned());
        let parts = [entry(0, 0, 5), entry(1, 5, 5)];
        let tell = begin(&mut merging, &parts);
        let mut now = manifest(&parts);
        assert!(!merging.put_finished(&mut now));
        assert_eq!(now, manifest(&parts));
        // Another commit brings another segment meanwhile.
        now.segments.push(entry(2, 10, 1));
        end(&merging, &tell, Ok(Some(entry(9, 0, 10))));
        assert!(merging.put_finished(&mut now));
        assert_eq!(now, manifest(&[entry(9, 0, 10), entry(2, 10, 1)]));
        assert!(!merging.put_finished(&mut now), "once");
    }

    #[test]
    fn what_failed_or_was_stopped_leaves_nothing() {
        let folder = tempfile::tempdir().expect("temp dir");
        let mut merging = Merging::none(folder.path().to_owned());
        let parts = [entry(0, 0, 5), entry(1, 5, 5)];
        for name in ["dense-000009.vec.partial", "dense-000009.ivf", "dense-000008.vec"] {
            fs_err::write(folder.path().join(name), "x").expect("written");
        }
        let tell = begin(&mut merging, &parts);
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        end(&merging, &tell, Err(Error::io("write", folder.path())(full)));
        let mut now = manifest(&parts);
        assert!(!merging.put_finished(&mut now) && merging.failed);
        assert_eq!(now, manifest(&parts));
        assert_eq!(fs_err::read_dir(folder.path()).expect("read").count(), 1);

        let (began, begins) = channel();
        let job = move |stop: &AtomicBool| {
            began.send(()).expect("the test listens");
            while !stop.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            Ok(None)
        };
        merging.begin(parts.to_vec(), 8, job).expect("a thread");
        begins.recv().expect("it runs");
        drop(merging);
        assert_eq!(fs_err::read_dir(folder.path()).expect("read").count(), 0);
    }
}
