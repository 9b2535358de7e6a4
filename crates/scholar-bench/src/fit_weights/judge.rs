//! Coefficients of a judge ensemble: a trained judge's log-odds, the lexical judge's, and an encoder's `MaxSim`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use scholar_core::{Attributor, Encoder, PortError};
use scholar_pipeline::proof::ensemble::{
    EnsembleAttributor, EnsembleWeights, JudgeEnsemble, log_odds, sentence_max_sim,
};
use scholar_pipeline::proof::lexical::judge_pair;
use serde::Serialize;

use crate::attribution::data::{DataError, Label, Split, claim_sets};
use crate::attribution::judged_evidence;
use crate::attribution::statistics::{Scored, auroc, ece};
use crate::statistics::logistic::{Observation, fit, probability};

/// Ridge penalties of intercept, model, lexical judge and `MaxSim`; `MaxSim` spans a tenth of what log-odds do. Ours: a few
/// hundred pairs determine the coefficients in any case.
const RIDGE: [f64; 4] = [1e-6, 1.0, 1.0, 0.01];
/// Probability from which a pair is supported: even odds, as the coefficients are fitted to give probabilities.
const SUPPORTED: f32 = 0.5;
/// Probability from which it is partly supported, as of judges without an ensemble.
const PARTIAL: f32 = 0.35;
/// Fewer pairs are refused.
const FEWEST: usize = 50;
/// Weights of model and lexical judge that are tried for selecting a passage's evidence sentence.
const SELECTION: [f64; 8] = [0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0];

/// Intercept, log-odds of the model, log-odds of the lexical judge, `MaxSim`.
pub type JudgeScores = Observation<4>;

/// A statement with a passage, as annotators labelled it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledPair {
    /// Statement whose support is judged.
    pub sentence: String,
    /// Text of the passage that may support it.
    pub passage: String,
    /// Whether the passage supports it.
    pub supports: bool,
    /// Collection it is from; collections have equal weight.
    pub collection: String,
}

/// A statement with the sentences of its passage, some of which are its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceList {
    /// Statement whose support is judged.
    pub sentence: String,
    /// Sentences of the passage, in order.
    pub sentences: Vec<String>,
    /// Which of them are the evidence; some, not all.
    pub gold: Vec<usize>,
    /// Collection it is from; collections have equal weight.
    pub collection: String,
}

/// Too few pairs, or pairs of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{pairs} pairs, {positive} of them supported, are too few to fit weights on")]
pub struct TooFewPairs {
    /// Number of pairs of both classes.
    pub pairs: usize,
    /// Pairs whose passage supports the statement.
    pub positive: usize,
}

/// Whether `pairs` suffice: 50, of both classes.
///
/// # Errors
/// [`TooFewPairs`] otherwise.
pub fn check(pairs: &[LabelledPair]) -> Result<(), TooFewPairs> {
    let positive = pairs.iter().filter(|pair| pair.supports).count();
    if pairs.len() >= FEWEST && positive > 0 && positive < pairs.len() {
        return Ok(());
    }
    Err(TooFewPairs { pairs: pairs.len(), positive })
}

/// Pairs as `bench attribution` makes them, of the training claims in `dir` that are among `held_out`: with the class balance,
/// lengths and topics on which judges are measured.
///
/// # Errors
/// As [`claim_sets`].
pub fn claim_pairs(dir: &Path, held_out: &BTreeSet<&str>) -> Result<Vec<LabelledPair>, DataError> {
    let pairs = claim_sets(dir, Split::Train)?.into_iter().flat_map(|set| {
        let of_set = set.cases.into_iter().filter(|case| held_out.contains(case.sentence.trim()));
        let pairs: Vec<LabelledPair> = of_set
            .map(|case| LabelledPair {
                sentence: case.sentence,
                passage: case.passage,
                supports: case.label == Label::Supported,
                collection: set.name.clone(),
            })
            .collect();
        pairs
    });
    Ok(pairs.collect())
}

/// The judges whose scores are combined.
pub struct Judges {
    /// The trained judge, whose log-odds are one feature of the ensemble.
    pub model: Arc<dyn Attributor>,
    /// The encoder that computes `MaxSim`; without one, that is 0.
    pub encoder: Option<Arc<dyn Encoder>>,
}

impl Judges {
    /// Scores of each pair, its evidence being the window of the passage that an answer would quote by the weights
    /// `evidence`; `done` is called after each.
    ///
    /// # Errors
    /// When a judge or the encoder fails.
    pub async fn score_pairs(
        &self,
        pairs: &[LabelledPair],
        evidence: EnsembleWeights,
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<JudgeScores>, PortError> {
        let selector = ensemble(EnsembleWeights::MODEL_ALONE, evidence, None);
        let selector = EnsembleAttributor::new(Arc::clone(&self.model), None, selector);
        let names: Vec<&str> = pairs.iter().map(|pair| pair.collection.as_str()).collect();
        let mut all = Vec::new();
        for (pair, weight) in pairs.iter().zip(equal_weights(&names)) {
            let LabelledPair { sentence, passage, supports, .. } = pair;
            let window = judged_evidence(&selector, sentence, passage).await?;
            let window = window.unwrap_or_else(|| passage.clone());
            let judged = self.model.judge(&[(sentence, &window)]).await?;
            let lexical = judge_pair(sentence, &window).score;
            let max_sim = self.max_sim(sentence, &window)?;
            all.extend(judged.iter().map(|one| {
                JudgeProbabilities { model: one.score, lexical, max_sim }
                    .observation(*supports, weight)
            }));
            done();
        }
        Ok(all)
    }

    /// Scores of each sentence of each list; `done` is called after each list.
    ///
    /// # Errors
    /// When the judge fails.
    pub async fn score_sentences(
        &self,
        lists: &[EvidenceList],
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Vec<JudgeScores>>, PortError> {
        let names: Vec<&str> = lists.iter().map(|list| list.collection.as_str()).collect();
        let mut all = Vec::new();
        for (list, weight) in lists.iter().zip(equal_weights(&names)) {
            let candidates: Vec<&str> = list.sentences.iter().map(String::as_str).collect();
            let scores = self.model.evidence(&list.sentence, &candidates).await?;
            let scored = candidates.iter().zip(scores.unwrap_or_default()).enumerate();
            let scores = scored.map(|(at, (candidate, model))| {
                let lexical = judge_pair(&list.sentence, candidate).score;
                JudgeProbabilities { model, lexical, max_sim: 0.0 }
                    .observation(list.gold.contains(&at), weight)
            });
            all.push(scores.collect());
            done();
        }
        Ok(all)
    }

    fn max_sim(&self, sentence: &str, text: &str) -> Result<f32, PortError> {
        let Some(encoder) = &self.encoder else { return Ok(0.0) };
        Ok(sentence_max_sim(encoder.as_ref(), sentence, &[text])?.first().copied().unwrap_or(0.0))
    }
}

/// What the judges say of one statement and text.
#[derive(Debug, Clone, Copy)]
struct JudgeProbabilities {
    model: f32,
    lexical: f32,
    max_sim: f32,
}

impl JudgeProbabilities {
    fn observation(self, supports: bool, weight: f64) -> JudgeScores {
        let Self { model, lexical, max_sim } = self;
        let odds = |probability| f64::from(log_odds(probability));
        let x = [1.0, odds(model), odds(lexical), f64::from(max_sim)];
        Observation { x, y: f64::from(u8::from(supports)), weight }
    }
}

/// The ensemble of these coefficients, with the thresholds of fitted ones.
pub fn ensemble(
    support: EnsembleWeights,
    evidence: EnsembleWeights,
    encoder: Option<String>,
) -> JudgeEnsemble {
    JudgeEnsemble { support, evidence, supported: SUPPORTED, partial: PARTIAL, encoder }
}

/// Weights of observations by which each collection counts as much as any other; they sum to the number of observations.
fn equal_weights(collections: &[&str]) -> Vec<f64> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in collections {
        *counts.entry(name).or_default() += 1;
    }
    let weight = |name: &&str| collections.len() as f64 / (counts.len() * counts[name]) as f64;
    collections.iter().map(weight).collect()
}

/// Coefficients of support, by ridge logistic regression.
pub fn fit_support(pairs: &[JudgeScores]) -> EnsembleWeights {
    single(fit(pairs, &RIDGE))
}

/// Weights of evidence selection, by grid search on the likelihood that a gold sentence is chosen among those of its passage;
/// the model alone where `passages` is empty.
///
/// `MaxSim` is left out: with it the first sentence was gold in 62 instead of 60 of 100 cases, which is noise, and every
/// sentence would have to be encoded.
pub fn fit_selection(passages: &[Vec<JudgeScores>]) -> EnsembleWeights {
    if passages.is_empty() {
        return EnsembleWeights::MODEL_ALONE;
    }
    let mut best = ([0.0; 4], f64::NEG_INFINITY);
    for model in SELECTION {
        for lexical in SELECTION {
            let weights = [0.0, model, lexical, 0.0];
            let likelihood = passages.iter().map(|passage| log_likelihood(passage, &weights)).sum();
            if likelihood > best.1 {
                best = (weights, likelihood);
            }
        }
    }
    single(best.0)
}

/// Log-probability that the softmax over a passage's sentences chooses a gold one, times the passage's weight.
fn log_likelihood(passage: &[JudgeScores], weights: &[f64; 4]) -> f64 {
    let odds = |row: &JudgeScores| row.x.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>().exp();
    let all: f64 = passage.iter().map(odds).sum();
    let gold: f64 = passage.iter().filter(|row| row.y > 0.5).map(odds).sum();
    passage.first().map_or(0.0, |row| row.weight * (gold / all).ln())
}

#[expect(clippy::cast_possible_truncation, reason = "coefficients of a size of about one")]
fn single(weights: [f64; 4]) -> EnsembleWeights {
    let [bias, model, lexical, max_sim] = weights.map(|weight| weight as f32);
    EnsembleWeights { bias, model, lexical, max_sim }
}

/// What the coefficients reach on the pairs they were fitted on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FitReport {
    /// Number of pairs fitted on.
    pub pairs: usize,
    /// AUROC of the model alone; absent where all pairs are of one class.
    pub auroc_model: Option<f64>,
    /// AUROC of the lexical judge alone.
    pub auroc_lexical: Option<f64>,
    /// AUROC of `MaxSim` alone.
    pub auroc_max_sim: Option<f64>,
    /// AUROC of the ensemble.
    pub auroc_ensemble: Option<f64>,
    /// Expected calibration error of the ensemble, 0 to 1.
    pub ece: f64,
}

impl FitReport {
    /// Measures `support` on `pairs`.
    pub fn new(pairs: &[JudgeScores], support: EnsembleWeights) -> Self {
        let EnsembleWeights { bias, model, lexical, max_sim } = support;
        let support = [bias, model, lexical, max_sim].map(f64::from);
        let scored = |score: &dyn Fn(&JudgeScores) -> f64| -> Vec<Scored> {
            let one = |row: &JudgeScores| {
                let score = score(row);
                Scored { score, called: score >= f64::from(SUPPORTED), truth: row.y > 0.5 }
            };
            pairs.iter().map(one).collect()
        };
        let ensemble = scored(&|row| probability(&support, &row.x));
        Self {
            pairs: pairs.len(),
            auroc_model: auroc(&scored(&|row| row.x[1])),
            auroc_lexical: auroc(&scored(&|row| row.x[2])),
            auroc_max_sim: auroc(&scored(&|row| row.x[3])),
            auroc_ensemble: auroc(&ensemble),
            ece: ece(&ensemble),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(sentences: &[(f32, f32, bool)]) -> Vec<JudgeScores> {
        sentences
            .iter()
            .map(|(model, lexical, gold)| {
                JudgeProbabilities { model: *model, lexical: *lexical, max_sim: 0.0 }
                    .observation(*gold, 1.0)
            })
            .collect()
    }

    #[test]
    fn selection_trusts_the_judge_that_tells_the_sentences_of_a_passage_apart() {
        // The model's odds differ between passages and not within them; words tell.
        let told_by_words =
            |level: f32| passage(&[(level, 0.3, false), (level, 0.7, true), (level, 0.4, false)]);
        let chosen = fit_selection(&[told_by_words(0.1), told_by_words(0.9)]);
        assert!(chosen.bias.abs() < 1e-6 && chosen.lexical >= 1.0, "{chosen:?}");
        assert_eq!(fit_selection(&[]), EnsembleWeights::MODEL_ALONE);
        let told_by_model = passage(&[(0.3, 0.5, false), (0.7, 0.5, true), (0.4, 0.5, false)]);
        let chosen = fit_selection(&[told_by_model]);
        assert!(chosen.model >= 1.0 && chosen.lexical < 1e-6, "{chosen:?}");
    }

    #[test]
    fn collections_count_equally() {
        let weights = equal_weights(&["a", "a", "a", "b"]);
        assert!((weights[..3].iter().sum::<f64>() - weights[3]).abs() < 1e-12, "{weights:?}");
        assert!((weights.iter().sum::<f64>() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_pairs_are_refused() {
        let pair = |supports| LabelledPair {
            sentence: "s".to_owned(),
            passage: "p".to_owned(),
            supports,
            collection: String::new(),
        };
        let some =
            |n: usize, of: fn(usize) -> bool| (0..n).map(|at| pair(of(at))).collect::<Vec<_>>();
        assert!(check(&some(60, |at| at < 20)).is_ok());
        for bad in [some(49, |at| at < 20), some(60, |_| true), some(60, |_| false)] {
            assert!(check(&bad).is_err());
        }
    }
}
