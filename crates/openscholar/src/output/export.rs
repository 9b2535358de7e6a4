//! Answers in the formats of others.

use std::path::Path;

use scholar_formats::export::{self, AnswerExport, CitationStyle, ExportFormat, ListFormat};

use super::document::{AnswerDocument, Usage};
use super::review::ReviewDocument;
use crate::args::OutputFormat;
use crate::error::{CommandError, Context as _};

/// Style of citations unless one is named.
pub(crate) const DEFAULT_STYLE: &str = "ieee";

/// `document` as a file of `format`; lists hold its references alone.
pub(crate) fn bytes(
    document: &AnswerDocument,
    format: OutputFormat,
    style: Option<&str>,
) -> Result<Vec<u8>, CommandError> {
    let references = &document.answer.references;
    let list = |format| Ok(export::references(references, format).into_bytes());
    let format = match format {
        OutputFormat::Bibtex => return list(ListFormat::Bibtex),
        OutputFormat::Ris => return list(ListFormat::Ris),
        OutputFormat::Csl => return list(ListFormat::CslJson),
        OutputFormat::Markdown if style.is_none() => {
            return Ok(super::markdown::render(document).into_bytes());
        }
        OutputFormat::Markdown => ExportFormat::Markdown,
        OutputFormat::Html => ExportFormat::Html,
        OutputFormat::Latex => ExportFormat::Latex,
        OutputFormat::Docx => ExportFormat::Docx,
    };
    let generated_by = made_by(&document.usage, &document.run);
    let export = AnswerExport {
        title: &document.answer.question,
        answer: &document.answer,
        notices: &document.notices,
        generated_by: &generated_by,
    };
    Ok(export::answer(&export, format, &style_named(style.unwrap_or(DEFAULT_STYLE))?)?)
}

/// A review as a document, or its references as a list; Markdown where no format is named.
pub(crate) fn review_bytes(
    document: &ReviewDocument,
    format: Option<OutputFormat>,
    style: Option<&str>,
) -> Result<Vec<u8>, CommandError> {
    let references = &document.review.references;
    let list = |format| Ok(export::references(references, format).into_bytes());
    let format = match format {
        Some(OutputFormat::Bibtex) => return list(ListFormat::Bibtex),
        Some(OutputFormat::Ris) => return list(ListFormat::Ris),
        Some(OutputFormat::Csl) => return list(ListFormat::CslJson),
        Some(OutputFormat::Markdown) | None => ExportFormat::Markdown,
        Some(OutputFormat::Html) => ExportFormat::Html,
        Some(OutputFormat::Latex) => ExportFormat::Latex,
        Some(OutputFormat::Docx) => ExportFormat::Docx,
    };
    let generated_by = made_by(&document.usage, &document.run);
    let ReviewDocument { review, notices, .. } = document;
    let whole = scholar_review::ReviewDocument { review, notices, generated_by: &generated_by };
    let style = style_named(style.unwrap_or(DEFAULT_STYLE))?;
    Ok(scholar_review::render(&whole, format, &style)?)
}

/// Program, model and run, for the last line.
fn made_by(usage: &Usage, run: &str) -> String {
    let model = usage.model.as_deref().unwrap_or("no model");
    format!("openscholar {}, {model}, run {run}", env!("CARGO_PKG_VERSION"))
}

/// A style that comes with the program, or the file of one.
fn style_named(name: &str) -> Result<CitationStyle, CommandError> {
    let path = Path::new(name);
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csl")) {
        let bytes = fs_err::read(path).user(|| "cannot read the citation style".to_owned())?;
        return Ok(CitationStyle::from_csl(&bytes)?);
    }
    Ok(CitationStyle::named(name)?)
}

/// Whether a file of this format can be shown on a terminal.
pub(crate) fn is_text(format: OutputFormat) -> bool {
    format != OutputFormat::Docx
}
