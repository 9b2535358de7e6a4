//! Removes files that no commit lists: what a crash between writing and committing leaves.
//!
//! tantivy would stumble over its own remains: a list of deletions is named for its place in the order of operations,
//! and a writer that goes on from the last commit comes to the same place again.

use std::path::Path;

use tantivy::IndexWriter;

use crate::dense::segment_writer::PARTIAL_ENDING;
use crate::error::Error;
use crate::layout::{LOCK_FILE, UNFINISHED};
use crate::manifest::Manifest;
use crate::writer::lock::WriterLock;

/// Only the holder of the writer's lock may call this: another writer's unfinished file looks the same.
pub(crate) fn remove_orphans(folder: &Path, manifest: &Manifest) -> Result<(), Error> {
    for entry in fs_err::read_dir(folder).map_err(Error::io("read", folder))? {
        let path = entry.map_err(Error::io("read", folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let ours = name.starts_with("dense-")
            && [".vec", ".ivf", PARTIAL_ENDING].iter().any(|ending| name.ends_with(ending));
        let listed = manifest
            .segments
            .iter()
            .any(|segment| segment.file == name || segment.index.as_deref() == Some(name));
        if ours && !listed {
            tracing::info!(file = %path.display(), "removing a dense segment no commit lists");
            fs_err::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}

/// Removes what was written of the dense segment numbered `number`, which no commit lists. What cannot be removed is for
/// the next writer.
pub(crate) fn remove_numbered(folder: &Path, number: u64) {
    let names = format!("dense-{number:06}.");
    for path in fs_err::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(&names)
            && let Err(error) = fs_err::remove_file(&path)
        {
            tracing::warn!(%error, "a dense segment that no commit lists stays");
        }
    }
}

/// Removes datastores in `folder` whose names begin with `prefix` and that nobody holds: what a process left that was
/// killed while it created one. They are nobody's, so one that cannot be removed is no reason to fail.
pub(crate) fn remove_abandoned(folder: &Path, prefix: &str) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // Without the file nobody can tell whether it is held: it may have been begun this instant.
        if !name.starts_with(prefix) || !path.join(LOCK_FILE).exists() {
            continue;
        }
        if let Ok(_lock) = WriterLock::acquire(&path) {
            tracing::info!(folder = %path.display(), "removing a datastore that was never finished");
            if let Err(error) = fs_err::remove_dir_all(&path) {
                tracing::warn!(%error, "an unfinished datastore stays");
            }
        }
    }
}

/// The same for the lexical index at `folder`, whose only writer is `writer`.
pub(crate) fn remove_lexical_orphans(folder: &Path, writer: &IndexWriter) -> Result<(), Error> {
    let collected = writer.garbage_collect_files().wait();
    let collected = collected.map_err(Error::index("sweep", folder))?;
    for file in &collected.deleted_files {
        tracing::info!(file = %file.display(), "removed a lexical file no commit lists");
    }
    for entry in fs_err::read_dir(folder).map_err(Error::io("read", folder))? {
        let path = entry.map_err(Error::io("read", folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(UNFINISHED) {
            tracing::info!(file = %path.display(), "removing a file that was never finished");
            fs_err::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}
