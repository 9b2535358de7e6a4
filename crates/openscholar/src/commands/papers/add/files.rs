//! Rows, documents and libraries into a datastore.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use scholar_core::{Notice, NoticeKind, ReadLimits};
use scholar_datastore::{AddProgress, AddReport, Datastore};

use crate::app::App;
use crate::args::{IntakeArgs, SourceArgs};
use crate::commands::datastore::build::{self, Building};
use crate::commands::papers::intake::{self, How, Taken, inputs, report};
use crate::commands::papers::keep;
use crate::config::LIBRARY_DATASTORE;
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
pub(crate) struct Intake<'a> {
    pub(crate) args: &'a IntakeArgs,
    pub(crate) limits: ReadLimits,
    /// Whether words of PDFs that ran together stay as they are.
    pub(crate) keep_lost_spaces: bool,
    /// Whether files that are there are not compared with their checksums first.
    pub(crate) skip_check: bool,
    /// Whether somebody sent the files: what they name of this machine beside themselves is none of theirs.
    pub(crate) is_sent: bool,
}

/// Inputs that are read before their papers are stored: what a crash or Ctrl-C can lose, and what memory has to hold.
const CHUNK: usize = 200;

/// Reads `inputs` and stores what they hold. Exit code 4 when some of them gave no paper.
pub(super) async fn add(
    name: &str,
    inputs: Vec<inputs::Input>,
    intake: &Intake<'_>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let path = app.home.datastore(name)?;
    let is_first = !path.is_dir();
    let code = take_in(name, inputs, intake, app).await?.report(name, app)?;
    let is_asked = app.config.datastore.is_none() && name == LIBRARY_DATASTORE;
    if is_first && is_asked && path.is_dir() {
        app.printer.say(&format!(
            "questions are asked of {name} from now on; openscholar datastore use starter changes that"
        ));
    }
    Ok(code)
}

/// Reads `inputs` and stores what they hold, a chunk at a time.
pub(crate) async fn take_in(
    name: &str,
    inputs: Vec<inputs::Input>,
    intake: &Intake<'_>,
    app: &App,
) -> Result<Done, CommandError> {
    let Intake { args, limits, keep_lost_spaces, skip_check, is_sent } = intake;
    let path = app.home.datastore(name)?;
    let mut done = Done::default();
    for chunk in inputs.chunks(CHUNK) {
        let stored = match path.is_dir() && !args.reread {
            true => Some(Arc::new(Datastore::open(&path)?)),
            false => None,
        };
        let home = app.env.home.as_ref();
        let zotero_storage = home.map(|home| home.join("Zotero").join("storage"));
        let how = How {
            collection: args.collection.as_deref(),
            look_up: !args.no_lookup,
            offline: args.offline,
            bulk_limit: args.bulk_limit,
            limits: *limits,
            repair_spaces: !keep_lost_spaces,
            attachments: &args.attachments,
            zotero_storage: zotero_storage.filter(|_| !is_sent),
            stored,
        };
        let taken = intake::take(chunk.to_vec(), &how, app).await?;
        if app.stop.requested() {
            return Err(interrupted(done.chunks));
        }
        let mut lines = report::lines(&taken);
        let Taken { items, notices, failed, unchanged, spaces_repaired } = taken;
        done.failed += failed;
        done.unchanged.extend(unchanged);
        done.spaces_repaired += spaces_repaired;
        done.note(notices, app);
        if !items.is_empty() {
            // What a chunk has checked need not be checked again for the next.
            let skip = *skip_check || done.chunks > 0;
            let kept = keep::take_in(name, items, skip, app).await?;
            for (at, line) in lines.iter_mut().enumerate() {
                let joined = kept.joined.get(&at).cloned().unwrap_or_default();
                let matched = kept.matched.get(&at).copied().unwrap_or_default();
                line.set_kept(kept.papers.get(&at), &joined, matched);
            }
            let same = kept.beside.iter().filter_map(|(first, other)| {
                let (first, other) = (lines.get(*first)?.origin(), lines.get(*other)?.origin());
                let message = format!("{other}: joined with {first}, which is the same paper");
                Some(Notice::new(NoticeKind::Skipped, message))
            });
            done.note(same.collect(), app);
            done.lost += kept.lost;
            done.add(&kept.report);
            if kept.report.interrupted {
                return Err(interrupted(1));
            }
        }
        done.chunks += 1;
        done.lines.extend(lines);
    }
    Ok(done)
}

/// What all chunks did.
#[derive(Default)]
pub(crate) struct Done {
    chunks: usize,
    /// One for each thing that was read.
    pub(crate) lines: Vec<report::Line>,
    /// What a person should know.
    pub(crate) notices: Vec<Notice>,
    failed: usize,
    /// Files that are stored as they are.
    pub(crate) unchanged: BTreeSet<PathBuf>,
    spaces_repaired: usize,
    lost: usize,
    progress: Option<AddProgress>,
}

impl Done {
    /// Takes notices in, and prints the first of them.
    fn note(&mut self, notices: Vec<Notice>, app: &App) {
        let room = SHOWN_NOTICES.saturating_sub(self.notices.len());
        for notice in notices.iter().take(room) {
            app.printer.notice(notice);
        }
        self.notices.extend(notices);
    }

    fn add(&mut self, report: &AddReport) {
        match &mut self.progress {
            Some(all) => all.add(&report.progress),
            None => self.progress = Some(report.progress.clone()),
        }
    }

    /// The error of an intake without any paper.
    fn check(&self) -> Result<(), CommandError> {
        if !self.lines.is_empty() || !self.unchanged.is_empty() {
            return Ok(());
        }
        let error = CommandError::user("no paper could be read");
        let first = self.notices.iter().find_map(|notice| notice.hint.clone());
        Err(match first {
            Some(hint) => error.with_hint(hint),
            None => error,
        })
    }

    fn report(self, name: &str, app: &App) -> Result<ExitCode, CommandError> {
        let more = self.notices.len().saturating_sub(SHOWN_NOTICES);
        if more > 0 {
            app.printer.say(&format!("and {more} more notes: pass --json to see all"));
        }
        self.check()?;
        let Self { lines, notices, failed, unchanged, spaces_repaired, lost, progress, .. } = self;
        let count = |of: fn(&AddProgress) -> u64| progress.as_ref().map_or(0, of);
        if app.printer.json {
            app.printer.json(&serde_json::json!({
                "schema": "openscholar.papers-added/1", "datastore": name, "papers": lines, "notices": notices,
                "failed": failed, "added": count(|p| p.papers_added),
                "unchanged": count(|p| p.papers_unchanged) + unchanged.len() as u64,
                "files_unchanged": unchanged, "replaced": count(|p| p.papers_replaced),
                "completed": count(|p| p.papers_completed), "lost": lost,
                "passages": count(|p| p.passages_added), "spaces_repaired": spaces_repaired,
            }))?;
        } else {
            if !lines.is_empty() {
                app.printer.out(&report::table(&lines))?;
            }
            added::report_library(name, progress.as_ref(), unchanged.len(), lost, app);
            added::report_spaces(spaces_repaired, app);
        }
        Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(EXIT_MISSING_EVIDENCE) })
    }
}

fn interrupted(stored: usize) -> CommandError {
    let message = match stored {
        0 => "interrupted while reading; nothing was added",
        _ => "interrupted; papers added so far are saved",
    };
    CommandError::new(ErrorKind::Interrupted, message)
        .with_hint("run the same command again: files that are stored are not read again")
}
