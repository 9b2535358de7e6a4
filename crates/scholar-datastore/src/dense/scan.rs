//! The dense side of a search: every row of small segments, the promising rows of large ones.
//!
//! * A segment without an inverted index is compared row by row, in blocks that run in parallel.
//! * One with an index gives the rows whose codes look best, which are then compared exactly.
//! * A filter that few passages pass turns the work around: they are listed first and each is compared exactly, so that
//!   `top_k` results come back at any selectivity; one that some pass has them marked ([`Passing`]).
//!
//! Whether a passage is accepted is asked only for rows that would be among the best.

use rayon::prelude::*;
use tantivy::DocAddress;

use super::file::DenseSegment;
use super::ivf::Probe;
use super::passing::{Allowed, Passing};
use super::vectors::Vectors;
use crate::error::Error;
use crate::filter::{Accepted, is_accepted};
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

impl Vectors<'_> {
    /// The passages with the highest inner products: at least `top_k` where there are so many, plus those that tie with
    /// the last. In no particular order. Exact but for what an inverted index misses.
    pub(crate) fn best(
        &self,
        query: &[f32],
        allowed: Allowed<'_>,
        top_k: usize,
        how: DenseSearch,
    ) -> Result<Vec<Scored>, Error> {
        if let Passing::Listed(passages) = allowed.passing {
            return self.best_listed(query, passages, top_k);
        }
        // Side by side where the pool has threads to spare; what is best does not depend on the order.
        let parts: Vec<Vec<Scored>> = self
            .commit
            .dense
            .par_iter()
            .enumerate()
            .map(|(nth, segment)| {
                let _inside = Inside::enter();
                match (how, segment.index()) {
                    (DenseSearch::Indexed { probe }, Some(index)) => {
                        let probe = probe.unwrap_or_else(|| index.probe(top_k));
                        self.best_by_index(query, nth, allowed, top_k, probe)
                    }
                    _ => self.best_of_all(query, segment, allowed.accepted, top_k),
                }
            })
            .collect();
        let mut found = parts.concat();
        keep_best(&mut found, top_k);
        Ok(found)
    }

    /// The best of dense segment number `nth`, as far as the lists of `probe` hold them; empty without an index.
    fn best_by_index(
        &self,
        query: &[f32],
        nth: usize,
        allowed: Allowed<'_>,
        top_k: usize,
        probe: Probe,
    ) -> Vec<Scored> {
        let segment = &self.commit.dense[nth];
        let Some(index) = segment.index() else { return Vec::new() };
        let probe = probe.widened(allowed.passing.share(), top_k);
        let accepts = |row| allowed.passes(self.commit, nth, row);
        let address = |row| segment.ordinal(row).and_then(|o| self.commit.ordinals.address(o));
        let rows = index.candidates(query, probe, top_k, &accepts);
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
                        segment.ordinal(row).and_then(|o| self.commit.ordinals.address(o));
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
