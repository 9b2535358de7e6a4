//! How was the answer found, and why is `[3]` cited?

use std::fmt::Write as _;
use std::process::ExitCode;

use scholar_core::text::untrusted;
use scholar_core::{Outline, Quote, Reference, Tree, TreeNode};
use scholar_formats::exploration::{self, Exploration};
use scholar_pipeline::{Event, Evidence};
use serde::Serialize;

use super::explored;
use crate::app::App;
use crate::args::ExplainArgs;
use crate::error::CommandError;
use crate::output::document::AnswerDocument;
use crate::output::markdown;
use crate::runs::{ANSWER_FILE, EVENTS_FILE, RunFolder};

/// Everything that led to one reference.
#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    reference: Reference,
    sentences: Vec<Cited>,
    passages: Vec<Evidence>,
}

/// A sentence that cites it.
#[derive(Debug, Serialize)]
struct Cited {
    text: String,
    verdict: Option<scholar_core::Support>,
    quotes: Vec<Quote>,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    references: Option<&'a [Explained]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outline: Option<&'a Outline>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<&'a Tree>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a TreeNode>,
}

pub(super) fn run(args: &ExplainArgs, app: &App) -> Result<ExitCode, CommandError> {
    let ExplainArgs { run, reference, tree, node, svg, html } = args;
    let folder = RunFolder::find(&app.home, run)?;
    let document: AnswerDocument = folder.read_json(ANSWER_FILE)?;
    let is_drawn = explored::draw(&document, (svg.as_deref(), html.as_deref()), app)?;
    let is_part = reference.is_some() || *tree || node.is_some();
    if is_drawn && !is_part && !app.printer.json {
        return Ok(ExitCode::SUCCESS);
    }
    let mut report = Report {
        schema: "openscholar.explanation/1",
        references: None,
        outline: None,
        tree: None,
        node: None,
    };
    if let Some(id) = node {
        let explored = explored::of(&document)?;
        report.node = Some(explored::node(explored, id)?);
        let text = exploration::node(explored, id).unwrap_or_default();
        return print(&report, &[text], app);
    }
    let explored =
        if *tree { Some(explored::of(&document)?) } else { Exploration::of(&document.answer) };
    let mut texts = Vec::new();
    // How all was found comes before why one reference is cited; who asks for one reference gets that alone.
    if let Some(explored) = explored.filter(|_| reference.is_none()) {
        (report.outline, report.tree) = (explored.outline, explored.tree);
        texts.push(exploration::text(explored));
    }
    let cites_nothing = document.answer.references.is_empty() && explored.is_some();
    let references = match *tree || (cites_nothing && reference.is_none()) {
        true => Vec::new(),
        false => explained(&folder, *reference)?,
    };
    report.references = (!*tree).then_some(&references[..]);
    for one in &references {
        texts.push(render(one));
        let places =
            explored.map(|explored| exploration::reference(explored, one.reference.number));
        texts.extend(places.filter(|text| !text.is_empty()));
    }
    print(&report, &texts, app)
}

fn print(report: &Report<'_>, texts: &[String], app: &App) -> Result<ExitCode, CommandError> {
    if app.printer.json {
        app.printer.json(report)?;
    } else {
        texts.iter().try_for_each(|text| app.printer.out(text))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What led to the reference of that number, or to all.
pub(crate) fn explained(
    folder: &RunFolder,
    number: Option<usize>,
) -> Result<Vec<Explained>, CommandError> {
    let document: AnswerDocument = folder.read_json(ANSWER_FILE)?;
    let events: Vec<Event> = folder.read_lines(EVENTS_FILE)?;
    if !events.iter().any(|event| matches!(event, Event::Finished { .. })) {
        let path = folder.file(EVENTS_FILE);
        return Err(CommandError::user(format!("{} ends before the run did", path.display()))
            .with_hint("ask again: without its events a run cannot be explained"));
    }
    let explained: Vec<Explained> = document
        .answer
        .references
        .iter()
        .filter(|reference| number.is_none_or(|number| reference.number.0 == number))
        .map(|reference| explain(reference, &document, &events))
        .collect();
    if explained.is_empty() {
        let known = document.answer.references.len();
        return Err(match number {
            Some(number) => CommandError::user(format!("the answer has no reference [{number}]"))
                .with_hint(format!("it has {known} references")),
            None => CommandError::user("the answer cites nothing"),
        });
    }
    Ok(explained)
}

fn explain(reference: &Reference, document: &AnswerDocument, events: &[Event]) -> Explained {
    let sentences: Vec<Cited> = document
        .answer
        .sentences
        .iter()
        .filter(|sentence| sentence.citations.contains(&reference.number))
        .map(|sentence| Cited {
            text: sentence.text.clone(),
            verdict: sentence.support.clone(),
            quotes: sentence
                .quotes
                .iter()
                .filter(|quote| quote.reference == reference.number)
                .cloned()
                .collect(),
        })
        .collect();
    let mut passages: Vec<Evidence> = Vec::new();
    for event in events {
        let Event::Ranked { evidence, .. } = event else { continue };
        for item in evidence {
            let seen = passages.iter().any(|passage| passage.number == item.number);
            if !seen && item.ranked.retrieved.paper.id == reference.paper_id {
                passages.push(item.clone());
            }
        }
    }
    Explained { reference: reference.clone(), sentences, passages }
}

pub(crate) fn render(explained: &Explained) -> String {
    let Explained { reference, sentences, passages } = explained;
    let mut text = format!("[{}] {}\n\n", reference.number.0, markdown::describe(reference));
    for sentence in sentences {
        let _infallible = writeln!(text, "cited for: {}", untrusted(&sentence.text).line());
        if let Some(support) = &sentence.verdict {
            let _infallible = writeln!(
                text,
                "  verdict: {:?}, {:.2}, judged by {}",
                support.verdict,
                support.score,
                untrusted(&support.judge).line()
            );
        }
        for quote in &sentence.quotes {
            let _infallible = writeln!(
                text,
                "  quoted: “{}”\n    {} characters {}–{}",
                untrusted(&quote.text).line(),
                untrusted(&quote.passage_id.to_string()).line(),
                quote.start,
                quote.end
            );
        }
    }
    for passage in passages {
        let found = &passage.ranked.retrieved;
        let _infallible = writeln!(
            text,
            "\npassage {} {} {}",
            passage.number,
            untrusted(&found.passage.id.to_string()).line(),
            untrusted(&found.passage.section).line()
        );
        text.push_str(&indented(&passage.ranked.explanation.to_string()));
        text.push_str(&indented(&found.explanation.to_string()));
    }
    text.trim_end().to_owned() + "\n"
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
