//! How many papers have links.

use serde::Serialize;
use tantivy::postings::TermInfo;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::termdict::{TermMerger, TermStreamer};
use tantivy::{DocId, DocSet as _, InvertedIndexReader, SegmentReader, TERMINATED, TantivyError};

use super::Graph;
use crate::error::Error;

/// Papers with links, and the links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LinkTotals {
    /// Stored papers with at least one reference.
    pub citing: u64,
    /// Stored papers that a stored one cites.
    pub cited: u64,
    /// References of stored papers.
    pub references: u64,
    /// References between stored papers.
    pub inner: u64,
}

impl Graph<'_> {
    /// Counts links. The dictionaries of cited and of own identifiers are read once beside each other, so it takes about a
    /// second for a million papers.
    ///
    /// # Errors
    /// As [`Graph::references`].
    pub fn totals(&self) -> Result<LinkTotals, Error> {
        self.store.reading(|| self.count_links().map_err(self.failed()))
    }

    fn count_links(&self) -> Result<LinkTotals, TantivyError> {
        let readers = self.snapshot.searcher.segment_readers();
        let fields = self.store.fields();
        let references = Dictionaries::open(readers, fields.references)?;
        let owns = Dictionaries::open(readers, fields.paper_ids)?;
        let mut totals =
            LinkTotals { citing: self.citing_papers(readers), ..LinkTotals::default() };
        let mut cited = Marks::new(readers);
        let (mut names, mut ids) = (references.merged()?, owns.merged()?);
        let mut has_id = ids.advance();
        while names.advance() {
            let mut links = 0;
            for (segment, info) in references.at(&names) {
                references.each(segment, &info, readers, |_| links += 1)?;
            }
            totals.references += links;
            while has_id && ids.key() < names.key() {
                has_id = ids.advance();
            }
            if links == 0 || !has_id || ids.key() != names.key() {
                continue;
            }
            let mut is_stored = false;
            for (segment, info) in owns.at(&ids) {
                owns.each(segment, &info, readers, |doc| {
                    is_stored = true;
                    cited.set(segment, doc);
                })?;
            }
            totals.inner += if is_stored { links } else { 0 };
        }
        totals.cited = cited.count();
        Ok(totals)
    }

    /// Papers with at least one reference.
    fn citing_papers(&self, readers: &[SegmentReader]) -> u64 {
        let segments = readers.iter().zip(&self.columns);
        let counts = segments.map(|(reader, (_, references))| {
            let Some(references) = references else { return 0 };
            let alive = (0..reader.max_doc()).filter(|doc| !reader.is_deleted(*doc));
            alive.filter(|doc| references.term_ords(*doc).next().is_some()).count() as u64
        });
        counts.sum()
    }
}

/// The dictionaries of one field, one for each segment.
struct Dictionaries(Vec<std::sync::Arc<InvertedIndexReader>>);

impl Dictionaries {
    fn open(readers: &[SegmentReader], field: Field) -> Result<Self, TantivyError> {
        let indexes = readers.iter().map(|reader| reader.inverted_index(field));
        Ok(Self(indexes.collect::<Result<_, _>>()?))
    }

    /// Their terms in order.
    fn merged(&self) -> Result<TermMerger<'_>, TantivyError> {
        let streams = self.0.iter().map(|index| index.terms().stream());
        let streams: Vec<TermStreamer<'_>> = streams.collect::<Result<_, _>>()?;
        Ok(TermMerger::new(streams))
    }

    /// The segments that have the term at which `merger` stands.
    fn at(&self, merger: &TermMerger<'_>) -> Vec<(usize, TermInfo)> {
        merger
            .current_segment_ords_and_term_infos()
            .filter(|(segment, _)| *segment < self.0.len())
            .collect()
    }

    /// Calls `visit` with each document of the term in `segment` that is not deleted.
    fn each(
        &self,
        segment: usize,
        info: &TermInfo,
        readers: &[SegmentReader],
        mut visit: impl FnMut(DocId),
    ) -> Result<(), TantivyError> {
        let mut postings =
            self.0[segment].read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
        let mut doc = postings.doc();
        while doc != TERMINATED {
            if !readers[segment].is_deleted(doc) {
                visit(doc);
            }
            doc = postings.advance();
        }
        Ok(())
    }
}

/// One bit for each document: a paper may be cited under several names.
struct Marks(Vec<Vec<u64>>);

impl Marks {
    fn new(readers: &[SegmentReader]) -> Self {
        let words = |reader: &SegmentReader| vec![0; reader.max_doc().div_ceil(64) as usize];
        Self(readers.iter().map(words).collect())
    }

    fn set(&mut self, segment: usize, doc: DocId) {
        self.0[segment][doc as usize / 64] |= 1 << (doc % 64);
    }

    fn count(&self) -> u64 {
        self.0.iter().flatten().map(|word| u64::from(word.count_ones())).sum()
    }
}
