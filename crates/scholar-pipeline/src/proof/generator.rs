//! Language models as judges.
//!
//! A small model is asked one positively worded question and the margin between its Yes and No is the score; it is
//! never asked about contradiction, which it was measured to get wrong. A strong model gives one of four verdicts as
//! JSON. Which of the two is asked follows from [`GeneratorStrength`] and stands in the judge's name.

use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{
    Attributor, GenerationRequest, Generator, GeneratorStrength, Judgement, OutputShape, PortError,
    PortErrorKind, Sampling, Verdict,
};
use serde::Deserialize;
use serde_json::json;

use crate::prompts::{JUDGE_VERDICT, JUDGE_YES_NO};

/// What the calls are for, in traces.
pub const PURPOSE: &str = "judge";
/// Longest verdict in tokens.
const MAX_VERDICT_TOKENS: usize = 120;
/// Probability of Yes from which a small model supports. Ours: the even odds; not calibrated per model.
const YES: f32 = 0.5;
/// Probability of Yes from which it supports in part.
const MAYBE: f32 = 0.35;

/// A generator that judges.
pub struct GeneratorAttributor {
    generator: Arc<dyn Generator>,
    name: String,
}

impl GeneratorAttributor {
    /// A judge named after the model and the way it is asked.
    pub fn new(generator: Arc<dyn Generator>) -> Self {
        let info = generator.info();
        let way = match info.strength {
            GeneratorStrength::Small => "yes-no margin",
            GeneratorStrength::Strong => "verdict",
        };
        let name = format!("{} {way}/1", info.model);
        Self { generator, name }
    }

    async fn yes_no(&self, sentence: &str, evidence: &str) -> Result<Judgement, PortError> {
        let messages =
            JUDGE_YES_NO.render(false, &[("evidence", evidence), ("sentence", sentence)]);
        let logs = self.generator.choose(PURPOSE, &messages, &["Yes", "No"]).await?;
        let [yes, no] = logs[..] else {
            return Err(self.corrupt("two probabilities were asked for"));
        };
        let score = 1.0 / (1.0 + (no - yes).exp());
        if !score.is_finite() {
            return Err(self.corrupt("the probabilities are not numbers"));
        }
        let verdict = if score >= YES {
            Verdict::Supported
        } else if score >= MAYBE {
            Verdict::Partial
        } else {
            Verdict::Unsupported
        };
        Ok(Judgement { verdict, score })
    }

    async fn verdict(&self, sentence: &str, evidence: &str) -> Result<Judgement, PortError> {
        let request = GenerationRequest {
            purpose: PURPOSE.to_owned(),
            messages: JUDGE_VERDICT
                .render(false, &[("evidence", evidence), ("sentence", sentence)]),
            sampling: Sampling::greedy(MAX_VERDICT_TOKENS),
            shape: OutputShape::Json { name: "verdict".to_owned(), schema: verdict_schema() },
        };
        let reply = self.generator.generate(&request, &|_: &str| {}).await?;
        parse_verdict(&reply.text).ok_or_else(|| {
            self.corrupt(&format!("the reply is not a verdict: {:?}", short(&reply.text)))
        })
    }

    fn corrupt(&self, what: &str) -> PortError {
        PortError::new(
            PortErrorKind::Corrupt,
            format!("{} cannot be read as a judge: {what}", self.name),
        )
        .with_hint("choose another judge, for example the lexical one")
    }
}

#[async_trait]
impl Attributor for GeneratorAttributor {
    fn name(&self) -> &str {
        &self.name
    }

    /// Pairs with the same evidence are asked one after the other, so that an engine can re-use their prefix.
    async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by_key(|n| pairs[*n].1);
        let mut judged: Vec<Option<Judgement>> = vec![None; pairs.len()];
        for n in order {
            let (sentence, evidence) = pairs[n];
            judged[n] = Some(match self.generator.info().strength {
                GeneratorStrength::Small => self.yes_no(sentence, evidence).await?,
                GeneratorStrength::Strong => self.verdict(sentence, evidence).await?,
            });
        }
        Ok(judged.into_iter().flatten().collect())
    }
}

/// JSON Schema of a verdict.
fn verdict_schema() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": {
            "verdict": {"type": "string", "enum": ["supported", "partial", "unsupported", "contradicted"]},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        },
        "required": ["verdict", "confidence"],
        "additionalProperties": false,
    })
}

#[derive(Deserialize)]
struct VerdictReply {
    verdict: Verdict,
    confidence: f32,
}

/// The judgement in a reply: the first JSON object that is one. The score is the probability of support: the
/// confidence of a support, half of a partial one's and the complement of any other.
pub fn parse_verdict(reply: &str) -> Option<Judgement> {
    let object = reply.match_indices('{').find_map(|(at, _)| {
        serde_json::Deserializer::from_str(&reply[at..]).into_iter::<VerdictReply>().next()?.ok()
    })?;
    let VerdictReply { verdict, confidence } = object;
    if !(0.0..=1.0).contains(&confidence) {
        return None;
    }
    let score = match verdict {
        Verdict::Supported => confidence,
        Verdict::Partial => 0.5 * confidence,
        Verdict::Unsupported | Verdict::Contradicted => (1.0 - confidence) / 2.0,
    };
    Some(Judgement { verdict, score })
}

fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use scholar_testing::{Reply, ScriptedGenerator};

    use super::*;

    #[test]
    fn verdicts_are_read_and_never_guessed() {
        let check = |reply: &str, expect: Option<(Verdict, f32)>| {
            let read = parse_verdict(reply).map(|j| (j.verdict, j.score));
            assert_eq!(read, expect, "{reply}");
        };
        check(
            "{\"verdict\": \"supported\", \"confidence\": 0.75}",
            Some((Verdict::Supported, 0.75)),
        );
        check(
            "Sure! ```json\n{\"verdict\":\"contradicted\",\"confidence\":1}```",
            Some((Verdict::Contradicted, 0.0)),
        );
        check(
            "{\"a\": {\"verdict\":\"partial\",\"confidence\":0.5}}",
            Some((Verdict::Partial, 0.25)),
        );
        for bad in [
            "",
            "supported",
            "{\"verdict\": \"yes\", \"confidence\": 1}",
            "{\"verdict\": \"supported\", \"confidence\": 7}",
            "{\"verdict\":\"supp",
        ] {
            check(bad, None);
        }
    }

    #[tokio::test]
    async fn a_small_model_is_asked_yes_or_no() {
        let generator = ScriptedGenerator::new("tiny")
            .with_info(|info| info.strength = GeneratorStrength::Small)
            .choice(PURPOSE, &[-0.1, -2.4])
            .choice(PURPOSE, &[-2.4, -0.1]);
        let judge = GeneratorAttributor::new(Arc::new(generator));
        assert_eq!(judge.name(), "tiny yes-no margin/1");
        let judged =
            judge.judge(&[("s", "b"), ("s", "a")]).await.expect("two choices are scripted");
        assert_eq!(
            judged[1].verdict,
            Verdict::Supported,
            "the pair with evidence a is asked first"
        );
        assert_eq!(judged[0].verdict, Verdict::Unsupported);
        assert!((judged[0].score + judged[1].score - 1.0).abs() < 1e-5);
    }

    #[tokio::test]
    async fn an_unreadable_verdict_is_an_error() {
        let generator = ScriptedGenerator::new("big")
            .with_info(|info| info.strength = GeneratorStrength::Strong)
            .reply(PURPOSE, Reply::from("I think it is fine."));
        let judge = GeneratorAttributor::new(Arc::new(generator));
        let error = judge.judge(&[("s", "e")]).await.expect_err("no JSON in the reply");
        assert_eq!(error.kind(), PortErrorKind::Corrupt);
        assert!(error.hint().is_some());
    }
}
