//! The answer as a document for programs, `openscholar.answer/1`.

use scholar_core::{Answer, Notice};
use serde::{Deserialize, Serialize};

/// Schema of [`AnswerDocument`].
pub(crate) const ANSWER_SCHEMA: &str = "openscholar.answer/1";

/// What `ask --json` prints and a run stores as `answer.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnswerDocument {
    /// Always [`ANSWER_SCHEMA`].
    pub(crate) schema: String,
    /// Question, mode, abstained, sentences, references.
    #[serde(flatten)]
    pub(crate) answer: Answer,
    /// What a person should know.
    pub(crate) notices: Vec<Notice>,
    /// What it took.
    pub(crate) usage: Usage,
    /// How long it took.
    pub(crate) timings_ms: Timings,
    /// The run folder's name.
    pub(crate) run: String,
}

/// Calls, tokens and money of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Usage {
    /// Model that wrote, if any.
    pub(crate) model: Option<String>,
    /// Model calls.
    pub(crate) calls: u64,
    /// Tokens read.
    pub(crate) prompt_tokens: u64,
    /// Tokens written.
    pub(crate) completion_tokens: u64,
    /// US dollars; `null` when the price is unknown.
    pub(crate) cost_usd: Option<f64>,
}

/// Milliseconds since the question was taken.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timings {
    /// Models and datastore opened.
    pub(crate) open: u64,
    /// First ranked evidence.
    pub(crate) first_evidence: Option<u64>,
    /// First sentence of the answer.
    pub(crate) first_sentence: Option<u64>,
    /// The end.
    pub(crate) total: u64,
}
