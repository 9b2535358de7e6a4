//! Follow-up questions: what was asked and cited before, the question made whole, and earlier evidence under its numbers.
//!
//! 1. The follow-up is made a question that stands alone ([`whole`]): by the model where there is one, else in code. It is
//!    shown ([`Event::Resolved`]), because everything after it is found for this question.
//! 2. Passages that earlier answers quoted are ranked with what the search finds.
//! 3. References of earlier answers keep their numbers; new ones go on after them.
//!
//! Source: ours; the paper answers single questions.

mod whole;

use scholar_core::{PassageId, Question, Reference};
use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::frame::Frame;

pub use whole::whole_in_code;

/// A question of a thread and what was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The question, whole.
    pub question: String,
    /// The first sentences of its answer.
    pub answer: String,
}

/// What a follow-up question follows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Earlier questions, the latest last.
    pub turns: Vec<Turn>,
    /// References of earlier answers, numbered from 1 without gaps.
    pub references: Vec<Reference>,
    /// Passages that earlier answers quote.
    pub passages: Vec<PassageId>,
}

/// How a follow-up question became whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolvedBy {
    /// It stands alone as it was typed.
    AsTyped,
    /// Words of the question before were put to it.
    Code,
    /// The model wrote it.
    Model,
}

/// The question of `frame` made whole, shown and kept in the trace.
pub(crate) async fn resolve(frame: &Frame<'_>, thread: &Thread) -> Question {
    let (text, by) = whole::whole(frame, thread).await;
    let question = Question::new(&text).unwrap_or_else(|_| frame.question.clone());
    frame.emit(&Event::Resolved { question: question.as_str().to_owned(), by });
    question
}
