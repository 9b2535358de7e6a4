//! Why bytes are not what they were taken for.

/// What is wrong with the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatErrorKind {
    /// Not of this format at all, or broken.
    Malformed,
    /// Of this format, and needs something this program does not do (a password, an unknown version).
    Unsupported,
    /// More than the limits allow: size, depth, time.
    TooLarge,
    /// Well-formed, and without any text to read (a scanned PDF).
    NoText,
}

/// Bytes that could not be read, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{format}: {message}{}", .at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default())]
pub struct FormatError {
    /// Kind of the failure, for callers that decide by it.
    pub kind: FormatErrorKind,
    /// The format it was read as: `JATS`, `PDF`, `BibTeX`.
    pub format: &'static str,
    /// What is wrong, as one lower-case clause.
    pub message: String,
    /// Line, page, entry or byte: `line 12`, `page 3`.
    pub at: Option<String>,
    /// The next step, as an imperative.
    pub hint: Option<String>,
}

impl FormatError {
    /// Without place and hint.
    pub fn new(kind: FormatErrorKind, format: &'static str, message: impl Into<String>) -> Self {
        Self { kind, format, message: message.into(), at: None, hint: None }
    }

    /// Adds where it is: `line 12`, `page 3`.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.at = Some(place.into());
        self
    }

    /// Adds the next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
