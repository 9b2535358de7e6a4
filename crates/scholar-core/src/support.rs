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

/// What a check of a sentence's content looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentCheck {
    /// Names of systems, data sets, trials, places, drugs and species, abbreviations.
    Entity,
    /// Numbers with units, ratios, shares.
    Number,
    /// More or less, better or worse, an effect or none.
    Direction,
    /// Superlatives, generality, causes, certainty, population.
    Scope,
}

impl ContentCheck {
    /// All checks.
    pub const ALL: [Self; 4] = [Self::Entity, Self::Number, Self::Direction, Self::Scope];

    /// Its name in JSON and in notices.
    pub fn name(self) -> &'static str {
        match self {
            Self::Entity => "entity",
            Self::Number => "number",
            Self::Direction => "direction",
            Self::Scope => "scope",
        }
    }
}

/// Something that a sentence says and the cited papers' text does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Which check misses it.
    pub check: ContentCheck,
    /// The words of the sentence, for a reader.
    pub words: String,
}
