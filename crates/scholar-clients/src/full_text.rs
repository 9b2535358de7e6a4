//! Whole papers from the places that have them in a structured form.

use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::{Paper, PaperMeta, PortError};
use scholar_formats::{Document, DocumentFormat, ReadLimits, document};

use crate::fetch::Fetcher;
use crate::latexml::Latexml;
use crate::pubmed::Pubmed;
use crate::reading::add_id;

/// arXiv and PMC together. Cheap to clone.
#[derive(Clone)]
pub struct FullTexts {
    latexml: Latexml,
    pubmed: Pubmed,
}

impl FullTexts {
    /// Clients that ask through `fetcher`.
    pub fn new(fetcher: &Fetcher) -> Self {
        Self { latexml: Latexml::new(fetcher.clone()), pubmed: Pubmed::new(fetcher.clone()) }
    }

    /// `meta` with its text: from PMC if it is there, where it is the published version, else from arXiv.
    ///
    /// # Errors
    /// That of the last place which could not be asked, if none has the text.
    pub async fn of(&self, meta: &PaperMeta) -> Result<Option<Paper>, PortError> {
        let published = self.pubmed.paper(meta).await;
        if let Ok(Some(paper)) = published {
            return Ok(Some(paper));
        }
        match self.latexml.paper(meta).await {
            Ok(None) => published,
            found => found,
        }
    }
}

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
    Some(Paper { meta, sections: paper.sections, references: paper.references })
}
