//! `papers add --watch`: folders whose new and changed documents, libraries and rows of papers are added as they come.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use scholar_core::{Notice, NoticeKind};

use super::files::{self, Intake};
use crate::app::App;
use crate::args::{IntakeArgs, SourceArgs};
use crate::commands::papers::intake::inputs;
use crate::commands::papers::intake::walk::{self, Links};
use crate::error::CommandError;
use crate::stop::unless_stopped;

/// Between two looks. Looking works on every file system, network mounts included, where notifications do not.
const PAUSE: Duration = Duration::from_secs(2);

/// What a file was like: a document is read when it has stayed the same for one pause, so that a copy is complete.
type Stamp = (u64, Option<SystemTime>);

/// Folders, and what was in them when they were first looked at.
pub(super) struct Watched {
    folders: Vec<PathBuf>,
    links: Links,
    done: BTreeMap<PathBuf, Stamp>,
}

/// The folders among the arguments, if they are to be watched. Looked at before what is in them is added, so that what comes
/// meanwhile is not missed.
pub(super) fn folders(
    arguments: &[PathBuf],
    watch: bool,
    links: Links,
) -> Result<Option<Watched>, CommandError> {
    if !watch {
        return Ok(None);
    }
    let folders: Vec<PathBuf> = arguments.iter().filter(|path| path.is_dir()).cloned().collect();
    if folders.is_empty() {
        return Err(
            CommandError::user("--watch needs a folder").with_hint("name the folder to watch")
        );
    }
    let done = stamps(&folders, links);
    Ok(Some(Watched { folders, links, done }))
}

/// Watches until a signal comes. What was there at the beginning has been added already; `rows` says how rows of papers are read.
pub(super) fn run(
    name: &str,
    watched: Watched,
    rows: &SourceArgs,
    args: &IntakeArgs,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let Watched { folders, links, mut done } = watched;
    app.printer.say("watching; press Ctrl-C to end");
    let mut before = done.clone();
    loop {
        app.block_on_to_the_end(async {
            unless_stopped(app.stop.wait(), tokio::time::sleep(PAUSE)).await
        })?;
        if app.stop.requested() {
            return Ok(ExitCode::SUCCESS);
        }
        let now = stamps(&folders, links);
        let ready = settled(&done, &before, &now);
        tell_missing(&folders, &before, &now, app);
        before = now;
        // One broken file must not end the watch.
        if let Err(error) = take(name, &ready, rows, args, app) {
            app.printer.error(&error);
        }
        // A file that comes back is read again, if it is another.
        done.retain(|path, _| before.contains_key(path));
        done.extend(ready);
    }
}

/// Says which folders and files are gone since the last look. What was read of them stays until a person decides otherwise.
fn tell_missing(
    folders: &[PathBuf],
    before: &BTreeMap<PathBuf, Stamp>,
    now: &BTreeMap<PathBuf, Stamp>,
    app: &App,
) {
    let gone: Vec<&PathBuf> = before.keys().filter(|path| !now.contains_key(*path)).collect();
    for folder in folders.iter().filter(|folder| !folder.is_dir()) {
        if gone.iter().any(|path| path.starts_with(folder)) {
            let message = format!(
                "{} is gone; its papers stay, and it is watched when it comes back",
                folder.display()
            );
            app.printer.notice(&Notice::new(NoticeKind::Skipped, message));
        }
    }
    for path in gone {
        if folders.iter().all(|folder| folder.is_dir() || !path.starts_with(folder)) {
            let message = format!("{} was removed or renamed; its paper stays", path.display());
            let notice = Notice::new(NoticeKind::Skipped, message);
            app.printer.notice(
                &notice.with_hint("openscholar papers check --forget gives up missing files"),
            );
        }
    }
}

/// Adds what has come.
fn take(
    name: &str,
    ready: &BTreeMap<PathBuf, Stamp>,
    how: &SourceArgs,
    args: &IntakeArgs,
    app: &App,
) -> Result<(), CommandError> {
    let rows = ready.keys().filter(|path| inputs::is_rows(path)).cloned().collect();
    files::add_rows(name, rows, how, true, app)?;
    let inputs: Vec<inputs::Input> = ready.keys().filter_map(|path| inputs::file(path)).collect();
    if !inputs.is_empty() {
        let limits = app.config.read_limits(&how.limits);
        let intake = Intake {
            args,
            limits,
            keep_lost_spaces: how.keep_lost_spaces,
            skip_check: how.skip_check,
            is_sent: false,
        };
        app.block_on_to_the_end(files::add(name, inputs, &intake, app))??;
    }
    Ok(())
}

/// New and changed files that stayed the same since the last look.
fn settled(
    done: &BTreeMap<PathBuf, Stamp>,
    before: &BTreeMap<PathBuf, Stamp>,
    now: &BTreeMap<PathBuf, Stamp>,
) -> BTreeMap<PathBuf, Stamp> {
    now.iter()
        .filter(|(path, stamp)| done.get(*path) != Some(stamp) && before.get(*path) == Some(stamp))
        .map(|(path, stamp)| (path.clone(), *stamp))
        .collect()
}

fn stamps(folders: &[PathBuf], links: Links) -> BTreeMap<PathBuf, Stamp> {
    let mut stamps = BTreeMap::new();
    // A folder that cannot be listed for a moment is looked at again.
    let walked = folders.iter().filter_map(|folder| walk::walk(folder, links).ok());
    for path in walked.flat_map(|walked| walked.files) {
        if (inputs::file(&path).is_some() || inputs::is_rows(&path))
            && let Ok(meta) = fs_err::metadata(&path)
        {
            stamps.insert(path, (meta.len(), meta.modified().ok()));
        }
    }
    stamps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once_it_has_stopped_growing() {
        let map = |sizes: &[(&str, u64)]| -> BTreeMap<PathBuf, Stamp> {
            sizes.iter().map(|(name, size)| (PathBuf::from(name), (*size, None))).collect()
        };
        let done = map(&[("old", 1)]);
        let growing =
            settled(&done, &map(&[("old", 1), ("new", 1)]), &map(&[("old", 1), ("new", 2)]));
        assert!(growing.is_empty());
        let ready =
            settled(&done, &map(&[("old", 2), ("new", 2)]), &map(&[("old", 2), ("new", 2)]));
        assert_eq!(ready, map(&[("old", 2), ("new", 2)]));
        assert!(settled(&done, &done, &done).is_empty());
    }
}
