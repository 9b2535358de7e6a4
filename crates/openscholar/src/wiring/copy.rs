//! Copying the passages and vectors of datastores into another one.

use std::ops::ControlFlow;
use std::path::Path;

use scholar_datastore::{AddOptions, AddProgress, Datastore, MergeSource};

use super::store_writer;
use crate::app::App;
use crate::error::CommandError;
use crate::output::added;
use crate::progress::{self, Bar};

/// Shows the papers read on `bar`, and stops the work where the person asked for it.
pub(crate) fn show_papers(bar: &Bar, app: &App) -> impl FnMut(&AddProgress) -> ControlFlow<()> {
    |done| {
        bar.set_position(done.papers_read);
        if done.is_merging {
            bar.set_message("merging segments");
        }
        app.until_stopped()
    }
}

/// Copies `sources` into the datastore at `path`, which is created if it is absent; whether anything was new.
pub(crate) fn into(path: &Path, sources: &[MergeSource], app: &App) -> Result<bool, CommandError> {
    let Some(first) = sources.first() else { return Ok(false) };
    let store =
        Datastore::open_or_create(path, &first.descriptor().encoder, first.descriptor().rules)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut writer = store_writer::open(&name, &store, false, app)?;
    app.heed_signals()?;
    let mut is_new = false;
    for source in sources {
        let from = source.root().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bar = progress::counted(&app.printer, "papers", Some(source.papers()))
            .with_message(from.clone());
        let done =
            writer.copy_from(source, &AddOptions::standard(&from), &mut show_papers(&bar, app))?;
        bar.finish_and_clear();
        is_new |= done.progress.papers_unchanged < done.progress.papers_read;
        added::report(&from, &done, app);
        if done.interrupted {
            return Err(CommandError::interrupted_resumable("interrupted; progress is saved"));
        }
    }
    Ok(is_new)
}
