//! An ensemble of judges: a trained model's log-odds, the lexical judge's, and an encoder's `MaxSim`, in one logistic model.
//!
//! A model of `MiniLM`'s size, trained for an hour, recognises negation; word overlap compares names and numbers; an encoder
//! pretrained on a billion pairs recognises paraphrases. Their errors fall on different pairs. [`JudgeEnsemble`] holds the
//! coefficients, fitted on claims the model was not trained on (`openscholar train fit-weights`); it lies in the model's folder as
//! `judge_ensemble.json`.

use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::similarity::max_sim;
use scholar_core::text::markers::strip_citations;
use scholar_core::{
    Attributor, Embeddings, Encoder, Judgement, PortError, PortErrorKind, Side, Verdict,
};
use serde::{Deserialize, Serialize};

use super::lexical::{is_verbatim, judge_pair};
use super::select::dot;

/// Name of the file in a model's folder.
pub const JUDGE_ENSEMBLE_FILE: &str = "judge_ensemble.json";
/// The name it had until November 2026.
pub const FORMER_JUDGE_ENSEMBLE_FILE: &str = "ensemble.json";
/// Probabilities are held this far from 0 and 1, so that their odds are finite.
const EDGE: f32 = 1e-4;

/// Coefficients of a logistic model over the judges, in log-odds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EnsembleWeights {
    /// Intercept, in log-odds.
    pub bias: f32,
    /// Coefficient of the model's log-odds.
    pub model: f32,
    /// Coefficient of the lexical judge's log-odds.
    #[serde(alias = "words")]
    pub lexical: f32,
    /// Coefficient of [`sentence_max_sim`], −1 to 1.
    #[serde(default, alias = "likeness")]
    pub max_sim: f32,
}

impl EnsembleWeights {
    /// The model's probability unchanged.
    pub const MODEL_ALONE: Self = Self { bias: 0.0, model: 1.0, lexical: 0.0, max_sim: 0.0 };

    fn all(self) -> [f32; 4] {
        let Self { bias, model, lexical, max_sim } = self;
        [bias, model, lexical, max_sim]
    }
}

/// `judge_ensemble.json`; other keys in it are for people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgeEnsemble {
    /// For the probability that the evidence supports the sentence.
    pub support: EnsembleWeights,
    /// For the probability that a sentence of a passage is the evidence.
    pub evidence: EnsembleWeights,
    /// Threshold of the verdict supported, a probability.
    pub supported: f32,
    /// Threshold of the verdict partly supported, at most `supported`.
    pub partial: f32,
    /// Catalog name of the encoder that computes `MaxSim`; needed where a coefficient of it is not 0.
    #[serde(default, alias = "reader", skip_serializing_if = "Option::is_none")]
    pub encoder: Option<String>,
}

impl JudgeEnsemble {
    /// Reads the text of such a file.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let odds = |value: f32| (0.0..=1.0).contains(&value);
        let weights = [read.support, read.evidence];
        let finite = weights.iter().flat_map(|weights| weights.all()).all(f32::is_finite);
        if !(finite && odds(read.supported) && odds(read.partial) && read.partial <= read.supported)
        {
            return Err("every weight must be finite, and 0 ≤ partial ≤ supported ≤ 1".to_owned());
        }
        if read.encoder.is_none() && weights.iter().any(|weights| weights.max_sim != 0.0) {
            return Err("a weight of max_sim needs an encoder".to_owned());
        }
        Ok(read)
    }
}

/// `ln(p / (1 - p))`, finite.
pub fn log_odds(probability: f32) -> f32 {
    let held = probability.clamp(EDGE, 1.0 - EDGE);
    (held / (1.0 - held)).ln()
}

/// What the judges say of a sentence and a text.
#[derive(Debug, Clone, Copy)]
struct Opinions {
    /// The model's probability of support.
    model: f32,
    /// The lexical judge's probability of support.
    lexical: f32,
    /// See [`sentence_max_sim`].
    max_sim: f32,
}

fn combined(weights: EnsembleWeights, opinions: Opinions) -> f32 {
    let EnsembleWeights { bias, model, lexical, max_sim } = weights;
    let odds = model * log_odds(opinions.model) + lexical * log_odds(opinions.lexical);
    let sum = bias + odds + max_sim * opinions.max_sim;
    1.0 / (1.0 + (-sum).exp())
}

/// `MaxSim` of the sentence, without its citation markers, with each text, in input order; 0 for texts without tokens.
///
/// # Errors
/// When the encoder cannot run or has no states of tokens.
pub fn sentence_max_sim(
    encoder: &dyn Encoder,
    sentence: &str,
    texts: &[&str],
) -> Result<Vec<f32>, PortError> {
    let states = |side, texts: &[&str]| {
        encoder.token_states(side, texts)?.ok_or_else(|| {
            let name = &encoder.info().name;
            PortError::new(PortErrorKind::Rejected, format!("{name} gives no states of tokens"))
        })
    };
    let sentence = strip_citations(sentence);
    let asked = states(Side::Query, &[&sentence])?;
    let texts = states(Side::Passage, texts)?;
    let Some(asked) = asked.first() else { return Ok(vec![0.0; texts.len()]) };
    Ok(texts.iter().map(|text| token_max_sim(asked, text)).collect())
}

/// `MaxSim` of states of unit length.
fn token_max_sim(sentence: &Embeddings, text: &Embeddings) -> f32 {
    let (sentence, text): (Vec<&[f32]>, Vec<&[f32]>) =
        (sentence.rows().collect(), text.rows().collect());
    max_sim(sentence.len(), text.len(), |asked, other| dot(sentence[asked], text[other])).score
}

/// The ensemble as one judge.
pub struct EnsembleAttributor {
    name: String,
    model: Arc<dyn Attributor>,
    encoder: Option<Arc<dyn Encoder>>,
    ensemble: JudgeEnsemble,
}

impl EnsembleAttributor {
    /// `model`, the lexical judge and, where `MaxSim` has a weight, the encoder that `ensemble` names.
    pub fn new(
        model: Arc<dyn Attributor>,
        encoder: Option<Arc<dyn Encoder>>,
        ensemble: JudgeEnsemble,
    ) -> Self {
        let name = match &encoder {
            Some(encoder) => {
                format!("{} + lexical/1 + MaxSim by {}", model.name(), encoder.info().name)
            }
            None => format!("{} + lexical/1", model.name()),
        };
        Self { name, model, encoder, ensemble }
    }

    /// `MaxSim` with each text; 0 where it has no weight.
    fn max_sims(
        &self,
        weights: EnsembleWeights,
        sentence: &str,
        texts: &[&str],
    ) -> Result<Vec<f32>, PortError> {
        match &self.encoder {
            Some(encoder) if weights.max_sim != 0.0 => {
                sentence_max_sim(encoder.as_ref(), sentence, texts)
            }
            _ => Ok(vec![0.0; texts.len()]),
        }
    }

    /// A contradiction is the model's to find, where the lexical judge finds no negation.
    fn decide(&self, by_model: Judgement, by_lexical: Judgement, max_sim: f32) -> Judgement {
        let JudgeEnsemble { support, supported, partial, .. } = self.ensemble;
        let opinions = Opinions { model: by_model.score, lexical: by_lexical.score, max_sim };
        let score = combined(support, opinions);
        let verdict = match (by_model.verdict, by_lexical.verdict) {
            (_, Verdict::Contradicted) => Verdict::Contradicted,
            (Verdict::Contradicted, _) if score < supported => Verdict::Contradicted,
            _ if score >= supported => Verdict::Supported,
            _ if score >= partial => Verdict::Partial,
            _ => Verdict::Unsupported,
        };
        Judgement { verdict, score }
    }
}

#[async_trait]
impl Attributor for EnsembleAttributor {
    fn name(&self) -> &str {
        &self.name
    }

    async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        let by_model = self.model.judge(pairs).await?;
        let judged = pairs.iter().zip(by_model).map(|((sentence, evidence), by_model)| {
            let by_lexical = judge_pair(sentence, evidence);
            if is_verbatim(sentence, evidence) {
                // Support, whatever a model says.
                return Ok(by_lexical);
            }
            let max_sim = self.max_sims(self.ensemble.support, sentence, &[evidence])?;
            let max_sim = max_sim.first().copied().unwrap_or(0.0);
            Ok(self.decide(by_model, by_lexical, max_sim))
        });
        judged.collect()
    }

    async fn evidence(
        &self,
        sentence: &str,
        candidates: &[&str],
    ) -> Result<Option<Vec<f32>>, PortError> {
        let Some(by_model) = self.model.evidence(sentence, candidates).await? else {
            return Ok(None);
        };
        let max_sim = self.max_sims(self.ensemble.evidence, sentence, candidates)?;
        let scored = candidates.iter().zip(by_model).zip(max_sim);
        let scored = scored.map(|((candidate, model), max_sim)| {
            let lexical = judge_pair(sentence, candidate).score;
            combined(self.ensemble.evidence, Opinions { model, lexical, max_sim })
        });
        Ok(Some(scored.collect()))
    }
}

#[cfg(test)]
mod tests {
    use scholar_testing::FakeEncoder;

    use super::*;

    struct Fixed(Judgement);

    #[async_trait]
    impl Attributor for Fixed {
        fn name(&self) -> &'static str {
            "fixed"
        }

        async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
            Ok(vec![self.0; pairs.len()])
        }

        async fn evidence(
            &self,
            _: &str,
            candidates: &[&str],
        ) -> Result<Option<Vec<f32>>, PortError> {
            Ok(Some(vec![self.0.score; candidates.len()]))
        }
    }

    const ENSEMBLE: JudgeEnsemble = JudgeEnsemble {
        support: EnsembleWeights { bias: 0.0, model: 1.0, lexical: 0.5, max_sim: 0.0 },
        evidence: EnsembleWeights { bias: 0.0, model: 1.0, lexical: 1.0, max_sim: 0.0 },
        supported: 0.5,
        partial: 0.35,
        encoder: None,
    };

    fn judge(verdict: Verdict, score: f32) -> EnsembleAttributor {
        EnsembleAttributor::new(Arc::new(Fixed(Judgement { verdict, score })), None, ENSEMBLE)
    }

    /// Nothing but `max_sim` counts.
    fn by_max_sim() -> EnsembleAttributor {
        let max_sim = EnsembleWeights { bias: -5.0, model: 0.0, lexical: 0.0, max_sim: 10.0 };
        let encoder = Some("fake".to_owned());
        let ensemble = JudgeEnsemble { support: max_sim, evidence: max_sim, encoder, ..ENSEMBLE };
        let model = Fixed(Judgement { verdict: Verdict::Unsupported, score: 0.2 });
        EnsembleAttributor::new(Arc::new(model), Some(Arc::new(FakeEncoder::new(64))), ensemble)
    }

    #[tokio::test]
    async fn max_sim_counts_where_an_encoder_computes_it() {
        let judge = by_max_sim();
        assert!(judge.name().contains("MaxSim by"), "{}", judge.name());
        let apart = "Graph transformers translate German into old Norse.";
        let near = "Old mice had reduced tumour growth with vitamin D supplementation.";
        let (apart, near) =
            (said(&judge, apart, EVIDENCE).await, said(&judge, near, EVIDENCE).await);
        assert!(near.score > 0.9 && near.verdict == Verdict::Supported, "{near:?}");
        assert!(apart.score < near.score && apart.verdict != Verdict::Supported, "{apart:?}");
        let texts = ["", "We thank our funders.", EVIDENCE];
        let scores = judge.evidence("Vitamin D reduced tumour growth [4].", &texts).await;
        let scores = scores.expect("judged").expect("the model tells evidence");
        assert!(scores[2] > scores[1] && scores[1] >= scores[0], "{scores:?}");
    }

    async fn said(judge: &EnsembleAttributor, sentence: &str, evidence: &str) -> Judgement {
        judge.judge(&[(sentence, evidence)]).await.expect("judged")[0]
    }

    const EVIDENCE: &str = "Vitamin D supplementation reduced tumour growth in 120 old mice.";

    #[tokio::test]
    async fn both_count() {
        let paraphrase = "Giving vitamin D to aged mice slowed how fast tumours grew.";
        let sure = said(&judge(Verdict::Supported, 0.95), paraphrase, EVIDENCE).await;
        assert_eq!(sure.verdict, Verdict::Supported);
        let apart = "Graph transformers translate German into old Norse.";
        let unsure = said(&judge(Verdict::Supported, 0.55), apart, EVIDENCE).await;
        assert_ne!(unsure.verdict, Verdict::Supported, "no word in common: {unsure:?}");
        assert!(sure.score > unsure.score);
        let odds = ENSEMBLE.support;
        let lexical = judge_pair(apart, EVIDENCE).score;
        let expected = combined(odds, Opinions { model: 0.55, lexical, max_sim: 0.0 });
        assert!((unsure.score - expected).abs() < 1e-6);
    }

    #[tokio::test]
    async fn words_decide_what_stands_there_and_what_is_denied() {
        let model = judge(Verdict::Unsupported, 0.01);
        let same = said(&model, EVIDENCE, EVIDENCE).await;
        assert_eq!(same.verdict, Verdict::Supported);
        let model = judge(Verdict::Supported, 0.99);
        let denied = "Vitamin D supplementation did not reduce tumour growth in 120 old mice.";
        assert_eq!(said(&model, denied, EVIDENCE).await.verdict, Verdict::Contradicted);
        let model = judge(Verdict::Contradicted, 0.02);
        let other = "Vitamin D made tumours of mice larger.";
        assert_eq!(said(&model, other, EVIDENCE).await.verdict, Verdict::Contradicted);
    }

    #[tokio::test]
    async fn evidence_is_ranked_by_both() {
        let model = judge(Verdict::Unsupported, 0.3);
        let scores = model
            .evidence("Vitamin D reduced tumour growth.", &["We thank our funders.", EVIDENCE])
            .await
            .expect("judged")
            .expect("the model tells evidence");
        assert!(scores[1] > scores[0], "{scores:?}");
    }

    #[test]
    fn files_of_the_former_name_are_read() {
        let former = include_str!("../../tests/compat/1/weighing.json");
        let ensemble = JudgeEnsemble::parse(former).expect("the shipped judge's of then");
        assert_eq!(ensemble.encoder.as_deref(), Some("scholar-reranker-mini"));
        let EnsembleWeights { lexical, max_sim, .. } = ensemble.support;
        assert!(lexical > 0.5 && max_sim > 3.0, "{ensemble:?}");
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        let good = serde_json::to_string(&ENSEMBLE).expect("json");
        assert_eq!(JudgeEnsemble::parse(&good), Ok(ENSEMBLE));
        let crossed = good.replace("0.35", "0.75");
        let unread = good.replace("\"max_sim\":0.0", "\"max_sim\":2.0");
        assert_ne!(unread, good);
        for bad in [crossed.as_str(), "{}", "3", &good.replace("0.35", "-1"), &unread] {
            assert!(JudgeEnsemble::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn certainty_has_finite_odds() {
        assert!(log_odds(0.0).is_finite() && log_odds(1.0).is_finite());
        assert!((log_odds(0.5)).abs() < 1e-6);
    }
}
