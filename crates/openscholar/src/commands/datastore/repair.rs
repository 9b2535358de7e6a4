//! `openscholar datastore repair NAME --to NEW`: saves what is whole of a damaged datastore.

use std::process::ExitCode;

use scholar_core::Encoder;
use scholar_core::text::untrusted;
use scholar_datastore::repair::LostPaper;
use scholar_datastore::{AddOptions, Datastore, RepairReport, RepairSource};

use super::merge::folder;
use crate::app::App;
use crate::error::{CommandError, EXIT_MISSING_EVIDENCE};
use crate::progress;
use crate::wiring::{copy, models, store_writer};

/// Longest list of lost papers that is printed in full.
const SHOWN_LOST: usize = 20;

pub(super) fn run(name: &str, to: &str, app: &App) -> Result<ExitCode, CommandError> {
    let from = folder(name, app)?;
    let path = app.home.datastore(to)?;
    if path == from {
        return Err(CommandError::user("a damaged datastore is not written to")
            .with_hint(format!("choose another name: --to {to}-repaired")));
    }
    app.printer.say(&format!("reading every file of {name}"));
    let source = RepairSource::open(&from)?;
    if source.damaged().is_empty() {
        return whole(name, app);
    }
    let stored = source.descriptor().encoder.clone();
    let encoder = if source.may_need_encoder() {
        match app.block_on(models::encoder(app, &stored.name, (&stored).into()))? {
            Ok(encoder) => Some(encoder),
            Err(error) => {
                let why = "papers whose vectors are lost cannot be saved without the encoder";
                app.printer.say(&format!("{} is not available ({error}): {why}", stored.name));
                None
            }
        }
    } else {
        None
    };
    fs_err::create_dir_all(app.home.datastores())
        .map_err(|source| CommandError::unwritable(app.home.data(), source))?;
    let store = Datastore::open_or_create(&path, &stored, source.descriptor().rules)?;
    let mut writer = store_writer::open(to, &store, false, app)?;
    let bar =
        progress::counted(&app.printer, "papers", Some(source.papers())).with_message("saving");
    let encoder = encoder.as_deref().map(|encoder| encoder as &dyn Encoder);
    let options = AddOptions::standard(format!("repaired from {name}"));
    let report = writer.save_from(&source, encoder, &options, &mut copy::show_papers(&bar, app))?;
    bar.finish_and_clear();
    drop(writer);
    if report.interrupted {
        return Err(CommandError::interrupted_resumable(
            "interrupted; papers copied so far are saved",
        ));
    }
    tell(&Repair { name, to, report: &report }, app)?;
    let code = if report.is_complete() { 0 } else { EXIT_MISSING_EVIDENCE };
    Ok(ExitCode::from(code))
}

fn whole(name: &str, app: &App) -> Result<ExitCode, CommandError> {
    if app.printer.json {
        app.printer.json(&serde_json::json!({"schema": "openscholar.repair/1", "datastore": name, "to": null, "report": null}))?;
    } else {
        app.printer.out(&format!("{name} is whole: there is nothing to repair"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What was copied out of one datastore into another.
struct Repair<'a> {
    name: &'a str,
    to: &'a str,
    report: &'a RepairReport,
}

fn tell(repair: &Repair<'_>, app: &App) -> Result<(), CommandError> {
    let Repair { name, to, report } = repair;
    if app.printer.json {
        return app.printer.json(&serde_json::json!({"schema": "openscholar.repair/1", "datastore": name, "to": to, "report": report}));
    }
    let out = |line: String| app.printer.out(&line);
    for damage in &report.damaged {
        out(format!("{} is damaged: {}", damage.file.display(), damage.what))?;
    }
    out(format!(
        "{to}: {} papers saved from {name}, {} passages stored, {} of them re-encoded, {} papers split again",
        report.papers_saved, report.passages_saved, report.passages_encoded, report.papers_cut_anew
    ))?;
    for segment in &report.without_deletions {
        out(format!(
            "it is unknown which papers were removed from segment {segment}; they are restored"
        ))?;
    }
    if report.is_complete() {
        return out("no paper is lost".to_owned());
    }
    out(format!("{} papers are lost:", report.lost.len()))?;
    for LostPaper { paper, title, why, segment: _ } in report.lost.iter().take(SHOWN_LOST) {
        let title = title.as_deref().unwrap_or("(its title cannot be read)");
        // Read from a damaged file: it may say anything.
        let (paper, title) = (untrusted(paper).line(), untrusted(title).line());
        out(format!("  {paper}  {title}: {why}"))?;
    }
    if let Some(more) = report.lost.len().checked_sub(SHOWN_LOST).filter(|more| *more > 0) {
        out(format!("  and {more} more: --json lists all"))?;
    }
    for lost in &report.lost_documents {
        let (documents, segment) = (lost.documents, &lost.segment);
        out(format!(
            "{documents} papers and passages of segment {segment} cannot be read, not even their names"
        ))?;
    }
    Ok(())
}
