//! Removes dense files that no commit lists: what a crash between writing and committing leaves.

use std::path::Path;

use crate::dense::segment_writer::PARTIAL_ENDING;
use crate::error::Error;
use crate::manifest::Manifest;

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
