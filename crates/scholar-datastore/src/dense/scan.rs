//! Exact scan: every accepted passage is compared with the query.
//!
//! Work is cut into blocks of documents that run in parallel; each keeps only its best. Cost: one inner product per
//! accepted passage, reading `2 · dim` bytes each in storage order.

use rayon::prelude::*;
use tantivy::columnar::Column;
use tantivy::{DocAddress, DocId};

use super::kernel::Kernel;
use crate::error::Error;
use crate::filter::Accepted;
use crate::schema::column;
use crate::store::Snapshot;

/// Documents a worker takes at a time.
const BLOCK: u32 = 8_192;

/// A passage and a score, before anything of it is loaded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored {
    pub(crate) address: DocAddress,
    pub(crate) score: f32,
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
        let column = &self.ordinals[address.segment_ord as usize];
        column.first(address.doc_id).map(|ordinal| self.row_of(ordinal)).transpose()
    }

    /// Inner product of `query` with the vector of a passage.
    pub(crate) fn dot(&self, query: &[f32], address: DocAddress) -> Result<Option<f32>, Error> {
        Ok(self.row(address)?.map(|row| self.kernel.dot(query, row)))
    }

    fn row_of(&self, ordinal: u64) -> Result<&'a [u8], Error> {
        let segments = &self.snapshot.dense;
        let after = segments.partition_point(|segment| segment.range().0 <= ordinal);
        after
            .checked_sub(1)
            .and_then(|place| segments[place].row(ordinal))
            .ok_or_else(|| missing_vector(ordinal))
    }

    /// The passages with the highest inner products: at least `top_k` where there are so many, plus those that tie with
    /// the last. In no particular order.
    pub(crate) fn best(
        &self,
        query: &[f32],
        accepted: &[Accepted],
        top_k: usize,
    ) -> Result<Vec<Scored>, Error> {
        let blocks: Vec<(u32, DocId, DocId)> = (0_u32..)
            .zip(self.snapshot.searcher.segment_readers())
            .flat_map(|(segment, reader)| {
                let end = reader.max_doc();
                (0..end)
                    .step_by(BLOCK as usize)
                    .map(move |start| (segment, start, end.min(start.saturating_add(BLOCK))))
            })
            .collect();
        blocks
            .into_par_iter()
            .map(|(segment, start, end)| {
                let accepted = &accepted[segment as usize];
                let mut found = Vec::new();
                for doc in (start..end).filter(|doc| accepted.contains(*doc)) {
                    let address = DocAddress::new(segment, doc);
                    if let Some(score) = self.dot(query, address)? {
                        found.push(Scored { address, score });
                    }
                }
                keep_best(&mut found, top_k);
                Ok(found)
            })
            .try_reduce(Vec::new, |mut left, right| {
                left.extend(right);
                keep_best(&mut left, top_k);
                Ok(left)
            })
    }
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
