//! `papers check`: whether the files that papers were read from are as they were.

use std::process::ExitCode;

use scholar_core::text::{hex, untrusted};
use scholar_core::{Paper, PaperId, SourceFile};
use scholar_datastore::{Datastore, Revision, files};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::keep;
use crate::app::App;
use crate::error::{CommandError, EXIT_MISSING_EVIDENCE};
use crate::output::table::Table;
use crate::progress;

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum FileState {
    Unchanged,
    Changed,
    Missing,
    Unreadable,
}

impl FileState {
    fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Missing => "missing",
            Self::Unreadable => "cannot be read",
        }
    }
}

#[derive(Debug, Serialize)]
struct Checked {
    paper: PaperId,
    title: String,
    file: SourceFile,
    state: FileState,
}

/// Compares every file with what was read of it; with `forget`, papers lose the files that are missing, and papers that came
/// from nothing else are removed. Exit code 4 when a file has changed or is missing.
pub(super) fn run(name: &str, forget: bool, app: &App) -> Result<ExitCode, CommandError> {
    let store = super::open(name, app)?;
    let total = store.recorded_count()? as u64;
    let bar = progress::counted(&app.printer, "papers", Some(total)).with_message("checking");
    let limits = app.config.read_limits(&[]);
    let mut checked: Vec<Checked> = Vec::new();
    let mut revisions: Vec<Revision> = Vec::new();
    store.each_recorded(|paper| {
        bar.inc(1);
        let mut missing = false;
        for file in paper.records.iter().filter_map(|record| record.source.file()) {
            let state = state_of(file, limits.bytes);
            missing |= state == FileState::Missing;
            checked.push(Checked {
                paper: paper.meta.id.clone(),
                title: paper.meta.title.clone(),
                file: file.clone(),
                state,
            });
        }
        if forget && missing {
            revisions.push(without_missing(paper));
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    let of = |state: FileState| checked.iter().filter(|one| one.state == state).count();
    let (changed, missing) = (of(FileState::Changed), of(FileState::Missing));
    let unreadable = of(FileState::Unreadable);
    let forgotten = forget_files(name, &store, revisions, app)?;
    if app.printer.json {
        app.printer.json(&serde_json::json!({
            "schema": "openscholar.papers-checked/1", "datastore": name, "files": checked,
            "changed": changed, "missing": missing, "unreadable": unreadable, "forgotten": forgotten,
        }))?;
    } else {
        report(&checked, name, app)?;
        if forgotten > 0 {
            app.printer.say(&format!("{forgotten} papers lost the files that are missing"));
        }
    }
    let is_well = changed + unreadable + if forget { 0 } else { missing } == 0;
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(EXIT_MISSING_EVIDENCE) })
}

fn report(checked: &[Checked], name: &str, app: &App) -> Result<(), CommandError> {
    let mut table = Table::with_header(["file", "is", "paper"]);
    let odd: Vec<&Checked> =
        checked.iter().filter(|one| one.state != FileState::Unchanged).collect();
    for Checked { paper, title, file, state } in &odd {
        let title: String = title.chars().take(60).collect();
        table.add_row([
            untrusted(&file.path.display().to_string()).line().to_string(),
            state.name().to_owned(),
            format!("{paper} {title}"),
        ]);
    }
    if !odd.is_empty() {
        app.printer.out(&table.to_string())?;
    }
    app.printer.say(&format!(
        "{} files of {name}, {} unchanged",
        checked.len(),
        checked.len() - odd.len()
    ));
    if odd.iter().any(|one| one.state == FileState::Changed) {
        app.printer.say("openscholar papers add FILE… reads changed files again");
    }
    if odd.iter().any(|one| one.state == FileState::Missing) {
        app.printer.say(
            "openscholar papers add FILE… finds moved files by their bytes; papers check --forget gives up missing ones",
        );
    }
    Ok(())
}

fn forget_files(
    name: &str,
    store: &Datastore,
    revisions: Vec<Revision>,
    app: &App,
) -> Result<usize, CommandError> {
    let count = revisions.len();
    if count > 0 {
        app.block_on_to_the_end(keep::revise(name, store, revisions, app))??;
    }
    Ok(count)
}

/// The paper without the files that are missing.
pub(super) fn without_missing(paper: Paper) -> Revision {
    let id = paper.meta.id.clone();
    let mut records = paper.into_records("");
    records.retain(|record| record.source.file().is_none_or(|file| file.path.exists()));
    Revision { paper: Paper::of_records(records), replaces: vec![id] }
}

/// Compares a file with what was read of it: by size and time, and where these differ by its bytes.
fn state_of(file: &SourceFile, most: usize) -> FileState {
    let meta = match fs_err::metadata(&file.path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return FileState::Missing,
        Err(_) => return FileState::Unreadable,
    };
    let since =
        meta.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let modified = since.and_then(|since| i64::try_from(since.as_secs()).ok());
    if meta.len() == file.bytes && modified.is_some() && modified == file.modified {
        return FileState::Unchanged;
    }
    match files::read(&file.path, most) {
        Ok(bytes) if hex(&Sha256::digest(&bytes)) == file.sha256 => FileState::Unchanged,
        Ok(_) => FileState::Changed,
        Err(_) => FileState::Unreadable,
    }
}
