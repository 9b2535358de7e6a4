//! Fewer, larger segments: which to merge when, and merging them.
//!
//! Every commit brings a small segment, and a query looks at all of them. Neighbours of one size class become one of the
//! next, so that a row is copied a few times however large the store grows. A merged segment leaves the rows of removed
//! passages behind, and gets an inverted index once it is large enough to be worth one.

use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;

use scholar_core::EncoderInfo;

use super::file::DenseSegment;
use super::ivf::{self, Bits, IvfOptions, IvfProgress, IvfSearch, IvfStage};
use super::segment_writer::{PARTIAL_ENDING, SegmentWriter};
use crate::descriptor::sync_folder;
use crate::error::Error;
use crate::manifest::SegmentEntry;
use crate::store::checks::Checks;

/// When segments are merged, and what a merged one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergePolicy {
    /// Neighbours of one size class that are merged; also the factor between two classes.
    pub factor: usize,
    /// Rows below which all segments are one class.
    pub smallest: u64,
    /// No merged segment has more rows: bounds the memory and the time of one merge.
    pub largest: u64,
    /// Rows from which a merged segment gets an inverted index.
    pub indexed_from: u64,
}

/// Below this an exact scan takes a millisecond or two on one thread, which nobody notices: docs/results/index-growth.md.
const INDEXED_FROM: u64 = 32_768;

impl MergePolicy {
    /// Ten of a kind, an index from 32,768 rows, at most sixteen million rows in a segment.
    pub fn standard() -> Self {
        Self { factor: 10, smallest: 8_192, largest: 16 << 20, indexed_from: INDEXED_FROM }
    }

    fn class(self, rows: u64) -> u32 {
        let mut class = 0;
        let mut bound = self.smallest;
        while rows >= bound {
            class += 1;
            bound = bound.saturating_mul(self.factor as u64);
        }
        class
    }

    /// The run of neighbours with the fewest rows that is due, if it has no more than `most`.
    pub(crate) fn due(self, rows: &[u64], most: u64) -> Option<Range<usize>> {
        let mut due: Option<(u64, Range<usize>)> = None;
        let mut start = 0;
        for end in 1..=rows.len() {
            let first = self.class(rows[start]);
            if end < rows.len() && self.class(rows[end]) == first && end - start < self.factor {
                continue;
            }
            let run = start..end;
            let total: u64 = rows[run.clone()].iter().sum();
            let is_allowed = run.len() >= self.factor.max(2) && total <= self.largest.min(most);
            if is_allowed && due.as_ref().is_none_or(|(least, _)| total < *least) {
                due = Some((total, run));
            }
            start = end;
        }
        due.map(|(_, run)| run)
    }

    /// Runs for merging everything: as few as the largest segment allows.
    pub(crate) fn all(self, rows: &[u64]) -> Vec<Range<usize>> {
        let mut runs = Vec::new();
        let (mut start, mut total) = (0, 0);
        for (at, rows) in rows.iter().enumerate() {
            if at > start && total + rows > self.largest {
                runs.push(start..at);
                (start, total) = (at, 0);
            }
            total += rows;
        }
        if start < rows.len() {
            runs.push(start..rows.len());
        }
        runs
    }
}

/// What merging segments needs besides them.
pub(crate) struct Merge<'a> {
    pub(crate) folder: &'a Path,
    /// Number in the name of the new segment.
    pub(crate) number: u64,
    pub(crate) encoder: &'a EncoderInfo,
    /// One bit per ordinal of the store: whether its passage is still there.
    pub(crate) alive: &'a [u64],
    pub(crate) indexed_from: u64,
    /// Lists of the inverted index; `None` chooses by the number of rows.
    pub(crate) nlist: Option<usize>,
    /// Bits per dimension; `None` keeps the most that one of the merged segments has.
    pub(crate) bits: Option<Bits>,
}

/// Rows copied between two calls of the progress callback.
const COPIED_BETWEEN: u64 = 65_536;

impl Merge<'_> {
    /// One segment from neighbours, durable but listed by no commit yet. `None` when `progress` stopped it.
    pub(crate) fn run(
        &self,
        segments: &[Arc<DenseSegment>],
        progress: &mut dyn FnMut(IvfProgress) -> ControlFlow<()>,
    ) -> Result<Option<SegmentEntry>, Error> {
        let first = segments.first().map_or(0, |segment| segment.range().0);
        let mut writer = SegmentWriter::create(self.folder, self.number, first, self.encoder)?;
        let total = segments.iter().map(|segment| segment.range().1).sum::<u64>();
        let (mut done, mut copied) = (0, |done: u64| {
            let count = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
            let (done, total) = (count(done), count(total));
            progress(IvfProgress { stage: IvfStage::Copying, done, total }).is_break()
        });
        for segment in segments {
            let (start, count) = segment.range();
            for ordinal in start..start + count {
                done += 1;
                if done % COPIED_BETWEEN == 0 && copied(done) {
                    return Ok(None);
                }
                match segment.row(ordinal).filter(|_| is_set(self.alive, ordinal)) {
                    Some(row) => {
                        writer.push_row(row)?;
                    }
                    None => writer.skip(),
                }
            }
        }
        let mut entry = writer.finish()?;
        let merged = DenseSegment::open(self.folder, &entry, self.encoder, &Checks::none())?;
        if merged.rows() >= self.indexed_from.max(1) {
            let had = segments.iter().filter_map(|segment| segment.index().map(IvfSearch::bits));
            let bits = self.bits.or(had.max()).unwrap_or_default();
            entry.index = Some(match self.index(&merged, bits, progress)? {
                Some(name) => name,
                None => return Ok(None),
            });
        }
        Ok(Some(entry))
    }

    fn index(
        &self,
        merged: &DenseSegment,
        bits: Bits,
        progress: &mut dyn FnMut(IvfProgress) -> ControlFlow<()>,
    ) -> Result<Option<String>, Error> {
        let name = format!("dense-{:06}.ivf", self.number);
        let partial = self.folder.join(format!("{name}.{PARTIAL_ENDING}"));
        let mut options =
            IvfOptions::for_rows(usize::try_from(merged.rows()).unwrap_or(usize::MAX));
        options.nlist = self.nlist.unwrap_or(options.nlist);
        options.bits = bits;
        if !ivf::build(merged, merged.data_digest(), &partial, options, progress)? {
            return Ok(None);
        }
        let path = self.folder.join(&name);
        fs_err::rename(&partial, &path).map_err(Error::io("rename", &partial))?;
        sync_folder(self.folder)?;
        Ok(Some(name))
    }
}

/// Whether the bit of an ordinal is set.
pub(crate) fn is_set(bits: &[u64], ordinal: u64) -> bool {
    let word = usize::try_from(ordinal / 64).ok().and_then(|at| bits.get(at));
    word.is_some_and(|word| word >> (ordinal % 64) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_class_are_due_and_large_ones_rest() {
        let policy = MergePolicy { factor: 3, smallest: 10, largest: 1_000, indexed_from: 100 };
        let check = |rows: &[u64], expect: Option<Range<usize>>| {
            assert_eq!(policy.due(rows, u64::MAX), expect, "{rows:?}");
        };
        check(&[], None);
        check(&[5, 5], None);
        check(&[5, 5, 5], Some(0..3));
        check(&[500, 5, 5, 5], Some(1..4));
        check(&[5, 20, 5, 5], None);
        check(&[20, 20, 20, 5], Some(0..3));
        check(&[400, 400, 400], None);
        check(&[90, 90, 90, 5, 5, 5], Some(3..6));
        assert_eq!(policy.due(&[90, 90, 90, 5], 269), None, "too many for now");
        assert_eq!(policy.all(&[400, 400, 400, 5]), [0..2, 2..4]);
        assert_eq!(policy.all(&[2_000, 5]), [0..1, 1..2]);
        assert!(policy.all(&[]).is_empty());
    }

    #[test]
    fn rows_are_copied_a_few_times_however_many_commits_there_are() {
        let policy = MergePolicy::standard();
        let mut rows: Vec<u64> = Vec::new();
        let mut copied = 0;
        for commit in 0..20_000 {
            rows.push(2_000 + commit % 2);
            while let Some(run) = policy.due(&rows, u64::MAX) {
                let total: u64 = rows[run.clone()].iter().sum();
                copied += total;
                rows.splice(run, [total]);
            }
        }
        assert!(rows.len() < 40, "{} segments", rows.len());
        assert!(copied < 5 * 20_000 * 2_001, "{copied} rows copied");
    }
}
