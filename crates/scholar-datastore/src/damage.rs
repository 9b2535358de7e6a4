//! Damage that is found while tantivy reads.

use std::path::PathBuf;

use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

/// A file of tantivy that is not as it was written, on its way through tantivy's errors.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{} is damaged: {what}", path.display())]
pub(crate) struct Damage {
    pub(crate) path: PathBuf,
    pub(crate) what: String,
}

impl From<Damage> for OpenReadError {
    fn from(damage: Damage) -> Self {
        let path = damage.path.clone();
        Self::wrap_io_error(std::io::Error::new(std::io::ErrorKind::InvalidData, damage), path)
    }
}

impl Damage {
    /// The damage that made tantivy fail, if it was that.
    pub(crate) fn behind(error: &TantivyError) -> Option<&Self> {
        match error {
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => {
                io_error.get_ref()?.downcast_ref()
            }
            _ => None,
        }
    }
}
