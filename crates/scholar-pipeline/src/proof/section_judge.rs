//! A strong model as judge of neighbouring sentences, several in one structured call; a small judge beside it.
//!
//! The small judge selects what the model reads and decides what the model leaves open: a call that failed, a sentence
//! without a verdict, a verdict whose deciding words are not in the extract. A notice says how many.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_core::text::locate;
use scholar_core::text::markers::strip_foreign_markers;
use scholar_core::text::normalise::single_spaced;
use scholar_core::{
    Attributor, GenerationRequest, Generator, Judgement, Notice, NoticeKind, OutputShape,
    PortError, Sampling, Verdict,
};
use serde::Deserialize;
use serde_json::json;

use super::generator::PURPOSE;
use crate::prompts::JUDGE_SECTION;

/// Pairs of a sentence and an extract in one call: about a paragraph. Ours.
pub const PAIRS_OF_A_CALL: usize = 8;
/// Longest reply for one pair, in tokens.
const TOKENS_OF_A_PAIR: usize = 60;

/// A generator that judges paragraphs, with a small judge for the rest.
pub struct SectionAttributor {
    generator: Arc<dyn Generator>,
    small: Arc<dyn Attributor>,
    name: String,
    notices: Mutex<Vec<Notice>>,
}

impl SectionAttributor {
    /// A judge named after the model.
    pub fn new(generator: Arc<dyn Generator>, small: Arc<dyn Attributor>) -> Self {
        let name = format!("{} section verdicts/1", generator.info().model);
        Self { generator, small, name, notices: Mutex::default() }
    }

    /// The verdicts of one call, in order.
    async fn ask(&self, pairs: &[(&str, &str)]) -> Result<Vec<Option<Judgement>>, PortError> {
        let sentences = listed(pairs);
        let request = GenerationRequest {
            purpose: PURPOSE.to_owned(),
            messages: JUDGE_SECTION.render(false, &[("sentences", sentences.as_str())]),
            sampling: Sampling::greedy(TOKENS_OF_A_PAIR * pairs.len().max(2)),
            shape: OutputShape::Json { name: "verdicts".to_owned(), schema: schema() },
        };
        let reply = self.generator.generate(&request, &|_: &str| {}).await?;
        Ok(verdicts(&reply.text, pairs))
    }
}

fn listed(pairs: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (n, (sentence, evidence)) in pairs.iter().enumerate() {
        let evidence = single_spaced(&strip_foreign_markers(evidence));
        // Writing to a string cannot fail.
        let _infallible =
            writeln!(out, "{}. {}\n   Extract: {evidence}", n + 1, single_spaced(sentence));
    }
    out
}

/// JSON Schema of the verdicts.
fn schema() -> serde_json::Value {
    let verdict = json!({
        "type": "object",
        "properties": {
            "sentence": {"type": "integer", "minimum": 1},
            "verdict": {"type": "string", "enum": ["supported", "partial", "unsupported", "contradicted"]},
            "words": {"type": "string"},
        },
        "required": ["sentence", "verdict", "words"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {"verdicts": {"type": "array", "items": verdict}},
        "required": ["verdicts"],
        "additionalProperties": false,
    })
}

#[derive(Deserialize)]
struct Reply {
    verdicts: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    sentence: usize,
    verdict: Verdict,
    words: String,
}

/// Scores beside the verdicts: an order, not measured probabilities.
fn score(verdict: Verdict) -> f32 {
    match verdict {
        Verdict::Supported => 0.9,
        Verdict::Partial => 0.5,
        Verdict::Unsupported => 0.1,
        Verdict::Contradicted => 0.05,
    }
}

/// The verdicts of a reply on `pairs`, in order; `None` where there is none, or where its words are not in the extract.
/// The first about a sentence counts.
pub fn verdicts(reply: &str, pairs: &[(&str, &str)]) -> Vec<Option<Judgement>> {
    let mut judged: Vec<Option<Judgement>> = vec![None; pairs.len()];
    let object =
        reply.find('{').zip(reply.rfind('}')).map(|(from, to)| &reply[from..=to.max(from)]);
    let Some(read) = object.and_then(|text| serde_json::from_str::<Reply>(text).ok()) else {
        return judged;
    };
    for Line { sentence, verdict, words } in read.verdicts {
        let Some(at) = sentence.checked_sub(1).filter(|at| *at < pairs.len()) else { continue };
        let evidence = pairs[at].1;
        let stands = || {
            locate(&words, evidence)
                .or_else(|| locate(&words, &strip_foreign_markers(evidence)))
                .is_some()
        };
        if judged[at].is_none() && (verdict == Verdict::Unsupported || stands()) {
            judged[at] = Some(Judgement { verdict, score: score(verdict) });
        }
    }
    judged
}

#[async_trait]
impl Attributor for SectionAttributor {
    fn name(&self) -> &str {
        &self.name
    }

    async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        let mut judged = Vec::with_capacity(pairs.len());
        let mut failure = None;
        for call in pairs.chunks(PAIRS_OF_A_CALL) {
            judged.extend(match self.ask(call).await {
                Ok(verdicts) => verdicts,
                Err(error) => {
                    failure = Some(error);
                    vec![None; call.len()]
                }
            });
        }
        let open: Vec<usize> = (0..pairs.len()).filter(|at| judged[*at].is_none()).collect();
        if !open.is_empty() {
            let left: Vec<(&str, &str)> = open.iter().map(|at| pairs[*at]).collect();
            for (at, verdict) in open.iter().zip(self.small.judge(&left).await?) {
                judged[*at] = Some(verdict);
            }
            let (n, small) = (open.len(), self.small.name());
            let message = match failure {
                Some(error) => {
                    format!("{n} of {} citations were judged by {small}: {error}", pairs.len())
                }
                None => format!(
                    "{n} of {} citations were judged by {small}: the model gave no verdict with words of the passage",
                    pairs.len()
                ),
            };
            self.notices.lock().push(Notice::new(NoticeKind::Skipped, message));
        }
        Ok(judged.into_iter().flatten().collect())
    }

    async fn evidence(
        &self,
        sentence: &str,
        candidates: &[&str],
    ) -> Result<Option<Vec<f32>>, PortError> {
        self.small.evidence(sentence, candidates).await
    }

    fn finds_contradictions(&self) -> bool {
        true
    }

    fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut self.notices.lock())
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::GeneratorStrength;
    use scholar_testing::{Reply as Scripted, ScriptedGenerator};

    use super::*;
    use crate::proof::LexicalAttributor;

    const PAIRS: [(&str, &str); 3] = [
        ("Aspirin lowers risk.", "In 40 adults aspirin lowered the risk of stroke."),
        ("Graphs translate German.", "Mice were fed."),
        ("Mice were fed.", "Mice were fed."),
    ];

    #[test]
    fn a_verdict_needs_words_of_the_extract() {
        let reply = r#"{"verdicts": [
            {"sentence": 1, "verdict": "supported", "words": "aspirin lowered the risk"},
            {"sentence": 2, "verdict": "supported", "words": "graphs translate"},
            {"sentence": 3, "verdict": "unsupported", "words": ""},
            {"sentence": 9, "verdict": "partial", "words": "x"}]}"#;
        let read: Vec<Option<Verdict>> =
            verdicts(reply, &PAIRS).into_iter().map(|one| one.map(|one| one.verdict)).collect();
        assert_eq!(read, [Some(Verdict::Supported), None, Some(Verdict::Unsupported)]);
        assert!(verdicts("I think so.", &PAIRS).iter().all(Option::is_none));
    }

    #[tokio::test]
    async fn the_small_judge_decides_what_is_left_open_and_a_notice_says_so() {
        let reply =
            r#"{"verdicts": [{"sentence": 1, "verdict": "partial", "words": "aspirin lowered"}]}"#;
        let generator = ScriptedGenerator::new("big")
            .with_info(|info| info.strength = GeneratorStrength::Strong)
            .reply(PURPOSE, Scripted::from(reply));
        let judge = SectionAttributor::new(Arc::new(generator), Arc::new(LexicalAttributor::new()));
        let judged = judge.judge(&PAIRS).await.expect("the small judge does not fail");
        let verdicts: Vec<Verdict> = judged.iter().map(|one| one.verdict).collect();
        assert_eq!(verdicts, [Verdict::Partial, Verdict::Unsupported, Verdict::Supported]);
        let notices = judge.take_notices();
        assert!(notices[0].message.starts_with("2 of 3 citations were judged by lexical/1"));
        assert!(judge.take_notices().is_empty());
    }
}
