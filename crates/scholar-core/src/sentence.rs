//! Sentences of papers with respect to a question: which of them answer it, and which part they have in their paper.

use serde::{Deserialize, Serialize};

use crate::error::PortError;
use crate::passage::PassageKind;
use crate::ports::EncoderInfo;

/// The part a sentence has in the argument of its paper.
///
/// Source: the headings of structured abstracts, as PubMed groups them (`NlmCategory`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SentenceRole {
    /// What is known or missing; why it matters.
    Background,
    /// What the paper sets out to do, or offers.
    Purpose,
    /// How it was done: design, data, participants, procedure.
    Method,
    /// What was observed or measured.
    Result,
    /// What follows from the results.
    Conclusion,
}

impl SentenceRole {
    /// All roles, in the order of an abstract; [`RoleProbabilities::to_array`] has the same.
    pub const ALL: [Self; 5] =
        [Self::Background, Self::Purpose, Self::Method, Self::Result, Self::Conclusion];

    /// Its name in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Background => "background",
            Self::Purpose => "purpose",
            Self::Method => "method",
            Self::Result => "result",
            Self::Conclusion => "conclusion",
        }
    }
}

/// How probable each role of a sentence is; each in `[0, 1]`, their sum 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RoleProbabilities {
    /// Of [`SentenceRole::Background`].
    pub background: f32,
    /// Of [`SentenceRole::Purpose`].
    pub purpose: f32,
    /// Of [`SentenceRole::Method`].
    pub method: f32,
    /// Of [`SentenceRole::Result`].
    pub result: f32,
    /// Of [`SentenceRole::Conclusion`].
    pub conclusion: f32,
}

impl RoleProbabilities {
    /// From probabilities in the order of [`SentenceRole::ALL`], which sum to 1.
    pub fn from_array(probabilities: [f32; 5]) -> Self {
        let [background, purpose, method, result, conclusion] = probabilities;
        Self { background, purpose, method, result, conclusion }
    }

    /// In the order of [`SentenceRole::ALL`].
    pub fn to_array(self) -> [f32; 5] {
        let Self { background, purpose, method, result, conclusion } = self;
        [background, purpose, method, result, conclusion]
    }

    /// The most probable role; of equal ones the first in the order of [`SentenceRole::ALL`].
    pub fn most_probable(self) -> SentenceRole {
        let mut best = (SentenceRole::Background, self.background);
        for (role, probability) in SentenceRole::ALL.into_iter().zip(self.to_array()) {
            if probability > best.1 {
                best = (role, probability);
            }
        }
        best.0
    }

    /// Probability that the sentence tells a finding: a result or a conclusion.
    pub fn finding(self) -> f32 {
        self.result + self.conclusion
    }
}

/// What a classifier says about one sentence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SentenceScores {
    /// Calibrated probability, in `[0, 1]`, that the sentence in its paper answers the question.
    pub answers: f32,
    /// Its role, whatever the question.
    pub role: RoleProbabilities,
}

/// A text with its embedding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EmbeddedText<'a> {
    /// The text that was encoded.
    pub text: &'a str,
    /// Its embedding of length 1, `[dim]`.
    pub vector: &'a [f32],
}

/// A sentence with what a classifier may see of its place.
///
/// What is unknown is left out; classifiers are trained with parts missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SentenceInContext<'a> {
    /// The sentence, encoded as a passage and alone.
    pub sentence: EmbeddedText<'a>,
    /// Embedding of the sentence before it in the same section, `[dim]`.
    pub before: Option<&'a [f32]>,
    /// Embedding of the sentence after it in the same section, `[dim]`.
    pub after: Option<&'a [f32]>,
    /// The paper's title, encoded as a passage.
    pub title: Option<EmbeddedText<'a>>,
    /// Whether it stands in the abstract or the body.
    pub kind: PassageKind,
    /// Heading of its section or, in a structured abstract, the label before it; empty where there is none.
    pub section: &'a str,
    /// Its number among the sentences of the passage, from 0.
    pub nth: usize,
    /// Number of sentences of the passage, at least 1.
    pub of: usize,
}

/// What a sentence classifier is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentenceClassifierInfo {
    /// Name under which the catalog lists the model.
    pub name: String,
    /// Name of the encoder whose vectors it reads.
    pub encoder: String,
    /// Length of these vectors.
    pub dim: usize,
}

impl SentenceClassifierInfo {
    /// Whether it reads vectors of `encoder`: same name, same length.
    pub fn fits(&self, encoder: &EncoderInfo) -> bool {
        self.encoder == encoder.name && self.dim == encoder.dim
    }
}

/// Classifies sentences of papers with respect to a question.
///
/// It reads embeddings that the caller has already computed, so a call costs microseconds a sentence and blocks.
pub trait SentenceClassifier: Send + Sync {
    /// What it is.
    fn info(&self) -> &SentenceClassifierInfo;

    /// One [`SentenceScores`] per sentence, in order; the other sentences of a call change no score. `question` is encoded
    /// as a query.
    ///
    /// # Errors
    /// `Rejected` when a vector is not [`SentenceClassifierInfo::dim`] long: it comes from another encoder.
    fn classify(
        &self,
        question: EmbeddedText<'_>,
        sentences: &[SentenceInContext<'_>],
    ) -> Result<Vec<SentenceScores>, PortError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_keep_their_order() {
        let probabilities = [0.1, 0.2, 0.3, 0.3, 0.1];
        let role = RoleProbabilities::from_array(probabilities);
        assert!(role.to_array().iter().zip(probabilities).all(|(a, b)| (a - b).abs() < 1e-9));
        assert_eq!(role.most_probable(), SentenceRole::Method, "the first of equal ones");
        assert!((role.finding() - 0.4).abs() < 1e-6);
        let names: Vec<&str> = SentenceRole::ALL.iter().map(|role| role.as_str()).collect();
        assert_eq!(names, ["background", "purpose", "method", "result", "conclusion"]);
    }
}
