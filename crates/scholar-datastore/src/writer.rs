//! Adding, replacing and removing papers; commits that a crash cannot tear.
//!
//! 1. [`DatastoreWriter::add`] cuts papers, skips those stored with the same content, encodes passages in batches.
//! 2. Vectors stream into a partial dense segment, documents into tantivy's buffers: nothing is visible yet.
//! 3. [`DatastoreWriter::commit`] makes the segment durable under its name, then commits tantivy with a payload that
//!    lists it. A crash before that leaves an unlisted file, which the next writer sweeps.
//! 4. Small segments are merged by a thread of the writer; a later commit lists the result ([`background`]).

pub(crate) mod add;
mod background;
mod beside;
mod committed;
mod compact;
mod documents;
pub(crate) mod known;
mod lexical_merge;
pub(crate) mod lock;
mod pending;
pub(crate) mod prepare;
mod progress;
mod revise;
mod stoppable;
pub(crate) mod sweep;
#[cfg(test)]
mod tests;
mod vectors;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use scholar_core::PaperId;
use tantivy::directory::error::LockError;
use tantivy::directory::{Directory as _, INDEX_WRITER_LOCK, Lock};
use tantivy::index::SegmentId;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyError};

use crate::dense::SegmentWriter;
use crate::dense::merge::MergePolicy;
use crate::dense::segment_writer::check_row;
use crate::descriptor::Descriptor;
use crate::error::Error;
use crate::layout::{DENSE_FOLDER, LEXICAL_FOLDER};
use crate::manifest::Manifest;
use crate::schema::{Fields, Merged};
use crate::store::checks::Checks;
use crate::store::guard::{self, Guarded};
use crate::store::verify::{OnVerifyProgress, check_commit, check_lists};
use crate::store::{Datastore, open_index, open_index_in};
use background::Merging;
use lexical_merge::LexicalMerging;
use lock::WriterLock;
use pending::Pending;
use prepare::Prepared;
use stoppable::StoppableDirectory;

pub use add::Offered;
pub use compact::{CompactOptions, CompactReport, OnCompactProgress};
pub use known::DuplicateReason;
pub use lock::{DatastoreLock, lock};
pub use progress::{AddOptions, AddProgress, AddReport, Duplicate};
pub use revise::Revision;
pub use vectors::PaperVectors;

/// How often tantivy's lock is waited for.
const LOCK_ATTEMPTS: usize = 50;
/// Memory of tantivy's indexing thread. One thread keeps passages in the order of their vectors.
const INDEX_BUDGET_BYTES: usize = 192 << 20;

/// When a writer checks the files that are there.
///
/// A writer of one paper in a store of hundreds of gigabytes would read all of them first, which takes as long as reading
/// its disk: minutes to hours. Everything else can afford it, and a person wants to know before, not after.
pub enum WriterCheck<'a> {
    /// All of them, before anything is written.
    First(OnVerifyProgress<'a>),
    /// Each when it is opened to be rewritten: to be merged, or because papers in it are replaced or removed. What is
    /// only looked up is not checked: a damaged file may make a paper look new that is there.
    WhenRewritten,
}

/// The one writer of a datastore. Uncommitted work is lost when it is dropped.
pub struct DatastoreWriter {
    pub(crate) root: PathBuf,
    pub(crate) descriptor: Descriptor,
    /// Of everything that is opened to be rewritten.
    checks: Checks,
    /// Whether all that was committed before was checked when it was opened.
    checked_first: bool,
    /// Lexical segments that were checked one by one where it was not.
    checked_segments: BTreeSet<SegmentId>,
    fields: Fields,
    reader: Guarded<IndexReader>,
    /// The merge of lexical segments that runs beside. Before tantivy's writer, so that it has ended when that stops.
    lexical: LexicalMerging,
    writer: IndexWriter,
    manifest: Manifest,
    segment: Option<SegmentWriter>,
    merge_policy: MergePolicy,
    /// Passages stored since it was opened.
    stored: u64,
    /// The merge of dense segments that runs beside. Before the lock, so that it has ended when another writer may come.
    merging: Merging,
    /// What changed since the last commit: the committed index does not show it yet.
    pending: Pending,
    /// Whether tantivy was handed anything since the last commit.
    is_dirty: bool,
    /// What duplicates brought to papers, by the identifier these are filed under.
    aliases: BTreeMap<PaperId, Merged>,
    // Last, so that it is released after the index writer has stopped.
    _lock: WriterLock,
}

impl std::fmt::Debug for DatastoreWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatastoreWriter").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Datastore {
    /// Opens the only writer, which checks every file first.
    ///
    /// # Errors
    /// As [`DatastoreWriter::open`].
    pub fn writer(&self) -> Result<DatastoreWriter, Error> {
        DatastoreWriter::open(self.root())
    }

    /// The same, with files checked when `check` says.
    ///
    /// # Errors
    /// As [`DatastoreWriter::open`].
    pub fn writer_with(&self, check: WriterCheck<'_>) -> Result<DatastoreWriter, Error> {
        DatastoreWriter::open_with(self.root(), check)
    }
}

impl DatastoreWriter {
    /// Takes the writer's lock of the datastore at `root`, checks every file of its last commit, and removes what a
    /// crashed writer left.
    ///
    /// # Errors
    /// [`Error::Locked`] names the holder; [`Error::Corrupt`] the first damaged file, and nothing was written then;
    /// otherwise as [`crate::Datastore::open`].
    pub fn open(root: &Path) -> Result<Self, Error> {
        Self::open_with(root, WriterCheck::First(&mut |_| {}))
    }

    /// As [`DatastoreWriter::open`], with every file checked when `check` says.
    ///
    /// # Errors
    /// As [`DatastoreWriter::open`].
    pub fn open_with(root: &Path, check: WriterCheck<'_>) -> Result<Self, Error> {
        let descriptor = Descriptor::read(root)?;
        let lock = WriterLock::acquire(root)?;
        // What tantivy reads to rewrite it, in threads of its own, it opens through this index.
        let checks = Checks::all();
        let stop = Arc::new(AtomicBool::new(false));
        let (index, fields) = open_index_in(root, &checks, |directory| {
            Box::new(StoppableDirectory::new(directory, Arc::clone(&stop)))
        })?;
        // Before anything is swept: a damaged list of files says nothing of what may be removed.
        let checked_first = matches!(check, WriterCheck::First(_));
        let looked_up = match check {
            WriterCheck::First(progress) => {
                let check = || check_commit(root, &descriptor, &index, &checks, progress);
                guard::reading(root, check)?;
                index.clone()
            }
            WriterCheck::WhenRewritten => {
                check_lists(root, &index)?;
                open_index(root, &Checks::none())?.0
            }
        };
        let manifest = committed_manifest(root, &index)?;
        sweep::remove_orphans(&root.join(DENSE_FOLDER), &manifest)?;
        let writer = lexical_writer(&index, root)?;
        sweep::remove_lexical_orphans(&root.join(LEXICAL_FOLDER), &writer)?;
        let reader: IndexReader = guard::reading(root, || {
            let reader = looked_up.reader_builder().reload_policy(ReloadPolicy::Manual);
            reader.try_into().map_err(Error::index("open", root))
        })?;
        Ok(Self {
            root: root.to_owned(),
            descriptor,
            checks,
            checked_first,
            checked_segments: BTreeSet::new(),
            fields,
            reader: Guarded::new(reader),
            lexical: LexicalMerging::none(stop),
            writer,
            manifest,
            segment: None,
            merge_policy: MergePolicy::standard(),
            stored: 0,
            merging: Merging::none(root.join(DENSE_FOLDER)),
            pending: Pending::default(),
            is_dirty: false,
            aliases: BTreeMap::new(),
            _lock: lock,
        })
    }

    /// Removes papers by their own identifiers or any of the others, at the next commit. Returns how many of `ids` named
    /// one.
    ///
    /// # Errors
    /// [`Error::Index`] when the index cannot be read.
    pub fn remove(&mut self, ids: &[PaperId]) -> Result<usize, Error> {
        let mut removed = 0;
        for id in ids {
            let named = self.filed(id)?;
            removed += usize::from(!named.is_empty());
            for own in named {
                self.pending.remove(&own);
                self.aliases.remove(&own);
                self.is_dirty = true;
                self.writer.delete_term(self.fields.owner_term(&own));
            }
        }
        Ok(removed)
    }

    /// Makes everything since the last commit durable and visible, or nothing of it; without anything new there is no
    /// commit. Identifiers that duplicates brought to papers of the same commit follow in one of their own. Merged
    /// segments that are ready become visible with it, and what is due next is begun beside what the writer does
    /// ([`background`]).
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Index`]; what was committed before stays.
    pub fn commit(&mut self) -> Result<(), Error> {
        self.publish()?;
        self.merge_due();
        Ok(())
    }

    /// As [`DatastoreWriter::commit`], without beginning merges.
    fn publish(&mut self) -> Result<(), Error> {
        let mut manifest = self.manifest.clone();
        if let Some(segment) = self.segment.take() {
            let entry = segment.finish()?;
            manifest.next_ordinal = entry.first + entry.count;
            manifest.next_segment += 1;
            manifest.segments.push(entry);
        }
        let merged = self.put_lexical();
        let replaced = self.merging.put_finished(&mut manifest);
        if self.is_dirty || manifest != self.manifest {
            self.commit_manifest(manifest)?;
        } else {
            // Of what was admitted but never stored nothing may be believed.
            self.pending.clear();
            if merged {
                self.reload()?;
            }
        }
        if replaced {
            self.sweep()?;
        }
        if !self.aliases.is_empty() {
            self.write_aliases()?;
            if self.is_dirty {
                self.commit_manifest(self.manifest.clone())?;
            }
        }
        Ok(())
    }

    /// Commits what tantivy was handed together with `manifest`.
    fn commit_manifest(&mut self, manifest: Manifest) -> Result<(), Error> {
        let failed = Error::index("commit", &self.root);
        let mut prepared = match self.writer.prepare_commit() {
            Ok(prepared) => prepared,
            Err(source) => return Err(failed(source)),
        };
        let payload = manifest
            .to_payload(prepared.opstamp())
            .map_err(|error| Error::corrupt(&self.root, error.to_string()))?;
        prepared.set_payload(&payload);
        prepared.commit().map_err(failed)?;
        self.manifest = manifest;
        self.is_dirty = false;
        self.pending.clear();
        self.reload()
    }

    /// Moves look-ups to the newest commit.
    fn reload(&self) -> Result<(), Error> {
        guard::reading(&self.root, || {
            self.reader.reload().map_err(Error::index("open", &self.root))
        })
    }

    /// What is looked up, at the newest commit.
    fn searcher(&self) -> Guarded<Searcher> {
        let _inside = guard::Inside::enter();
        Guarded::new(self.reader.searcher())
    }

    /// Hands one paper with its vectors to tantivy and the open dense segment.
    pub(crate) fn store(
        &mut self,
        prepared: &Prepared,
        vectors: &[Vec<f32>],
        source: &str,
    ) -> Result<(), Error> {
        let id = &prepared.paper.meta.id;
        for vector in vectors {
            check_row(&id.to_string(), vector, self.descriptor.encoder.dim)?;
        }
        let json = |error: serde_json::Error| Error::corrupt(&self.root, error.to_string());
        let root = self.root.clone();
        let failed = || Error::index("write", &root);
        self.is_dirty = true;
        if prepared.replaces {
            // Also deletes what was added under this identifier since the last commit. Each deletion looks its term up
            // in every segment, so new papers go without.
            self.writer.delete_term(self.fields.owner_term(id));
        }
        let document = self.fields.paper_document(prepared, source);
        if let Err(error) = self.writer.add_document(document) {
            return Err(failed()(self.cause_of(error)));
        }
        for (passage, vector) in prepared.passages.iter().zip(vectors) {
            let segment = match &mut self.segment {
                Some(segment) => segment,
                None => self.segment.insert(SegmentWriter::create(
                    &self.root.join(DENSE_FOLDER),
                    self.manifest.next_segment,
                    self.manifest.next_ordinal,
                    &self.descriptor.encoder,
                )?),
            };
            let ordinal = segment.push(vector)?;
            self.stored += 1;
            let document = self
                .fields
                .passage_document(&prepared.paper.meta, passage, ordinal)
                .map_err(json)?;
            if let Err(error) = self.writer.add_document(document) {
                return Err(failed()(self.cause_of(error)));
            }
        }
        Ok(())
    }

    /// What stopped tantivy's thread: refusing a document it only says that the thread is gone.
    fn cause_of(&mut self, refusal: TantivyError) -> TantivyError {
        self.writer.prepare_commit().err().unwrap_or(refusal)
    }
}

/// tantivy's writer, which merges only what it is told to ([`lexical_merge`]). Its lock may be taken for a moment after it
/// was seen free, by a process that this one has just forked in another thread and that has every open file until it runs
/// its own program: then it is waited for again.
fn lexical_writer(index: &Index, root: &Path) -> Result<IndexWriter, Error> {
    let mut left = LOCK_ATTEMPTS;
    loop {
        wait_for_the_dying(index, root)?;
        match index.writer_with_num_threads(1, INDEX_BUDGET_BYTES) {
            Err(TantivyError::LockFailure(LockError::LockBusy, _)) if left > 0 => left -= 1,
            made => {
                let writer = made.map_err(Error::index("write", root))?;
                writer.set_merge_policy(Box::new(NoMergePolicy));
                return Ok(writer);
            }
        }
    }
}

/// Waits until tantivy's own lock is free. Whoever still has it has lost ours, so it is a process that was killed and
/// whose files the system is just closing, one after the other.
fn wait_for_the_dying(index: &Index, root: &Path) -> Result<(), Error> {
    let lock = Lock { filepath: INDEX_WRITER_LOCK.filepath.clone(), is_blocking: true };
    let lock = index.directory().acquire_lock(&lock);
    lock.map(drop)
        .map_err(|error| Error::index("write", root)(TantivyError::LockFailure(error, None)))
}

fn committed_manifest(root: &Path, index: &Index) -> Result<Manifest, Error> {
    let metas = index.load_metas().map_err(Error::index("open", root))?;
    Manifest::of_commit(root, &metas)
}
