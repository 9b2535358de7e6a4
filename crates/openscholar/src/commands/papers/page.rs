//! `papers show --page`: a page of a paper's PDF, with words marked.

use std::process::ExitCode;

use scholar_core::{PageBox, Paper, Passage};
use scholar_formats::document::PageMark;
use serde_json::json;

use crate::app::App;
use crate::args::PageArgs;
use crate::error::{CommandError, EXIT_MISSING_EVIDENCE};
use crate::runs;
use crate::source_page::SourcePdf;

/// Draws the page. Exit code 4 when the words to be marked do not stand on it.
pub(super) fn run(
    paper: &Paper,
    passages: &[Passage],
    args: &PageArgs,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let PageArgs { page, mark, output } = args;
    if page.is_none() && mark.is_none() {
        return Err(CommandError::usage("--output takes a page of the PDF")
            .with_hint("name the page with --page N, or words of it with --mark WORDS"));
    }
    let pdf = SourcePdf::open(paper, app.config.read_limits(&[]))?;
    let marks = match mark {
        Some(words) => pdf.find(words, passages)?,
        None => Vec::new(),
    };
    let first = marks.first().map(|mark| mark.page);
    let Some(number) = page.or(first) else {
        return Err(CommandError::user(format!(
            "the words to be marked do not stand in the PDF of {}",
            paper.meta.id
        ))
        .with_hint("quote a few words in a row as they are printed, or name a page with --page N")
        .with_code(EXIT_MISSING_EVIDENCE));
    };
    let drawing = pdf.page(number)?;
    for notice in &drawing.notices {
        app.printer.notice(notice);
    }
    let boxes = boxes_on(&marks, number);
    let svg = drawing.svg(&boxes);
    if let Some(path) = output {
        runs::write_file(path, svg.as_bytes())?;
        app.printer.say(&format!(
            "page {number} of {} written to {}",
            drawing.pages,
            path.display()
        ));
    }
    if app.printer.json {
        app.printer.json(&json!({
            "schema": "openscholar.page/1", "paper": paper.meta.id, "page": number,
            "pages": drawing.pages, "width": drawing.width, "height": drawing.height,
            "marks": marks, "notices": drawing.notices,
            "svg": output.is_none().then_some(svg),
        }))?;
    } else if output.is_none() {
        app.printer.out(&svg)?;
    }
    if mark.is_some() && boxes.is_empty() {
        app.printer.say(&elsewhere(&marks));
        return Ok(ExitCode::from(EXIT_MISSING_EVIDENCE));
    }
    Ok(ExitCode::SUCCESS)
}

fn boxes_on(marks: &[PageMark], page: u32) -> Vec<PageBox> {
    marks.iter().filter(|mark| mark.page == page).flat_map(|mark| mark.boxes.clone()).collect()
}

fn elsewhere(marks: &[PageMark]) -> String {
    let pages: Vec<String> = marks.iter().map(|mark| mark.page.to_string()).collect();
    match pages.is_empty() {
        true => "the words to be marked do not stand in the PDF".to_owned(),
        false => format!("the words to be marked stand on page {}", pages.join(" and ")),
    }
}
