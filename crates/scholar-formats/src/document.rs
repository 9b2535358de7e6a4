//! Whole papers.

use std::time::Duration;

use scholar_core::{Notice, Paper, PaperId};

use crate::error::{FormatError, FormatErrorKind};

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

/// One entry of a document's list of references.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentReference {
    /// As printed, single-spaced.
    pub text: String,
    /// Title, where the format tells it.
    pub title: Option<String>,
    /// Year, where the format tells it.
    pub year: Option<i16>,
    /// Surname of the first author, where the format tells it.
    pub first_author: Option<String>,
    /// Identifiers it states.
    pub ids: Vec<PaperId>,
}

/// A paper as one document tells it. Metadata are what the document states, never guessed: without an identifier the
/// paper has a `local:` one made from its content, without a title an empty one.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Metadata, sections (abstract first, captions last) and the identified references.
    pub paper: Paper,
    /// Every reference, identified or not, in order.
    pub references: Vec<DocumentReference>,
    /// Pages or parts that were lost, truncated or doubtful.
    pub notices: Vec<Notice>,
}

/// What a reader may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// Largest input in bytes.
    pub bytes: usize,
    /// Largest text taken out, in bytes.
    pub text_bytes: usize,
    /// Longest time.
    pub time: Duration,
}

impl Default for ReadLimits {
    /// 200 MB in, 50 MB of text out, one minute: no paper is larger, and a broken one must not stop a folder.
    fn default() -> Self {
        Self { bytes: 200_000_000, text_bytes: 50_000_000, time: Duration::from_secs(60) }
    }
}

impl DocumentFormat {
    /// Recognises a document by its bytes, the file name only deciding between plain text and Markdown.
    pub fn sniff(_name: &str, _bytes: &[u8]) -> Option<Self> {
        None
    }
}

/// Reads one document.
///
/// # Errors
/// [`FormatError`] names the place.
pub fn read(
    format: DocumentFormat,
    _bytes: &[u8],
    _limits: ReadLimits,
) -> Result<Document, FormatError> {
    Err(FormatError::new(FormatErrorKind::Unsupported, "document", format!("{format:?}")))
}
