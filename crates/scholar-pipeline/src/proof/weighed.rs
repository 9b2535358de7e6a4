//! A trained judge beside the lexical one and an encoder: their odds and likeness, weighed and added.
//!
//! A model of the size of `MiniLM`, trained for an hour, knows what denies and what decides; word overlap knows names and numbers;
//! an encoder that has seen a thousand million pairs knows paraphrases. They err on different pairs. [`Weighing`] says how much
//! each one counts; it is fitted on claims that the model was not trained on (`openscholar train weigh`) and lies in the
//! model's folder as `weighing.json`.

use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::text::markers::strip_citations;
use scholar_core::{
    Attributor, Embeddings, Encoder, Judgement, PortError, PortErrorKind, Side, Verdict,
};
use serde::{Deserialize, Serialize};

use super::lexical::{is_verbatim, judge_pair};
use super::select::dot;

/// Name of the file.
pub const WEIGHING_FILE: &str = "weighing.json";
/// Probabilities are held this far from 0 and 1, so that their odds are finite.
const EDGE: f32 = 1e-4;

/// How much each opinion counts in log-odds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// Added in any case.
    pub bias: f32,
    /// Of the model's log-odds.
    pub model: f32,
    /// Of the lexical judge's log-odds.
    pub words: f32,
    /// Of the [`likeness`], from 0 to 1.
    #[serde(default)]
    pub likeness: f32,
}

impl Weights {
    /// The model's odds as they are.
    pub const MODEL_ALONE: Self = Self { bias: 0.0, model: 1.0, words: 0.0, likeness: 0.0 };

    fn all(self) -> [f32; 4] {
        let Self { bias, model, words, likeness } = self;
        [bias, model, words, likeness]
    }
}

/// `weighing.json`; other keys in it are for people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Weighing {
    /// For the probability that the evidence supports the sentence.
    pub support: Weights,
    /// For the probability that a sentence of a passage is the evidence.
    pub evidence: Weights,
    /// Probability from which a pair is supported.
    pub supported: f32,
    /// Probability from which it is partly supported.
    pub partial: f32,
    /// Catalog name of the encoder whose likeness counts; without one, none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader: Option<String>,
}

impl Weighing {
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
            return Err("finite weights and 0 ≤ partial ≤ supported ≤ 1 belong in it".to_owned());
        }
        if read.reader.is_none() && weights.iter().any(|weights| weights.likeness != 0.0) {
            return Err("a weight of likeness needs a reader".to_owned());
        }
        Ok(read)
    }
}

/// `ln(p / (1 - p))`, finite.
pub fn log_odds(probability: f32) -> f32 {
    let held = probability.clamp(EDGE, 1.0 - EDGE);
    (held / (1.0 - held)).ln()
}

/// What is known of a sentence beside a text.
#[derive(Debug, Clone, Copy)]
struct Opinions {
    /// Probability by the model.
    model: f32,
    /// Probability by words.
    words: f32,
    /// See [`likeness`].
    likeness: f32,
}

fn weighed(weights: Weights, opinions: Opinions) -> f32 {
    let Weights { bias, model, words, likeness } = weights;
    let odds = model * log_odds(opinions.model) + words * log_odds(opinions.words);
    let sum = bias + odds + likeness * opinions.likeness;
    1.0 / (1.0 + (-sum).exp())
}

/// How well each text covers the sentence in meaning: the mean over the sentence's tokens of the best cosine with a token of
/// the text (`ColBERT`'s `MaxSim`), 0 of texts without tokens.
///
/// # Errors
/// When the encoder cannot run or has no states of tokens.
pub fn likeness(
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
    Ok(texts.iter().map(|text| max_sim(asked, text)).collect())
}

/// Of states of length 1.
fn max_sim(asked: &Embeddings, text: &Embeddings) -> f32 {
    if asked.is_empty() || text.is_empty() {
        return 0.0;
    }
    let best = |token| text.rows().map(|other| dot(token, other)).fold(f32::MIN, f32::max);
    asked.rows().map(best).sum::<f32>() / asked.len() as f32
}

/// The judges in one.
pub struct WeighedAttributor {
    name: String,
    model: Arc<dyn Attributor>,
    reader: Option<Arc<dyn Encoder>>,
    weighing: Weighing,
}

impl WeighedAttributor {
    /// `model` beside the lexical judge and, where likeness counts, the encoder that the weighing names.
    pub fn new(
        model: Arc<dyn Attributor>,
        reader: Option<Arc<dyn Encoder>>,
        weighing: Weighing,
    ) -> Self {
        let name = match &reader {
            Some(reader) => {
                format!("{} + lexical/1 + likeness by {}", model.name(), reader.info().name)
            }
            None => format!("{} + lexical/1", model.name()),
        };
        Self { name, model, reader, weighing }
    }

    /// How like `sentence` each text is, where that counts.
    fn likeness(
        &self,
        weights: Weights,
        sentence: &str,
        texts: &[&str],
    ) -> Result<Vec<f32>, PortError> {
        match &self.reader {
            Some(reader) if weights.likeness != 0.0 => likeness(reader.as_ref(), sentence, texts),
            _ => Ok(vec![0.0; texts.len()]),
        }
    }

    /// A contradiction is the model's to find, where words do not deny it.
    fn decide(&self, by_model: Judgement, by_words: Judgement, likeness: f32) -> Judgement {
        let Weighing { support, supported, partial, .. } = self.weighing;
        let opinions = Opinions { model: by_model.score, words: by_words.score, likeness };
        let score = weighed(support, opinions);
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
            let by_words = judge_pair(sentence, evidence);
            if is_verbatim(sentence, evidence) {
                // Support, whatever a model says.
                return Ok(by_words);
            }
            let likeness = self.likeness(self.weighing.support, sentence, &[evidence])?;
            let likeness = likeness.first().copied().unwrap_or(0.0);
            Ok(self.decide(by_model, by_words, likeness))
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
        let likeness = self.likeness(self.weighing.evidence, sentence, candidates)?;
        let scored = candidates.iter().zip(by_model).zip(likeness);
        let scored = scored.map(|((candidate, model), likeness)| {
            let words = judge_pair(sentence, candidate).score;
            weighed(self.weighing.evidence, Opinions { model, words, likeness })
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

    const WEIGHING: Weighing = Weighing {
        support: Weights { bias: 0.0, model: 1.0, words: 0.5, likeness: 0.0 },
        evidence: Weights { bias: 0.0, model: 1.0, words: 1.0, likeness: 0.0 },
        supported: 0.5,
        partial: 0.35,
        reader: None,
    };

    fn judge(verdict: Verdict, score: f32) -> WeighedAttributor {
        WeighedAttributor::new(Arc::new(Fixed(Judgement { verdict, score })), None, WEIGHING)
    }

    /// Nothing but likeness counts.
    fn by_likeness() -> WeighedAttributor {
        let likeness = Weights { bias: -5.0, model: 0.0, words: 0.0, likeness: 10.0 };
        let reader = Some("fake".to_owned());
        let weighing = Weighing { support: likeness, evidence: likeness, reader, ..WEIGHING };
        let model = Fixed(Judgement { verdict: Verdict::Unsupported, score: 0.2 });
        WeighedAttributor::new(Arc::new(model), Some(Arc::new(FakeEncoder::new(64))), weighing)
    }

    #[tokio::test]
    async fn likeness_counts_where_an_encoder_reads() {
        let judge = by_likeness();
        assert!(judge.name().contains("likeness by"), "{}", judge.name());
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
        let words = judge_pair(apart, EVIDENCE).score;
        let expected = weighed(odds, Opinions { model: 0.55, words, likeness: 0.0 });
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
        let unread = good.replace("\"likeness\":0.0", "\"likeness\":2.0");
        assert_ne!(unread, good);
        for bad in [crossed.as_str(), "{}", "3", &good.replace("0.35", "-1"), &unread] {
            assert!(Weighing::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn certainty_has_finite_odds() {
        assert!(log_odds(0.0).is_finite() && log_odds(1.0).is_finite());
        assert!((log_odds(0.5)).abs() < 1e-6);
    }
}
