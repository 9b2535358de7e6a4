//! [`SearchFilter`] as a set of documents per tantivy segment, decided before any top-k.
//!
//! Everything is read from columns and terms that the writer denormalised onto passages, so no paper is loaded. The
//! result equals [`SearchFilter::accepts`] on every paper (property-tested).

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::ops::RangeInclusive;

use scholar_core::filter::is_any_licence;
use scholar_core::{PaperId, Retraction, SearchFilter};
use tantivy::columnar::Column;
use tantivy::fastfield::AliveBitSet;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, DocSet as _, SegmentReader, TERMINATED, TantivyError, Term};

use crate::schema::{Fields, column, day_number, retraction_name};
use crate::titles::titled;

/// Which documents of one tantivy segment may be returned. Conditions are looked up when they are asked for: a search
/// asks for few documents, and a store has many.
pub(crate) struct Accepted {
    max_doc: DocId,
    alive: Option<AliveBitSet>,
    /// Passages of the papers the filter names, ascending.
    named: Option<Vec<DocId>>,
    /// Passages of excluded papers, ascending.
    excluded: Vec<DocId>,
    ranges: Vec<Within>,
    texts: Vec<Texts>,
    /// One bit for each document, once they were looked up.
    marks: Option<Vec<u64>>,
}

/// A column whose value must be known and within bounds.
struct Within {
    range: Range,
    /// Whether a document without a value is within.
    unknown: bool,
}

enum Range {
    Signed(Column<i64>, RangeInclusive<i64>),
    Unsigned(Column<u64>, RangeInclusive<u64>),
}

impl Within {
    fn contains(&self, doc: DocId) -> bool {
        match &self.range {
            Range::Signed(column, range) => {
                column.first(doc).map_or(self.unknown, |value| range.contains(&value))
            }
            Range::Unsigned(column, range) => {
                column.first(doc).map_or(self.unknown, |value| range.contains(&value))
            }
        }
    }

    /// The documents within the bounds, ascending.
    fn list(&self, max_doc: DocId) -> Vec<DocId> {
        match &self.range {
            _ if self.unknown => (0..max_doc).filter(|doc| self.contains(*doc)).collect(),
            Range::Signed(column, range) => within(column, range, max_doc),
            Range::Unsigned(column, range) => within(column, range, max_doc),
        }
    }
}

/// The documents up to `max_doc` whose first value lies in `range`, ascending.
fn within<T: PartialOrd + Copy + Debug + Send + Sync + 'static>(
    column: &Column<T>,
    range: &RangeInclusive<T>,
    max_doc: DocId,
) -> Vec<DocId> {
    let mut docs = Vec::new();
    // Tantivy takes a range that lies wholly below a column's values for one that has the least of them.
    if *range.end() >= column.min_value() && *range.start() <= column.max_value() {
        column.get_docids_for_value_range(range.clone(), 0..max_doc, &mut docs);
    }
    docs
}

/// A condition on a column of texts, by their numbers in the segment's dictionary. An unknown text is refused.
struct Texts {
    ords: Option<Column<u64>>,
    accepted: Vec<bool>,
    /// Whether a document without a text is accepted.
    unknown: bool,
}

impl Texts {
    fn new(
        reader: &SegmentReader,
        column: &str,
        unknown: bool,
        accepts: impl Fn(&str) -> bool,
    ) -> Result<Self, TantivyError> {
        let Some(stored) = reader.fast_fields().str(column)? else {
            return Ok(Self { ords: None, accepted: Vec::new(), unknown });
        };
        let mut accepted = Vec::with_capacity(stored.num_terms());
        let mut name = String::new();
        for ord in 0..stored.num_terms() as u64 {
            name.clear();
            let known = stored.ord_to_str(ord, &mut name)?;
            accepted.push(known && accepts(&name));
        }
        Ok(Self { ords: Some(stored.ords().clone()), accepted, unknown })
    }

    fn contains(&self, doc: DocId) -> bool {
        self.ords
            .as_ref()
            .and_then(|ords| ords.first(doc))
            .and_then(|ord| usize::try_from(ord).ok())
            .map_or(self.unknown, |ord| self.accepted.get(ord).copied().unwrap_or(false))
    }
}

impl Accepted {
    pub(crate) fn contains(&self, doc: DocId) -> bool {
        match &self.marks {
            Some(marks) => marks[doc as usize / 64] >> (doc % 64) & 1 == 1,
            None => self.meets(doc),
        }
    }

    fn meets(&self, doc: DocId) -> bool {
        self.alive.as_ref().is_none_or(|alive| alive.is_alive(doc))
            && self.named.as_ref().is_none_or(|named| named.binary_search(&doc).is_ok())
            && self.ranges.iter().all(|range| range.contains(doc))
            && self.texts.iter().all(|texts| texts.contains(doc))
            && self.excluded.binary_search(&doc).is_err()
    }

    /// The documents of `reader` that `filter` accepts.
    pub(crate) fn new(
        reader: &SegmentReader,
        fields: &Fields,
        filter: &SearchFilter,
    ) -> Result<Self, TantivyError> {
        let SearchFilter {
            published_before,
            year_from,
            year_to,
            venues,
            min_citations,
            licences,
            include_unknown,
            without_retracted,
            papers,
            exclude,
            exclude_titles,
        } = filter;
        let columns = reader.fast_fields();
        let unknown = *include_unknown;
        let mut ranges = Vec::new();
        let mut within = |range| ranges.push(Within { range, unknown });
        if let Some(cutoff) = published_before.map(day_number) {
            within(Range::Signed(columns.i64(column::LATEST_DAY)?, i64::MIN..=cutoff - 1));
        }
        if year_from.is_some() || year_to.is_some() {
            let from = year_from.map_or(i64::MIN, i64::from);
            let to = year_to.map_or(i64::MAX, i64::from);
            within(Range::Signed(columns.i64(column::YEAR)?, from..=to));
        }
        if let Some(min) = min_citations.map(u64::from) {
            within(Range::Unsigned(columns.u64(column::CITATIONS)?, min..=u64::MAX));
        }
        let mut texts = Vec::new();
        if !venues.is_empty() {
            let wanted: Vec<String> = venues.iter().map(|venue| venue.to_lowercase()).collect();
            let named = |name: &str| wanted.iter().any(|venue| name.contains(venue.as_str()));
            texts.push(Texts::new(reader, column::VENUE, unknown, named)?);
        }
        if !licences.is_empty() {
            let open = |licence: &str| is_any_licence(licence, licences);
            texts.push(Texts::new(reader, column::LICENCE, unknown, open)?);
        }
        if *without_retracted {
            let retracted = retraction_name(Retraction::Retracted);
            texts
                .push(Texts::new(reader, column::RETRACTION, false, |status| status != retracted)?);
        }
        let passages = |papers| passages_of(reader, fields, papers);
        let mut excluded = passages(exclude)?;
        if !exclude_titles.is_empty() {
            excluded.extend(titled(reader, fields, exclude_titles)?);
            excluded.sort_unstable();
        }
        Ok(Self {
            max_doc: reader.max_doc(),
            alive: reader.alive_bitset().cloned(),
            named: papers.as_ref().map(passages).transpose()?,
            excluded,
            ranges,
            texts,
            marks: None,
        })
    }

    /// Looks the conditions of every document up, so that asking costs next to nothing: worth it where few are accepted
    /// and most questions would be in vain.
    pub(crate) fn marked(mut self) -> Self {
        let mut marks = vec![0_u64; self.max_doc.div_ceil(64) as usize];
        for doc in self.list() {
            marks[doc as usize / 64] |= 1 << (doc % 64);
        }
        self.marks = Some(marks);
        self
    }

    /// Whether asking costs next to nothing.
    pub(crate) fn is_marked(&self) -> bool {
        self.marks.is_some()
    }

    /// Whether only deleted documents are refused.
    pub(crate) fn accepts_all_alive(&self) -> bool {
        let Self { max_doc: _, alive: _, named, excluded, ranges, texts, marks: _ } = self;
        named.is_none() && excluded.is_empty() && ranges.is_empty() && texts.is_empty()
    }

    /// The passages the filter names, if it names papers: none else can be accepted.
    pub(crate) fn named(&self) -> Option<&[DocId]> {
        self.named.as_deref()
    }

    /// Whether the only condition is on one column, which its list of documents has met.
    fn is_one_range(&self) -> bool {
        let Self { max_doc: _, alive, named, excluded, ranges, texts, marks: _ } = self;
        let others = named.is_none() && excluded.is_empty() && texts.is_empty();
        others && alive.is_none() && ranges.len() == 1
    }

    /// Every accepted document, ascending; documents that are no passages may be among them.
    pub(crate) fn list(&self) -> Vec<DocId> {
        if let Some(marks) = &self.marks {
            return (0..).zip(marks).flat_map(|(word, bits)| set_bits(word * 64, *bits)).collect();
        }
        let candidates = match (&self.named, self.ranges.first()) {
            (Some(named), _) => named.clone(),
            (None, Some(range)) if self.is_one_range() => return range.list(self.max_doc),
            (None, Some(range)) => range.list(self.max_doc),
            (None, None) => (0..self.max_doc).collect(),
        };
        candidates.into_iter().filter(|doc| self.meets(*doc)).collect()
    }
}

/// `first` plus the place of each set bit, ascending.
fn set_bits(first: DocId, mut bits: u64) -> impl Iterator<Item = DocId> {
    std::iter::from_fn(move || {
        if bits == 0 {
            return None;
        }
        let place = bits.trailing_zeros();
        bits &= bits - 1;
        Some(first + place)
    })
}

/// The passages of `papers` in ascending order.
fn passages_of(
    reader: &SegmentReader,
    fields: &Fields,
    papers: &BTreeSet<PaperId>,
) -> Result<Vec<DocId>, TantivyError> {
    let mut docs = Vec::new();
    each_passage(reader, fields, papers, |doc| docs.push(doc))?;
    docs.sort_unstable();
    docs.dedup();
    Ok(docs)
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

/// Whether a filter accepts a passage.
pub(crate) fn is_accepted(accepted: &[Accepted], at: DocAddress) -> bool {
    accepted[at.segment_ord as usize].contains(at.doc_id)
}
