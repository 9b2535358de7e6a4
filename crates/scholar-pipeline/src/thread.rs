//! What a follow-up question follows: what was asked, answered and cited before ([`crate::follow_up`] uses it).

use scholar_core::{PassageId, Reference};
use serde::{Deserialize, Serialize};

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
