//! Why a model could not be fetched.

use std::io;
use std::path::{Path, PathBuf};

use scholar_core::is_out_of_space;

/// A source that was tried in vain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Name of the source, as the catalog has it.
    pub source: String,
    /// Why, in one clause.
    pub reason: String,
}

/// A model that could not be fetched or checked.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// Every source failed.
    #[error("no source has the model {name}{}", listed(attempts))]
    NoSource {
        /// The model's name in the catalog.
        name: String,
        /// What each source said, in order.
        attempts: Vec<Attempt>,
        /// How to get it otherwise.
        note: Option<String>,
    },
    /// The disk is full, or would be.
    #[error("the disk of {} has no room for the model", dir.display())]
    NoSpace {
        /// A folder on that disk.
        dir: PathBuf,
        /// Bytes needed, where known.
        needed: Option<u64>,
        /// Bytes free, where known.
        available: Option<u64>,
    },
    /// A folder or file of this machine cannot be used.
    #[error("cannot use {}", path.display())]
    Local {
        /// File or folder that could not be used.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

impl DownloadError {
    /// The next step for a person.
    pub fn hint(&self) -> String {
        match self {
            Self::NoSource { name, note, .. } => note.clone().unwrap_or_else(|| {
                format!("connect to the network and run again, or download the files elsewhere and run `models pull {name} --from PATH`")
            }),
            Self::NoSpace { needed: Some(needed), available: Some(available), .. } => {
                let missing = needed.saturating_sub(*available).div_ceil(1 << 20);
                format!("free {missing} MiB, or pass --home DIR on a larger disk")
            }
            Self::NoSpace { .. } => "free space, or pass --home DIR on a larger disk".to_owned(),
            Self::Local { .. } => "check the permissions, or pass --home DIR to a folder you can write".to_owned(),
        }
    }
}

fn listed(attempts: &[Attempt]) -> String {
    let clauses: Vec<String> =
        attempts.iter().map(|Attempt { source, reason }| format!("{source}: {reason}")).collect();
    if clauses.is_empty() { String::new() } else { format!(" ({})", clauses.join("; ")) }
}

/// Why one source did not deliver.
pub(super) enum Failure {
    /// Another source may.
    Source(String),
    /// No source can.
    Fatal(DownloadError),
}

impl From<DownloadError> for Failure {
    fn from(error: DownloadError) -> Self {
        Self::Fatal(error)
    }
}

/// Turns a failure of this machine's files into a [`DownloadError`] that names `path`.
pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> DownloadError + '_ {
    move |source| {
        if is_out_of_space(source.kind()) {
            DownloadError::NoSpace { dir: path.to_owned(), needed: None, available: None }
        } else {
            DownloadError::Local { path: path.to_owned(), source }
        }
    }
}
