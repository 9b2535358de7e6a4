//! Whole papers.
//!
//! Every reader gives the same things the same way:
//! - the abstract is the first section and headed `Abstract`; a structured one reads `Background: … Methods: …`;
//! - a section's heading is the path of headings that leads to it, without numbers: `Methods: Statistical analysis`;
//! - captions are the last sections, headed `Figure 1` or `Table 2`, footnotes come before them;
//! - text has single spaces, no line breaks and is in NFC; marks such as `[12]` that only point into the list of
//!   references are left out, names and years stay, because they say something;
//! - thanks, funding and declarations are left out, appendices follow the body;
//! - title, authors, dates and identifiers are what the document states.

mod dates;
mod decode;
mod draft;
mod headings;
mod html;
mod hyphens;
mod jats;
mod latexml;
mod licences;
mod markdown;
mod mathml;
mod mentions;
mod pdf;
mod prose;
mod reference_list;
mod sniff;
mod tei;
mod text;
pub(crate) mod tree;
pub(crate) mod xml;

use std::collections::BTreeMap;
use std::fmt;

use jiff::civil::Date;
use scholar_core::{FieldOrigin, Limit, MetaField, Notice, Paper, Place};

use crate::deadline::Bounds;
use crate::error::{FormatError, FormatErrorKind};

pub use pdf::{PageDrawing, PageMark};
pub use scholar_core::{PrintedReference, ReadLimits};

/// What a document is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DocumentFormat {
    /// JATS or NLM XML.
    Jats,
    /// TEI as GROBID writes it.
    Tei,
    /// HTML as LaTeXML writes it (ar5iv, arXiv).
    LatexmlHtml,
    /// PDF.
    Pdf,
    /// Plain text.
    Text,
    /// Markdown.
    Markdown,
}

/// A paper as one document tells it. Metadata are what the document states, never guessed: without an identifier the
/// paper has a `local:` one made from its content, without a title an empty one.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Metadata, sections (abstract first, captions last) and the identified references.
    pub paper: Paper,
    /// Every reference, identified or not, in order.
    pub references: Vec<PrintedReference>,
    /// Where each stated field was read, and how sure that is.
    pub fields: BTreeMap<MetaField, FieldOrigin>,
    /// When the file says that it was made, which is not when the paper was published.
    pub file_date: Option<Date>,
    /// Pages or parts that were lost, truncated or doubtful.
    pub notices: Vec<Notice>,
}

impl fmt::Display for DocumentFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl DocumentFormat {
    /// The format's name as people know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jats => "JATS",
            Self::Tei => "TEI",
            Self::LatexmlHtml => "LaTeXML HTML",
            Self::Pdf => "PDF",
            Self::Text => "plain text",
            Self::Markdown => "Markdown",
        }
    }

    /// Recognises a document by its bytes, the file name only deciding between plain text and Markdown and keeping
    /// other kinds of text (`.bib`, `.csv`) from being taken for papers.
    pub fn sniff(name: &str, bytes: &[u8]) -> Option<Self> {
        sniff::sniff(name, bytes)
    }
}

/// Reads one document. `bounds` are limits, whose time begins now, or limits with a deadline.
///
/// # Errors
/// [`FormatError`] names the place. [`FormatErrorKind::NoText`] means that the document is of its format and holds
/// nothing to read: a scanned PDF, a page of a failed conversion. [`FormatErrorKind::TooLarge`] names the limit.
pub fn read(
    format: DocumentFormat,
    bytes: &[u8],
    bounds: impl Into<Bounds>,
) -> Result<Document, FormatError> {
    let bounds = bounds.into();
    check_size(format, bytes, &bounds)?;
    match format {
        DocumentFormat::Jats => jats::read(bytes, &bounds),
        DocumentFormat::Tei => tei::read(bytes, &bounds),
        DocumentFormat::LatexmlHtml => latexml::read(bytes, &bounds),
        DocumentFormat::Text => text::read(bytes, &bounds),
        DocumentFormat::Markdown => markdown::read(bytes, &bounds),
        DocumentFormat::Pdf => pdf::read(bytes, &bounds),
    }
}

/// Draws one page of a PDF, counted from 1, as people see it. `bounds` as for [`read`].
///
/// # Errors
/// [`FormatErrorKind::Unsupported`] if the document has no such page; others as for [`read`]. What is missing from the
/// drawing is said in its notices.
pub fn draw_page(
    bytes: &[u8],
    page: u32,
    bounds: impl Into<Bounds>,
) -> Result<PageDrawing, FormatError> {
    let bounds = bounds.into();
    check_size(DocumentFormat::Pdf, bytes, &bounds)?;
    pdf::draw_page(bytes, page, &bounds)
}

/// Where a quotation stands on the pages of a PDF, in order; empty if too little of it stands there.
///
/// `places` are where the text that was read says that it stands, as a passage has them: they decide between two places
/// of the same words, and save reading the other pages. Without them the first place is taken.
///
/// # Errors
/// [`FormatErrorKind::NoText`] if no page has words; others as for [`read`].
pub fn find_quotation(
    bytes: &[u8],
    quotation: &str,
    places: &[Place],
    bounds: impl Into<Bounds>,
) -> Result<Vec<PageMark>, FormatError> {
    let bounds = bounds.into();
    check_size(DocumentFormat::Pdf, bytes, &bounds)?;
    pdf::find_quotation(bytes, quotation, places, &bounds)
}

fn check_size(format: DocumentFormat, bytes: &[u8], bounds: &Bounds) -> Result<(), FormatError> {
    let most = bounds.limits.bytes;
    if bytes.len() <= most {
        return Ok(());
    }
    let limit = Limit::FileBytes;
    let message = format!("{} bytes are more than the limit of {most} ({limit})", bytes.len());
    let error = FormatError::new(FormatErrorKind::TooLarge, format.name(), message);
    Err(error.with_hint(limit.hint()))
}
