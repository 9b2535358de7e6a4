//! Strengths, weaknesses and suggestions by dimension.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use scholar_core::Reference;
use serde_json::Value;

use super::compare::{Compared, listed, novelty};
use super::papers::text_of;
use crate::desk::{Desk, Material};
use crate::prompts;
use crate::report::{Comparison, Dimension, DimensionReview, ItemState, ReviewModule};
use crate::soundness::write::prose;
use crate::statements::{Prose, Shelf, Written, proven};

/// The reviews by dimension, and the references of each. Without comparisons nothing is written.
///
/// # Errors
/// When the encoder fails that finds evidence.
pub(crate) async fn write(
    desk: &Desk<'_>,
    dimensions: Vec<Dimension>,
    compared: &[Compared],
) -> Result<(Vec<DimensionReview>, Vec<Vec<Reference>>), String> {
    let comparisons: Vec<Comparison> = compared.iter().map(|one| one.comparison.clone()).collect();
    let (said, state) = if compared.is_empty() {
        (BTreeMap::new(), ItemState::Ok)
    } else {
        asked(desk, &dimensions, compared).await
    };
    let (mut reviews, mut references) = (Vec::new(), Vec::new());
    for dimension in dimensions {
        let id = dimension.id.clone();
        let mut review = DimensionReview {
            model_novelty: novelty(&comparisons, Some(&id)),
            dimension,
            state: state.clone(),
            strengths: Vec::new(),
            weaknesses: Vec::new(),
            suggestions: Vec::new(),
        };
        let mut own = Vec::new();
        match said.get(&id) {
            Some(texts) => own = proven_into(desk, &mut review, texts, compared).await?,
            None if matches!(state, ItemState::Failed(_)) || compared.is_empty() => {}
            None => {
                let reason = "the reply leaves it out";
                desk.failed(ReviewModule::Contribution, "synthesis", &id, reason);
                review.state = ItemState::Failed(reason.to_owned());
            }
        }
        reviews.push(review);
        references.push(own);
    }
    Ok((reviews, references))
}

async fn asked(
    desk: &Desk<'_>,
    dimensions: &[Dimension],
    compared: &[Compared],
) -> (BTreeMap<String, [String; 3]>, ItemState) {
    let blocks: Vec<String> = compared.iter().map(block).collect();
    let named = listed(dimensions);
    let values = [("idea", desk.idea.text.as_str()), ("dimensions", named.as_str())];
    let material = Material { name: "evidence", blocks, between: "\n\n" };
    let evidence = desk.fit("synthesis", prompts::SYNTHESIS, &values, material);
    let values = [values[0], values[1], ("evidence", evidence.as_str())];
    let call = desk.config.sampling.synthesis;
    let parse = |value: &Value| parse(value, dimensions);
    match desk.ask("synthesis", prompts::SYNTHESIS, &values, call, parse).await {
        Ok(asked) => (asked.value, asked.state),
        Err(reason) => {
            desk.failed(ReviewModule::Contribution, "synthesis", "all dimensions", &reason);
            (BTreeMap::new(), ItemState::Failed(reason))
        }
    }
}

async fn proven_into(
    desk: &Desk<'_>,
    review: &mut DimensionReview,
    texts: &[String; 3],
    compared: &[Compared],
) -> Result<Vec<Reference>, String> {
    let mut shelf = Shelf::default();
    for one in compared {
        shelf.put(&one.comparison.key, &one.passages());
    }
    let dimension = review.dimension.heading();
    let parts: Vec<Prose> = ["strengths", "weaknesses", "suggestions"]
        .into_iter()
        .zip(texts)
        .map(|(name, text)| Prose {
            heading: format!("{dimension}: {name}"),
            text: text.clone(),
            is_advice: name == "suggestions",
        })
        .collect();
    let proven = proven(desk, &mut shelf, &parts).await.map_err(|error| error.to_string())?;
    let Written { parts, references } = proven;
    let mut parts = parts.into_iter();
    review.strengths = parts.next().unwrap_or_default();
    review.weaknesses = parts.next().unwrap_or_default();
    review.suggestions = parts.next().unwrap_or_default();
    Ok(references)
}

/// A paper with what was noted about it.
fn block(compared: &Compared) -> String {
    let Comparison { key, overall, dimensions, .. } = &compared.comparison;
    let mut text = text_of(key, &compared.near);
    if !overall.is_empty() {
        let _infallible = write!(text, "\nBeside the plan: {overall}");
    }
    for one in dimensions.iter().filter(|one| !one.text.is_empty()) {
        let _infallible = write!(text, "\n{}: {}", one.dimension, one.text);
    }
    text
}

/// Texts by dimension, found by id or name.
pub(crate) fn parse(
    value: &Value,
    dimensions: &[Dimension],
) -> Result<BTreeMap<String, [String; 3]>, String> {
    let whole = value.get("dimensions").unwrap_or(value);
    let mut said = BTreeMap::new();
    for Dimension { id, name, statements: _, queries: _ } in dimensions {
        let found = match whole {
            Value::Object(map) => map
                .iter()
                .find(|(known, _)| *known == id || known.eq_ignore_ascii_case(name))
                .map(|(_, value)| value),
            Value::Array(list) => list.iter().find(|one| {
                let is = |field: &str, wanted: &str| {
                    let text = one.get(field).and_then(Value::as_str);
                    text.is_some_and(|text| text.eq_ignore_ascii_case(wanted))
                };
                is("id", id) || is("name", name) || is("dimension", id) || is("dimension", name)
            }),
            _ => None,
        };
        let Some(found) = found else { continue };
        let of = |field: &str| prose(found.get(field));
        let texts = [of("strengths"), of("weaknesses"), of("suggestions")];
        if texts.iter().any(|text| !text.is_empty()) {
            said.insert(id.clone(), texts);
        }
    }
    if said.is_empty() {
        return Err("it says nothing along any of the dimensions".to_owned());
    }
    Ok(said)
}
