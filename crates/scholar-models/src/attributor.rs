//! A trained judge of support: claim and evidence read together, three classes, calibrated.
//!
//! Steps: a cross-encoder of three logits reads each pair, the claim without citation markers; the logits are divided by the temperature of
//! `calibration.json` and become probabilities; [`verdict`] turns them into one of the port's four verdicts. The same
//! model says which sentence of a passage is the evidence: the one that is least likely to be neither.

mod calibration;
mod labels;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::text::markers::strip_citations;
use scholar_core::{Attributor, Judgement, PortError, PortErrorKind, Verdict};

use self::calibration::Calibration;
use self::labels::Labels;
use crate::batcher::{Batcher, QUEUE_TOKENS};
use crate::cross_encoder::CrossEncoderOptions;
use crate::cross_encoder::classifier::Classifier;
use crate::error::ModelError;

/// Calibrated probabilities of the three classes; they add up to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stance {
    /// The evidence states what the claim states.
    pub supports: f32,
    /// It states the opposite.
    pub contradicts: f32,
    /// It does not decide.
    pub neither: f32,
}

/// A cross-encoder that judges.
pub struct TrainedAttributor {
    name: String,
    model: Arc<Model>,
    batcher: Batcher,
}

struct Model {
    classifier: Classifier,
    labels: Labels,
    calibration: Calibration,
}

impl TrainedAttributor {
    /// Opens the model in folder `dir`: `config.json` whose `id2label` names the three classes, a weight file, a tokenizer
    /// file and, where present, `calibration.json`. `name` is its catalog name.
    ///
    /// # Errors
    /// When a file is absent, damaged or unsupported, the classes are others, or `options` cannot be met.
    pub fn open(dir: &Path, name: &str, options: CrossEncoderOptions) -> Result<Self, ModelError> {
        let labels = Labels::read(dir)?;
        let calibration = Calibration::read(dir)?;
        let classifier = Classifier::open(dir, name, &options, Labels::COUNT, "a judge")?;
        let short = name.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(name);
        Ok(Self {
            name: format!("{short}/{} ({})", calibration.version, classifier.digest),
            model: Arc::new(Model { classifier, labels, calibration }),
            batcher: Batcher::start("scholar-attributor-0", name, QUEUE_TOKENS)?,
        })
    }

    /// Whether the model in folder `dir` has the three classes of a judge.
    pub fn is_judge(dir: &Path) -> bool {
        Labels::read(dir).is_ok()
    }

    /// Tokens of a pair as it is read, cut at the limit.
    ///
    /// # Errors
    /// When the tokenizer refuses a text.
    pub fn count_tokens(&self, claim: &str, evidence: &str) -> Result<usize, ModelError> {
        self.model.classifier.count_tokens(claim, evidence)
    }

    /// Which instructions and numbers compute the products, for example `avx512 bf16`.
    pub fn engine(&self) -> &'static str {
        self.model.classifier.engine()
    }

    /// Raw logits of (claim, evidence) pairs in the order supports, contradicts, neither, on the caller's threads.
    ///
    /// # Errors
    /// When the tokenizer refuses a text.
    pub fn logits(&self, pairs: &[(&str, &str)]) -> Result<Vec<[f32; 3]>, ModelError> {
        self.model.logits(pairs)
    }

    /// Calibrated probabilities of (claim, evidence) pairs, on the caller's threads.
    ///
    /// # Errors
    /// When the tokenizer refuses a text.
    pub fn stances(&self, pairs: &[(&str, &str)]) -> Result<Vec<Stance>, ModelError> {
        self.model.stances(pairs)
    }

    async fn on_thread<T: Send + 'static>(
        &self,
        pairs: &[(&str, &str)],
        work: impl FnOnce(&Model, &[(&str, &str)]) -> Result<T, PortError> + Send + 'static,
    ) -> Result<T, PortError> {
        let model = Arc::clone(&self.model);
        let cost = pairs.len() * model.classifier.limit;
        let pairs: Vec<(String, String)> = pairs
            .iter()
            .map(|(claim, evidence)| (strip_citations(claim), (*evidence).to_owned()))
            .collect();
        self.batcher
            .run(cost, move || {
                let pairs: Vec<(&str, &str)> =
                    pairs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
                work(&model, &pairs)
            })
            .await?
    }
}

impl Model {
    fn logits(&self, pairs: &[(&str, &str)]) -> Result<Vec<[f32; 3]>, ModelError> {
        let Labels { supports, contradicts, neither } = self.labels;
        let rows = self.classifier.logits(pairs)?;
        Ok(rows.iter().map(|row| [row[supports], row[contradicts], row[neither]]).collect())
    }

    fn stances(&self, pairs: &[(&str, &str)]) -> Result<Vec<Stance>, ModelError> {
        let rows = self.logits(pairs)?;
        Ok(rows.into_iter().map(|row| stance(row, self.calibration.temperature)).collect())
    }

    fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        let judged = self.stances(pairs)?.into_iter().map(|stance| {
            let verdict = verdict(stance, &self.calibration);
            finite(stance.supports).map(|score| Judgement { verdict, score })
        });
        judged.collect()
    }
}

/// `softmax(logits / temperature)`.
fn stance(logits: [f32; 3], temperature: f32) -> Stance {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let [supports, contradicts, neither] = logits.map(|logit| ((logit - most) / temperature).exp());
    let sum = supports + contradicts + neither;
    Stance { supports: supports / sum, contradicts: contradicts / sum, neither: neither / sum }
}

/// The port's verdict: the first of supported, contradicted and partly supported whose probability reaches its
/// threshold, else unsupported.
///
/// Ours: three classes say nothing of parts. A pair that the model calls undecided, yet more likely supported than
/// contradicted and not far from it, is one where the evidence says less than the claim or says it of something narrower.
fn verdict(stance: Stance, calibration: &Calibration) -> Verdict {
    let Stance { supports, contradicts, neither: _ } = stance;
    if supports >= calibration.supported && supports >= contradicts {
        Verdict::Supported
    } else if contradicts >= calibration.contradicted {
        Verdict::Contradicted
    } else if supports >= calibration.partial && supports > contradicts {
        Verdict::Partial
    } else {
        Verdict::Unsupported
    }
}

fn finite(value: f32) -> Result<f32, PortError> {
    if value.is_finite() {
        return Ok(value);
    }
    let message = "the judge computed a probability that is not a number";
    Err(PortError::new(PortErrorKind::Corrupt, message)
        .with_hint("check the model with `openscholar models verify NAME`"))
}

#[async_trait]
impl Attributor for TrainedAttributor {
    fn name(&self) -> &str {
        &self.name
    }

    async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        self.on_thread(pairs, Model::judge).await
    }

    async fn evidence(
        &self,
        sentence: &str,
        candidates: &[&str],
    ) -> Result<Option<Vec<f32>>, PortError> {
        let pairs: Vec<(&str, &str)> = candidates.iter().map(|text| (sentence, *text)).collect();
        let scores = self.on_thread(&pairs, |model, pairs| {
            let stances = model.stances(pairs)?;
            // The sum rather than 1 - neither: small numbers keep their digits.
            stances.iter().map(|stance| finite(stance.supports + stance.contradicts)).collect()
        });
        Ok(Some(scores.await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_add_up_and_a_temperature_flattens_them() {
        let sharp = stance([3.0, 1.0, -2.0], 1.0);
        let flat = stance([3.0, 1.0, -2.0], 4.0);
        for Stance { supports, contradicts, neither } in [sharp, flat] {
            assert!((supports + contradicts + neither - 1.0).abs() < 1e-6);
            assert!(supports > contradicts && contradicts > neither);
        }
        assert!((sharp.supports - 0.875_67).abs() < 1e-4 && flat.supports < sharp.supports);
        let extreme = stance([1e4, -1e4, 0.0], 1.0);
        assert!((extreme.supports - 1.0).abs() < 1e-6, "no overflow");
    }

    #[test]
    fn verdicts_follow_the_thresholds() {
        let calibration = Calibration::default();
        let check = |supports: f32, contradicts: f32, expect: Verdict| {
            let stance = Stance { supports, contradicts, neither: 1.0 - supports - contradicts };
            assert_eq!(verdict(stance, &calibration), expect, "{stance:?}");
        };
        check(0.9, 0.05, Verdict::Supported);
        check(0.05, 0.9, Verdict::Contradicted);
        check(0.42, 0.08, Verdict::Partial);
        check(0.42, 0.45, Verdict::Unsupported);
        check(0.1, 0.1, Verdict::Unsupported);
        assert!(finite(f32::NAN).is_err());
    }
}
