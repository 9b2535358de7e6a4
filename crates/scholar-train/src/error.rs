//! What can end a training early.

use std::path::{Path, PathBuf};

type Source = Box<dyn std::error::Error + Send + Sync>;

/// A failure of a training. Every variant names the file, row or setting, and [`TrainError::hint`] the next step.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A file could not be read.
    #[error("could not read {path}")]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A file could not be written; what was saved before is whole.
    #[error("could not write {path}; the last checkpoint is intact")]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Source,
    },
    /// A file does not have the promised format.
    #[error("{path} is damaged or of another format: {problem}")]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// What does not fit.
        problem: String,
    },
    /// A setting cannot be used.
    #[error("setting {setting}: {problem}")]
    Setting {
        /// Its name in the config file.
        setting: String,
        /// What is wrong, for people.
        problem: String,
    },
    /// Too many rows of a file of training data cannot be used.
    #[error(
        "{rejected} of {rows} rows of {path} cannot be used; the first: line {line}: {problem}"
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
    /// The rows cannot teach what is to be learnt.
    #[error("{what}")]
    Useless {
        /// What the rows lack, as a clause for people.
        what: String,
    },
    /// A checkpoint or model belongs to another architecture or training.
    #[error("{path} belongs to another {kind}: {problem}")]
    Other {
        /// The file or folder.
        path: PathBuf,
        /// What it belongs to, such as `architecture`.
        kind: &'static str,
        /// What differs, for people.
        problem: String,
    },
    /// The loss is not a number any more.
    #[error("the loss of step {step} is not a number; {kept}")]
    NotFinite {
        /// Number of the step, from 1.
        step: usize,
        /// Which checkpoint there is.
        kept: String,
    },
    /// The tokenizer refused a text.
    #[error("the tokenizer of {path} could not be used: {problem}")]
    Tokenize {
        /// Folder of the model.
        path: PathBuf,
        /// What the tokenizer reported.
        problem: String,
    },
    /// This build of the program cannot use a device.
    #[error("this build does not train on the device {name}")]
    NotBuilt {
        /// Its name in the config file.
        name: &'static str,
    },
    /// A GPU is not there, or what it needs is not.
    #[error("the device {name} cannot be used: {problem}")]
    NoDevice {
        /// Its name in the config file.
        name: &'static str,
        /// What is missing, for people.
        problem: String,
    },
    /// A GPU failed at work.
    #[error("{device} failed: {problem}")]
    Device {
        /// What it is, in words.
        device: String,
        /// What went wrong, for people.
        problem: String,
    },
    /// Threads could not be started.
    #[error("could not start threads")]
    Threads {
        /// What the system said.
        #[source]
        source: Source,
    },
}

impl TrainError {
    /// The next step for a person, if there is one.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Read { .. } => "check the path and the permissions",
            Self::Write { .. } => {
                "make room on the disk and start the same command again: it continues from the last checkpoint"
            }
            Self::Damaged { .. } => "download or recreate the file",
            Self::Setting { .. } => {
                "change it in the config file; `openscholar train presets` prints all settings"
            }
            Self::Rows { .. } => {
                "correct the rows, or allow more to be skipped with max_rejected_fraction"
            }
            Self::Useless { .. } => "add rows of the kind that is missing",
            Self::Other { .. } => "name another output folder, or the settings it was begun with",
            Self::NotFinite { .. } => {
                "lower learning_rate or raise warmup_steps, then start the same command again"
            }
            Self::NotBuilt { name } => {
                return Some(format!(
                    "build it with `--features {name}`, or set device = \"cpu\" in the config file"
                ));
            }
            Self::NoDevice { .. } => {
                "install what is missing, or train on the CPU with device = \"cpu\""
            }
            Self::Device { .. } => {
                "the last checkpoint is kept: start the same command again; a smaller batch needs less of the GPU's memory"
            }
            Self::Tokenize { .. } | Self::Threads { .. } => return None,
        };
        Some(hint.to_owned())
    }

    pub(crate) fn read(path: &Path, source: std::io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: impl Into<Source>) -> Self {
        Self::Write { path: path.to_owned(), source: source.into() }
    }

    pub(crate) fn damaged(path: &Path, problem: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), problem: problem.to_string() }
    }

    pub(crate) fn setting(setting: &str, problem: impl ToString) -> Self {
        Self::Setting { setting: setting.to_owned(), problem: problem.to_string() }
    }
}
