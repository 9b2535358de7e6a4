//! Errors as a person meets them: what failed, why, what to do, and the exit code.

use std::error::Error;
use std::fmt;
use std::path::Path;

use scholar_core::{Notice, NoticeKind, PortError, PortErrorKind, is_out_of_space};

/// Which exit code a failure gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// 1: something the user can change.
    User,
    /// 1: a file of a model that is not what it should be. Nothing takes its place without a word.
    Damaged,
    /// 3: a server, source or download is not to be had.
    Unavailable,
    /// 70: a bug.
    Bug,
    /// 130 (SIGINT), 143 (SIGTERM) or 129 (SIGHUP): interrupted; what was done is kept.
    Interrupted,
}

impl ErrorKind {
    /// The process's exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::User | Self::Damaged => 1,
            Self::Unavailable => 3,
            Self::Bug => 70,
            Self::Interrupted => 130,
        }
    }
}

/// Exit code of arguments that do not go together, as clap has it.
pub(crate) const EXIT_USAGE: u8 = 2;
/// Exit code of an answer that lacks evidence.
pub(crate) const EXIT_MISSING_EVIDENCE: u8 = 4;

/// A failed command.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// Which exit code it gets.
    pub(crate) kind: ErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
    /// Imperatives.
    pub(crate) hints: Vec<String>,
    /// Instead of the kind's.
    code: Option<u8>,
}

impl CommandError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None, hints: Vec::new(), code: None }
    }

    pub(crate) fn user(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::User, message)
    }

    /// 2: arguments that do not go together.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::user(message).with_code(EXIT_USAGE)
    }

    /// The person asked to stop; `message` says what is kept, and the same command continues.
    pub(crate) fn interrupted_resumable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Interrupted, message)
            .with_hint("run the same command again: it continues where it stopped")
    }

    pub(crate) fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    fn damaged_if(self, damaged: bool) -> Self {
        if damaged { Self { kind: ErrorKind::Damaged, ..self } } else { self }
    }

    /// Whether nothing else may be tried in place of what failed: the person asked to stop, or must know of damage.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self.kind, ErrorKind::Interrupted | ErrorKind::Damaged)
    }

    /// With another exit code than its kind's.
    pub(crate) fn with_code(self, code: u8) -> Self {
        Self { code: Some(code), ..self }
    }

    /// The process's exit code.
    pub(crate) fn code(&self) -> u8 {
        self.code.unwrap_or_else(|| self.kind.code())
    }

    /// The same as a notice, where other work goes on.
    pub(crate) fn notice(&self) -> Notice {
        let mut message = self.message.clone();
        let mut cause = self.source();
        while let Some(source) = cause {
            message = format!("{message}: {source}");
            cause = source.source();
        }
        let notice = Notice::new(NoticeKind::Skipped, message);
        self.hints.first().cloned().into_iter().fold(notice, Notice::with_hint)
    }
}

impl From<scholar_datastore::files::FileError> for CommandError {
    fn from(error: scholar_datastore::files::FileError) -> Self {
        let hint = error.hint();
        library_error(error, hint)
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for CommandError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

impl From<PortError> for CommandError {
    fn from(error: PortError) -> Self {
        let kind = match error.kind() {
            PortErrorKind::Transient
            | PortErrorKind::RateLimited { .. }
            | PortErrorKind::Unavailable => ErrorKind::Unavailable,
            PortErrorKind::Rejected | PortErrorKind::Corrupt => ErrorKind::User,
        };
        let hints = error.hint().map(str::to_owned).into_iter().collect();
        let message = error.to_string();
        Self { kind, message, source: error_source(error), hints, code: None }
    }
}

/// The cause of `error`, as text: the error itself is consumed.
fn error_source(error: PortError) -> Option<Box<dyn Error + Send + Sync>> {
    let mut causes = Vec::new();
    let mut cause = error.source();
    while let Some(next) = cause {
        causes.push(next.to_string());
        cause = next.source();
    }
    (!causes.is_empty()).then(|| causes.join(": ").into())
}

#[cfg(not(feature = "self-test"))]
impl CommandError {
    /// `command` needs a build with test code in it, and this is none.
    pub(crate) fn without_self_test(command: &str) -> Self {
        Self::user(format!("this build leaves {command} out: it has no test code in it")).with_hint(
            format!("from the sources: cargo run --release --features self-test -- {command}"),
        )
    }
}

impl CommandError {
    /// An error about a folder that cannot be written, with what to do.
    pub(crate) fn unwritable(folder: &Path, source: std::io::Error) -> Self {
        let hint = match source.kind() {
            kind if is_out_of_space(kind) => "free some space, or pass --home DIR on another disk",
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                "pass --home DIR with a folder you can write"
            }
            _ => "check the folder, or pass --home DIR",
        };
        Self::user(format!("cannot write in {}", folder.display()))
            .with_source(source)
            .with_hint(hint)
    }
}

/// Adds what was being done to an error of a library.
pub(crate) trait Context<T> {
    /// Wraps as an error the user can do something about.
    fn user(self, message: impl FnOnce() -> String) -> Result<T, CommandError>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> Context<T> for Result<T, E> {
    fn user(self, message: impl FnOnce() -> String) -> Result<T, CommandError> {
        self.map_err(|source| CommandError::user(message()).with_source(source))
    }
}

impl From<scholar_datastore::Error> for CommandError {
    fn from(error: scholar_datastore::Error) -> Self {
        let hint = error.hint();
        let is_bug = matches!(error, scholar_datastore::Error::Panicked { .. });
        let mut wrapped = library_error(error, hint);
        if is_bug {
            wrapped.kind = ErrorKind::Bug;
        }
        wrapped
    }
}

impl From<scholar_review::IdeaError> for CommandError {
    fn from(error: scholar_review::IdeaError) -> Self {
        let hint = error.hint();
        library_error(error, Some(hint.to_owned()))
    }
}

impl From<scholar_review::ReviewError> for CommandError {
    fn from(error: scholar_review::ReviewError) -> Self {
        let hint = error.hint();
        library_error(error, hint)
    }
}

impl From<scholar_bench::scholarqa::DataError> for CommandError {
    fn from(error: scholar_bench::scholarqa::DataError) -> Self {
        let hint = error.hint().map(str::to_owned);
        library_error(error, hint)
    }
}

impl From<scholar_bench::retrieval::CollectionError> for CommandError {
    fn from(error: scholar_bench::retrieval::CollectionError) -> Self {
        let hint = error.hint().map(str::to_owned);
        library_error(error, hint)
    }
}

impl From<scholar_formats::FormatError> for CommandError {
    fn from(error: scholar_formats::FormatError) -> Self {
        let hint = error.hint.clone();
        library_error(error, hint)
    }
}

impl From<scholar_server::annotate::StoreError> for CommandError {
    fn from(error: scholar_server::annotate::StoreError) -> Self {
        let hint = Some(error.hint().to_owned());
        library_error(error, hint)
    }
}

impl From<scholar_models::ModelError> for CommandError {
    fn from(error: scholar_models::ModelError) -> Self {
        use scholar_models::ModelError;
        let damaged = matches!(error, ModelError::Damaged { .. } | ModelError::Tensor { .. });
        let hint = error.hint();
        library_error(error, hint).damaged_if(damaged)
    }
}

impl From<scholar_train::data::DataError> for CommandError {
    fn from(error: scholar_train::data::DataError) -> Self {
        let hint = error.hint().map(str::to_owned);
        library_error(error, hint)
    }
}

impl From<scholar_train::TrainError> for CommandError {
    fn from(error: scholar_train::TrainError) -> Self {
        let hint = error.hint();
        library_error(error, hint)
    }
}

impl From<scholar_models::gguf::GgufError> for CommandError {
    fn from(error: scholar_models::gguf::GgufError) -> Self {
        use scholar_models::gguf::GgufError;
        let damaged = matches!(
            error,
            GgufError::Malformed { .. }
                | GgufError::Metadata { .. }
                | GgufError::Tensor { .. }
                | GgufError::Vocabulary { .. }
        );
        let hint = Some(error.hint().to_owned());
        library_error(error, hint).damaged_if(damaged)
    }
}

impl From<scholar_pipeline::AskError> for CommandError {
    fn from(error: scholar_pipeline::AskError) -> Self {
        let kind = error.port_error().map(PortError::kind);
        let hint = error.hint();
        let unavailable = matches!(
            kind,
            Some(
                PortErrorKind::Transient
                    | PortErrorKind::RateLimited { .. }
                    | PortErrorKind::Unavailable
            )
        );
        let mut wrapped = library_error(error, hint);
        if unavailable {
            wrapped.kind = ErrorKind::Unavailable;
        }
        wrapped
    }
}

/// The library's own clause on top, its causes below, its hint.
fn library_error(error: impl Error + Send + Sync + 'static, hint: Option<String>) -> CommandError {
    let message = error.to_string();
    let mut causes = Vec::new();
    let mut cause = error.source();
    while let Some(next) = cause {
        causes.push(next.to_string());
        cause = next.source();
    }
    let wrapped = CommandError::user(message);
    let wrapped = if causes.is_empty() { wrapped } else { wrapped.with_source(causes.join(": ")) };
    hint.into_iter().fold(wrapped, CommandError::with_hint)
}
