//! What a filter leaves of the dense side, found out once for a search.

use tantivy::DocAddress;

use super::vectors::Vectors;
use crate::filter::{Accepted, is_accepted};
use crate::store::commit::OpenCommit;

/// Documents looked at to estimate how many a filter accepts.
const SAMPLED_DOCS: u32 = 2_048;
/// A filter that accepts a smaller share is marked: nearly every row that looks good would be asked about in vain, and
/// asking costs tens of times as much as looking at a bit.
pub(crate) const MARKED_SHARE: f64 = 0.25;

/// Which passages may be found.
pub(crate) enum Passing {
    /// All that are not removed, or so many that each is asked about when it would be among the best.
    Asked {
        /// Estimated share of all.
        share: f64,
    },
    /// These ones, few enough to compare each.
    Listed(Vec<DocAddress>),
    /// Those with a bit set.
    Marked {
        /// Estimated share of all.
        share: f64,
        /// For each dense segment, one bit for each of its ordinals.
        marks: Vec<Vec<u64>>,
    },
}

impl Passing {
    /// What `accepted` leaves of the commit of `vectors`, which is about `share` of it; listed if that is about `compared` passages or
    /// fewer.
    pub(crate) fn new(
        vectors: &Vectors<'_>,
        accepted: &[Accepted],
        share: f64,
        compared: usize,
    ) -> Self {
        if share >= 1.0 {
            return Self::Asked { share };
        }
        let dense = &vectors.commit.dense;
        let passages: u64 = dense.iter().map(|segment| segment.rows()).sum();
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let is_few = share * passages as f64 <= compared as f64;
        let has_index = dense.iter().any(|segment| segment.index().is_some());
        let is_marked = accepted.iter().all(Accepted::is_marked);
        if is_few && (has_index || is_marked) {
            return Self::Listed(listed(accepted).collect());
        }
        if has_index && is_marked {
            return Self::Marked { share, marks: marks(vectors, accepted) };
        }
        Self::Asked { share }
    }

    /// Estimated share of the passages.
    pub(crate) fn share(&self) -> f64 {
        match self {
            Self::Asked { share } | Self::Marked { share, .. } => *share,
            Self::Listed(_) => 1.0,
        }
    }
}

/// What a filter leaves, on both sides.
#[derive(Clone, Copy)]
pub(crate) struct Allowed<'a> {
    /// For each lexical segment.
    pub(crate) accepted: &'a [Accepted],
    pub(crate) passing: &'a Passing,
}

impl Allowed<'_> {
    /// Whether the passage in place `row` of dense segment number `nth` of `commit` may be found.
    pub(crate) fn passes(self, commit: &OpenCommit, nth: usize, row: u32) -> bool {
        let segment = &commit.dense[nth];
        let Some(ordinal) = segment.ordinal(row) else { return false };
        match self.passing {
            Passing::Marked { marks, .. } => {
                let place = usize::try_from(ordinal - segment.range().0).unwrap_or(usize::MAX);
                marks[nth].get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
            }
            Passing::Asked { .. } | Passing::Listed(_) => {
                commit.ordinals.address(ordinal).is_some_and(|at| is_accepted(self.accepted, at))
            }
        }
    }
}

fn listed(accepted: &[Accepted]) -> impl Iterator<Item = DocAddress> {
    let by_segment = (0_u32..).zip(accepted);
    by_segment.flat_map(|(segment, accepted)| {
        accepted.list().into_iter().map(move |doc| DocAddress::new(segment, doc))
    })
}

fn marks(vectors: &Vectors<'_>, accepted: &[Accepted]) -> Vec<Vec<u64>> {
    let segments = &vectors.commit.dense;
    let words = |count: u64| usize::try_from(count.div_ceil(64)).unwrap_or_default();
    let mut marks: Vec<Vec<u64>> =
        segments.iter().map(|segment| vec![0; words(segment.range().1)]).collect();
    for ordinal in listed(accepted).filter_map(|address| vectors.ordinal(address)) {
        let after = segments.partition_point(|segment| segment.range().0 <= ordinal);
        let Some(nth) = after.checked_sub(1) else { continue };
        let place = usize::try_from(ordinal - segments[nth].range().0).unwrap_or(usize::MAX);
        if let Some(word) = marks[nth].get_mut(place / 64) {
            *word |= 1 << (place % 64);
        }
    }
    marks
}

/// Share of the passages that are accepted: exact for a filter of papers, else estimated on a sample.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(crate) fn accepted_share(vectors: &Vectors<'_>, accepted: &[Accepted]) -> f64 {
    if accepted.iter().all(Accepted::accepts_all_alive) {
        return 1.0;
    }
    let readers = vectors.commit.searcher.segment_readers();
    let all: u64 = readers.iter().map(|reader| u64::from(reader.max_doc())).sum();
    if accepted.iter().all(|accepted| accepted.named().is_some()) {
        let named: usize = accepted.iter().filter_map(Accepted::named).map(<[_]>::len).sum();
        return named as f64 / all.max(1) as f64;
    }
    let step = u32::try_from(all / u64::from(SAMPLED_DOCS)).unwrap_or(u32::MAX).max(1);
    let (mut passages, mut taken) = (0_u64, 0_u64);
    for (segment, (reader, accepted)) in (0_u32..).zip(readers.iter().zip(accepted)) {
        for doc in (0..reader.max_doc()).step_by(step as usize) {
            if vectors.ordinal(DocAddress::new(segment, doc)).is_some() {
                passages += 1;
                taken += u64::from(accepted.contains(doc));
            }
        }
    }
    taken as f64 / passages.max(1) as f64
}
