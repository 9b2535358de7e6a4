//! `openscholar runs …`.

pub(crate) mod diff;
pub(crate) mod explain;
mod explored;
mod export;
pub(crate) mod replay;
pub(crate) mod sign;
pub(crate) mod thread;
pub(crate) mod verify;

use std::process::ExitCode;

use serde::Serialize;

use crate::app::App;
use crate::args::{RunsArgs, RunsCommand};
use crate::error::CommandError;
use crate::output::document::AnswerDocument;
use crate::output::table::Table;
use crate::runs::{
    self, ANSWER_FILE, MARKDOWN_FILE, RunFolder, RunRecord, RunStatus, SIGNATURE_FILE,
};

pub(crate) fn run(args: RunsArgs, app: &App) -> Result<ExitCode, CommandError> {
    let RunsArgs { command } = args;
    match command {
        RunsCommand::List { limit } => list(limit, app),
        RunsCommand::Threads { limit } => thread::list(limit, app),
        RunsCommand::Thread { run, output } => thread::show(&run, output.as_deref(), app),
        RunsCommand::Show { run, proof: false } => show(&run, app),
        RunsCommand::Show { run, proof: true } => sign::show(&run, app),
        RunsCommand::Explain(args) => explain::run(&args, app),
        RunsCommand::Replay { run } => replay::run(&run, app),
        RunsCommand::Verify { run, datastore, signer } => {
            verify::run(&run, datastore.as_deref(), signer.as_deref(), app)
        }
        RunsCommand::Sign { run, key } => sign::run(&run, &key, app),
        RunsCommand::Export { run, to, style, output } => {
            let form = export::DocumentForm { format: to, style: style.as_deref() };
            export::run(&run, form, output.as_deref(), app)
        }
        RunsCommand::Diff { left, right } => diff::run(&left, &right, app),
    }
}

/// A run in the list.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    record: RunRecord,
    /// Whether its proof has a signature; `runs verify` says whose.
    signed: bool,
}

fn list(limit: usize, app: &App) -> Result<ExitCode, CommandError> {
    let mut records: Vec<Listed> = Vec::new();
    for id in runs::ids(&app.home)?.iter().rev().take(limit) {
        let folder = RunFolder::find(&app.home, id)?;
        match folder.record() {
            Ok(record) => {
                records.push(Listed { record, signed: folder.file(SIGNATURE_FILE).is_file() });
            }
            Err(error) => app.printer.say(&format!("{id}: {error}")),
        }
    }
    if app.printer.json {
        app.printer.json(&serde_json::json!({"schema": "openscholar.runs/1", "runs": records}))?;
        return Ok(ExitCode::SUCCESS);
    }
    if records.is_empty() {
        app.printer.say("no runs yet");
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::with_header(["run", "status", "datastore", "question"]);
    for Listed { record, signed } in records {
        let signed = if signed { ", signed" } else { "" };
        let question: String = record
            .question
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(70)
            .collect();
        let status = format!("{}{signed}", record.status.name());
        table.add_row([record.id, status, record.datastore, question]);
    }
    app.printer.out(&table.to_string())?;
    Ok(ExitCode::SUCCESS)
}

fn show(run: &str, app: &App) -> Result<ExitCode, CommandError> {
    let folder = RunFolder::find(&app.home, run)?;
    if !folder.file(ANSWER_FILE).exists() {
        return Err(unanswered(&folder.record()?));
    }
    if app.printer.json {
        let document: AnswerDocument = folder.read_json(ANSWER_FILE)?;
        app.printer.json(&document)?;
    } else {
        app.printer.out(folder.text(MARKDOWN_FILE)?.trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Why a run has no answer, and how to get one.
fn unanswered(record: &RunRecord) -> CommandError {
    let RunRecord { id, status, error, .. } = record;
    let resume = format!("openscholar ask --resume {id}");
    match status {
        RunStatus::Running => CommandError::user(format!("run {id} is being answered"))
            .with_hint("wait for it: openscholar runs list shows its status"),
        RunStatus::Interrupted => {
            CommandError::user(format!("run {id} was interrupted before it had an answer"))
                .with_hint(resume)
        }
        RunStatus::Failed => {
            let why = error.as_deref().unwrap_or("nothing is known of why");
            CommandError::user(format!("run {id} failed: {why}")).with_hint(resume)
        }
        RunStatus::Done => CommandError::user(format!("run {id} has lost its answer.json"))
            .with_hint(format!("openscholar runs replay {id} shows the other differences")),
    }
}
