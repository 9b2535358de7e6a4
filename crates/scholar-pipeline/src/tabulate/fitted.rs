//! Scores of candidates, fitted on the development half of the articles of Evidence Inference.
//!
//! One logistic regression a property: the weighted sum of a candidate's features predicts the F1 of its words with those
//! of the prompt most like it. `tests/tabulate/fit.py` makes the weights from what `openscholar bench tables --candidates`
//! writes. Source: ours.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::column::Property;

/// Weights by property and feature; `bias` belongs to each.
static WEIGHTS: LazyLock<BTreeMap<String, BTreeMap<String, f32>>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("fitted/weights.json")).expect("the weights are valid JSON")
});

/// The score in `[0, 1]`; `None` of properties without weights.
pub(super) fn score(property: Property, features: &[(String, f32)]) -> Option<f32> {
    let weights = WEIGHTS.get(property.key())?;
    let bias = weights.get("bias").copied().unwrap_or(0.0);
    let sum: f32 = features
        .iter()
        .map(|(name, value)| weights.get(name).copied().unwrap_or(0.0) * value)
        .sum();
    Some(1.0 / (1.0 + (-(bias + sum)).exp()))
}
