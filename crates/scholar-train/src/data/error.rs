//! What can keep training data from being made.

use std::path::{Path, PathBuf};

use scholar_core::PortError;

/// A failure of making, reading or exporting training data. Every variant names the file, line, field or setting.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A file could not be read.
    #[error("could not read {}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("could not write {}", path.display())]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Too many rows of a file are not what they should be.
    #[error(
        "{rejected} of {rows} rows of {} cannot be used, the first in line {line}: {problem}",
        path.display()
    )]
    Rows {
        /// Path of the file.
        path: PathBuf,
        /// Rows that cannot be used.
        rejected: usize,
        /// Rows in the file.
        rows: usize,
        /// Line of the first one, from 1.
        line: usize,
        /// What is wrong with that.
        problem: String,
    },
    /// A file has no row at all.
    #[error("{} has no row", path.display())]
    Empty {
        /// Path of the file.
        path: PathBuf,
    },
    /// Rows repeat what models are measured on.
    #[error(
        "{} rows of {} repeat evaluation data ({rule}), the first in line {line}: {text:?}",
        rows, path.display()
    )]
    Leaked {
        /// Path of the file.
        path: PathBuf,
        /// Number of rows that repeat evaluation data.
        rows: usize,
        /// Line of the first one, from 1.
        line: usize,
        /// Which rule found it.
        rule: &'static str,
        /// The beginning of the text.
        text: String,
    },
    /// A source was asked for that there is not, or whose files are missing.
    #[error("source {name}: {problem}")]
    Source {
        /// Name of the source.
        name: String,
        /// What is missing, for people.
        problem: String,
    },
    /// Every row was left out.
    #[error("none of {rows} rows remained: {most} were removed by the rule {rule}")]
    Nothing {
        /// How many were made.
        rows: usize,
        /// How many the commonest rule removed.
        most: usize,
        /// Name of the rule that left out the most.
        rule: String,
    },
    /// The search that mines negatives, or the model that labels them, failed.
    #[error("while {doing}")]
    Port {
        /// What was being done.
        doing: String,
        /// Error of the search or the model.
        source: PortError,
    },
}

impl DataError {
    /// The next step for a person, if there is one.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Read { .. } => Some("check the path and the permissions"),
            Self::Write { .. } => Some("make room on the disk and start the same command again"),
            Self::Rows { .. } => {
                Some("correct the rows, or allow more to be skipped with --bad-rows")
            }
            Self::Empty { .. } => Some("name a file with one JSON object per line"),
            Self::Leaked { .. } => Some(
                "make the rows again with `openscholar train data`, which leaves such rows out",
            ),
            Self::Source { .. } => {
                Some("`openscholar train data --help` names the sources and their files")
            }
            Self::Nothing { .. } => Some("rejects.jsonl gives the reason for each rejected row"),
            Self::Port { .. } => None,
        }
    }

    pub(crate) fn read(path: &Path, source: std::io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: std::io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }
}
