//! `openscholar runs export`: a past answer or review as a document.

use std::path::Path;
use std::process::ExitCode;

use crate::app::App;
use crate::args::OutputFormat;
use crate::error::CommandError;
use crate::output::document::AnswerDocument;
use crate::output::export;
use crate::output::review::ReviewDocument;
use crate::runs::{self, ANSWER_FILE, REVIEW_FILE, RunFolder, Verb};

/// What the document is like.
#[derive(Clone, Copy)]
pub(super) struct DocumentForm<'a> {
    pub(super) format: OutputFormat,
    /// Citation style; `None`: the default of the format.
    pub(super) style: Option<&'a str>,
}

pub(super) fn run(
    run: &str,
    form: DocumentForm<'_>,
    output: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let DocumentForm { format, style } = form;
    let folder = RunFolder::find(&app.home, run)?;
    let bytes = if folder.record()?.verb == Verb::Review {
        let document: ReviewDocument = folder.read_json(REVIEW_FILE)?;
        export::review_bytes(&document, Some(format), style)?
    } else {
        let document: AnswerDocument = folder.read_json(ANSWER_FILE)?;
        export::bytes(&document, format, style)?
    };
    match output {
        Some(path) => {
            runs::write_file(path, &bytes)?;
            app.printer.say(&format!("written to {}", path.display()));
        }
        None if export::is_text(format) => {
            app.printer.out(String::from_utf8_lossy(&bytes).trim_end())?;
        }
        None => {
            return Err(CommandError::user("a DOCX file cannot be printed")
                .with_hint("name a file: --output answer.docx"));
        }
    }
    Ok(ExitCode::SUCCESS)
}
