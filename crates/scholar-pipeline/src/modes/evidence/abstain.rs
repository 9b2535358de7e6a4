//! Whether the evidence answers the question at all: what the best papers say decides it, never one word's absence.

use std::collections::BTreeSet;

use scholar_core::{PaperId, Ranked};
use serde::{Deserialize, Serialize};

use super::papers::{Paper, PaperSigns};
use super::question::Reading;
use super::score::Scored;
use super::terms::{names_nothing, stem_set};

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
    let gone =
        keys.into_iter().filter(|term| !term.is_in(&everywhere) && !names_nothing(&term.word));
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
