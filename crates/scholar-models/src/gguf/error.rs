//! What can be wrong with a GGUF file.

use std::path::PathBuf;

use scholar_core::{PortError, PortErrorKind};

/// Why a GGUF file cannot be used. Each names the file; [`GgufError::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum GgufError {
    /// The file cannot be opened or mapped.
    #[error("cannot open model file {}", path.display())]
    Open {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system or the library.
        source: std::io::Error,
    },
    /// The container is broken or truncated.
    #[error("model file {} is damaged at byte {offset}: {reason}", path.display())]
    Malformed {
        /// Path of the file.
        path: PathBuf,
        /// Byte at which reading stopped, from 0.
        offset: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A metadata entry is missing or senseless.
    #[error("model file {} must have {expected} as `{key}`, found {found}", path.display())]
    Metadata {
        /// Path of the file.
        path: PathBuf,
        /// Key of the metadata in the file.
        key: String,
        /// Kind of value that the key must have.
        expected: &'static str,
        /// Kind of value that it has, or `nothing`.
        found: &'static str,
    },
    /// A tensor is missing or has the wrong shape.
    #[error("model file {}: tensor {name} {reason}", path.display())]
    Tensor {
        /// Path of the file.
        path: PathBuf,
        /// Name of the tensor in the file.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The architecture has no forward pass here.
    #[error("model file {} has architecture `{found}`; supported are {}", path.display(), supported.join(" and "))]
    UnsupportedArchitecture {
        /// Path of the file.
        path: PathBuf,
        /// Value of the key `general.architecture`.
        found: String,
        /// What would be accepted.
        supported: &'static [&'static str],
    },
    /// A feature of a known architecture or tokenizer that is not implemented.
    #[error("model file {} uses {what}, which is not supported", path.display())]
    Unsupported {
        /// Path of the file.
        path: PathBuf,
        /// Feature that is not supported.
        what: String,
    },
    /// The vocabulary does not make a tokenizer.
    #[error("model file {} has an unusable vocabulary", path.display())]
    Vocabulary {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system or the library.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The chat template is missing where it cannot be guessed, or does not compile.
    #[error("model file {} has no usable chat template: {reason}", path.display())]
    Template {
        /// Path of the file.
        path: PathBuf,
        /// What is wrong, for people.
        reason: String,
    },
    /// The operating system gave no thread.
    #[error("cannot start the generator thread for {}", path.display())]
    Spawn {
        /// Path of the model file.
        path: PathBuf,
        /// Error of the system or the library.
        source: std::io::Error,
    },
}

impl GgufError {
    /// The next step for a person.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Open { .. } => {
                "check the path, or download a model with `openscholar models pull`"
            }
            Self::Malformed { .. }
            | Self::Metadata { .. }
            | Self::Tensor { .. }
            | Self::Vocabulary { .. } => {
                "check the file with `openscholar models verify` and download it again if it differs"
            }
            Self::UnsupportedArchitecture { .. } | Self::Unsupported { .. } => {
                "use another GGUF file, or serve this one with an OpenAI-compatible server and pass its base URL"
            }
            Self::Template { .. } => {
                "use an instruction-tuned GGUF file that carries tokenizer.chat_template"
            }
            Self::Spawn { .. } => "free memory or raise the limit of threads",
        }
    }
}

impl From<GgufError> for PortError {
    fn from(error: GgufError) -> Self {
        let kind = match error {
            GgufError::Open { .. } | GgufError::Spawn { .. } => PortErrorKind::Unavailable,
            GgufError::UnsupportedArchitecture { .. }
            | GgufError::Unsupported { .. }
            | GgufError::Template { .. } => PortErrorKind::Rejected,
            GgufError::Malformed { .. }
            | GgufError::Metadata { .. }
            | GgufError::Tensor { .. }
            | GgufError::Vocabulary { .. } => PortErrorKind::Corrupt,
        };
        let hint = error.hint();
        Self::new(kind, "the local generator cannot be loaded").with_hint(hint).with_source(error)
    }
}
