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
    /// The weights of a tensor are in a format that is not read.
    #[error(
        "model file {}: tensor {tensor} has block format {format}; read are {}",
        path.display(),
        super::formats::Format::NAMES
    )]
    UnsupportedFormat {
        /// Path of the file.
        path: PathBuf,
        /// Name of the tensor in the file.
        tensor: String,
        /// Number of the format, as ggml counts.
        format: u32,
    },
    /// A model in several files lacks one.
    #[error("model file {} is missing, part {part} of {n_parts}", path.display())]
    MissingPart {
        /// Path of the missing file.
        path: PathBuf,
        /// Which of the files it is, from 1.
        part: usize,
        /// Files of the model.
        n_parts: usize,
    },
    /// The vocabulary and the embeddings have different sizes.
    #[error(
        "model file {} has a vocabulary of {tokens} tokens and embeddings for {embeddings}",
        path.display()
    )]
    VocabularySize {
        /// Path of the file.
        path: PathBuf,
        /// Entries of the vocabulary.
        tokens: usize,
        /// Rows of the embeddings.
        embeddings: usize,
    },
    /// Keys and values of the context do not fit in memory.
    #[error(
        "a context of {tokens} tokens needs {} MB for keys and values of {}, {} MB are free",
        needed >> 20, path.display(), free >> 20
    )]
    Memory {
        /// Path of the file.
        path: PathBuf,
        /// Tokens of the context.
        tokens: usize,
        /// Bytes that would be needed.
        needed: u64,
        /// Bytes that may be taken.
        free: u64,
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
            | Self::Vocabulary { .. }
            | Self::VocabularySize { .. } => {
                "check the file with `openscholar models verify` and download it again if it differs"
            }
            Self::UnsupportedArchitecture { .. }
            | Self::Unsupported { .. }
            | Self::UnsupportedFormat { .. } => {
                "use another GGUF file, or serve this one with an OpenAI-compatible server and pass its base URL"
            }
            Self::MissingPart { .. } => "download all parts into one folder",
            Self::Memory { .. } => {
                "ask for a shorter context, close other programs, or use a smaller model"
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
            GgufError::Open { .. }
            | GgufError::Spawn { .. }
            | GgufError::MissingPart { .. }
            | GgufError::Memory { .. } => PortErrorKind::Unavailable,
            GgufError::UnsupportedArchitecture { .. }
            | GgufError::Unsupported { .. }
            | GgufError::UnsupportedFormat { .. }
            | GgufError::Template { .. } => PortErrorKind::Rejected,
            GgufError::Malformed { .. }
            | GgufError::Metadata { .. }
            | GgufError::Tensor { .. }
            | GgufError::Vocabulary { .. }
            | GgufError::VocabularySize { .. } => PortErrorKind::Corrupt,
        };
        let hint = error.hint();
        Self::new(kind, "the local generator cannot be loaded").with_hint(hint).with_source(error)
    }
}
