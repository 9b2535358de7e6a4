//! Papers by their title: for references that state nothing else, and for papers that must not come back.

use std::collections::BTreeSet;

use scholar_core::text::normalise::title_key;
use scholar_core::{PaperId, PassageId};
use tantivy::schema::{IndexRecordOption, Value as _};
use tantivy::store::StoreReader;
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, TantivyError, Term};

use crate::lexical::analyzer::term_counts;
use crate::schema::Fields;
use crate::store::stored;

/// Blocks of stored documents kept while titles are compared: few are read.
pub(crate) const STORE_CACHE_BLOCKS: usize = 8;

/// The paper that a stored passage belongs to.
pub(crate) fn owner(
    store: &StoreReader,
    fields: &Fields,
    doc: DocId,
) -> Result<Option<PaperId>, TantivyError> {
    #[derive(serde::Deserialize)]
    struct Named {
        id: PassageId,
    }
    let document = stored::document(store, doc)?;
    let head = document.get_first(fields.head).and_then(|value| value.as_str());
    Ok(head.and_then(|head| serde_json::from_str::<Named>(head).ok()).map(|named| named.id.paper))
}

/// The passages of papers with one of these titles: those that have every word of it, read to be sure.
pub(crate) fn titled(
    reader: &SegmentReader,
    fields: &Fields,
    titles: &BTreeSet<String>,
) -> Result<Vec<DocId>, TantivyError> {
    let index = reader.inverted_index(fields.title)?;
    let store = reader.get_store_reader(STORE_CACHE_BLOCKS)?;
    let mut docs = Vec::new();
    for title in titles {
        let mut postings = Vec::new();
        // Other scripts may fold differently in a key and in a stored title; what is left is read anyway.
        let terms = term_counts(title).into_iter().filter(|(term, _)| term.is_ascii());
        for (term, _) in terms {
            let term = Term::from_field_text(fields.title, &term);
            postings.push(index.read_postings(&term, IndexRecordOption::Basic)?);
        }
        let Some(mut all) = postings.into_iter().collect::<Option<Vec<_>>>() else { continue };
        all.sort_by_key(DocSet::size_hint);
        let Some((rarest, others)) = all.split_first_mut() else { continue };
        let mut doc = rarest.doc();
        while doc != TERMINATED {
            let in_all = others.iter_mut().all(|other| {
                (if other.doc() < doc { other.seek(doc) } else { other.doc() }) == doc
            });
            if in_all && stored_title(&store, fields, doc)?.is_some_and(|own| own == *title) {
                docs.push(doc);
            }
            doc = rarest.advance();
        }
    }
    Ok(docs)
}

/// The folded title of a stored passage.
fn stored_title(
    store: &StoreReader,
    fields: &Fields,
    doc: DocId,
) -> Result<Option<String>, TantivyError> {
    #[derive(serde::Deserialize)]
    struct Titled {
        title: String,
    }
    let document = stored::document(store, doc)?;
    let head = document.get_first(fields.head).and_then(|value| value.as_str());
    let titled = head.and_then(|head| serde_json::from_str::<Titled>(head).ok());
    Ok(titled.map(|titled| title_key(&titled.title)))
}
