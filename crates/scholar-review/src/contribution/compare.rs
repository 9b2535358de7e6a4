//! The nearest papers beside the idea, along its dimensions.

use std::collections::BTreeMap;

use futures::StreamExt as _;
use scholar_core::Retrieved;
use scholar_pipeline::modes::scirag::json;
use serde_json::Value;

use super::papers::{Near, text_of};
use crate::desk::{Desk, Material};
use crate::prompts;
use crate::report::{Comparison, Dimension, DimensionComparison, ItemState, Novelty, ReviewModule};

/// A comparison with the passages it was made over.
pub(crate) struct Compared {
    pub(crate) comparison: Comparison,
    pub(crate) near: Near,
}

impl Compared {
    /// Passages of the paper, the abstract first.
    pub(crate) fn passages(&self) -> Vec<Retrieved> {
        [self.near.opening.clone()].into_iter().chain(self.near.passages.iter().cloned()).collect()
    }
}

/// What a reply says of one paper.
type Said = (String, Vec<DimensionComparison>);

/// The comparisons in the order of `sample`. A paper whose comparison failed is left out and listed.
pub(crate) async fn compare(
    desk: &Desk<'_>,
    dimensions: &[Dimension],
    sample: Vec<Near>,
) -> Vec<Compared> {
    let each = desk.config.contribution.papers_per_comparison.max(1);
    let keyed: Vec<(String, Near)> =
        (1..).zip(sample).map(|(nth, near)| (format!("E{nth}"), near)).collect();
    if desk.config.ablation.pc || dimensions.is_empty() {
        let unsaid = |(key, near)| compared(key, near, ItemState::Ok, (String::new(), Vec::new()));
        return keyed.into_iter().map(unsaid).collect();
    }
    let replies: Vec<_> = futures::stream::iter((1..).zip(keyed.chunks(each)))
        .map(|(nth, batch)| batch_of(desk, dimensions, batch, nth))
        .buffered(desk.config.concurrency.max(1))
        .collect()
        .await;
    let mut said: BTreeMap<String, (Said, ItemState)> = BTreeMap::new();
    for reply in replies.into_iter().flatten() {
        said.extend(reply);
    }
    let with_said = |(key, near): (String, Near)| {
        let (said, state) = said.remove(&key)?;
        Some(compared(key, near, state, said))
    };
    keyed.into_iter().filter_map(with_said).collect()
}

fn compared(key: String, near: Near, state: ItemState, (overall, dimensions): Said) -> Compared {
    let read = [&near.opening].into_iter().chain(&near.passages);
    let comparison = Comparison {
        key,
        paper: near.scored.clone(),
        passages: read.map(|hit| hit.passage.id.clone()).collect(),
        state,
        overall,
        dimensions,
    };
    Compared { comparison, near }
}

async fn batch_of(
    desk: &Desk<'_>,
    dimensions: &[Dimension],
    batch: &[(String, Near)],
    nth: usize,
) -> Option<Vec<(String, (Said, ItemState))>> {
    let blocks: Vec<String> = batch.iter().map(|(key, near)| text_of(key, near)).collect();
    let named = listed(dimensions);
    let purpose = format!("compare {nth}");
    let values = [("idea", desk.idea.text.as_str()), ("dimensions", named.as_str())];
    let material = Material { name: "papers", blocks, between: "\n\n" };
    let papers = desk.fit(&purpose, prompts::COMPARE, &values, material);
    let values = [values[0], values[1], ("papers", papers.as_str())];
    let keys: Vec<&str> = batch.iter().map(|(key, _)| key.as_str()).collect();
    let parse = |value: &Value| parse(value, &keys, dimensions);
    let asked =
        desk.ask(&purpose, prompts::COMPARE, &values, desk.config.sampling.compare, parse).await;
    let fail = |key: &str, reason: &str| {
        let near = batch.iter().find(|(known, _)| known == key).map(|(_, near)| near);
        let title =
            near.map_or_else(String::new, |near| near.scored.paper.display_title().into_owned());
        desk.failed(ReviewModule::Contribution, "comparison", &title, reason);
    };
    match asked {
        Ok(asked) => {
            for key in &keys {
                if !asked.value.contains_key(*key) {
                    fail(key, "the reply leaves it out");
                }
            }
            let state = asked.state;
            Some(asked.value.into_iter().map(|(key, said)| (key, (said, state.clone()))).collect())
        }
        Err(reason) => {
            keys.iter().for_each(|key| fail(key, &reason));
            None
        }
    }
}

/// `D1 methodology: statement; statement`, a line each.
pub(crate) fn listed(dimensions: &[Dimension]) -> String {
    let line = |one: &Dimension| format!("{} {}: {}", one.id, one.name, one.statements.join(" "));
    dimensions.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What the reply says of each paper. A score other than −1, 0 and 1 is an error, as is a dimension or key nobody gave out.
pub(crate) fn parse(
    value: &Value,
    keys: &[&str],
    dimensions: &[Dimension],
) -> Result<BTreeMap<String, Said>, String> {
    let alone;
    let list = match value {
        Value::Array(list) => list,
        other => match json::list(other, &["papers"]) {
            Ok(list) => list,
            Err(problem)
                if other.get("dimensions").is_none()
                    && other.get("dimension_comparisons").is_none() =>
            {
                return Err(problem);
            }
            Err(_) => {
                alone = vec![other.clone()];
                &alone
            }
        },
    };
    let mut said = BTreeMap::new();
    for one in list {
        let key = json::text(one.get("key"));
        let key = match (key.trim_matches(['[', ']']), keys) {
            ("", [only]) => (*only).to_owned(),
            (key, _) => key.to_owned(),
        };
        if !keys.contains(&key.as_str()) {
            return Err(format!("its key {key:?} is not one of {}", keys.join(", ")));
        }
        let overall = json::text(one.get("overall").or_else(|| one.get("overall_comparison")));
        let along = one.get("dimensions").or_else(|| one.get("dimension_comparisons"));
        let Some(along) = along.and_then(Value::as_object) else {
            return Err(format!("{key} has no object \"dimensions\""));
        };
        let mut compared = Vec::new();
        for dimension in dimensions {
            let Dimension { id, name, statements: _, queries: _ } = dimension;
            let found =
                along.iter().find(|(known, _)| *known == id || known.eq_ignore_ascii_case(name));
            let Some((_, found)) = found else { continue };
            let score = match found.get("score") {
                Some(Value::Number(number)) => number.as_i64(),
                Some(Value::String(text)) => text.trim().trim_start_matches('+').parse().ok(),
                _ => None,
            };
            let Some(novelty) = score.and_then(Novelty::of_value) else {
                return Err(format!("the score of {key} along {id} is not -1, 0 or 1"));
            };
            let text = json::text(found.get("comparison"));
            compared.push(DimensionComparison { dimension: id.clone(), text, novelty });
        }
        if compared.is_empty() {
            return Err(format!("{key} is compared along none of the dimensions"));
        }
        said.entry(key).or_insert((overall, compared));
    }
    if said.is_empty() {
        return Err("it compares no paper".to_owned());
    }
    Ok(said)
}

/// Mean of the scores, of one dimension or of all; `None` where there is none.
#[expect(clippy::cast_precision_loss, reason = "a handful of papers")]
pub(crate) fn novelty(comparisons: &[Comparison], dimension: Option<&str>) -> Option<f32> {
    let all = comparisons.iter().flat_map(|one| &one.dimensions);
    let scores: Vec<f32> = all
        .filter(|one| dimension.is_none_or(|id| one.dimension == id))
        .map(|one| f32::from(one.novelty.value()))
        .collect();
    (!scores.is_empty()).then(|| scores.iter().sum::<f32>() / scores.len() as f32)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn dimensions() -> Vec<Dimension> {
        ["data", "method"]
            .iter()
            .zip(1..)
            .map(|(name, nth)| Dimension {
                id: format!("D{nth}"),
                name: (*name).to_owned(),
                statements: vec!["x".to_owned()],
                queries: Vec::new(),
            })
            .collect()
    }

    #[test]
    fn only_minus_one_zero_and_one_are_scores() {
        let check = |score: Value| {
            let reply = json!({"papers": [{"key": "E1", "overall": "o", "dimensions": {
                "D1": {"comparison": "c", "score": score}}}]});
            parse(&reply, &["E1", "E2"], &dimensions()).map(|said| said["E1"].1[0].novelty)
        };
        assert_eq!(check(json!(1)), Ok(Novelty::Idea));
        assert_eq!(check(json!("-1")), Ok(Novelty::Paper));
        assert_eq!(check(json!("+1")), Ok(Novelty::Idea));
        for wrong in [json!(2), json!(0.5), json!(null), json!("tie")] {
            assert!(check(wrong).is_err());
        }
        let by_name = json!({"dimensions": {"Method": {"score": 0}}});
        assert_eq!(
            parse(&by_name, &["E1"], &dimensions()).expect("one")["E1"].1[0].dimension,
            "D2"
        );
        assert!(parse(&json!({"papers": []}), &["E1"], &dimensions()).is_err());
    }

    #[test]
    fn no_comparison_has_no_mean() {
        assert_eq!(novelty(&[], None), None);
    }
}
