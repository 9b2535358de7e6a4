//! Filters that were asked for before: the searches of an answer share one, and looking a narrow one up in a large store
//! costs about as much as searching with it.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rayon::prelude::*;
use scholar_core::SearchFilter;
use tantivy::TantivyError;

use crate::dense::passing::{Allowed, MARKED_SHARE, Passing, accepted_share};
use crate::dense::vectors::Vectors;
use crate::filter::Accepted;
use crate::schema::Fields;
use crate::store::commit::OpenCommit;
use crate::store::guard::Inside;

/// Filters remembered at most. Ours: a server's users have more questions than filters.
const MOST_FILTERS: usize = 16;
/// Memory for them, in bytes; one is remembered however large the store.
const MOST_BYTES: usize = 64 << 20;

/// A filter, looked up in one commit.
pub(crate) struct Filtered {
    /// For each segment.
    pub(crate) accepted: Vec<Accepted>,
    /// Of the passages, about so many are accepted.
    share: f64,
    /// Made by the first dense search.
    passing: OnceLock<Passing>,
    /// Up to so many accepted passages are compared each.
    compared: usize,
}

impl Filtered {
    fn new(
        vectors: &Vectors<'_>,
        fields: &Fields,
        filter: &SearchFilter,
        compared: usize,
    ) -> Result<Self, TantivyError> {
        let readers = vectors.commit().searcher.segment_readers();
        let mut accepted = readers
            .par_iter()
            .map(|reader| {
                let _inside = Inside::enter();
                Accepted::new(reader, fields, filter)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let share = accepted_share(vectors, &accepted);
        if share < MARKED_SHARE {
            let marked = |accepted: Accepted| {
                let _inside = Inside::enter();
                accepted.marked()
            };
            accepted = accepted.into_par_iter().map(marked).collect();
        }
        Ok(Self { accepted, share, passing: OnceLock::new(), compared })
    }

    /// What the filter leaves.
    pub(crate) fn allowed<'a>(&'a self, vectors: &Vectors<'_>) -> Allowed<'a> {
        Allowed { accepted: &self.accepted, passing: self.passing(vectors) }
    }

    fn passing(&self, vectors: &Vectors<'_>) -> &Passing {
        if let Some(passing) = self.passing.get() {
            return passing;
        }
        // Made before it is set: whoever waits for another in a pool of threads may be given that other's work.
        let passing = Passing::new(vectors, &self.accepted, self.share, self.compared);
        self.passing.get_or_init(move || passing)
    }
}

/// The filters of one commit, the last asked for last.
#[derive(Default)]
pub(crate) struct Filters {
    known: Mutex<VecDeque<(SearchFilter, Arc<Filtered>)>>,
}

impl Filters {
    /// `filter`, looked up in the commit of `vectors`, to which these filters belong.
    pub(crate) fn get(
        &self,
        vectors: &Vectors<'_>,
        fields: &Fields,
        filter: &SearchFilter,
        compared: usize,
    ) -> Result<Arc<Filtered>, TantivyError> {
        // Nothing is to be looked up for it, and it would take the place of one that is worth remembering.
        if *filter == SearchFilter::none() {
            return Ok(Arc::new(Filtered::new(vectors, fields, filter, compared)?));
        }
        if let Some(found) = self.find(filter, compared) {
            return Ok(found);
        }
        let filtered = Arc::new(Filtered::new(vectors, fields, filter, compared)?);
        let mut known = self.known.lock();
        let most = most_filters(vectors.commit());
        while known.len() >= most {
            known.pop_front();
        }
        known.push_back((filter.clone(), Arc::clone(&filtered)));
        Ok(filtered)
    }

    fn find(&self, filter: &SearchFilter, compared: usize) -> Option<Arc<Filtered>> {
        let mut known = self.known.lock();
        let place = known
            .iter()
            .position(|(other, filtered)| other == filter && filtered.compared == compared)?;
        let entry = known.remove(place)?;
        let found = Arc::clone(&entry.1);
        known.push_back(entry);
        Some(found)
    }
}

/// As many as fit: a narrow filter has a bit for each passage on either side.
fn most_filters(commit: &OpenCommit) -> usize {
    let readers = commit.searcher.segment_readers();
    let docs: usize = readers.iter().map(|reader| reader.max_doc() as usize).sum();
    (MOST_BYTES / (docs / 4).max(1)).clamp(1, MOST_FILTERS)
}
