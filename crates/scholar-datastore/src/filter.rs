//! [`SearchFilter`] as a set of documents per tantivy segment, decided before any top-k.
//!
//! Everything is read from columns and terms that the writer denormalised onto passages, so no paper is loaded. The
//! result equals [`SearchFilter::accepts`] on every paper (property-tested).

use std::collections::BTreeSet;

use scholar_core::{PaperId, SearchFilter};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, SegmentReader, TERMINATED, TantivyError, Term};

use crate::schema::{Fields, column, day_number};

/// Which documents of one tantivy segment may be returned.
pub(crate) struct Accepted {
    /// One bit per document; `None` accepts all that are alive.
    bits: Option<Vec<u64>>,
    alive: Option<tantivy::fastfield::AliveBitSet>,
}

impl Accepted {
    pub(crate) fn contains(&self, doc: DocId) -> bool {
        self.alive.as_ref().is_none_or(|alive| alive.is_alive(doc))
            && self.bits.as_ref().is_none_or(|bits| bits[doc as usize / 64] >> (doc % 64) & 1 == 1)
    }

    /// The documents of `reader` that `filter` accepts.
    pub(crate) fn new(
        reader: &SegmentReader,
        fields: &Fields,
        filter: &SearchFilter,
    ) -> Result<Self, TantivyError> {
        let alive = reader.alive_bitset().cloned();
        if filter.is_none() {
            return Ok(Self { bits: None, alive });
        }
        let SearchFilter {
            published_before,
            year_from,
            year_to,
            venues,
            min_citations,
            papers,
            exclude,
        } = filter;
        let mut set = Set::new(reader.max_doc(), papers.is_none());
        if let Some(papers) = papers {
            set.insert_papers(reader, fields, papers)?;
        }
        if let Some(cutoff) = published_before.map(day_number) {
            let days = reader.fast_fields().i64(column::LATEST_DAY)?;
            set.retain(|doc| days.first(doc).is_some_and(|day| day < cutoff));
        }
        if year_from.is_some() || year_to.is_some() {
            let years = reader.fast_fields().i64(column::YEAR)?;
            let from = year_from.map_or(i64::MIN, i64::from);
            let to = year_to.map_or(i64::MAX, i64::from);
            set.retain(|doc| years.first(doc).is_some_and(|year| (from..=to).contains(&year)));
        }
        if let Some(min) = min_citations.map(u64::from) {
            let counts = reader.fast_fields().u64(column::CITATIONS)?;
            set.retain(|doc| counts.first(doc).is_some_and(|count| count >= min));
        }
        if !venues.is_empty() {
            set.retain_venues(reader, venues)?;
        }
        set.remove_papers(reader, fields, exclude)?;
        Ok(Self { bits: Some(set.bits), alive })
    }
}

struct Set {
    bits: Vec<u64>,
    max_doc: DocId,
}

impl Set {
    fn new(max_doc: DocId, full: bool) -> Self {
        let words = (max_doc as usize).div_ceil(64);
        Self { bits: vec![if full { u64::MAX } else { 0 }; words], max_doc }
    }

    fn contains(&self, doc: DocId) -> bool {
        self.bits[doc as usize / 64] >> (doc % 64) & 1 == 1
    }

    fn put(&mut self, doc: DocId, member: bool) {
        let bit = 1_u64 << (doc % 64);
        let word = &mut self.bits[doc as usize / 64];
        if member { *word |= bit } else { *word &= !bit }
    }

    fn retain(&mut self, keep: impl Fn(DocId) -> bool) {
        for doc in 0..self.max_doc {
            if self.contains(doc) && !keep(doc) {
                self.put(doc, false);
            }
        }
    }

    fn retain_venues(
        &mut self,
        reader: &SegmentReader,
        venues: &[String],
    ) -> Result<(), TantivyError> {
        let Some(stored) = reader.fast_fields().str(column::VENUE)? else {
            self.retain(|_| false);
            return Ok(());
        };
        let wanted: Vec<String> = venues.iter().map(|venue| venue.to_lowercase()).collect();
        let mut accepted = Vec::with_capacity(stored.num_terms());
        let mut name = String::new();
        for ord in 0..stored.num_terms() as u64 {
            name.clear();
            let known = stored.ord_to_str(ord, &mut name)?;
            accepted.push(known && wanted.iter().any(|venue| name.contains(venue.as_str())));
        }
        let ords = stored.ords();
        self.retain(|doc| {
            ords.first(doc)
                .and_then(|ord| usize::try_from(ord).ok())
                .is_some_and(|ord| accepted.get(ord).copied().unwrap_or(false))
        });
        Ok(())
    }

    fn insert_papers(
        &mut self,
        reader: &SegmentReader,
        fields: &Fields,
        papers: &BTreeSet<PaperId>,
    ) -> Result<(), TantivyError> {
        each_passage(reader, fields, papers, |doc| self.put(doc, true))
    }

    fn remove_papers(
        &mut self,
        reader: &SegmentReader,
        fields: &Fields,
        papers: &BTreeSet<PaperId>,
    ) -> Result<(), TantivyError> {
        each_passage(reader, fields, papers, |doc| self.put(doc, false))
    }
}

fn each_passage(
    reader: &SegmentReader,
    fields: &Fields,
    papers: &BTreeSet<PaperId>,
    mut visit: impl FnMut(DocId),
) -> Result<(), TantivyError> {
    if papers.is_empty() {
        return Ok(());
    }
    let index = reader.inverted_index(fields.passage_paper_ids)?;
    for paper in papers {
        let term = Term::from_field_text(fields.passage_paper_ids, &paper.to_string());
        let Some(mut postings) = index.read_postings(&term, IndexRecordOption::Basic)? else {
            continue;
        };
        let mut doc = postings.doc();
        while doc != TERMINATED {
            visit(doc);
            doc = postings.advance();
        }
    }
    Ok(())
}
