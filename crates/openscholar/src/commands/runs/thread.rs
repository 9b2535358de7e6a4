//! Threads: questions that follow each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use scholar_core::text::untrusted::Markdown;
use scholar_core::{Answer, PassageId};
use scholar_pipeline::thread::{Thread, Turn};
use serde::Serialize;

use crate::app::App;
use crate::error::CommandError;
use crate::output::document::AnswerDocument;
use crate::output::markdown;
use crate::output::table::Table;
use crate::runs::{self, ANSWER_FILE, RunFolder, RunRecord, RunStatus};

/// Longest thread that is followed back.
const MOST_TURNS: usize = 100;
/// Turns that a model is shown, the latest.
const SHOWN_TURNS: usize = 5;
/// Sentences of each answer among them.
const SHOWN_SENTENCES: usize = 3;
/// Passages of earlier answers that are candidates, the latest.
const MOST_PASSAGES: usize = 60;
/// Characters of a question in a list.
const QUESTION_CHARS: usize = 70;

/// One question of a thread with its answer.
pub(crate) struct Answered {
    pub(crate) record: RunRecord,
    pub(crate) document: AnswerDocument,
}

/// The runs that lead to `run`, the first question first, `run` last.
pub(crate) fn chain(run: &str, app: &App) -> Result<Vec<Answered>, CommandError> {
    let mut answered: Vec<Answered> = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut next = Some(run.to_owned());
    while let Some(id) = next.take() {
        let folder = RunFolder::find(&app.home, &id)?;
        let record = folder.record()?;
        if !seen.insert(record.id.clone()) || answered.len() >= MOST_TURNS {
            break;
        }
        if record.status != RunStatus::Done {
            return Err(super::unanswered(&record));
        }
        next.clone_from(&record.follows);
        answered.push(Answered { document: folder.read_json(ANSWER_FILE)?, record });
    }
    answered.reverse();
    Ok(answered)
}

/// What a follow-up of `run` follows, and the datastore that was asked.
pub(crate) fn of(run: &str, app: &App) -> Result<(Thread, RunRecord), CommandError> {
    let answered = chain(run, app)?;
    let Some(last) = answered.last() else {
        return Err(CommandError::user("there is no run to follow up on"));
    };
    let mut passages: Vec<PassageId> = Vec::new();
    for Answered { document, .. } in answered.iter().rev() {
        let quoted = document.answer.quotes().map(|quote| &quote.passage_id);
        for id in quoted {
            if passages.len() < MOST_PASSAGES && !passages.contains(id) {
                passages.push(id.clone());
            }
        }
    }
    let from = answered.len().saturating_sub(SHOWN_TURNS);
    let turns = answered[from..].iter().map(|one| turn(&one.document.answer)).collect();
    let references = last.document.answer.references.clone();
    Ok((Thread { turns, references, passages }, last.record.clone()))
}

fn turn(answer: &Answer) -> Turn {
    let first = answer.sentences.iter().take(SHOWN_SENTENCES).map(|one| one.text.as_str());
    Turn { question: answer.question.clone(), answer: first.collect::<Vec<_>>().join(" ") }
}

/// A thread in the list.
#[derive(Serialize)]
struct Listed {
    /// Its last run, which names it.
    run: String,
    started: String,
    datastore: String,
    /// What was typed, the first question first.
    questions: Vec<String>,
}

pub(super) fn list(limit: usize, app: &App) -> Result<ExitCode, CommandError> {
    let mut records: BTreeMap<String, RunRecord> = BTreeMap::new();
    for id in runs::ids(&app.home)? {
        match RunFolder::find(&app.home, &id)?.record() {
            Ok(record) => drop(records.insert(id, record)),
            Err(error) => app.printer.say(&format!("{id}: {error}")),
        }
    }
    let followed: BTreeSet<&String> =
        records.values().filter_map(|record| record.follows.as_ref()).collect();
    let ends = records
        .values()
        .rev()
        .filter(|record| record.follows.is_some() && !followed.contains(&record.id));
    let threads: Vec<Listed> = ends
        .take(limit)
        .map(|end| {
            let mut questions = vec![end.question.clone()];
            let mut next = end.follows.as_ref();
            while let Some(record) = next.and_then(|id| records.get(id))
                && questions.len() < MOST_TURNS
            {
                questions.push(record.question.clone());
                next = record.follows.as_ref();
            }
            questions.reverse();
            Listed {
                run: end.id.clone(),
                started: end.started.clone(),
                datastore: end.datastore.clone(),
                questions,
            }
        })
        .collect();
    if app.printer.json {
        app.printer
            .json(&serde_json::json!({"schema": "openscholar.threads/1", "threads": threads}))?;
        return Ok(ExitCode::SUCCESS);
    }
    if threads.is_empty() {
        app.printer.say("no threads yet: openscholar ask --follow-up \"…\" begins one");
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::with_header(["last run", "questions", "first", "last"]);
    for thread in threads {
        let shown = |question: Option<&String>| -> String {
            question.map(|text| text.chars().take(QUESTION_CHARS).collect()).unwrap_or_default()
        };
        table.add_row([
            thread.run,
            thread.questions.len().to_string(),
            shown(thread.questions.first()),
            shown(thread.questions.last()),
        ]);
    }
    app.printer.out(&table.to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints all questions and answers up to `run`, or writes them to `output`.
pub(super) fn show(run: &str, output: Option<&Path>, app: &App) -> Result<ExitCode, CommandError> {
    let answered = chain(run, app)?;
    if app.printer.json {
        let documents: Vec<&AnswerDocument> = answered.iter().map(|one| &one.document).collect();
        app.printer
            .json(&serde_json::json!({"schema": "openscholar.thread/1", "answers": documents}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = Markdown::new();
    for (at, Answered { record, document }) in answered.iter().enumerate() {
        text.markup("# ").text(&record.question).markup("\n\n");
        if record.question != document.answer.question {
            text.markup("Asked as: ").text(&document.answer.question).markup("\n\n");
        }
        let last = at + 1 == answered.len();
        markdown::turn(&document.answer, last, &mut text);
        text.markup("\n");
    }
    let text = text.into_string();
    match output {
        Some(path) => {
            runs::write_file(path, text.as_bytes())?;
            app.printer.say(&format!("written to {}", path.display()));
        }
        None => app.printer.out(text.trim_end())?,
    }
    Ok(ExitCode::SUCCESS)
}
