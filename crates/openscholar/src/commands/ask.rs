//! `openscholar ask QUESTION`.

pub(crate) mod answering;
pub(crate) mod settings;
mod tree;
pub(crate) mod watch;

use std::process::ExitCode;

use crate::app::App;
use crate::args::AskArgs;
use crate::error::{CommandError, EXIT_MISSING_EVIDENCE};
use crate::output::document::AnswerDocument;
use crate::output::json::Json;
use crate::output::{export, markdown};
use crate::proof::signature::Signer;
use crate::runs::{self, RunFolder};

pub(super) use answering::{
    Asked, announce_between, begin, check_reused, ended_badly, keep, reused, stdin,
};
use answering::{Attended, Task, answer};

pub(crate) fn run(args: AskArgs, app: &App) -> Result<ExitCode, CommandError> {
    super::papers::refuse_json_with_format(args.format.is_some(), app)?;
    if args.format.is_some_and(|format| !export::is_text(format)) && args.output.is_none() {
        return Err(CommandError::user("a DOCX file cannot be printed")
            .with_hint("name a file: --output answer.docx"));
    }
    // A key that cannot sign must not cost an answer.
    let key = args.sign.as_ref().or(app.config.sign.as_ref());
    let signer = key.map(|path| Signer::read(path)).transpose()?;
    let (args, task) = Task::of(args, app)?;
    let members = app.datastore_members(&task.datastore);
    for name in &members {
        app.home.datastore(name)?;
        if name != crate::starter::NAME {
            app.existing_datastore(name)?;
        }
    }
    let attended = Attended::at_the_terminal(app);
    let answered = answer(&args, &task, app, attended, app.stop.wait());
    let (document, stored) = app.block_on_to_the_end(answered)??;
    let stored = match (stored, &signer) {
        (Ok(()), Some(signer)) => sign(&document.run, signer, app),
        (stored, _) => stored,
    };
    // What was paid for is shown even where it cannot be kept.
    print(&document, &args, app)?;
    stored?;
    if let Some(into) = &args.save {
        let own = members.iter().find(|name| *name != crate::starter::NAME);
        let own = own.or(members.first()).unwrap_or(&task.datastore);
        save(&document.run, into.as_deref().unwrap_or(own), app)?;
    }
    let abstained = document.answer.abstained;
    Ok(if abstained { ExitCode::from(EXIT_MISSING_EVIDENCE) } else { ExitCode::SUCCESS })
}

/// Adds the papers that the run's sources found to a datastore.
fn save(run: &str, datastore: &str, app: &App) -> Result<(), CommandError> {
    let found = RunFolder::find(&app.home, run)?.found_papers()?;
    if found.is_empty() {
        app.printer.say("no paper was found outside the datastore: nothing to save");
        return Ok(());
    }
    let source = format!("run {run}");
    let done =
        app.block_on_to_the_end(super::papers::keep::add(datastore, found, &source, false, app))??;
    crate::output::added::report(&format!("saved to {datastore}"), &done, app);
    Ok(())
}

/// Signs the proof of a run that is whole.
fn sign(run: &str, signer: &Signer, app: &App) -> Result<(), CommandError> {
    let folder = RunFolder::find(&app.home, run)?;
    let key = super::runs::sign::sign(&folder, signer)?;
    app.printer.say(&format!("signed with {key}"));
    Ok(())
}

fn print(document: &AnswerDocument, args: &AskArgs, app: &App) -> Result<(), CommandError> {
    let json = match args.format {
        None if args.stream => Some(Json::line(document)?),
        None if app.printer.json => Some(Json::pretty(document)?),
        _ => None,
    };
    // First to the reader: a file that cannot be written must not cost the answer.
    let bytes = if let Some(json) = json {
        app.printer.out_json(&json)?;
        json.into_string().into_bytes()
    } else {
        let bytes = match args.format {
            Some(format) => export::bytes(document, format, args.style.as_deref())?,
            None => markdown::render(document).into_bytes(),
        };
        if args.format.is_none_or(export::is_text) {
            app.printer.out(String::from_utf8_lossy(&bytes).trim_end())?;
        }
        bytes
    };
    if let Some(path) = &args.output {
        let whole = if bytes.ends_with(b"\n") || !args.format.is_none_or(export::is_text) {
            bytes
        } else {
            [bytes.as_slice(), b"\n"].concat()
        };
        runs::write_file(path, &whole).map_err(|error| {
            error.with_hint(format!("the answer is saved: openscholar runs show {}", document.run))
        })?;
        app.printer.say(&format!("written to {}", path.display()));
    }
    Ok(())
}
