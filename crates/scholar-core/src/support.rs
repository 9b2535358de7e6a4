//! Does the evidence support the sentence?

use serde::{Deserialize, Serialize};

/// The verdict on one (sentence, evidence) pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The evidence states what the sentence states.
    Supported,
    /// The evidence states a part of it.
    Partial,
    /// The evidence is about something else or says less.
    Unsupported,
    /// The evidence states the opposite.
    Contradicted,
}

/// What a judge says of one pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Whether the evidence supports the sentence.
    pub verdict: Verdict,
    /// Calibrated probability, in `[0, 1]`, that the evidence supports the sentence.
    pub score: f32,
}

/// A judgement with the name of the judge, as it stands in an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Support {
    /// Whether the evidence supports the sentence.
    pub verdict: Verdict,
    /// Calibrated probability of support in `[0, 1]`.
    pub score: f32,
    /// Who judged, with version.
    pub judge: String,
}
