//! Rows, documents and libraries into a datastore.

use std::path::PathBuf;
use std::process::ExitCode;

use scholar_core::ReadLimits;

use crate::app::App;
use crate::args::{IntakeArgs, SourceArgs};
use crate::commands::datastore::build::{self, Building};
use crate::commands::papers::intake::{self, How, inputs, report};
use crate::commands::papers::keep;
use crate::error::{CommandError, EXIT_MISSING_EVIDENCE, ErrorKind};
use crate::output::added;
use crate::wiring::models::Reading;

/// Longest list of what was left out that is printed in full.
const SHOWN_NOTICES: usize = 20;

/// Adds files of rows, read as `how` says: all together, because the files of a dump belong together. With `others` to come
/// after them, none of them that can be read is told and no more: one broken file must cost neither the others nor the watch.
pub(super) fn add_rows(
    name: &str,
    rows: Vec<PathBuf>,
    how: &SourceArgs,
    others: bool,
    app: &App,
) -> Result<ExitCode, CommandError> {
    if rows.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let sources = SourceArgs { files: rows, ..how.clone() };
    let building = Building { encoder: None, reading: Reading::WHOLE, passages: None };
    match build::add_files(name, &sources, building, app) {
        Err(error) if others && !app.stop.requested() && !error.is_final() => {
            app.printer.notice(&error.notice());
            Ok(ExitCode::from(EXIT_MISSING_EVIDENCE))
        }
        done => done,
    }
}

/// How documents and libraries are taken in.
pub(super) struct Intake<'a> {
    pub(super) args: &'a IntakeArgs,
    pub(super) limits: ReadLimits,
    /// Whether words of PDFs that ran together stay as they are.
    pub(super) keep_lost_spaces: bool,
    /// Whether files that are there are not compared with their checksums first.
    pub(super) skip_check: bool,
}

/// Reads `inputs` and stores what they hold. Exit code 4 when some of them gave no paper.
pub(super) async fn add(
    name: &str,
    inputs: Vec<inputs::Input>,
    intake: &Intake<'_>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let Intake { args, limits, keep_lost_spaces, skip_check } = intake;
    let how = How {
        collection: args.collection.as_deref(),
        look_up: !args.no_lookup,
        offline: args.offline,
        bulk_limit: args.bulk_limit,
        limits: *limits,
        repair_spaces: !keep_lost_spaces,
        attachments: &args.attachments,
        zotero_storage: app.env.home.as_ref().map(|home| home.join("Zotero").join("storage")),
    };
    let taken = intake::take(inputs, name, &how, app).await?;
    if app.stop.requested() {
        return Err(interrupted("interrupted while reading; nothing was added"));
    }
    let lines = report::lines(&taken);
    for notice in taken.notices.iter().take(SHOWN_NOTICES) {
        app.printer.notice(notice);
    }
    if let Some(more) = taken.notices.len().checked_sub(SHOWN_NOTICES).filter(|more| *more > 0) {
        app.printer.say(&format!("and {more} more notes: pass --json to see all"));
    }
    let intake::Taken { items, notices, failed, spaces_repaired } = taken;
    if items.is_empty() {
        let error = CommandError::user("no paper could be read");
        let first = notices.iter().find_map(|notice| notice.hint.clone());
        return Err(match first {
            Some(hint) => error.with_hint(hint),
            None => error,
        });
    }
    let papers = items.into_iter().map(|item| item.paper).collect();
    let done = keep::add(name, papers, "papers add", *skip_check, app).await?;
    if done.interrupted {
        return Err(interrupted("interrupted; papers added so far are saved"));
    }
    let added = &done.progress;
    if app.printer.json {
        app.printer.json(&serde_json::json!({
            "schema": "openscholar.papers-added/1", "datastore": name, "papers": lines, "notices": notices, "failed": failed,
            "added": added.papers_added, "unchanged": added.papers_unchanged, "duplicates": added.papers_duplicate,
            "identifiers_added": added.identifiers_added, "completed": added.papers_completed,
            "passages": added.passages_added, "spaces_repaired": spaces_repaired,
        }))?;
    } else {
        app.printer.out(&report::table(&lines))?;
        added::report(name, &done, app);
        added::report_spaces(spaces_repaired, app);
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(EXIT_MISSING_EVIDENCE) })
}

fn interrupted(message: &str) -> CommandError {
    CommandError::new(ErrorKind::Interrupted, message)
        .with_hint("run the same command again: papers that are there are left alone")
}
