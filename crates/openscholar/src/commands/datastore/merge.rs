//! `openscholar datastore merge NEW OLD…`: joins parts, converts older formats. The same again changes nothing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use scholar_datastore::{AddOptions, Datastore, MergeSource};

use super::{build, writer};
use crate::app::App;
use crate::commands::papers::until_stopped;
use crate::error::{CommandError, ErrorKind};
use crate::progress;

pub(super) fn run(name: &str, from: &[String], app: &App) -> Result<ExitCode, CommandError> {
    let path = app.home.datastore(name)?;
    let sources = from
        .iter()
        .map(|from| Ok(MergeSource::open(&folder(from, app)?)?))
        .collect::<Result<Vec<_>, CommandError>>()?;
    app.home.create(&app.home.datastores())?;
    if !into(&path, &sources, app)? {
        app.printer.say(&format!("nothing was new: {name} has all of it already"));
    }
    super::info(name, app)
}

/// Copies `sources` into the datastore at `path`, which is created if it is absent; whether anything was new.
pub(super) fn into(path: &Path, sources: &[MergeSource], app: &App) -> Result<bool, CommandError> {
    let Some(first) = sources.first() else { return Ok(false) };
    let store =
        Datastore::open_or_create(path, &first.descriptor().encoder, first.descriptor().rules)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut writer = writer::open(&name, &store, false, app)?;
    app.heed_signals()?;
    let mut is_new = false;
    for source in sources {
        let from = source.root().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bar = progress::counted(&app.printer, "papers", Some(source.papers()))
            .with_message(from.clone());
        let done = writer.copy_from(source, &AddOptions::standard(&from), &mut |done| {
            bar.set_position(done.papers_read);
            if done.is_merging {
                bar.set_message("merging segments");
            }
            until_stopped(app)
        })?;
        bar.finish_and_clear();
        is_new |= done.progress.papers_unchanged < done.progress.papers_read;
        build::report_added(&from, &done, app);
        if done.interrupted {
            return Err(CommandError::new(
                ErrorKind::Interrupted,
                "interrupted; what was copied is kept",
            )
            .with_hint("run the same command again: it continues where it stopped"));
        }
    }
    Ok(is_new)
}

/// The folder meant by a name or path.
pub(super) fn folder(from: &str, app: &App) -> Result<PathBuf, CommandError> {
    let path = Path::new(from);
    if path.components().count() > 1 || path.is_absolute() {
        return Ok(path.to_owned());
    }
    app.existing_datastore(from)
}
