//! `openscholar papers export`.

use std::path::Path;
use std::process::ExitCode;

use scholar_core::Paper;
use scholar_formats::export::{self, ListFormat};

use super::{address, open};
use crate::app::App;
use crate::args::ListFormatArg;
use crate::error::CommandError;
use crate::output::document::AnswerDocument;
use crate::runs::{self, ANSWER_FILE, RunFolder};

/// Which papers are listed.
pub(super) enum Selection<'a> {
    /// Those with these names; without any, all of the datastore.
    Papers(&'a [String]),
    /// The references of this run's answer.
    Run(&'a str),
}

/// Writes papers of the datastore called `name`, or the references of a run, as a list.
pub(super) fn run(
    name: &str,
    selection: &Selection<'_>,
    format: Option<ListFormatArg>,
    output: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    super::refuse_json_with_format(format.is_some(), app)?;
    let default = if app.printer.json { ListFormatArg::Csl } else { ListFormatArg::Bibtex };
    let format = match format.unwrap_or(default) {
        ListFormatArg::Bibtex => ListFormat::Bibtex,
        ListFormatArg::Ris => ListFormat::Ris,
        ListFormatArg::Csl => ListFormat::CslJson,
    };
    let text = match selection {
        Selection::Run(run) => {
            let folder = RunFolder::find(&app.home, run)?;
            let document: AnswerDocument = folder.read_json(ANSWER_FILE)?;
            export::references(&document.answer.references, format)
        }
        Selection::Papers(ids) => export::papers(&papers(name, ids, app)?, format),
    };
    match output {
        Some(path) => {
            runs::write_file(path, text.as_bytes())?;
            app.printer.say(&format!("written to {}", path.display()));
        }
        None => app.printer.out(text.trim_end())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn papers(name: &str, ids: &[String], app: &App) -> Result<Vec<Paper>, CommandError> {
    let store = open(name, app)?;
    let mut wanted = address::all_stored(&store, name, ids)?;
    if wanted.is_empty() {
        store.each_paper(|paper| {
            wanted.push(paper.id);
            Ok(())
        })?;
    }
    let mut papers = Vec::with_capacity(wanted.len());
    for id in wanted {
        let paper = store.paper(&id)?.ok_or_else(|| {
            CommandError::user(format!("{name} has no paper {id}"))
                .with_hint("openscholar papers list")
        })?;
        papers.push(paper);
    }
    Ok(papers)
}
