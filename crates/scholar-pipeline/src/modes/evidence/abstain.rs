//! Whether the evidence answers the question at all: what the best papers say decides it, never one word's absence.

use std::collections::BTreeSet;

use scholar_core::{PaperId, Ranked};
use serde::{Deserialize, Serialize};

use super::papers::{Paper, PaperSigns};
use super::question::Reading;
use super::score::Scored;
use super::terms::stem_set;

/// Papers that a diagnosis lists.
const LISTED: usize = 20;

/// What the decision to answer rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Probability that the evidence answers the question: that of its best paper.
    pub probability: f32,
    /// The most probable papers, best first.
    #[serde(default)]
    pub papers: Vec<PaperDiagnosis>,
    /// Core concepts of the question that no passage mentions, as the question writes them, heaviest first.
    pub missing_terms: Vec<String>,
}

/// One paper of a [`Diagnosis`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaperDiagnosis {
    /// The paper.
    pub id: PaperId,
    /// What speaks for and against it.
    pub signs: PaperSigns,
    /// Probability that it answers the question.
    pub probability: f32,
    /// Sentences of it that may be shown.
    pub sentences: usize,
}

/// Reads the decision off `papers`, most probable first.
pub(crate) fn diagnose(
    papers: &[Paper],
    scored: &[Scored],
    evidence: &[Ranked],
    reading: &Reading,
) -> Diagnosis {
    let mut everywhere: BTreeSet<String> = BTreeSet::new();
    for ranked in evidence {
        everywhere.extend(stem_set(&ranked.retrieved.passage.title));
        everywhere.extend(stem_set(&ranked.retrieved.passage.text));
    }
    everywhere.extend(scored.iter().flat_map(|scored| scored.candidate.stems.iter().cloned()));
    let keys = reading.keys();
    let gone = keys.into_iter().filter(|term| !term.is_in(&everywhere) && !is_degree(&term.word));
    let listed = papers.iter().take(LISTED).map(|paper| PaperDiagnosis {
        id: paper.id.clone(),
        signs: paper.signs,
        probability: paper.probability,
        sentences: paper.members.len(),
    });
    Diagnosis {
        probability: papers.first().map_or(0.0, |best| best.probability),
        papers: listed.collect(),
        missing_terms: gone.map(|term| term.word.clone()).collect(),
    }
}

/// Whether a word says how much or how, not what: `fastest`, `newer`, `accurately`, `I’m`. That none of the papers says so means
/// nothing.
fn is_degree(word: &str) -> bool {
    const COMPARATIVES: [&str; 12] = [
        "bigger", "cheaper", "earlier", "easier", "faster", "larger", "longer", "newer", "older",
        "shorter", "slower", "smaller",
    ];
    word.contains(['\'', '’'])
        || word.ends_with("est")
        || word.ends_with("ly")
        || COMPARATIVES.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_degree_are_not_reported_missing() {
        assert!(["fastest", "newer", "accurately", "I’m"].into_iter().all(is_degree));
        assert!(!["zebras", "rest-cure", "tirzepatide"].into_iter().any(is_degree));
    }
}
