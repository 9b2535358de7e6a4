//! From a downloaded document to a paper with its text.

use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::{Paper, PaperMeta};
use scholar_formats::{Document, DocumentFormat, ReadLimits, document};

use crate::parse::add_id;

/// Reads a document away from the threads that wait for the network. The error quotes the place.
pub(crate) async fn read_document(
    format: DocumentFormat,
    bytes: Vec<u8>,
) -> Result<Document, String> {
    let read =
        tokio::task::spawn_blocking(move || document::read(format, &bytes, ReadLimits::default()));
    match read.await {
        Ok(read) => read.map_err(|error| error.to_string()),
        Err(_) => Err(format!("reading the {format:?} stopped")),
    }
}

/// `meta` with the text of `document`. What is known about the paper stays; the document adds identifiers and an
/// abstract. `None` if the document has no text beyond an abstract.
pub(crate) fn with_text(meta: &PaperMeta, document: Document) -> Option<Paper> {
    let Document { paper, .. } = document;
    let body = paper.sections.iter().any(|section| section.heading != ABSTRACT_HEADING);
    if !body {
        return None;
    }
    let mut meta = meta.clone();
    for id in [paper.meta.id].into_iter().chain(paper.meta.external_ids) {
        if !matches!(id, scholar_core::PaperId::Local(_)) {
            add_id(&mut meta, id);
        }
    }
    if meta.licence.is_none() {
        meta.licence = paper.meta.licence;
    }
    Some(Paper {
        meta,
        sections: paper.sections,
        references: paper.references,
        records: Vec::new(),
    })
}
