//! What can go wrong when a model is opened or run.

use std::path::{Path, PathBuf};

use scholar_core::{PortError, PortErrorKind};

type Source = Box<dyn std::error::Error + Send + Sync>;

/// A failure to open or run a model. Every variant names the file or model and [`ModelError::hint`] the next step.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file could not be read.
    #[error("could not read {path}")]
    ReadFile {
        /// Path of the file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("could not write {path}")]
    WriteFile {
        /// Path of the file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// None of the files that could serve was there.
    #[error("no {expected} in {dir}")]
    MissingFile {
        /// Where it was looked for.
        dir: PathBuf,
        /// Names that would have served.
        expected: &'static str,
    },
    /// A file does not have the promised format: usually a download that stopped half-way.
    #[error("{path} is damaged or of another format: {problem}")]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// What does not fit.
        problem: String,
    },
    /// The file is sound and asks for something this program does not do.
    #[error("{path} asks for {what}, which is not supported")]
    Unsupported {
        /// Path of the file.
        path: PathBuf,
        /// The thing asked for.
        what: String,
    },
    /// A tensor the architecture needs is absent or has another shape.
    #[error("tensor {tensor} of {path} {problem}")]
    Tensor {
        /// Weight file that was read.
        path: PathBuf,
        /// Name of the tensor.
        tensor: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A setting cannot be met by this model or machine.
    #[error("{setting} cannot be used with model {model}: {problem}")]
    Setting {
        /// Name of the model.
        model: String,
        /// Name of the setting.
        setting: &'static str,
        /// What is wrong, for people.
        problem: String,
    },
    /// The tokenizer refused a text.
    #[error("the tokenizer of {model} could not split a text")]
    Tokenize {
        /// Name of the model.
        model: String,
        /// What the tokenizer said.
        #[source]
        source: Source,
    },
    /// A pass through the model failed, usually for want of memory.
    #[error("the model could not compute: {problem}")]
    Compute {
        /// What the tensor library said.
        problem: String,
    },
    /// The model's own thread could not be started.
    #[error("could not start a thread for {model}")]
    Thread {
        /// Name of the model.
        model: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

impl ModelError {
    /// The next step for a person, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::ReadFile { .. } | Self::Damaged { .. } | Self::Tensor { .. } => Some(
                "check the model with `openscholar models verify NAME`; `openscholar models pull NAME` fetches it again"
                    .to_owned(),
            ),
            Self::MissingFile { .. } => Some(
                "download the model with `openscholar models pull NAME`, or point the setting at its folder"
                    .to_owned(),
            ),
            Self::Unsupported { .. } => {
                Some("choose another model: `openscholar models list` names the supported ones".to_owned())
            }
            Self::WriteFile { .. } => {
                Some("make room there, or choose a folder that can be written".to_owned())
            }
            Self::Setting { setting, .. } => Some(format!("change or drop {setting}")),
            Self::Tokenize { .. } | Self::Compute { .. } | Self::Thread { .. } => None,
        }
    }

    pub(crate) fn read(path: &Path, source: std::io::Error) -> Self {
        Self::ReadFile { path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, problem: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), problem: problem.to_string() }
    }
}

impl From<ModelError> for PortError {
    fn from(error: ModelError) -> Self {
        let kind = match &error {
            ModelError::Damaged { .. } | ModelError::Tensor { .. } => PortErrorKind::Corrupt,
            ModelError::Unsupported { .. } | ModelError::Setting { .. } => PortErrorKind::Rejected,
            ModelError::ReadFile { .. }
            | ModelError::WriteFile { .. }
            | ModelError::MissingFile { .. }
            | ModelError::Tokenize { .. }
            | ModelError::Compute { .. }
            | ModelError::Thread { .. } => PortErrorKind::Unavailable,
        };
        let hint = error.hint();
        let port = Self::new(kind, error.to_string());
        let port = match hint {
            Some(hint) => port.with_hint(hint),
            None => port,
        };
        port.with_source(error)
    }
}
