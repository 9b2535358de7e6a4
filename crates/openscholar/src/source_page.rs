//! The source opened at its place: the PDF that a paper was read from, one of its pages drawn, and where words stand on it.

use scholar_core::place::places_within;
use scholar_core::text::locate::locate;
use scholar_core::text::{hex, untrusted};
use scholar_core::{Paper, Passage, Place, ReadLimits, SourceFile};
use scholar_datastore::files;
use scholar_formats::document::{DocumentFormat, PageDrawing, PageMark, draw_page, find_quotation};
use sha2::{Digest as _, Sha256};

use crate::error::CommandError;

/// The PDF of a paper, as it was when the paper was read.
pub(crate) struct SourcePdf {
    bytes: Vec<u8>,
    limits: ReadLimits,
}

/// The PDFs that a paper was read from, first the one whose text it has.
pub(crate) fn files_of(paper: &Paper) -> Vec<&SourceFile> {
    let mut records: Vec<_> = paper.records.iter().collect();
    records.sort_by_key(|record| !record.has_text);
    let files = records.into_iter().filter_map(|record| record.source.file());
    files.filter(|file| file.format == DocumentFormat::Pdf.name()).collect()
}

impl SourcePdf {
    /// Reads the PDF of a paper.
    ///
    /// # Errors
    /// The paper was read from none, or its file is missing or another than it was.
    pub(crate) fn open(paper: &Paper, limits: ReadLimits) -> Result<Self, CommandError> {
        let id = &paper.meta.id;
        let Some(file) = files_of(paper).into_iter().next() else {
            return Err(CommandError::user(format!("{id} was not read from a PDF"))
                .with_hint(format!("openscholar papers show {id} prints its text")));
        };
        let path = file.path.display().to_string();
        let path = untrusted(&path).line().to_string();
        let bytes = files::read(&file.path, limits.bytes).map_err(|error| {
            CommandError::user(format!("the PDF of {id} cannot be read"))
                .with_source(error)
                .with_hint("openscholar papers check lists files that are missing or changed")
        })?;
        if hex(&Sha256::digest(&bytes)) != file.sha256 {
            return Err(CommandError::user(format!(
                "{path} has changed since {id} was read from it"
            ))
            .with_hint("openscholar papers add FILE reads it again"));
        }
        Ok(Self { bytes, limits })
    }

    /// One page, counted from 1.
    pub(crate) fn page(&self, page: u32) -> Result<PageDrawing, CommandError> {
        Ok(draw_page(&self.bytes, page, self.limits)?)
    }

    /// Where words stand on the pages; empty if they do not. The passages say where to look first.
    pub(crate) fn find(
        &self,
        words: &str,
        passages: &[Passage],
    ) -> Result<Vec<PageMark>, CommandError> {
        let places = passages.iter().find_map(|passage| places_of(words, passage));
        Ok(find_quotation(&self.bytes, words, &places.unwrap_or_default(), self.limits)?)
    }
}

/// Where on its pages a passage has these words.
fn places_of(words: &str, passage: &Passage) -> Option<Vec<Place>> {
    let span = locate(words, &passage.text)?;
    let places = places_within(&passage.places, span.start, span.end);
    (!places.is_empty()).then_some(places)
}
