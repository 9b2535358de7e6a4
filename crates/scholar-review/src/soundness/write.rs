//! The review of one method over its evidence.

use std::fmt::Write as _;

use scholar_core::{Reference, Retrieved};
use scholar_pipeline::modes::scirag::json;
use serde_json::Value;

use super::methods::Planned;
use super::read::{Read, text_of};
use crate::desk::{Desk, Material};
use crate::prompts;
use crate::report::{Evidence, ItemState, MethodReview, ReviewModule, Summarised};
use crate::statements::{Prose, Shelf, Written, proven};

/// Writes and proves the review of a method; a failure is its state.
pub(crate) async fn review(
    desk: &Desk<'_>,
    planned: Planned,
    read: Read,
) -> (MethodReview, Vec<Reference>) {
    let Planned { method, query } = planned;
    let Read { papers, irrelevant, problem } = read;
    let mut review = MethodReview {
        method,
        state: ItemState::Ok,
        query,
        evidence: papers.iter().map(|(evidence, _)| evidence.clone()).collect(),
        irrelevant,
        support: Vec::new(),
        contradictions: Vec::new(),
        suggested_action: Vec::new(),
        related: Vec::new(),
        model_score: None,
    };
    if let Some(problem) = problem {
        fail(desk, &mut review, &problem);
        return (review, Vec::new());
    }
    if papers.is_empty() {
        return (review, Vec::new());
    }
    match written(desk, &mut review, &papers).await {
        Ok(references) => (review, references),
        Err(problem) => {
            fail(desk, &mut review, &problem);
            (review, Vec::new())
        }
    }
}

fn fail(desk: &Desk<'_>, review: &mut MethodReview, problem: &str) {
    desk.failed(ReviewModule::Soundness, "method_review", &review.method.id, problem);
    review.state = ItemState::Failed(problem.to_owned());
}

async fn written(
    desk: &Desk<'_>,
    review: &mut MethodReview,
    papers: &[(Evidence, Vec<Retrieved>)],
) -> Result<Vec<Reference>, String> {
    let blocks: Vec<String> = papers.iter().map(|(one, hits)| block(one, hits)).collect();
    let purpose = format!("method review {}", review.method.id);
    let values = [("idea", desk.idea.text.as_str()), ("method", review.method.text.as_str())];
    let material = Material { name: "evidence", blocks, between: "\n\n" };
    let evidence = desk.fit(&purpose, prompts::METHOD_REVIEW, &values, material);
    let values = [values[0], values[1], ("evidence", evidence.as_str())];
    let call = desk.config.sampling.review;
    let asked = desk.ask(&purpose, prompts::METHOD_REVIEW, &values, call, parse).await?;
    let Reply { texts, score } = asked.value;
    let mut shelf = Shelf::default();
    for (one, hits) in papers {
        shelf.put(&one.key, hits);
    }
    let method = review.method.heading();
    let headings = ["support", "contradictions", "suggested action"];
    let parts: Vec<Prose> = headings
        .into_iter()
        .zip(texts)
        .map(|(name, text)| Prose {
            heading: format!("{method}: {name}"),
            text,
            is_advice: name == "suggested action",
        })
        .collect();
    let proven = proven(desk, &mut shelf, &parts).await;
    let Written { parts, references } = proven.map_err(|error| error.to_string())?;
    let mut parts = parts.into_iter();
    review.support = parts.next().unwrap_or_default();
    review.contradictions = parts.next().unwrap_or_default();
    review.suggested_action = parts.next().unwrap_or_default();
    review.state = asked.state;
    review.model_score = score;
    Ok(references)
}

/// A paper as the review is written from: what was found in it, and without summaries its passages.
fn block(evidence: &Evidence, passages: &[Retrieved]) -> String {
    if evidence.summarised.is_empty() {
        return text_of(evidence, passages);
    }
    let mut text = text_of(evidence, &[]);
    for Summarised { method, results, context } in &evidence.summarised {
        for (name, words) in [("Method", method), ("Results", results), ("Context", context)] {
            if !words.is_empty() {
                let _infallible = write!(text, "\n{name}: {words}");
            }
        }
    }
    text
}

/// Support, contradictions, advice; and the score where there is one.
#[derive(Debug, PartialEq)]
pub(crate) struct Reply {
    pub(crate) texts: [String; 3],
    pub(crate) score: Option<f32>,
}

pub(crate) fn parse(value: &Value) -> Result<Reply, String> {
    let of = |name: &str| prose(value.get(name));
    let texts = [of("support"), of("contradictions"), of("suggested_action")];
    if texts.iter().all(String::is_empty) {
        return Err(
            "it has none of the texts \"support\", \"contradictions\", \"suggested_action\""
                .to_owned(),
        );
    }
    Ok(Reply { texts, score: score(value.get("score").or_else(|| value.get("soundness_score"))) })
}

/// A text, or a list of texts joined.
pub(crate) fn prose(value: Option<&Value>) -> String {
    match value {
        Some(Value::Array(list)) => {
            let texts = list.iter().map(|one| json::text(Some(one)));
            texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
        }
        other => json::text(other),
    }
}

/// A number from 0 to 10, also as text; anything else is none.
fn score(value: Option<&Value>) -> Option<f32> {
    let score = match value? {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().trim_end_matches("/10").parse().ok()?,
        _ => return None,
    };
    #[expect(clippy::cast_possible_truncation, reason = "the value is between 0 and 10")]
    (0.0..=10.0).contains(&score).then_some(score as f32)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_may_be_lists_and_scores_may_be_texts() {
        let reply = parse(&json!({"support": ["A.", "B."], "score": "7/10"})).expect("a review");
        assert_eq!(reply.texts, ["A. B.", "", ""]);
        assert_eq!(reply.score, Some(7.0));
        assert_eq!(score(Some(&json!(11))), None);
        assert_eq!(score(Some(&json!(null))), None);
        assert!(parse(&json!({"score": 3})).is_err(), "a score alone is no review");
    }
}
