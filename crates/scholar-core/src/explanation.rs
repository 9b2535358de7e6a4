//! Scores that explain themselves: a tree of value and reason.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a number is what it is. The value of a node follows from its details in the way its reason states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The score, or a part of one, in the unit of what it explains.
    pub value: f32,
    /// One clause, readable alone.
    pub reason: String,
    /// What it was made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<Self>,
}

impl Explanation {
    /// A value that is not made of others.
    pub fn new(value: f32, reason: impl Into<String>) -> Self {
        Self { value, reason: reason.into(), details: Vec::new() }
    }

    /// Adds one thing this value was made from.
    #[must_use]
    pub fn with(mut self, detail: Self) -> Self {
        self.details.push(detail);
        self
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        writeln!(f, "{:indent$}{:.4}  {}", "", self.value, self.reason, indent = depth * 2)?;
        self.details.iter().try_for_each(|detail| detail.write(f, depth + 1))
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}
