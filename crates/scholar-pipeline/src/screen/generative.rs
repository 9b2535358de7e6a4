//! Screening with a language model: one structured call per paper, whose quotations must be in the paper.

use std::fmt::Write as _;
use std::sync::Arc;

use scholar_core::text::locate;
use scholar_core::text::markers::strip_foreign_markers;
use scholar_core::text::normalise::single_spaced;
use scholar_core::{GenerationRequest, Generator, OutputShape, PortError, Sampling};
use serde::Deserialize;
use serde_json::json;

use super::criteria::{Criterion, CriterionKind};
use super::decision::{Basis, CriterionDecision, Finding, ScreenQuote};
use super::evidence::{Screened, undecided, without_text};
use super::paper::{ScreenPaper, quoted};
use crate::prompts::SCREEN_CRITERIA;

/// What the calls are for, in traces and tests.
pub const GENERATIVE_PURPOSE: &str = "screen";
/// Longest reply for one criterion, in tokens: a verdict and a long sentence.
const TOKENS_OF_A_CRITERION: usize = 160;
/// Most tokens of a paper's text that are shown. Ours: title and abstract, or the first pages of a whole paper.
const TEXT_TOKENS: usize = 6_000;
/// Tokens kept free for what stands around text and reply.
const SLACK_TOKENS: usize = 64;

/// Decides by asking a language model.
pub struct GenerativeScreener {
    generator: Arc<dyn Generator>,
    review: String,
}

impl GenerativeScreener {
    /// A screener for the review called `review`.
    pub fn new(generator: Arc<dyn Generator>, review: &str) -> Self {
        Self { generator, review: review.to_owned() }
    }

    /// What decides: decisions by another model or prompt are made anew.
    pub fn method(&self) -> String {
        format!("generative/1 {} {}", self.generator.info().model, SCREEN_CRITERIA.fingerprint())
    }

    /// Decides on `paper` by each of `criteria`, in order, in one call.
    ///
    /// # Errors
    /// When the call fails. A reply that cannot be read is no error: it leaves every criterion unclear.
    pub async fn screen(
        &self,
        paper: &ScreenPaper,
        criteria: &[&Criterion],
    ) -> Result<Screened, PortError> {
        if !paper.has_text() {
            let decisions = criteria.iter().map(|criterion| without_text(criterion)).collect();
            return Ok(Screened { decisions, unread: 0 });
        }
        let listed = listed(criteria);
        let max_tokens = TOKENS_OF_A_CRITERION * criteria.len().max(2);
        let (text, unread) = self.text(paper, &listed, max_tokens);
        let values = [
            ("review", self.review.as_str()),
            ("criteria", listed.as_str()),
            ("title", paper.title.as_str()),
            ("text", text.as_str()),
        ];
        let request = GenerationRequest {
            purpose: GENERATIVE_PURPOSE.to_owned(),
            messages: SCREEN_CRITERIA.render(false, &values),
            sampling: Sampling::greedy(max_tokens),
            shape: OutputShape::Json { name: "verdicts".to_owned(), schema: schema(criteria) },
        };
        let reply = self.generator.generate(&request, &|_: &str| {}).await?;
        let verdicts = read(&reply.text);
        let decisions = criteria.iter().map(|criterion| {
            let verdict = verdicts.iter().find(|line| line.criterion == criterion.id);
            decided(paper, criterion, verdict, unread > 0)
        });
        Ok(Screened { decisions: decisions.collect(), unread })
    }

    /// The prose of the paper as far as it fits, and how many passages do not.
    fn text(&self, paper: &ScreenPaper, criteria: &str, reply_tokens: usize) -> (String, usize) {
        let count = |text: &str| self.generator.count_tokens(text);
        let around: usize = SCREEN_CRITERIA
            .render(
                false,
                &[
                    ("review", &self.review),
                    ("criteria", criteria),
                    ("title", &paper.title),
                    ("text", ""),
                ],
            )
            .iter()
            .map(|message| count(&message.content))
            .sum();
        let context = self.generator.info().context_tokens;
        let room = context.saturating_sub(around + reply_tokens + SLACK_TOKENS).min(TEXT_TOKENS);
        let (mut text, mut used, mut unread) = (String::new(), 0, 0);
        for (at, passage) in paper.prose() {
            let shown = single_spaced(&strip_foreign_markers(&passage.text));
            used += count(&shown);
            // The first passage is shown in any case: a call about nothing would be of no use.
            if unread > 0 || (used > room && at > 0 && !text.is_empty()) {
                unread += 1;
                continue;
            }
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&shown);
        }
        (text, unread)
    }
}

fn listed(criteria: &[&Criterion]) -> String {
    let mut out = String::new();
    for criterion in criteria {
        let kind = match criterion.kind {
            CriterionKind::Include => "papers must fit it",
            CriterionKind::Exclude => "papers that fit it are left out",
        };
        // Writing to a string cannot fail.
        let _infallible =
            writeln!(out, "- {} ({kind}): {}", criterion.id, single_spaced(&criterion.text));
    }
    out.truncate(out.trim_end().len());
    out
}

/// JSON Schema of the verdicts.
fn schema(criteria: &[&Criterion]) -> serde_json::Value {
    let ids: Vec<&str> = criteria.iter().map(|criterion| criterion.id.as_str()).collect();
    let verdict = json!({
        "type": "object",
        "properties": {
            "criterion": {"type": "string", "enum": ids},
            "verdict": {"type": "string", "enum": ["met", "not_met", "absent", "unclear"]},
            "quote": {"type": "string"},
        },
        "required": ["criterion", "verdict", "quote"],
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
    criterion: String,
    verdict: Verdict,
    #[serde(default)]
    quote: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Met,
    NotMet,
    Absent,
    Unclear,
}

/// The verdicts of a reply; none of one that cannot be read.
fn read(reply: &str) -> Vec<Line> {
    let object =
        reply.find('{').zip(reply.rfind('}')).map(|(from, to)| &reply[from..=to.max(from)]);
    let parsed = object.and_then(|text| serde_json::from_str::<Reply>(text).ok());
    parsed.map(|reply| reply.verdicts).unwrap_or_default()
}

/// Scores beside the verdicts: an order, not measured probabilities.
fn score(finding: Finding) -> f32 {
    match finding {
        Finding::Met => 0.9,
        Finding::Unclear => 0.5,
        Finding::NotMet => 0.1,
    }
}

fn decided(
    paper: &ScreenPaper,
    criterion: &Criterion,
    verdict: Option<&Line>,
    cut: bool,
) -> CriterionDecision {
    let Some(Line { verdict, quote, .. }) = verdict else {
        return undecided(criterion, Basis::NoVerdict);
    };
    let place = located(paper, quote);
    let (finding, basis) = match (verdict, place.is_some()) {
        (Verdict::Met, true) => (Finding::Met, Basis::Stated),
        (Verdict::NotMet, true) => (Finding::NotMet, Basis::ContraryStated),
        (Verdict::Met | Verdict::NotMet, false) => (Finding::Unclear, Basis::NotLocated),
        // What was not shown may hold it.
        (Verdict::Absent, _) if !cut => (Finding::NotMet, Basis::NoSign),
        (Verdict::Absent | Verdict::Unclear, _) => (Finding::Unclear, Basis::Undecided),
    };
    CriterionDecision {
        decision: finding.decision(criterion.kind),
        finding,
        score: score(finding),
        quote: place,
        ..undecided(criterion, basis)
    }
}

/// Where the paper says `words`.
fn located(paper: &ScreenPaper, words: &str) -> Option<ScreenQuote> {
    paper.prose().find_map(|(_, passage)| {
        let span = locate(words, &passage.text)?;
        Some(quoted(passage, span, span.slice(&passage.text)?))
    })
}

#[cfg(test)]
mod tests {
    use scholar_testing::{Reply as Scripted, ScriptedGenerator};

    use super::super::decision::Decision;
    use super::super::paper::tests::paper;
    use super::*;

    fn criteria() -> Vec<Criterion> {
        let of =
            |id: &str, kind| Criterion { id: id.to_owned(), text: format!("about {id}"), kind };
        vec![
            of("human", CriterionKind::Include),
            of("pk", CriterionKind::Include),
            of("animal", CriterionKind::Exclude),
            of("language", CriterionKind::Include),
        ]
    }

    async fn screened(reply: &str) -> Vec<CriterionDecision> {
        let generator =
            ScriptedGenerator::new("big").reply(GENERATIVE_PURPOSE, Scripted::from(reply));
        let screener = GenerativeScreener::new(Arc::new(generator), "Emicizumab in humans");
        let criteria = criteria();
        let criteria: Vec<&Criterion> = criteria.iter().collect();
        let paper = paper(1, "Emicizumab", "We gave emicizumab to 40 patients. Clearance was low.");
        screener.screen(&paper, &criteria).await.expect("screened").decisions
    }

    #[tokio::test]
    async fn a_verdict_needs_words_of_the_paper() {
        let decisions = screened(
            r#"{"verdicts": [
                {"criterion": "human", "verdict": "met", "quote": "emicizumab to 40 patients"},
                {"criterion": "pk", "verdict": "not_met", "quote": "no pharmacokinetics were studied"},
                {"criterion": "animal", "verdict": "absent", "quote": ""},
                {"criterion": "unknown", "verdict": "met", "quote": "Clearance"}]}"#,
        )
        .await;
        let found: Vec<(Decision, Basis)> =
            decisions.iter().map(|one| (one.decision, one.basis)).collect();
        assert_eq!(
            found,
            [
                (Decision::Include, Basis::Stated),
                (Decision::Unclear, Basis::NotLocated),
                (Decision::Include, Basis::NoSign),
                (Decision::Unclear, Basis::NoVerdict),
            ]
        );
        let quote = decisions[0].quote.as_ref().expect("located");
        assert_eq!((quote.start, quote.end), (8, 33));
    }

    #[tokio::test]
    async fn a_reply_that_is_no_json_excludes_nothing() {
        for reply in
            ["Exclude it!", "{\"verdicts\": 3}", "{\"verdicts\": [{\"criterion\": \"human\"}]}"]
        {
            let decisions = screened(reply).await;
            assert!(decisions.iter().all(|one| one.decision == Decision::Unclear), "{reply}");
        }
    }

    #[tokio::test]
    async fn a_paper_without_text_is_not_asked_about() {
        let generator = Arc::new(ScriptedGenerator::new("big"));
        let screener = GenerativeScreener::new(generator.clone(), "Emicizumab");
        let criteria = criteria();
        let unread =
            screener.screen(&paper(1, "Title", ""), &[&criteria[0]]).await.expect("no call");
        assert_eq!(unread.decisions[0].basis, Basis::NoText);
        assert!(generator.requests().is_empty());
    }
}
