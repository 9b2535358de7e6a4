//! The judge of the rubric score: how far a criterion is met, how many snippets are present, which claims have
//! citations and excerpts.

use scholar_core::PortError;
use scholar_pipeline::prompts::Prompt;
use serde_json::{Value, json};

use super::model::{Ask, ModelJudge, json_object, json_shape};
use super::{JudgePin, Judged};
use crate::metrics::rubric::{Components, ItemValue, RubricConfig, RubricItem, length_score};
use crate::metrics::text::python;
use crate::statistics::ratio;

/// How far is a criterion met?
pub const PROPERTY: Prompt =
    Prompt::new("judge/rubric_property", include_str!("../../prompts/judge/rubric_property.txt"));
/// How many snippets are present?
pub const EVIDENCE: Prompt =
    Prompt::new("judge/rubric_evidence", include_str!("../../prompts/judge/rubric_evidence.txt"));
/// Which claims are cited?
pub const CLAIMS: Prompt =
    Prompt::new("judge/rubric_claims", include_str!("../../prompts/judge/rubric_claims.txt"));

/// What the level of an answer should be. Ours; the published criterion has the same sense.
const EXPERTISE: &str = "A reader needs about as much expertise to follow the response as someone who asks this question is likely to have: neither much more nor much less.";
/// Longest score, in tokens.
const SCORE_TOKENS: usize = 100;
/// Longest list of claims, in tokens. Ours; upstream sets no limit.
const CLAIM_TOKENS: usize = 4_096;
/// Tokens of the list for each word of the response, and besides: claims and excerpts repeat it, with names around them. A small
/// model that does not find an end is stopped there.
const CLAIM_TOKENS_A_WORD: usize = 6;
const CLAIM_TOKENS_BESIDES: usize = 256;

/// Which parts of the items are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Whether the criteria are asked about.
    pub criteria: bool,
    /// Whether the snippets that show them are asked about.
    pub evidence: bool,
}

impl Parts {
    /// Both, as in the published score.
    pub const ALL: Self = Self { criteria: true, evidence: true };
}

impl ModelJudge {
    /// The pin of this judge of rubrics.
    pub fn rubric_pin(&self) -> JudgePin {
        self.pin("rubric components", &[PROPERTY, EVIDENCE, CLAIMS])
    }

    /// Values all components of `answer`. Snippets of an item are asked about only if its criterion is met at all.
    ///
    /// The length is that of `answer` as given: cut a list of references off before, or keep it to score as upstream.
    ///
    /// # Errors
    /// When the model cannot be asked.
    pub async fn rubric(
        &self,
        config: &RubricConfig,
        answer: &str,
        parts: Parts,
    ) -> Result<Components, PortError> {
        let question = config.question.as_str();
        let words = python::words(answer).count();
        let expertise = self.property(question, answer, EXPERTISE).await?;
        let (citations, excerpts) = match self.claims(question, answer).await? {
            Judged::Read((citations, excerpts)) => {
                (Judged::Read(citations), Judged::Read(excerpts))
            }
            Judged::Unreadable(why) => (Judged::Unreadable(why.clone()), Judged::Unreadable(why)),
        };
        let mut items = Vec::with_capacity(config.other_properties.len());
        for item in &config.other_properties {
            items.push(self.item(question, answer, item, parts).await?);
        }
        let length = length_score(words, config.low_length, config.high_length);
        Ok(Components { length, expertise, citations, excerpts, items })
    }

    async fn item(
        &self,
        question: &str,
        answer: &str,
        item: &RubricItem,
        parts: Parts,
    ) -> Result<ItemValue, PortError> {
        let criterion = if parts.criteria {
            Some(self.property(question, answer, &item.criterion).await?)
        } else {
            None
        };
        let wanted = parts.evidence && !item.evidence.is_empty();
        let evidence = match &criterion {
            _ if !wanted => None,
            Some(Judged::Read(value)) if *value <= 0.0 => Some(Judged::Read(0.0)),
            _ => Some(self.evidence(question, answer, &item.evidence).await?),
        };
        Ok(ItemValue { criterion, evidence })
    }

    async fn property(
        &self,
        question: &str,
        answer: &str,
        criterion: &str,
    ) -> Result<Judged<f64>, PortError> {
        let schema = json!({
            "type": "object",
            "properties": {"score": {"type": "number", "minimum": 0, "maximum": 10}},
            "required": ["score"],
            "additionalProperties": false,
        });
        let values = [("question", question), ("response", answer), ("criterion", criterion)];
        let ask = Ask {
            purpose: "rubric_property",
            prompt: PROPERTY,
            values: &values,
            shape: json_shape("score", schema),
            max_tokens: SCORE_TOKENS,
        };
        self.ask(ask, parse_property).await
    }

    async fn evidence(
        &self,
        question: &str,
        answer: &str,
        snippets: &[String],
    ) -> Result<Judged<f64>, PortError> {
        let numbered: Vec<String> =
            snippets.iter().enumerate().map(|(n, text)| format!("{}. {text}", n + 1)).collect();
        let schema = json!({
            "type": "object",
            "properties": {"present": {"type": "integer", "minimum": 0, "maximum": snippets.len()}},
            "required": ["present"],
            "additionalProperties": false,
        });
        let numbered = numbered.join("\n");
        let values = [("question", question), ("response", answer), ("snippets", &numbered)];
        let ask = Ask {
            purpose: "rubric_evidence",
            prompt: EVIDENCE,
            values: &values,
            shape: json_shape("present", schema),
            max_tokens: SCORE_TOKENS,
        };
        self.ask(ask, |reply| parse_evidence(reply, snippets.len())).await
    }

    async fn claims(&self, question: &str, answer: &str) -> Result<Judged<(f64, f64)>, PortError> {
        let texts = json!({"type": "array", "items": {"type": "string"}});
        let citation = json!({
            "type": "object",
            "properties": {"citation": {"type": "string"}, "excerpts": texts},
            "required": ["citation", "excerpts"],
        });
        let claim = json!({
            "type": "object",
            "properties": {
                "claim": {"type": "string"},
                "citations": {"type": "array", "items": citation},
            },
            "required": ["claim", "citations"],
        });
        let schema = json!({
            "type": "object",
            "properties": {"claims": {"type": "array", "items": claim}},
            "required": ["claims"],
        });
        let ask = Ask {
            purpose: "rubric_claims",
            prompt: CLAIMS,
            values: &[("question", question), ("response", answer)],
            shape: json_shape("claims", schema),
            max_tokens: claim_tokens(answer),
        };
        self.ask(ask, parse_claims).await
    }
}

/// Longest list of the claims of `answer`, in tokens.
fn claim_tokens(answer: &str) -> usize {
    let words = python::words(answer).count();
    CLAIM_TOKENS.min(words.saturating_mul(CLAIM_TOKENS_A_WORD) + CLAIM_TOKENS_BESIDES)
}

/// `score` from 0 to 10 as a share. A score outside is no score; upstream would count it.
fn parse_property(reply: &str) -> Option<f64> {
    let score = json_object(reply)?.get("score")?.as_f64()?;
    (0.0..=10.0).contains(&score).then_some(score / 10.0)
}

/// `present` of `n` snippets as a share, at most 1.
fn parse_evidence(reply: &str, n: usize) -> Option<f64> {
    let present = json_object(reply)?.get("present")?.as_f64()?;
    (present >= 0.0 && n > 0).then(|| (present / ratio(n, 1)).min(1.0))
}

/// Share of claims with a citation, and of citations with an excerpt; shares of nothing are 0.
fn parse_claims(reply: &str) -> Option<(f64, f64)> {
    let object = json_object(reply)?;
    let claims = object.get("claims")?.as_array()?;
    let citations: Vec<&Vec<Value>> =
        claims.iter().map(|claim| claim.get("citations")?.as_array()).collect::<Option<_>>()?;
    let excerpts: Vec<&Vec<Value>> = citations
        .iter()
        .flat_map(|list| list.iter())
        .map(|citation| citation.get("excerpts")?.as_array())
        .collect::<Option<_>>()?;
    let share = |lists: &[&Vec<Value>]| {
        let filled = lists.iter().filter(|list| !list.is_empty()).count();
        ratio(filled, lists.len().max(1))
    };
    Some((share(&citations), share(&excerpts)))
}

#[cfg(test)]
mod tests;
