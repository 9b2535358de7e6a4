//! Citation recall, precision and F1.
//!
//! Steps: cut the answer into sentences ([`plan`]); find each sentence's citations, or those of the sentence before if
//! it has none; ask the judge whether the cited passages together support the claim; where several are cited, whether
//! each does alone, and if not, whether the others do without it ([`score()`]). Recall is the share of supported
//! sentences, precision the share of citations that support or are needed.
//!
//! F1 is the harmonic mean of the two corpus means ([`summary::f1`]), as the paper reports it; its script prints none.
//!
//! Source: Gao et al. 2023 (ALCE), as changed by ScholarQABench: citations from 0, sentences under 50 characters
//! passed over, citations inherited from the sentence before. [`Rules::upstream`] is its scorer exactly;
//! [`Rules::corrected`] mends what it does not say it does.

pub mod plan;
pub mod score;
pub mod summary;

use serde::{Deserialize, Serialize};

pub use plan::{Citable, Sentence, plan_long, plan_short};
pub use score::{ItemScore, score};

/// Shorter sentences are not scored, in code points with their citations. Source: ScholarQABench.
pub const MIN_SENTENCE_CHARS: usize = 50;
/// Citations looked at per sentence. Source: ScholarQABench's default.
pub const MOST_CITATIONS: usize = 3;

/// A passage as it was shown to the generator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPassage {
    /// Its paper's title, if it was shown.
    pub title: Option<String>,
    /// The passage's text, without the title.
    pub text: String,
}

impl ShownPassage {
    /// The passage as the judge sees it: the title on a line of its own, then the text.
    pub fn for_judge(&self) -> String {
        match &self.title {
            Some(title) => format!("Title: {title}\n{}", self.text),
            None => self.text.clone(),
        }
    }
}

/// Which citations a sentence has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// As the reference scorer: of `[1, 2]` only 1, `[1-3]` is 1, repetitions count, one number out of range voids the
    /// sentence without entering precision, inherited citations enter precision.
    Upstream,
    /// Every number of groups and ranges, once; a number that no shown passage has is a wrong citation, and the others
    /// are judged; inherited citations support the sentence but do not enter precision.
    Corrected,
}

/// How citations are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Which citations a sentence has.
    pub variant: Variant,
    /// Number of the first passage: 0 in ScholarQABench, 1 in answers made for people.
    pub first_number: usize,
    /// Citations looked at per sentence; further ones are ignored and counted.
    pub most_citations: usize,
    /// Shorter sentences are not scored.
    pub min_chars: usize,
}

impl Rules {
    /// The rules of ScholarQABench's scorer: [`MOST_CITATIONS`], [`MIN_SENTENCE_CHARS`], numbers from 0.
    pub fn upstream() -> Self {
        Self {
            variant: Variant::Upstream,
            first_number: 0,
            most_citations: MOST_CITATIONS,
            min_chars: MIN_SENTENCE_CHARS,
        }
    }

    /// The same sentences, with all citations they have.
    pub fn corrected() -> Self {
        Self { variant: Variant::Corrected, ..Self::upstream() }
    }

    /// The same for answers that number passages from `first`.
    #[must_use]
    pub fn numbered_from(self, first: usize) -> Self {
        Self { first_number: first, ..self }
    }
}

#[cfg(test)]
mod tests;
