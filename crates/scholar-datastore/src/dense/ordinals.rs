//! From the ordinal of a vector back to the passage it belongs to.
//!
//! A passage's document knows its ordinal; an inverted index finds ordinals and needs the documents. One table for each
//! lexical segment, made when the segment is first seen and kept as long as it lives: four bytes per passage, because
//! documents are stored in the order of their vectors and the ordinals of a segment are nearly contiguous. Merging
//! segments out of order spreads them; then pairs are kept and searched.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use tantivy::fastfield::AliveBitSet;
use tantivy::index::SegmentId;
use tantivy::{DocAddress, DocId, Searcher, SegmentReader, TantivyError};

use crate::schema::column;

const NO_DOC: DocId = DocId::MAX;
/// Places per ordinal beyond which a table of places would waste more than pairs cost.
const WIDEST: u64 = 3;

/// The documents of one lexical segment by ordinal.
#[derive(Debug)]
pub(crate) enum Table {
    /// `docs[ordinal - first]`.
    Places { first: u64, docs: Vec<DocId> },
    /// Sorted by ordinal.
    Pairs(Vec<(u64, DocId)>),
}

impl Table {
    fn of(reader: &SegmentReader) -> Result<Self, TantivyError> {
        let ordinals = reader.fast_fields().u64(column::ORDINAL)?;
        let pairs: Vec<(u64, DocId)> = reader
            .doc_ids_alive()
            .filter_map(|doc| ordinals.first(doc).map(|ordinal| (ordinal, doc)))
            .collect();
        Ok(Self::from_pairs(pairs))
    }

    fn from_pairs(mut pairs: Vec<(u64, DocId)>) -> Self {
        let first = pairs.iter().map(|pair| pair.0).min().unwrap_or_default();
        let last = pairs.iter().map(|pair| pair.0).max().unwrap_or_default();
        let span = last - first + 1;
        if span > pairs.len() as u64 * WIDEST {
            pairs.sort_unstable();
            return Self::Pairs(pairs);
        }
        let mut docs = vec![NO_DOC; usize::try_from(span).unwrap_or_default()];
        for (ordinal, doc) in pairs {
            if let Some(place) =
                usize::try_from(ordinal - first).ok().and_then(|at| docs.get_mut(at))
            {
                *place = doc;
            }
        }
        Self::Places { first, docs }
    }

    fn doc(&self, ordinal: u64) -> Option<DocId> {
        match self {
            Self::Places { first, docs } => {
                let at = usize::try_from(ordinal.checked_sub(*first)?).ok()?;
                docs.get(at).copied().filter(|doc| *doc != NO_DOC)
            }
            Self::Pairs(pairs) => {
                let at = pairs.binary_search_by_key(&ordinal, |pair| pair.0).ok()?;
                Some(pairs[at].1)
            }
        }
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Self::Places { docs, .. } => docs.len() * size_of::<DocId>(),
            Self::Pairs(pairs) => pairs.len() * size_of::<(u64, DocId)>(),
        }
    }
}

/// One lexical segment.
#[derive(Clone)]
struct SegmentOrdinals {
    id: SegmentId,
    table: Arc<Table>,
    alive: Option<AliveBitSet>,
}

/// The tables of one snapshot, in the order of its lexical segments.
#[derive(Default)]
pub(crate) struct Ordinals {
    parts: Vec<SegmentOrdinals>,
}

impl Ordinals {
    /// Of the segments of `searcher`; tables in `known` are used again.
    pub(crate) fn new(searcher: &Searcher, known: &Self) -> Result<Self, TantivyError> {
        let known: BTreeMap<SegmentId, &Arc<Table>> =
            known.parts.iter().map(|part| (part.id, &part.table)).collect();
        let parts = searcher
            .segment_readers()
            .par_iter()
            .map(|reader| {
                let id = reader.segment_id();
                let table = match known.get(&id) {
                    Some(table) => Arc::clone(table),
                    None => Arc::new(Table::of(reader)?),
                };
                Ok(SegmentOrdinals { id, table, alive: reader.alive_bitset().cloned() })
            })
            .collect::<Result<_, TantivyError>>()?;
        Ok(Self { parts })
    }

    /// The passage of a vector; `None` when it was removed. A passage whose paper got another identifier was written
    /// again, so that its vector may have had several documents, one of which is alive.
    pub(crate) fn address(&self, ordinal: u64) -> Option<DocAddress> {
        (0_u32..).zip(&self.parts).find_map(|(segment, part)| {
            let doc = part.table.doc(ordinal)?;
            let is_alive = part.alive.as_ref().is_none_or(|alive| alive.is_alive(doc));
            is_alive.then(|| DocAddress::new(segment, doc))
        })
    }

    /// Bytes held in memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.parts.iter().map(|part| part.table.memory_bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_table_find_each_document() {
        let dense: Vec<(u64, DocId)> =
            (0..50_u32).map(|doc| (100 + u64::from(doc) * 2, doc)).collect();
        let sparse: Vec<(u64, DocId)> =
            (0..50_u32).map(|doc| (u64::from(50 - doc) * 1_000, doc)).collect();
        for pairs in [dense, sparse] {
            let table = Table::from_pairs(pairs.clone());
            for (ordinal, doc) in &pairs {
                assert_eq!(table.doc(*ordinal), Some(*doc));
                assert_eq!(table.doc(ordinal + 1), None);
            }
            assert_eq!(table.doc(3), None);
        }
        assert!(matches!(Table::from_pairs(vec![(7, 0), (9, 1)]), Table::Places { .. }));
        assert!(matches!(Table::from_pairs(vec![(7, 0), (99, 1)]), Table::Pairs(_)));
        assert_eq!(Table::from_pairs(Vec::new()).doc(0), None);
    }
}
