//! `openscholar datastore merge NEW OLD…`: joins parts, converts older formats.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use scholar_datastore::{AddOptions, Datastore, MergeSource};

use super::build;
use crate::app::App;
use crate::commands::papers::until_stopped;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::{progress, starter};

pub(super) fn run(name: &str, from: &[String], app: &App) -> Result<ExitCode, CommandError> {
    let path = app.home.datastore(name)?;
    let sources = from
        .iter()
        .map(|from| Ok(MergeSource::open(&folder(from, app)?)?))
        .collect::<Result<Vec<_>, CommandError>>()?;
    app.home.create(&app.home.datastores())?;
    into(&path, &sources, app)?;
    super::info(name, app)
}

/// Copies `sources` into the datastore at `path`, which is created if it is absent.
fn into(path: &Path, sources: &[MergeSource], app: &App) -> Result<(), CommandError> {
    let Some(first) = sources.first() else { return Ok(()) };
    let store =
        Datastore::open_or_create(path, &first.descriptor().encoder, first.descriptor().rules)?;
    let mut writer = store.writer()?;
    app.heed_signals()?;
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
        build::report_added(&from, &done, app);
        if done.interrupted {
            return Err(CommandError::new(
                ErrorKind::Interrupted,
                "interrupted; what was copied is kept",
            )
            .with_hint("run the same command again: it continues where it stopped"));
        }
    }
    Ok(())
}

/// The folder meant by a name or path.
fn folder(from: &str, app: &App) -> Result<PathBuf, CommandError> {
    let path = Path::new(from);
    if path.components().count() > 1 || path.is_absolute() {
        return Ok(path.to_owned());
    }
    app.existing_datastore(from)
}

/// Brings the datastore at `path` to the present format in its place, when it has an older one.
pub(crate) fn upgrade(path: &Path, app: &App) -> Result<(), CommandError> {
    let older = match scholar_datastore::Descriptor::read_older(path) {
        Ok(descriptor) => descriptor.format < scholar_datastore::descriptor::FORMAT_VERSION,
        Err(_) => false,
    };
    if !older {
        return Ok(());
    }
    let beside = |ending: &str| path.with_extension(ending);
    let (new, old) = (beside("upgrading"), beside("older-format"));
    into(&new, &[MergeSource::open(path)?], app)?;
    let complete = path.join(starter::COMPLETE_FILE);
    if complete.is_file() {
        fs_err::copy(&complete, new.join(starter::COMPLETE_FILE))
            .user(|| "cannot mark the datastore as complete".to_owned())?;
    }
    // Between the two renames the datastore is absent, and the next start builds it anew from what is shipped.
    fs_err::rename(path, &old).user(|| "cannot put the older datastore aside".to_owned())?;
    fs_err::rename(&new, path).user(|| "cannot put the upgraded datastore in place".to_owned())?;
    fs_err::remove_dir_all(&old).user(|| "cannot remove the older datastore".to_owned())
}
