//! Results that carry what went less than well.

use scholar_core::{Notice, TokenUsage};
use serde::{Deserialize, Serialize};

use crate::event::Event;

/// What a run has used of its budget.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Calls of the generator.
    pub calls: u64,
    /// Prompt and completion tokens of all calls.
    pub usage: TokenUsage,
    /// US dollars; `None` when the price of the model is unknown.
    pub usd: Option<f64>,
    /// Seconds by the clock of [`crate::Ports`].
    pub seconds: f64,
}

/// A value, what a person should know about it, and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<T> {
    /// What was asked for.
    pub value: T,
    /// In order of occurrence.
    pub notices: Vec<Notice>,
    /// Every event the observer saw, text deltas left out.
    pub trace: Vec<Event>,
    /// Calls, tokens, seconds and US dollars that it took.
    pub spent: Spent,
}
