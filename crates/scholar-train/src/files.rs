//! Files that are whole or not there.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::TrainError;

/// Writes `bytes` under another name, makes them durable, and puts them in the place of `path`.
///
/// A process that is killed or a disk that is full leaves the file that was there before.
///
/// # Errors
/// When that fails; what was written so far is removed.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), TrainError> {
    let new = beside(path, "new");
    let written = (|| {
        let mut file = fs_err::File::create(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs_err::rename(&new, path)
    })();
    written.map_err(|source: std::io::Error| {
        let _gone_or_unwritable = fs_err::remove_file(&new);
        TrainError::write(path, source)
    })
}

/// The path with `.suffix` after its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(suffix);
    path.with_file_name(name)
}
