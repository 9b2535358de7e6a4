//! Runs as pages and programs see them.

use std::ops::Range;

use scholar_core::{Answer, AnswerTable, Notice, PaperMeta, Passage};
use scholar_formats::export::ReportPart;
use scholar_pipeline::Event;
use serde::Serialize;
use utoipa::ToSchema;

use super::JobKind;

/// How far a run came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Waits for its turn.
    Queued,
    /// Is being answered.
    Running,
    /// Has an answer, or says why there is none in the papers.
    Done,
    /// Ended with an error.
    Failed,
    /// Ended before its answer; can be taken up again.
    Interrupted,
    /// Given up by whoever asked.
    Cancelled,
}

impl RunState {
    /// Whether nothing more will happen to it by itself.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }

    /// As JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunSummary {
    /// Its name.
    #[schema(example = "20260101-120000-ab12")]
    pub id: String,
    /// When it began, UTC.
    pub started: String,
    /// How far it came.
    pub state: RunState,
    /// What it does.
    pub verb: JobKind,
    /// What was asked: a question, or the title of what was looked at.
    pub question: String,
    /// Run that it follows up on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub follows: Option<String>,
    /// Datastore that was asked.
    pub datastore: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub error: Option<String>,
}

/// A run with what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunView {
    /// What the list has of it.
    pub summary: RunSummary,
    /// Its answer, where it has one: of a review its sentences.
    pub answer: Option<AnswerView>,
    /// What a review says beside its sentences.
    pub review: Option<ReviewView>,
    /// What happened, pieces of text left out; as far as it is kept.
    pub events: Vec<Event>,
}

/// A review as a reader and a program have it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewView {
    /// Its parts in the order in which they are read.
    pub parts: Vec<ReportPart>,
    /// Its map of novelty as a table, and the part behind which it stands, which has the drawing.
    pub table: Option<(AnswerTable, usize)>,
    /// All of it, `openscholar.review/1`.
    pub document: serde_json::Value,
}

/// A part of what a run wrote, to be copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportPart {
    /// These sentences of an answer.
    Sentences(Range<usize>),
    /// The part of a review at this place.
    Report(usize),
}

/// An answer with what a reader should know about it.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerView {
    /// Sentences, quotations, verdicts, references.
    pub answer: Answer,
    /// What a person should know.
    pub notices: Vec<Notice>,
    /// What it took.
    pub usage: RunUsage,
}

/// What a run took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct RunUsage {
    /// Model that wrote, if any.
    pub model: Option<String>,
    /// Model calls.
    pub calls: u64,
    /// Tokens read and written.
    pub tokens: u64,
    /// US dollars; `null` where the price is unknown.
    pub cost_usd: Option<f64>,
    /// Milliseconds from the question to the answer.
    pub total_ms: u64,
    /// Milliseconds to the first evidence.
    pub first_evidence_ms: Option<u64>,
    /// Milliseconds to the first sentence.
    pub first_sentence_ms: Option<u64>,
}

/// A passage with its paper.
#[derive(Debug, Clone, PartialEq)]
pub struct CitedPassage {
    /// What is quoted from.
    pub passage: Passage,
    /// The paper it was cut from.
    pub paper: PaperMeta,
}

/// Formats of an answer, and of its references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportKind {
    /// Markdown.
    Markdown,
    /// One HTML file.
    Html,
    /// One LaTeX file.
    Latex,
    /// Word document.
    Docx,
    /// References as `BibTeX`.
    Bibtex,
    /// References as RIS.
    Ris,
    /// References as CSL-JSON.
    Csl,
    /// The answer for programs.
    Json,
    /// Sentences without any markup.
    Plain,
}

impl ExportKind {
    /// All formats, documents first.
    pub const ALL: [Self; 9] = [
        Self::Docx,
        Self::Latex,
        Self::Html,
        Self::Markdown,
        Self::Bibtex,
        Self::Ris,
        Self::Csl,
        Self::Json,
        Self::Plain,
    ];

    /// Those that a page offers for a whole answer.
    pub const OFFERED: [Self; 7] =
        [Self::Docx, Self::Latex, Self::Html, Self::Markdown, Self::Bibtex, Self::Ris, Self::Csl];

    /// As addresses have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Latex => "latex",
            Self::Docx => "docx",
            Self::Bibtex => "bibtex",
            Self::Ris => "ris",
            Self::Csl => "csl",
            Self::Json => "json",
            Self::Plain => "plain",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Markdown => "Markdown",
            Self::Html => "HTML",
            Self::Latex => "LaTeX",
            Self::Docx => "Word (DOCX)",
            Self::Bibtex => "BibTeX",
            Self::Ris => "RIS",
            Self::Csl => "CSL-JSON",
            Self::Json => "JSON",
            Self::Plain => "Plain text",
        }
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Media type of the file.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown; charset=utf-8",
            // Never shown as a page of this server: it is a file for keeps.
            Self::Html => "application/octet-stream",
            Self::Latex => "application/x-tex",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Bibtex => "application/x-bibtex",
            Self::Ris => "application/x-research-info-systems",
            Self::Csl => "application/vnd.citationstyles.csl+json",
            Self::Json => "application/json",
            Self::Plain => "text/plain; charset=utf-8",
        }
    }

    /// Ending of the file's name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Latex => "tex",
            Self::Docx => "docx",
            Self::Bibtex => "bib",
            Self::Ris => "ris",
            Self::Csl => "csl.json",
            Self::Json => "json",
            Self::Plain => "txt",
        }
    }
}
