//! What a filter leaves of a store, counted before anything is searched: a question that finds nothing must be able to say
//! that the filter took it away.

use scholar_core::SearchFilter;
use serde::Serialize;
use tantivy::{DocId, SegmentReader, TantivyError};

use super::Datastore;
use crate::error::Error;
use crate::filter::Accepted;
use crate::schema::column;

/// What a filter does to the papers of a store. Papers without passages are not counted: no search returns them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FilterEffect {
    /// Papers with passages.
    pub papers: u64,
    /// Those that it accepts.
    pub accepted: u64,
    /// Those that it refuses only because something it asks is not known of them.
    pub unknown: u64,
}

impl FilterEffect {
    /// The counts of two stores.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            papers: self.papers + other.papers,
            accepted: self.accepted + other.accepted,
            unknown: self.unknown + other.unknown,
        }
    }
}

impl Datastore {
    /// Counts what `filter` accepts and refuses. Reads columns alone, a few nanoseconds for each passage.
    ///
    /// # Errors
    /// [`Error::Index`] when the store cannot be read.
    pub fn filter_effect(&self, filter: &SearchFilter) -> Result<FilterEffect, Error> {
        let snapshot = self.snapshot()?;
        let lenient = SearchFilter { include_unknown: true, ..filter.clone() };
        let failed = || Error::index("search", self.root());
        self.reading(|| {
            let mut effect = FilterEffect::default();
            for reader in snapshot.searcher.segment_readers() {
                let of = |filter| Accepted::new(reader, self.fields(), filter);
                let strict = of(filter).map_err(failed())?;
                let lenient = of(&lenient).map_err(failed())?;
                for doc in first_passages(reader).map_err(failed())? {
                    effect.papers += 1;
                    if strict.contains(doc) {
                        effect.accepted += 1;
                    } else if lenient.contains(doc) {
                        effect.unknown += 1;
                    }
                }
            }
            Ok(effect)
        })
    }
}

/// One passage of each paper that has any: its passages follow it, and the first that is alive speaks for all.
fn first_passages(reader: &SegmentReader) -> Result<Vec<DocId>, TantivyError> {
    let columns = reader.fast_fields();
    let papers = columns.str(column::PAPER)?;
    let ordinals = columns.u64(column::ORDINAL)?;
    let mut first = Vec::new();
    let mut is_counted = true;
    for doc in (0..reader.max_doc()).filter(|doc| !reader.is_deleted(*doc)) {
        if papers.as_ref().is_some_and(|papers| papers.ords().first(doc).is_some()) {
            is_counted = false;
        } else if !is_counted && ordinals.first(doc).is_some() {
            is_counted = true;
            first.push(doc);
        }
    }
    Ok(first)
}
