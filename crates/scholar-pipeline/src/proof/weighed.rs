//! A trained judge beside the lexical one: their odds, weighed and added.
//!
//! A model of the size of `MiniLM`, trained for an hour, knows paraphrases and topics; word overlap knows names and numbers. They
//! err on different pairs. [`Weighing`] says how much each one's log-odds count; it is fitted on rows that the model was
//! not trained on (`openscholar train weigh`) and lies in the model's folder as `weighing.json`.

use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{Attributor, Judgement, PortError, Verdict};
use serde::{Deserialize, Serialize};

use super::lexical::judge_pair;

/// Name of the file.
pub const WEIGHING_FILE: &str = "weighing.json";
/// Probabilities are held this far from 0 and 1, so that their odds are finite.
const EDGE: f32 = 1e-4;

/// Bias, weight of the model's log-odds, weight of the lexical judge's.
pub type Weights = [f32; 3];

/// `weighing.json`; other keys in it are for people.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Weighing {
    /// For the probability that the evidence supports the sentence.
    pub support: Weights,
    /// For the probability that a sentence of a passage is the evidence.
    pub evidence: Weights,
    /// Probability from which a pair is supported.
    pub supported: f32,
    /// Probability from which it is partly supported.
    pub partial: f32,
}

impl Weighing {
    /// Reads the text of such a file.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let odds = |value: f32| (0.0..=1.0).contains(&value);
        let finite = read.support.iter().chain(&read.evidence).all(|weight| weight.is_finite());
        if finite && odds(read.supported) && odds(read.partial) && read.partial <= read.supported {
            return Ok(read);
        }
        Err("finite weights and 0 ≤ partial ≤ supported ≤ 1 belong in it".to_owned())
    }
}

/// `ln(p / (1 - p))`, finite.
pub fn log_odds(probability: f32) -> f32 {
    let held = probability.clamp(EDGE, 1.0 - EDGE);
    (held / (1.0 - held)).ln()
}

fn weighed([bias, model, lexical]: Weights, by_model: f32, by_words: f32) -> f32 {
    let sum = bias + model * log_odds(by_model) + lexical * log_odds(by_words);
    1.0 / (1.0 + (-sum).exp())
}

/// The two judges in one.
pub struct WeighedAttributor {
    name: String,
    model: Arc<dyn Attributor>,
    weighing: Weighing,
}

impl WeighedAttributor {
    /// `model` beside the lexical judge.
    pub fn new(model: Arc<dyn Attributor>, weighing: Weighing) -> Self {
        let name = format!("{} + lexical/1", model.name());
        Self { name, model, weighing }
    }

    /// Word for word is support, whatever a model says; a contradiction is the model's to find, where words do not deny it.
    fn decide(&self, by_model: Judgement, by_words: Judgement, is_verbatim: bool) -> Judgement {
        if is_verbatim {
            return by_words;
        }
        let Weighing { support, evidence: _, supported, partial } = self.weighing;
        let score = weighed(support, by_model.score, by_words.score);
        let verdict = match (by_model.verdict, by_words.verdict) {
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
impl Attributor for WeighedAttributor {
    fn name(&self) -> &str {
        &self.name
    }

    async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        let by_model = self.model.judge(pairs).await?;
        let judged = pairs.iter().zip(by_model).map(|((sentence, evidence), by_model)| {
            let is_verbatim = super::lexical::is_verbatim(sentence, evidence);
            self.decide(by_model, judge_pair(sentence, evidence), is_verbatim)
        });
        Ok(judged.collect())
    }

    async fn evidence(
        &self,
        sentence: &str,
        candidates: &[&str],
    ) -> Result<Option<Vec<f32>>, PortError> {
        let Some(by_model) = self.model.evidence(sentence, candidates).await? else {
            return Ok(None);
        };
        let scored = candidates.iter().zip(by_model).map(|(candidate, by_model)| {
            weighed(self.weighing.evidence, by_model, judge_pair(sentence, candidate).score)
        });
        Ok(Some(scored.collect()))
    }
}

#[cfg(test)]
mod tests {
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

    const WEIGHING: Weighing = Weighing {
        support: [0.0, 1.0, 0.5],
        evidence: [0.0, 1.0, 1.0],
        supported: 0.5,
        partial: 0.35,
    };

    fn judge(verdict: Verdict, score: f32) -> WeighedAttributor {
        WeighedAttributor::new(Arc::new(Fixed(Judgement { verdict, score })), WEIGHING)
    }

    async fn said(judge: &WeighedAttributor, sentence: &str, evidence: &str) -> Judgement {
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
        let odds = WEIGHING.support;
        let expected = weighed(odds, 0.55, judge_pair(apart, EVIDENCE).score);
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
    fn numbers_that_make_no_sense_are_refused() {
        let good = serde_json::to_string(&WEIGHING).expect("json");
        assert_eq!(Weighing::parse(&good), Ok(WEIGHING));
        let crossed = good.replace("0.35", "0.75");
        for bad in [crossed.as_str(), "{}", "3", &good.replace("0.35", "-1")] {
            assert!(Weighing::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn certainty_has_finite_odds() {
        assert!(log_odds(0.0).is_finite() && log_odds(1.0).is_finite());
        assert!((log_odds(0.5)).abs() < 1e-6);
    }
}
