//! Documents by an exact term.

use tantivy::schema::IndexRecordOption;
use tantivy::{
    DocAddress, DocId, DocSet as _, Searcher, SegmentReader, TERMINATED, TantivyError, Term,
};

/// Documents that carry `term` and are not deleted, in order of storing.
pub(crate) fn alive_documents(
    searcher: &Searcher,
    term: &Term,
) -> Result<Vec<DocAddress>, TantivyError> {
    let mut found = Vec::new();
    for (segment, reader) in (0_u32..).zip(searcher.segment_readers()) {
        let docs = alive_in(reader, term)?;
        found.extend(docs.into_iter().map(|doc| DocAddress::new(segment, doc)));
    }
    Ok(found)
}

/// The same of one segment.
pub(crate) fn alive_in(reader: &SegmentReader, term: &Term) -> Result<Vec<DocId>, TantivyError> {
    let index = reader.inverted_index(term.field())?;
    let mut docs = Vec::new();
    if let Some(mut postings) = index.read_postings(term, IndexRecordOption::Basic)? {
        let mut doc = postings.doc();
        while doc != TERMINATED {
            if !reader.is_deleted(doc) {
                docs.push(doc);
            }
            doc = postings.advance();
        }
    }
    Ok(docs)
}
