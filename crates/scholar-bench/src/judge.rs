//! Who judges: pinned by name, version and prompt, and never believed to have said what cannot be read.
//!
//! - [`support`]: does a passage support a claim; adapts the [`Attributor`](scholar_core::Attributor) port;
//! - [`model`]: a language model asked for JSON or a grade;
//! - [`rubric`], [`grading`], [`preference`]: what it is asked for Scholar-CS, for grades and for comparisons;
//! - [`memory`]: what was said before, on disk.
//!
//! A reply that cannot be read is [`Judged::Unreadable`]: counted and reported, never a score. A judge that cannot be
//! reached is an error, and the caller keeps what was scored before.

pub mod grading;
pub mod memory;
pub mod model;
pub mod preference;
pub mod rubric;
pub mod support;

use serde::{Deserialize, Serialize};

/// Longest quotation of an unreadable reply, in characters.
const QUOTED: usize = 120;

/// Which judge gave a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgePin {
    /// Name of the model or rule, with its version.
    pub name: String,
    /// How it is used: `supported or not`, `grade 1-5`.
    pub way: String,
    /// Fingerprints of the prompt files it is asked with; empty for judges that have none.
    pub prompts: Vec<String>,
}

/// What a judge said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judged<T> {
    /// It could be read.
    Read(T),
    /// It could not; the beginning of the reply or the reason.
    Unreadable(String),
}

impl<T> Judged<T> {
    /// What was read, if anything.
    pub fn read(self) -> Option<T> {
        match self {
            Self::Read(value) => Some(value),
            Self::Unreadable(_) => None,
        }
    }

    /// Applies `read` to what was read; `None` from it makes the reply unreadable.
    pub(crate) fn parse(reply: &str, read: impl Fn(&str) -> Option<T>) -> Self {
        read(reply).map_or_else(|| Self::Unreadable(quoted(reply)), Self::Read)
    }
}

/// The beginning of a reply, for people.
pub(crate) fn quoted(reply: &str) -> String {
    let start: String = reply.chars().take(QUOTED).collect();
    if start.len() < reply.len() { format!("{start}…") } else { start }
}
