//! Results that carry what went less than well.

use scholar_core::Notice;

use crate::event::Event;

/// A value, what a person should know about it, and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<T> {
    /// The result.
    pub value: T,
    /// In order of occurrence.
    pub notices: Vec<Notice>,
    /// Every event the observer saw, text deltas left out.
    pub trace: Vec<Event>,
}
