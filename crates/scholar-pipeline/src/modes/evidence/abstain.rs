//! Whether the evidence answers the question at all.

use std::collections::BTreeSet;

use scholar_core::Ranked;
use serde::{Deserialize, Serialize};

use super::config::EvidenceIs;
use super::question::Reading;
use super::score::{Scored, key_share};
use super::terms::stem_set;

/// What the decision to answer rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Highest cosine of a sentence to the question; `None` without an encoder of unit vectors.
    pub similarity: Option<f32>,
    /// Largest share of the question's weight in one sentence and its title.
    pub sentence_coverage: f32,
    /// Largest share of the key terms' weight in one passage and its title.
    pub key_coverage: f32,
    /// Share of the key terms' weight in no passage at all.
    pub missing: f32,
    /// Key terms that no passage mentions, as the question writes them, heaviest first.
    pub missing_terms: Vec<String>,
    /// Probability that the evidence answers the question.
    pub probability: f32,
}

/// Intercept and weights of similarity, sentence coverage and missing share; without an encoder, of the latter two.
///
/// Source: `tests/evidence/fit_abstention.py` over 255 questions asked of the starter papers, with the similarities of
/// all-MiniLM-L6-v2. Cross-fitted, at 0.4: 99 % of the abstentions are right, 92 % of the questions the papers cannot answer
/// get none, 98 % of the answerable ones are answered (without encoder 99, 92 and 97).
/// The table was recorded before questions were read with synonyms and compounds; the rates since are not measured.
const WITH_ENCODER: [f32; 4] = [-13.5, 12.3, 9.8, -4.1];
const WITHOUT_ENCODER: [f32; 3] = [-8.7, 14.5, -4.4];

/// The same for a few passages that were chosen for the question: the best of fifty found passages reaches more than the best
/// of five given ones.
///
/// Source: `tests/evidence/fit_given.py` over PubMedQA, SciFact and CACM, whose questions were asked of their own passages, of
/// those of the question most like theirs and of another's (`openscholar bench abstention`). On Scholar-Multi, which had no part
/// in it, at 0.4: 87 % of the questions are answered from their own passages, 32 % from their neighbour's, 4 % from another's.
const GIVEN_WITH_ENCODER: [f32; 4] = [-6.1, 13.8, 1.15, -1.2];
const GIVEN_WITHOUT_ENCODER: [f32; 3] = [-0.8, 7.6, -2.1];

/// Reads the signs off all candidates (`scored`, best first) and passages. `similar` says that the cosines are those of an
/// encoder of unit vectors, for which the regressions were made.
pub(crate) fn diagnose(
    scored: &[Scored],
    evidence: &[Ranked],
    is: EvidenceIs,
    reading: &Reading,
    similar: bool,
) -> Diagnosis {
    let passages: Vec<(BTreeSet<String>, BTreeSet<String>)> = evidence
        .iter()
        .map(|ranked| {
            let passage = &ranked.retrieved.passage;
            (stem_set(&passage.text), stem_set(&passage.title))
        })
        .collect();
    let similarity = scored
        .iter()
        .filter_map(|scored| scored.similarity)
        .max_by(f32::total_cmp)
        .filter(|_| similar);
    let sentence_coverage = scored.iter().map(|scored| scored.coverage).fold(0.0, f32::max);
    let key_coverage =
        passages.iter().map(|(text, title)| key_share(reading, text, title)).fold(0.0, f32::max);
    let keys = reading.keys();
    let absent = |term: &&super::question::Term| {
        !passages.iter().any(|(text, title)| term.is_in(text) || term.is_in(title))
    };
    let total: f32 = keys.iter().map(|term| term.weight).sum();
    let gone: Vec<_> = keys.iter().copied().filter(absent).collect();
    let lost = gone.iter().fold(0.0, |sum, term| sum + term.weight);
    let missing = lost / total.max(f32::EPSILON);
    let probability = if scored.is_empty() {
        0.0
    } else {
        probability(is, similarity, sentence_coverage, missing)
    };
    let missing_terms = gone.into_iter().map(|term| term.word.clone()).collect();
    Diagnosis { similarity, sentence_coverage, key_coverage, missing, missing_terms, probability }
}

/// The probability that evidence with these signs answers the question.
fn probability(
    is: EvidenceIs,
    similarity: Option<f32>,
    sentence_coverage: f32,
    missing: f32,
) -> f32 {
    let (with, without) = match is {
        EvidenceIs::Found => (WITH_ENCODER, WITHOUT_ENCODER),
        EvidenceIs::Given => (GIVEN_WITH_ENCODER, GIVEN_WITHOUT_ENCODER),
    };
    let sum = match similarity {
        Some(similarity) => {
            let [intercept, a, b, c] = with;
            intercept + a * similarity + b * sentence_coverage + c * missing
        }
        None => {
            let [intercept, b, c] = without;
            intercept + b * sentence_coverage + c * missing
        }
    };
    1.0 / (1.0 + (-sum).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::evidence::EvidenceConfig;

    /// Rates of abstention at the preset's threshold: precision, recall, answerable questions answered.
    fn rates(probability_of: impl Fn(&[f32]) -> f32) -> [f32; 3] {
        let table = include_str!("../../../tests/evidence/abstention.tsv");
        let threshold = EvidenceConfig::digest().abstain_below;
        let (mut right, mut abstained, mut unanswerable, mut answered, mut answerable) =
            (0.0_f32, 0.0_f32, 0.0_f32, 0.0_f32, 0.0_f32);
        for line in table.lines().skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            let numbers: Vec<f32> =
                fields[2..7].iter().map(|field| field.parse().expect("a number")).collect();
            let abstains = probability_of(&numbers) < threshold;
            if fields[0] == "1" {
                answerable += 1.0;
                answered += if abstains { 0.0 } else { 1.0 };
            } else {
                unanswerable += 1.0;
                right += if abstains { 1.0 } else { 0.0 };
            }
            abstained += if abstains { 1.0 } else { 0.0 };
        }
        [right / abstained, right / unanswerable, answered / answerable]
    }

    #[test]
    fn the_weights_give_the_published_rates() {
        let with = rates(|n| probability(EvidenceIs::Found, Some(n[0]), n[1], n[2]));
        assert!(with[0] >= 0.98 && with[1] >= 0.92 && with[2] >= 0.98, "{with:?}");
        let without = rates(|n| probability(EvidenceIs::Found, None, n[3], n[4]));
        assert!(without[0] >= 0.98 && without[1] >= 0.9 && without[2] >= 0.97, "{without:?}");
    }

    /// Shares of Scholar-Multi's questions that are answered from their own passages, their neighbour's, another's.
    fn answered(probability_of: impl Fn(&[f32]) -> f32) -> [f32; 3] {
        let table = include_str!("../../../tests/evidence/given.tsv");
        let threshold = EvidenceConfig::given().abstain_below;
        ["own", "near", "far"].map(|whose| {
            let (mut answered, mut n) = (0.0_f32, 0.0_f32);
            for line in table.lines().skip(1) {
                let fields: Vec<&str> = line.split('\t').collect();
                if fields[0] != "Scholar-Multi" || fields[1] != whose {
                    continue;
                }
                let numbers: Vec<f32> =
                    fields[2..5].iter().map(|field| field.parse().expect("a number")).collect();
                n += 1.0;
                answered += if probability_of(&numbers) >= threshold { 1.0 } else { 0.0 };
            }
            answered / n
        })
    }

    #[test]
    fn given_passages_are_answered_from_unless_they_are_about_something_else() {
        let is = EvidenceIs::Given;
        let with = answered(|n| probability(is, Some(n[0]), n[1], n[2]));
        assert!(with[0] >= 0.85 && with[1] <= 0.35 && with[2] <= 0.05, "{with:?}");
        let without = answered(|n| probability(is, None, n[1], n[2]));
        assert!(without[0] >= 0.85 && without[1] <= 0.37 && without[2] <= 0.11, "{without:?}");
    }
}
