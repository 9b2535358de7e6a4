//! Metrics of the words of an answer.
//!
//! - [`citations`]: markers removed and read, in the forms the reference scorers use;
//! - [`matching`]: is the expected answer in the text, which label does it begin with;
//! - [`overlap`]: exact match and token F1 after `SQuAD`'s normalisation;
//! - [`rouge`]: ROUGE-1, -2 and -L with [`porter`] stems;
//! - [`python`]: the character classes of the language the reference scorers are written in.

pub mod citations;
pub mod matching;
pub mod overlap;
pub mod porter;
pub mod python;
pub mod rouge;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// How long an answer is and what it cites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lengths {
    /// Words between white space, citations removed.
    pub words: usize,
    /// Code points of the same text.
    pub chars: usize,
    /// Citations, each number of a group counted.
    pub citations: usize,
    /// Distinct numbers among these citations.
    pub cited: usize,
}

/// Lengths of `output`, as the reference scorer counts them.
pub fn lengths(output: &str) -> Lengths {
    let bare = citations::remove(output);
    let numbers = citations::numbers(output);
    Lengths {
        words: python::words(&bare).count(),
        chars: bare.chars().count(),
        citations: numbers.len(),
        cited: numbers.iter().collect::<BTreeSet<_>>().len(),
    }
}

/// Precision, recall and their harmonic mean.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Overlap {
    /// Shared part of the answer.
    pub precision: f64,
    /// Shared part of the reference.
    pub recall: f64,
    /// Harmonic mean, 0 when both are 0.
    pub f1: f64,
}

impl Overlap {
    /// Of `shared` units out of `answer` and `reference` units; 0 of nothing.
    pub fn of(shared: usize, answer: usize, reference: usize) -> Self {
        if shared == 0 {
            return Self::default();
        }
        let ratio = crate::statistics::ratio;
        let (precision, recall) = (ratio(shared, answer), ratio(shared, reference));
        Self { precision, recall, f1: 2.0 * precision * recall / (precision + recall) }
    }
}

#[cfg(test)]
mod tests;
