//! Runs that are over, or at least begun.

use std::fmt::Write as _;
use std::ops::Range;

use scholar_core::text::untrusted::Markdown;
use scholar_core::{Answer, AnswerSentence};
use scholar_formats::export::ReportPart;
use scholar_pipeline::Event;
use scholar_review::{Idea, ReviewParts};
use scholar_server::backend::{
    AnswerView, BackendError, Export, ExportKind, ExportPart, JobKind, ReviewView, RunState,
    RunSummary, RunUsage, RunView,
};

use super::desk::Desk;
use super::told;
use crate::args::OutputFormat;
use crate::error::CommandError;
use crate::output::document::AnswerDocument;
use crate::output::review::ReviewDocument;
use crate::output::{export as formats, markdown};
use crate::proof::derive;
use crate::runs::{
    self, ANSWER_FILE, EVENTS_FILE, REVIEW_FILE, RUN_FILE, RunFolder, RunRecord, RunStatus, Verb,
};

/// The newest runs, the newest first. One that is damaged is left out; `runs list` names it.
pub(super) fn runs(desk: &Desk, limit: usize) -> Result<Vec<RunSummary>, CommandError> {
    let ids = runs::ids(&desk.app.home)?;
    let folders = ids.iter().rev().take(limit).map(|id| at(desk, id));
    Ok(folders.filter_map(|folder| folder.record().ok()).map(summary).collect())
}

fn at(desk: &Desk, id: &str) -> RunFolder {
    RunFolder::at(desk.app.home.runs().join(id))
}

/// The folder of a run by its whole name: what is in an address is no path.
pub(super) fn folder(desk: &Desk, run: &str) -> Result<RunFolder, BackendError> {
    let is_name = !run.is_empty() && run.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let folder = at(desk, run);
    if is_name && folder.file(RUN_FILE).is_file() {
        Ok(folder)
    } else {
        Err(BackendError::not_found("there is no such run"))
    }
}

pub(super) fn run(desk: &Desk, run: &str) -> Result<RunView, BackendError> {
    let folder = folder(desk, run)?;
    let read = || {
        let record = folder.record()?;
        let answer = match record.status {
            RunStatus::Done => Some(folder.read_json::<AnswerDocument>(ANSWER_FILE)?),
            _ => None,
        };
        let events = match folder.bytes(EVENTS_FILE)? {
            Some(_) => folder.read_lines::<Event>(EVENTS_FILE)?,
            None => Vec::new(),
        };
        let review = match (record.verb, record.status) {
            (Verb::Review, RunStatus::Done) => Some(review_of(&folder)?),
            _ => None,
        };
        Ok((record, answer, review, events))
    };
    let (record, document, review, events) = read().map_err(|error: CommandError| told(&error))?;
    let answer = document.map(|document| AnswerView {
        usage: usage(&document),
        notices: document.notices,
        answer: document.answer,
    });
    Ok(RunView { summary: summary(record), answer, review, events })
}

/// What a review says beside its sentences.
fn review_of(folder: &RunFolder) -> Result<ReviewView, CommandError> {
    let document: serde_json::Value = folder.read_json(REVIEW_FILE)?;
    let read: ReviewDocument = folder.read_json(REVIEW_FILE)?;
    let ReviewParts { parts, table } = ReviewParts::of(&read.review);
    Ok(ReviewView { parts, table, document })
}

fn summary(record: RunRecord) -> RunSummary {
    let RunRecord { id, started, status, error, verb, question, follows, datastore, .. } = record;
    RunSummary {
        id,
        started,
        state: match status {
            RunStatus::Running => RunState::Running,
            RunStatus::Done => RunState::Done,
            RunStatus::Failed => RunState::Failed,
            RunStatus::Interrupted => RunState::Interrupted,
        },
        question: match verb {
            Verb::Ask => question,
            // A run keeps the whole idea.
            Verb::Review => Idea::read(&question).map_or(question, |idea| idea.name()),
        },
        verb: match verb {
            Verb::Ask => JobKind::Ask,
            Verb::Review => JobKind::Review,
        },
        follows,
        datastore,
        error,
    }
}

/// What a run took.
pub(super) fn usage(document: &AnswerDocument) -> RunUsage {
    let AnswerDocument { usage, timings_ms, .. } = document;
    RunUsage {
        model: usage.model.clone(),
        calls: usage.calls,
        tokens: usage.prompt_tokens + usage.completion_tokens,
        cost_usd: usage.cost_usd,
        total_ms: timings_ms.total,
        first_evidence_ms: timings_ms.first_evidence,
        first_sentence_ms: timings_ms.first_sentence,
    }
}

pub(super) fn export(
    desk: &Desk,
    run: &str,
    kind: ExportKind,
    part: Option<ExportPart>,
) -> Result<Export, BackendError> {
    let folder = folder(desk, run)?;
    let written = || {
        let is_review = folder.record()?.verb == Verb::Review;
        if is_review && part.is_none() && !matches!(kind, ExportKind::Plain) {
            return whole_review(&folder, kind);
        }
        let mut document: AnswerDocument = folder.read_json(ANSWER_FILE)?;
        let is_part = part.is_some();
        match part {
            None if is_review => {
                let parts =
                    ReviewParts::of(&folder.read_json::<ReviewDocument>(REVIEW_FILE)?.review).parts;
                document.answer = of_parts(document.answer, &parts);
            }
            None => {}
            Some(ExportPart::Sentences(range)) => document.answer = cut(document.answer, range),
            Some(ExportPart::Report(at)) => {
                let parts =
                    ReviewParts::of(&folder.read_json::<ReviewDocument>(REVIEW_FILE)?.review).parts;
                let part = parts.get(at).map(std::slice::from_ref).unwrap_or_default();
                document.answer = of_parts(document.answer, part);
            }
        }
        match (format_of(kind), kind) {
            // A part is text to be pasted: without a title, and without the lines on the whole run.
            (_, ExportKind::Markdown) if is_part => {
                let mut text = Markdown::new();
                markdown::turn(&document.answer, true, &mut text);
                Ok(text.into_string().into_bytes())
            }
            (_, ExportKind::Plain) => Ok(plain(&document.answer).into_bytes()),
            (Some(format), _) => formats::bytes(&document, format, None),
            (None, _) => {
                let json = derive::pretty(&document);
                json.map(String::into_bytes).map_err(|source| {
                    CommandError::user("the answer is no JSON").with_source(source)
                })
            }
        }
    };
    let bytes = written().map_err(|error: CommandError| told(&error))?;
    Ok(Export { bytes })
}

/// The format of a kind that the command line has, too.
fn format_of(kind: ExportKind) -> Option<OutputFormat> {
    Some(match kind {
        ExportKind::Markdown => OutputFormat::Markdown,
        ExportKind::Html => OutputFormat::Html,
        ExportKind::Latex => OutputFormat::Latex,
        ExportKind::Docx => OutputFormat::Docx,
        ExportKind::Bibtex => OutputFormat::Bibtex,
        ExportKind::Ris => OutputFormat::Ris,
        ExportKind::Csl => OutputFormat::Csl,
        ExportKind::Json | ExportKind::Plain => return None,
    })
}

/// A review as `openscholar review` writes it.
fn whole_review(folder: &RunFolder, kind: ExportKind) -> Result<Vec<u8>, CommandError> {
    match format_of(kind) {
        Some(format) => formats::review_bytes(&folder.read_json(REVIEW_FILE)?, Some(format), None),
        None => folder.bytes(REVIEW_FILE)?.ok_or_else(|| CommandError::user("the review is gone")),
    }
}

/// What parts of a review say, as an answer whose headings are what each line is for.
fn of_parts(answer: Answer, parts: &[ReportPart]) -> Answer {
    let lines = parts.iter().flat_map(|part| {
        part.lines.iter().map(|line| AnswerSentence {
            heading: Some(match &line.label {
                Some(label) => format!("{}: {label}", part.heading),
                None => part.heading.clone(),
            }),
            paragraph_start: true,
            ..line.sentence.clone()
        })
    });
    let sentences: Vec<AnswerSentence> = lines.collect();
    let all = 0..sentences.len();
    cut(Answer { sentences, ..answer }, all)
}

/// The sentences of `range` with what they cite.
fn cut(mut answer: Answer, range: Range<usize>) -> Answer {
    let range = range.start.min(answer.sentences.len())..range.end.min(answer.sentences.len());
    answer.sentences = answer.sentences.drain(range).collect();
    answer.sections.clear();
    answer.table = None;
    let cited = answer.cited();
    answer.references.retain(|reference| cited.contains(&reference.number));
    answer
}

/// Sentences with their numbers, and the references, without any markup.
fn plain(answer: &Answer) -> String {
    let mut text = String::new();
    let mut heading = None;
    for (at, sentence) in answer.sentences.iter().enumerate() {
        let is_new = at == 0 || sentence.heading.as_ref() != heading;
        if is_new {
            heading = sentence.heading.as_ref();
            text.push_str(if at == 0 { "" } else { "\n\n" });
            if let Some(heading) = heading {
                text.extend([heading, "\n\n"]);
            }
        } else {
            text.push_str(if sentence.paragraph_start { "\n\n" } else { " " });
        }
        text.push_str(&markdown::marked(sentence));
    }
    text.push_str("\n\n");
    for reference in &answer.references {
        let authors = reference.authors.join(", ");
        let year = reference.year.map_or_else(|| "n.d.".to_owned(), |year| year.to_string());
        let venue = reference.venue.as_ref().map(|venue| format!(" {venue}.")).unwrap_or_default();
        let doi = reference.doi.as_ref().map(|doi| format!(" doi:{doi}")).unwrap_or_default();
        let number = reference.number.0;
        // Writing to a string cannot fail.
        let _infallible =
            writeln!(text, "[{number}] {authors} ({year}). {}.{venue}{doi}", reference.title);
    }
    text
}
