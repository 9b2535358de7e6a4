//! Merging all there is, on request.

use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;

use tantivy::Searcher;

use super::DatastoreWriter;
use crate::dense::DenseSegment;
use crate::dense::ivf::{Bits, IvfProgress, IvfSearch};
use crate::dense::merge::{Merge, MergePolicy, is_set};
use crate::error::Error;
use crate::layout::DENSE_FOLDER;
use crate::schema::column;
use crate::store::guard::{self, Guarded};

/// How a datastore is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactOptions {
    /// What merged segments are.
    pub policy: MergePolicy,
    /// Lists of each inverted index; `None` chooses by the number of rows.
    pub nlist: Option<usize>,
    /// Bits of its codes; `None` keeps what there was, one bit at first.
    pub bits: Option<Bits>,
}

impl CompactOptions {
    /// Few segments, lists by their size.
    pub fn standard() -> Self {
        Self { policy: MergePolicy::standard(), nlist: None, bits: None }
    }
}

/// Segments and rows before and after [`DatastoreWriter::compact`].
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct CompactReport {
    /// Number of dense segments before.
    pub segments_before: usize,
    /// Number of dense segments afterwards.
    pub segments: usize,
    /// Rows of removed passages that were left behind.
    pub rows_dropped: u64,
    /// Rows in segments with an inverted index.
    pub rows_indexed: u64,
    /// Whether the progress callback stopped it; what was done before is kept.
    pub interrupted: bool,
}

/// Called while an index is made; `Break` stops.
pub type OnCompactProgress<'a> = &'a mut dyn FnMut(IvfProgress) -> ControlFlow<()>;

impl DatastoreWriter {
    /// Merges the dense segments into as few as the policy allows, without the rows of removed passages, each with its
    /// inverted index; and the lexical segments into one. Each merge is committed by itself.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Index`]; what was committed before stays.
    pub fn compact(
        &mut self,
        options: &CompactOptions,
        progress: OnCompactProgress<'_>,
    ) -> Result<CompactReport, Error> {
        self.publish()?;
        // They would merge a part of what is merged here.
        self.merging.stop();
        self.lexical.stop();
        let segments_before = self.manifest.segments.len();
        let segments = self.open_segments(0..segments_before)?;
        let rows_before: u64 = segments.iter().map(|segment| segment.rows()).sum();
        let rows: Vec<u64> = segments.iter().map(|segment| segment.rows()).collect();
        let alive = alive_ordinals(&self.searcher(), &self.root, self.manifest.next_ordinal)?;
        let living = |segment: &DenseSegment| -> u64 {
            let (first, count) = segment.range();
            (first..first + count).filter(|ordinal| is_set(&alive, *ordinal)).count() as u64
        };
        let mut interrupted = false;
        // From the end, so that ranges before stay true.
        for run in options.policy.all(&rows).into_iter().rev() {
            let only = &segments[run.start];
            let has = only.index().map(IvfSearch::bits);
            let fits = has.is_some_and(|has| options.bits.is_none_or(|bits| bits == has));
            let needs_index = only.rows() >= options.policy.indexed_from && !fits;
            let whole = run.len() == 1 && living(only) == only.rows();
            if whole && !needs_index && options.nlist.is_none() {
                continue;
            }
            if !self.merge(run, options, &alive, progress)? {
                interrupted = true;
                break;
            }
        }
        drop(segments);
        interrupted = interrupted || !self.merge_lexical(progress)?;
        let segments = self.open_segments(0..self.manifest.segments.len())?;
        let rows: u64 = segments.iter().map(|segment| segment.rows()).sum();
        let indexed = segments.iter().filter(|segment| segment.index().is_some());
        Ok(CompactReport {
            segments_before,
            segments: segments.len(),
            rows_dropped: rows_before - rows,
            rows_indexed: indexed.map(|segment| segment.rows()).sum(),
            interrupted,
        })
    }

    /// Replaces the segments of `run` by one and commits that. `false` when `progress` stopped it.
    fn merge(
        &mut self,
        run: Range<usize>,
        options: &CompactOptions,
        alive: &[u64],
        progress: OnCompactProgress<'_>,
    ) -> Result<bool, Error> {
        let folder = self.root.join(DENSE_FOLDER);
        let segments = self.open_segments(run.clone())?;
        let merge = Merge {
            folder: &folder,
            number: self.manifest.next_segment,
            encoder: &self.descriptor.encoder,
            alive,
            indexed_from: options.policy.indexed_from,
            nlist: options.nlist,
            bits: options.bits,
        };
        let Some(entry) = merge.run(&segments, progress)? else { return Ok(false) };
        let mut manifest = self.manifest.clone();
        manifest.next_segment += 1;
        manifest.segments.splice(run, [entry]);
        self.commit_manifest(manifest)?;
        // Readers that have the old files open keep them until they move on.
        self.sweep()?;
        Ok(true)
    }

    pub(super) fn open_segments(&self, run: Range<usize>) -> Result<Vec<Arc<DenseSegment>>, Error> {
        let folder = self.root.join(DENSE_FOLDER);
        self.manifest.segments[run]
            .iter()
            .map(|entry| {
                DenseSegment::open(&folder, entry, &self.descriptor.encoder, &self.checks)
                    .map(Arc::new)
            })
            .collect()
    }
}

/// One bit for each of the first `ordinals` of the datastore at `root`: whether its passage is there.
pub(super) fn alive_ordinals(
    searcher: &Guarded<Searcher>,
    root: &Path,
    ordinals: u64,
) -> Result<Vec<u64>, Error> {
    guard::reading(root, || read_alive_ordinals(searcher, root, ordinals))
}

fn read_alive_ordinals(searcher: &Searcher, root: &Path, ordinals: u64) -> Result<Vec<u64>, Error> {
    let words = usize::try_from(ordinals.div_ceil(64)).unwrap_or(usize::MAX);
    let mut alive = vec![0_u64; words];
    for reader in searcher.segment_readers() {
        let column =
            reader.fast_fields().u64(column::ORDINAL).map_err(Error::index("read", root))?;
        for doc in reader.doc_ids_alive() {
            if let Some(ordinal) = column.first(doc)
                && let Some(word) =
                    usize::try_from(ordinal / 64).ok().and_then(|at| alive.get_mut(at))
            {
                *word |= 1 << (ordinal % 64);
            }
        }
    }
    Ok(alive)
}
