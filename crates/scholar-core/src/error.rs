//! Failures as they cross a port: the caller decides *retry, skip or stop* from [`PortErrorKind`] alone.

use std::error::Error;
use std::io;
use std::time::Duration;

/// Whether a file could not grow: the disk, a quota or a limit on the size of files is full.
pub fn is_out_of_space(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// What a caller of a port can do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortErrorKind {
    /// Worth trying again: a reset connection, a 5xx reply.
    Transient,
    /// Worth trying again after a pause; the pause is the server's wish where it stated one.
    RateLimited {
        /// How long the other side asked us to wait.
        retry_after: Option<Duration>,
    },
    /// Not there: refused connection, missing model, a deadline that passed.
    Unavailable,
    /// Understood and refused: a bad key, an unknown model, a request that breaks a limit.
    Rejected,
    /// The reply or the stored bytes do not have the promised shape.
    Corrupt,
}

/// A failure behind a port, with what to do about it and why it happened.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct PortError {
    kind: PortErrorKind,
    message: String,
    hint: Option<String>,
    #[source]
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl PortError {
    /// A failure of `kind`; `message` is one lower-case clause that names the file, URL or model.
    pub fn new(kind: PortErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, source: None }
    }

    /// Attaches the underlying error.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Attaches the next step a person can take, as an imperative.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What the caller can do about it.
    pub fn kind(&self) -> PortErrorKind {
        self.kind
    }

    /// The next step for a person, if there is one.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(self.kind, PortErrorKind::Transient | PortErrorKind::RateLimited { .. })
    }
}
