//! What can go wrong with a datastore, named for what the caller was doing.

use std::io;
use std::path::{Path, PathBuf};

use scholar_core::{Limit, PortError, PortErrorKind, is_out_of_space};
use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

use crate::damage::Damage;
use crate::files::FileError;
use crate::layout::DESCRIPTOR_FILE;

/// A failure of this crate. `Display` is one clause; [`Error::hint`] is the next step.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was attempted, as a verb.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
    /// The folder has no descriptor.
    #[error("{} is not a datastore", path.display())]
    NotADatastore {
        /// The folder that was named as a datastore.
        path: PathBuf,
    },
    /// Creation where something already is.
    #[error("{} already exists and is not empty", path.display())]
    Exists {
        /// The folder that was named as a datastore.
        path: PathBuf,
    },
    /// A file of another format version.
    #[error("{} has format version {found}; this program reads version {supported}", path.display())]
    Version {
        /// File that was being read.
        path: PathBuf,
        /// Version that the file states.
        found: u32,
        /// Newest version that this program reads.
        supported: u32,
    },
    /// Bytes that cannot be what was written.
    #[error("{} is damaged: {what}{}", path.display(), of_commit(*commit))]
    Corrupt {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
        /// The commit that it belongs to, where that is known.
        commit: Option<u64>,
    },
    /// Reading panicked, and every file is as it was written: a fault of this program.
    #[error(
        "reading {} failed at {place}: {what}; all its checksums match, so this is a bug in the program",
        path.display()
    )]
    Panicked {
        /// Folder of the datastore.
        path: PathBuf,
        /// Message of the panic.
        what: String,
        /// File and line of the program.
        place: String,
    },
    /// Another writer is at work.
    #[error("{} is being written by {holder}", path.display())]
    Locked {
        /// Folder of the datastore.
        path: PathBuf,
        /// Process and host of the other writer, as it left them.
        holder: String,
    },
    /// Vectors of two encoders do not compare.
    #[error(
        "{} was built with encoder {stored} (fingerprint {stored_fingerprint}), not with {given} (fingerprint {given_fingerprint})",
        path.display()
    )]
    EncoderMismatch {
        /// Folder of the datastore.
        path: PathBuf,
        /// Name of the encoder it was built with.
        stored: String,
        /// Fingerprint of that encoder's weights and settings.
        stored_fingerprint: String,
        /// Name of the encoder offered.
        given: String,
        /// Fingerprint of the weights and settings of the one offered.
        given_fingerprint: String,
    },
    /// Passages cut by different rules do not belong into one datastore.
    #[error("{} was cut into passages by other rules than {}", other.display(), path.display())]
    RulesMismatch {
        /// The datastore that is written.
        path: PathBuf,
        /// The datastore that is copied from.
        other: PathBuf,
    },
    /// The index library failed for another reason than damage.
    #[error("cannot {doing} the index of {}", path.display())]
    Index {
        /// What was attempted, as a verb.
        doing: &'static str,
        /// Folder of the datastore.
        path: PathBuf,
        /// Error of the index library.
        source: Box<TantivyError>,
    },
    /// The encoder failed.
    #[error("cannot encode texts for {}", path.display())]
    Encode {
        /// Folder of the datastore.
        path: PathBuf,
        /// The encoder's error, whose kind this one takes.
        source: PortError,
    },
    /// Vectors that cannot be stored.
    #[error("vectors of {paper} cannot be used: {what}")]
    Vectors {
        /// The paper they came with, or a description of the batch.
        paper: String,
        /// What is wrong with them.
        what: String,
    },
    /// A source file could not be read on.
    #[error("{}:{line}: {what}", path.display())]
    Ingest {
        /// File that was being read.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with the line.
        what: String,
    },
    /// Too many lines of a source were unusable.
    #[error("{} of {} lines of {} are unusable, the first at line {first_line}: {first}", rejected, lines, path.display())]
    TooManyRejects {
        /// File that was being read.
        path: PathBuf,
        /// Lines that could not be used.
        rejected: u64,
        /// Lines read so far, blank ones not among them.
        lines: u64,
        /// Where the first was.
        first_line: u64,
        /// What was wrong with it.
        first: String,
    },
    /// A source whose kind is not known.
    #[error("cannot tell the format of {}: {seen}", path.display())]
    UnknownFormat {
        /// File that was being read.
        path: PathBuf,
        /// What its first lines are like.
        seen: String,
    },
    /// A source goes on beyond a limit.
    #[error("{}:{line}: {what}", path.display())]
    TooMuch {
        /// File that was being read.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What there is too much of.
        what: String,
        /// Which limit, as the command line names it.
        limit: Limit,
    },
    /// A source that is not read.
    #[error(transparent)]
    Source(#[from] FileError),
}

impl Error {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    pub(crate) fn index(doing: &'static str, path: &Path) -> impl FnOnce(TantivyError) -> Self {
        let path = path.to_owned();
        move |source| match Damage::behind(&source) {
            Some(Damage { path, what }) => Self::corrupt(path, what.as_str()),
            None => Self::Index { doing, path, source: Box::new(source) },
        }
    }

    /// A file of tantivy that cannot be opened.
    pub(crate) fn unreadable(path: &Path, error: OpenReadError) -> Self {
        let source = TantivyError::from(error);
        match Damage::behind(&source) {
            Some(Damage { path, what }) => Self::corrupt(path, what.as_str()),
            None => Self::corrupt(path, source.to_string()),
        }
    }

    /// Names the commit whose files are damaged.
    pub(crate) fn of_commit(self, opstamp: u64) -> Self {
        match self {
            Self::Corrupt { path, what, commit: None } => {
                Self::Corrupt { path, what, commit: Some(opstamp) }
            }
            other => other,
        }
    }

    pub(crate) fn corrupt(path: &Path, what: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), what: what.into(), commit: None }
    }

    /// Whether this is about a file that papers come from, and another file may be read.
    pub fn is_of_source(&self) -> bool {
        matches!(
            self,
            Self::Ingest { .. }
                | Self::TooManyRejects { .. }
                | Self::UnknownFormat { .. }
                | Self::TooMuch { .. }
                | Self::Source(_)
        )
    }

    /// The next step for a person, as an imperative.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Io { source, .. } if is_out_of_space(source.kind()) => {
                "free some disk space and run the same command again: committed papers are safe".to_owned()
            }
            Self::Io { source, .. }
                if matches!(
                    source.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                "make the folder writable, or choose another with --home".to_owned()
            }
            Self::NotADatastore { .. } => "build it with: openscholar datastore build".to_owned(),
            Self::Exists { .. } => {
                "choose another folder, or add to the datastore in it".to_owned()
            }
            Self::Version { path, found, supported }
                if found < supported && path.ends_with(DESCRIPTOR_FILE) => format!(
                "convert it without re-encoding: openscholar datastore merge NEW {}",
                path.parent().and_then(Path::file_name).map_or_else(
                    || "OLD".to_owned(),
                    |name| name.to_string_lossy().into_owned()
                )
            ),
            Self::Version { .. } => "use the version of this program that built it".to_owned(),
            Self::Corrupt { path, .. } if path.ends_with(DESCRIPTOR_FILE) => {
                "copy it from a datastore with the same encoder and passage rules, or rebuild this one"
                    .to_owned()
            }
            Self::Corrupt { path, .. } => way_out(path),
            Self::Panicked { .. } => {
                "report it with this message and the query".to_owned()
            }
            Self::Locked { .. } => "wait until that process has ended, or end it".to_owned(),
            Self::EncoderMismatch { stored, .. } => {
                format!("leave out --encoder to use {stored}, or build a datastore of another name")
            }
            Self::RulesMismatch { .. } => {
                "merge it into a datastore of another name, or rebuild it with --passages"
                    .to_owned()
            }
            Self::Ingest { .. } | Self::TooManyRejects { .. } => {
                "correct or remove these lines; earlier commits are safe".to_owned()
            }
            Self::TooMuch { limit, .. } => limit.hint(),
            Self::Source(error) => {
                return error
                    .hint()
                    .or_else(|| Some("check that the path is right and can be used".to_owned()));
            }
            Self::UnknownFormat { .. } => {
                "name the fields with --fields title=/…,text=/…,id=/…, or use a format of docs/data-formats.md"
                    .to_owned()
            }
            Self::Index { doing: "create" | "write" | "commit", .. } => {
                "free some disk space or make it writable, then run the same command again: committed papers are safe"
                    .to_owned()
            }
            Self::Index { path, .. } => way_out(path),
            Self::Io { .. } => "check that the path is right and can be used".to_owned(),
            Self::Vectors { .. } => {
                "make them with this encoder and its settings (--encoder-tokens, --lowercase, --normalize-text) of the same texts behind their titles, in the order of the passages or of --vector-ids"
                    .to_owned()
            }
            Self::Encode { .. } => return None,
        })
    }

    fn kind(&self) -> PortErrorKind {
        match self {
            Self::Io { .. }
            | Self::NotADatastore { .. }
            | Self::Locked { .. }
            | Self::Source(_)
            | Self::Panicked { .. } => PortErrorKind::Unavailable,
            Self::Index { .. } | Self::Corrupt { .. } => PortErrorKind::Corrupt,
            Self::Encode { source, .. } => source.kind(),
            Self::Exists { .. }
            | Self::Version { .. }
            | Self::EncoderMismatch { .. }
            | Self::RulesMismatch { .. }
            | Self::Vectors { .. }
            | Self::Ingest { .. }
            | Self::TooManyRejects { .. }
            | Self::TooMuch { .. }
            | Self::UnknownFormat { .. } => PortErrorKind::Rejected,
        }
    }
}

fn of_commit(commit: Option<u64>) -> String {
    commit.map(|opstamp| format!(" (commit {opstamp})")).unwrap_or_default()
}

/// Folder of all datastores of a home, whose names are enough to name them.
const DATASTORES: &str = "datastores";

/// What to do about a damaged file of a datastore, or a damaged file beside one.
fn way_out(path: &Path) -> String {
    let Some(root) = path.ancestors().find(|folder| folder.join(DESCRIPTOR_FILE).is_file()) else {
        return "recreate that file from its source".to_owned();
    };
    let named = root.parent().is_some_and(|parent| parent.ends_with(DATASTORES));
    let (name, whole) = match root.file_name().map(|name| name.to_string_lossy()) {
        Some(name) if named => (name.clone().into_owned(), name.into_owned()),
        name => (name.unwrap_or_default().into_owned(), root.display().to_string()),
    };
    format!(
        "copy what can be saved to a new datastore: openscholar datastore repair {whole} --to {name}-repaired"
    )
}

impl From<Error> for PortError {
    fn from(error: Error) -> Self {
        let port = Self::new(error.kind(), error.to_string());
        match error.hint() {
            Some(hint) => port.with_hint(hint).with_source(error),
            None => port.with_source(error),
        }
    }
}
