//! What a person should know about a result that is there all the same.

use serde::{Deserialize, Serialize};

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// A source, model or stage was not used, and why.
    Skipped,
    /// A source of papers could not be asked or did not answer: what it has is missing, which is not the same as nothing being there.
    SourceDown,
    /// Something was cut short: passages, replies, lists.
    Truncated,
    /// A budget or deadline ended the work early.
    Budget,
    /// A model's reply broke its format and was repaired or dropped.
    ModelReply,
    /// Sentences were weakened, re-attributed or dropped because they were not proven.
    Unproven,
    /// The evidence does not suffice for (a part of) the question.
    InsufficientEvidence,
    /// A part of the program that is known to be weak was used.
    Weak,
    /// A paper used is corrected, of concern or retracted.
    Retraction,
}

/// One clause for a person, with the next step where there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// What it is about.
    pub kind: NoticeKind,
    /// One sentence without a full stop, for people.
    pub message: String,
    /// An imperative, if something can be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Notice {
    /// A notice without a hint.
    pub fn new(kind: NoticeKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    /// Adds the next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
