//! Why an input gave no paper.

use scholar_datastore::files::FileError;
use scholar_formats::FormatError;

/// What a person is told of an input that cannot be read.
pub(super) struct Failure {
    pub(super) why: String,
    pub(super) hint: Option<String>,
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        Self { why: error.to_string(), hint: error.hint }
    }
}

impl From<scholar_datastore::Error> for Failure {
    fn from(error: scholar_datastore::Error) -> Self {
        Self { why: error.to_string(), hint: error.hint() }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        let why = match &error {
            FileError::Read { source, .. } => format!("{error}: {source}"),
            _ => error.to_string(),
        };
        Self { why, hint: error.hint() }
    }
}
