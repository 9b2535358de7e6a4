//! The few sentences above the reviews of methods; each follows from sentences of theirs.

use scholar_core::{AnswerRole, AnswerSentence, Reference};
use scholar_pipeline::modes::scirag::json;
use scholar_pipeline::write::roles::follows_from;
use serde_json::Value;

use crate::desk::{Desk, Material};
use crate::prompts;
use crate::report::{MethodReview, ReviewModule, Statement, Summary};
use crate::statements::{keys_of, without_links};

/// Suggestions in a summary. Source: paper.
const SUGGESTIONS: usize = 3;

/// The summary; [`AnswerSentence::follows`] are positions among the statements of `reviews`. `None` where nothing is there to sum
/// up, or the call failed, which is listed.
pub(crate) async fn write(
    desk: &Desk<'_>,
    reviews: &[(MethodReview, Vec<Reference>)],
) -> Option<Summary> {
    let mut all: Vec<(&Statement, Vec<usize>)> = Vec::new();
    for (review, _) in reviews {
        let before = all.len();
        all.extend(
            review
                .statements()
                .map(|one| (one, one.sentence.follows.iter().map(|at| before + at).collect())),
        );
    }
    if all.is_empty() {
        return None;
    }
    let blocks: Vec<String> = (1..)
        .zip(&all)
        .map(|(nth, (one, _))| {
            let sentence = &one.sentence;
            let part = sentence.heading.as_deref().unwrap_or_default();
            format!("[S{nth}] ({part}) {}", sentence.text)
        })
        .collect();
    let idea = ("idea", desk.idea.text.as_str());
    let material = Material { name: "statements", blocks, between: "\n" };
    let statements = desk.fit("summary", prompts::TLDR, &[idea], material);
    let values = [idea, ("statements", statements.as_str())];
    let call = desk.config.sampling.tldr;
    match desk.ask("summary", prompts::TLDR, &values, call, parse).await {
        Ok(asked) => {
            let [strengths, weaknesses, mut suggestions] = asked.value;
            suggestions.truncate(SUGGESTIONS);
            let of =
                |name, texts: Vec<String>, is_advice| sentences(desk, name, texts, is_advice, &all);
            Some(Summary {
                strengths: of("Strengths", strengths, false),
                weaknesses: of("Weaknesses", weaknesses, false),
                suggestions: of("Top suggestions", suggestions, true),
            })
        }
        Err(reason) => {
            desk.failed(ReviewModule::Soundness, "summary", "all methods", &reason);
            None
        }
    }
}

/// The sentences that follow from statements; the others are counted as unproven.
fn sentences(
    desk: &Desk<'_>,
    heading: &str,
    texts: Vec<String>,
    is_advice: bool,
    all: &[(&Statement, Vec<usize>)],
) -> Vec<Statement> {
    let mut kept = Vec::new();
    for text in texts {
        let (text, removed) = without_links(&text);
        let (keys, words) = keys_of(&text);
        let mut follows: Vec<usize> = Vec::new();
        let mut base: Vec<&str> = Vec::new();
        let mut lost = removed;
        for key in keys {
            let number = key.strip_prefix('S').and_then(|n| n.parse::<usize>().ok());
            let named =
                number.and_then(|n| n.checked_sub(1)).and_then(|at| Some((at, all.get(at)?)));
            let Some((at, (statement, theirs))) = named else {
                lost += 1;
                continue;
            };
            base.push(&statement.sentence.text);
            match statement.sentence.role {
                Some(AnswerRole::Finding) => follows.push(at),
                _ => follows.extend(theirs),
            }
        }
        Desk::count(&desk.removed, lost);
        follows.sort_unstable();
        follows.dedup();
        let is_new = !is_advice && !follows_from(&words, &base, &desk.idea.text);
        if follows.is_empty() || is_new {
            Desk::count(&desk.unproven, 1);
            continue;
        }
        let sentence = AnswerSentence {
            heading: Some(heading.to_owned()),
            paragraph_start: kept.is_empty(),
            role: Some(AnswerRole::Synthesis),
            follows,
            ..AnswerSentence::uncited(words)
        };
        kept.push(Statement { sentence, rests_on: Vec::new(), measured: None });
    }
    kept
}

/// Strengths, weaknesses and suggestions; each a list of texts or one text.
pub(crate) fn parse(value: &Value) -> Result<[Vec<String>; 3], String> {
    let of = |names: [&str; 2]| -> Vec<String> {
        let found = names.iter().find_map(|name| value.get(name));
        let texts = match found {
            Some(Value::Array(list)) => list.iter().map(|one| json::text(Some(one))).collect(),
            Some(Value::String(text)) => scholar_core::text::sentences::sentence_texts(text)
                .into_iter()
                .map(str::to_owned)
                .collect(),
            _ => Vec::new(),
        };
        texts.into_iter().filter(|text: &String| !text.trim().is_empty()).collect()
    };
    let all = [
        of(["strengths", "strengths_summary"]),
        of(["weaknesses", "weaknesses_summary"]),
        of(["suggestions", "top_3_suggestions"]),
    ];
    if all.iter().all(Vec::is_empty) {
        return Err(
            "it has none of the lists \"strengths\", \"weaknesses\", \"suggestions\"".to_owned()
        );
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_are_lists_or_texts() {
        let [strengths, weaknesses, suggestions] = parse(&json!({
            "strengths_summary": "One holds [S1]. Two holds [S2].",
            "weaknesses": ["Three [S3]."],
            "suggestions": [null, ""],
        }))
        .expect("a summary");
        assert_eq!(strengths.len(), 2);
        assert_eq!((weaknesses.len(), suggestions.len()), (1, 0));
        assert!(parse(&json!({"strengths": []})).is_err());
    }
}
