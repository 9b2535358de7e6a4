//! The dense side of a search: every row of small segments, the promising rows of large ones.
//!
//! * A segment without an inverted index is compared row by row, in blocks that run in parallel.
//! * One with an index gives the rows whose codes look best, which are then compared exactly.
//! * A filter that few passages pass turns the work around: they are listed first and each is compared exactly, so that
//!   `top_k` results come back at any selectivity; one that some pass has them marked ([`Passing`]).
//!
//! Whether a passage is accepted is asked only for rows that would be among the best.

use std::sync::Arc;

use rayon::prelude::*;
use tantivy::DocAddress;
use tantivy::columnar::Column;

use super::file::DenseSegment;
use super::ivf::Probe;
use super::kernel::{Kernel, decoded};
use super::passing::Passing;
use crate::error::Error;
use crate::filter::Accepted;
use crate::schema::column;
use crate::store::Snapshot;
use crate::store::guard::Inside;

/// Rows a worker takes at a time.
const BLOCK: usize = 8_192;

/// A passage and a score, before anything of it is loaded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored {
    pub(crate) address: DocAddress,
    pub(crate) score: f32,
}

/// How thoroughly the dense side is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DenseSearch {
    /// Every accepted passage is compared.
    Exact,
    /// Inverted indexes are used where there are some. `None` chooses by the size of the index.
    Indexed {
        /// What a query looks at.
        probe: Option<Probe>,
    },
}

/// Looks vectors up by the document they belong to.
pub(crate) struct Vectors<'a> {
    snapshot: &'a Snapshot,
    ordinals: Vec<Column<u64>>,
    kernel: Kernel,
}

impl<'a> Vectors<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot) -> Result<Self, tantivy::TantivyError> {
        let ordinals = snapshot
            .searcher
            .segment_readers()
            .iter()
            .map(|reader| reader.fast_fields().u64(column::ORDINAL))
            .collect::<Result<_, _>>()?;
        Ok(Self { snapshot, ordinals, kernel: Kernel::detect() })
    }

    /// The stored row of a passage; `None` for a document that is no passage.
    pub(crate) fn row(&self, address: DocAddress) -> Result<Option<&'a [u8]>, Error> {
        self.ordinal(address).map(|ordinal| self.row_of(ordinal)).transpose()
    }

    /// The ordinal of a passage's vector; `None` for a document that is no passage.
    pub(crate) fn ordinal(&self, address: DocAddress) -> Option<u64> {
        self.ordinals[address.segment_ord as usize].first(address.doc_id)
    }

    /// The vector of a passage in 32 bits.
    pub(crate) fn vector(&self, address: DocAddress) -> Result<Option<Vec<f32>>, Error> {
        Ok(self.row(address)?.map(decoded))
    }

    /// Inner product of `query` with the vector of a passage.
    pub(crate) fn dot(&self, query: &[f32], address: DocAddress) -> Result<Option<f32>, Error> {
        Ok(self.row(address)?.map(|row| self.kernel.dot(query, row)))
    }

    fn row_of(&self, ordinal: u64) -> Result<&'a [u8], Error> {
        find_row(&self.snapshot.dense, ordinal).ok_or_else(|| missing_vector(ordinal))
    }

    /// The passages with the highest inner products: at least `top_k` where there are so many, plus those that tie with
    /// the last. In no particular order. Exact but for what an inverted index misses.
    pub(crate) fn best(
        &self,
        query: &[f32],
        (accepted, passing): (&[Accepted], &Passing),
        top_k: usize,
        how: DenseSearch,
    ) -> Result<Vec<Scored>, Error> {
        if let Passing::Listed(passages) = passing {
            return self.best_listed(query, passages, top_k);
        }
        // Side by side where the pool has threads to spare; what is best does not depend on the order.
        let parts: Vec<Vec<Scored>> = self
            .snapshot
            .dense
            .par_iter()
            .enumerate()
            .map(|part| {
                let _inside = Inside::enter();
                self.best_in(query, part, (accepted, passing), (top_k, how))
            })
            .collect();
        let mut found = parts.concat();
        keep_best(&mut found, top_k);
        Ok(found)
    }

    /// The best of one segment, which is number `nth`.
    fn best_in(
        &self,
        query: &[f32],
        (nth, segment): (usize, &Arc<DenseSegment>),
        (accepted, passing): (&[Accepted], &Passing),
        (top_k, how): (usize, DenseSearch),
    ) -> Vec<Scored> {
        let (DenseSearch::Indexed { probe }, Some(index)) = (how, segment.index()) else {
            return self.best_of_all(query, segment, accepted, top_k);
        };
        let probe = probe.unwrap_or_else(|| index.probe(top_k)).widened(passing.share(), top_k);
        let accepts = |row| passing.passes((nth, segment), row, (self.snapshot, accepted));
        let address = |row| segment.ordinal(row).and_then(|o| self.snapshot.ordinals.address(o));
        let rows = index.candidates(query, (probe, top_k), &accepts);
        let scored = rows.into_iter().filter_map(|row| {
            let (address, stored) = address(row).zip(segment.stored(row as usize))?;
            Some(Scored { address, score: self.kernel.dot(query, stored) })
        });
        scored.collect()
    }

    /// Compares every row of a segment.
    fn best_of_all(
        &self,
        query: &[f32],
        segment: &DenseSegment,
        accepted: &[Accepted],
        top_k: usize,
    ) -> Vec<Scored> {
        let rows = u32::try_from(segment.rows()).unwrap_or(u32::MAX);
        let starts: Vec<u32> = (0..rows).step_by(BLOCK).collect();
        starts
            .into_par_iter()
            .map(|start| {
                let _inside = Inside::enter();
                let end = rows.min(start.saturating_add(u32::try_from(BLOCK).unwrap_or(u32::MAX)));
                let mut found = Vec::new();
                let mut bar = f32::NEG_INFINITY;
                for row in start..end {
                    let Some(stored) = segment.stored(row as usize) else { continue };
                    let score = self.kernel.dot(query, stored);
                    if score < bar {
                        continue;
                    }
                    let address =
                        segment.ordinal(row).and_then(|o| self.snapshot.ordinals.address(o));
                    let Some(address) = address.filter(|at| is_accepted(accepted, *at)) else {
                        continue;
                    };
                    found.push(Scored { address, score });
                    if found.len() > top_k * 2 + 64 {
                        keep_best(&mut found, top_k);
                        bar = found.iter().map(|s| s.score).fold(f32::INFINITY, f32::min);
                    }
                }
                keep_best(&mut found, top_k);
                found
            })
            .reduce(Vec::new, |mut left, right| {
                left.extend(right);
                keep_best(&mut left, top_k);
                left
            })
    }

    /// Compares every one of `passages`.
    fn best_listed(
        &self,
        query: &[f32],
        passages: &[DocAddress],
        top_k: usize,
    ) -> Result<Vec<Scored>, Error> {
        let mut found = Vec::with_capacity(passages.len());
        for address in passages {
            if let Some(score) = self.dot(query, *address)? {
                found.push(Scored { address: *address, score });
            }
        }
        keep_best(&mut found, top_k);
        Ok(found)
    }
}

/// Whether a filter accepts a passage.
pub(crate) fn is_accepted(accepted: &[Accepted], at: DocAddress) -> bool {
    accepted[at.segment_ord as usize].contains(at.doc_id)
}

/// The row of an ordinal in segments that come in ascending order.
pub(crate) fn find_row(segments: &[Arc<DenseSegment>], ordinal: u64) -> Option<&[u8]> {
    find_segment(segments, ordinal)?.row(ordinal)
}

/// The segment that an ordinal lies in, if it lies in any.
pub(crate) fn find_segment(
    segments: &[Arc<DenseSegment>],
    ordinal: u64,
) -> Option<&Arc<DenseSegment>> {
    let after = segments.partition_point(|segment| segment.range().0 <= ordinal);
    segments.get(after.checked_sub(1)?)
}

fn missing_vector(ordinal: u64) -> Error {
    Error::corrupt(std::path::Path::new("dense"), format!("no segment holds vector {ordinal}"))
}

/// Drops everything below the `top_k`-th score; ties with it stay, so that the caller can break them by name.
pub(crate) fn keep_best(found: &mut Vec<Scored>, top_k: usize) {
    if found.len() <= top_k {
        return;
    }
    if top_k == 0 {
        found.clear();
        return;
    }
    let (_, last, _) = found.select_nth_unstable_by(top_k - 1, |a, b| b.score.total_cmp(&a.score));
    let bar = last.score;
    found.retain(|scored| scored.score >= bar);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_are_kept_with_ties(scores in prop::collection::vec(0_u8..20, 0..60), top_k in 0_usize..30) {
            let mut found: Vec<Scored> = (0_u32..)
                .zip(&scores)
                .map(|(doc, score)| Scored {
                    address: DocAddress::new(0, doc),
                    score: f32::from(*score),
                })
                .collect();
            keep_best(&mut found, top_k);
            let mut sorted = scores.clone();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            let expect = match top_k.checked_sub(1).and_then(|last| sorted.get(last)) {
                Some(bar) => sorted.iter().filter(|score| *score >= bar).count(),
                None if top_k == 0 => 0,
                None => sorted.len(),
            };
            prop_assert_eq!(found.len(), expect);
        }
    }
}
