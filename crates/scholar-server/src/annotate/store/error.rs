//! What can go wrong with a study's file.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Kinds of failure, as callers tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// There is no such file.
    Missing,
    /// It is no study.
    NotAStudy,
    /// It cannot be written.
    ReadOnly,
    /// No room is left.
    Full,
    /// Another process holds it for longer than this one waits.
    Busy,
    /// The database file is damaged.
    Damaged,
    /// It contradicts what was to be put in.
    Conflict,
    /// Anything else.
    Other,
}

/// A study that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the study {}: {message}", path.display())]
pub struct StoreError {
    /// What kind it is.
    pub kind: StoreErrorKind,
    path: PathBuf,
    message: String,
    #[source]
    source: Option<rusqlite::Error>,
}

impl StoreError {
    pub(super) fn new(kind: StoreErrorKind, path: &Path, message: impl Into<String>) -> Self {
        Self { kind, path: path.to_owned(), message: message.into(), source: None }
    }

    /// What `SQLite` said, in our words.
    pub(super) fn sqlite(path: &Path, error: rusqlite::Error) -> Self {
        let (kind, message) = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => (StoreErrorKind::Full, "no room is left for it"),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                (StoreErrorKind::ReadOnly, "it cannot be written")
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                (StoreErrorKind::Busy, "another program is using it")
            }
            Some(ErrorCode::DatabaseCorrupt) => (StoreErrorKind::Damaged, "it is damaged"),
            Some(ErrorCode::NotADatabase) => {
                (StoreErrorKind::NotAStudy, "the file is not a database")
            }
            Some(ErrorCode::CannotOpen) => (StoreErrorKind::ReadOnly, "it cannot be opened"),
            // A write that the file system refuses: a limit on a file's size, a quota.
            Some(ErrorCode::SystemIoFailure) => (StoreErrorKind::Full, "the disk refuses it"),
            _ => (StoreErrorKind::Other, "it does not do what was asked"),
        };
        Self { kind, path: path.to_owned(), message: message.to_owned(), source: Some(error) }
    }

    /// The next step for whoever runs the study.
    pub fn hint(&self) -> &'static str {
        match self.kind {
            StoreErrorKind::Missing => "openscholar bench annotate serve makes it",
            StoreErrorKind::NotAStudy => {
                "name a file created by bench annotate serve, or a new one"
            }
            StoreErrorKind::ReadOnly => {
                "make the file and its folder writable, or name another with --db"
            }
            StoreErrorKind::Full => "free some space and try again; earlier data are intact",
            StoreErrorKind::Busy => "try again when the other program has finished",
            StoreErrorKind::Damaged => {
                "use a backup; what can be read is saved by: sqlite3 FILE .recover"
            }
            StoreErrorKind::Conflict => "name a new file with --db",
            StoreErrorKind::Other => "see the cause above",
        }
    }
}
