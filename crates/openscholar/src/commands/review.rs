//! `openscholar review IDEA`.

mod dry;
pub(crate) mod input;
pub(crate) mod reviewing;
mod settings;

use std::process::ExitCode;

use super::ask::answering::Attended;
use crate::app::App;
use crate::args::ReviewArgs;
use crate::error::{CommandError, EXIT_MISSING_EVIDENCE};
use crate::output::export;
use crate::output::json::Json;
use crate::output::review::ReviewDocument;
use crate::runs;
use reviewing::{Reviewed, Task, review_task};

pub(crate) fn run(args: ReviewArgs, app: &App) -> Result<ExitCode, CommandError> {
    super::papers::refuse_json_with_format(args.format.is_some(), app)?;
    if args.format.is_some_and(|format| !export::is_text(format)) && args.output.is_none() {
        return Err(CommandError::user("a DOCX file cannot be printed")
            .with_hint("name a file: --output review.docx"));
    }
    if let Some(run) = &args.dry_run {
        return dry::run(run, &args, app);
    }
    let (args, task) = Task::of(args, app)?;
    for name in &app.datastore_members(task.datastore()) {
        app.home.datastore(name)?;
        if name != crate::starter::NAME {
            app.existing_datastore(name)?;
        }
    }
    let work = review_task(&args, &task, app, Attended::at_the_terminal(app), app.stop.wait());
    let Reviewed { answer, review, stored } = app.block_on_to_the_end(work)??;
    // What was paid for is shown even where it cannot be kept.
    print(&review, &args, app)?;
    stored?;
    let abstained = answer.answer.abstained;
    Ok(if abstained { ExitCode::from(EXIT_MISSING_EVIDENCE) } else { ExitCode::SUCCESS })
}

fn print(review: &ReviewDocument, args: &ReviewArgs, app: &App) -> Result<(), CommandError> {
    let bytes = if args.format.is_none() && app.printer.json {
        let json = Json::pretty(review)?;
        app.printer.out_json(&json)?;
        json.into_string().into_bytes()
    } else {
        let bytes = export::review_bytes(review, args.format, args.style.as_deref())?;
        if args.format.is_none_or(export::is_text) {
            app.printer.out(String::from_utf8_lossy(&bytes).trim_end())?;
        }
        bytes
    };
    if let Some(path) = &args.output {
        runs::write_file(path, &bytes).map_err(|error| {
            error.with_hint(format!("the review is saved: openscholar runs show {}", review.run))
        })?;
        app.printer.say(&format!("written to {}", path.display()));
    }
    Ok(())
}
