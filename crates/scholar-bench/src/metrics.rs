//! What ScholarQABench measures: pure functions over answers, references and verdicts.
//!
//! - [`text`]: citation markers, match, label accuracy, exact match, token F1, ROUGE, lengths;
//! - [`punkt`]: the sentences that the citation scores count;
//! - [`citation`]: citation recall, precision and F1, long and short form, evidence coverage;
//! - [`rubric`]: the rubric score of Scholar-CS and the agreement of its annotators;
//! - [`grading`]: grades from 1 to 5 against a reference answer;
//! - [`preference`]: pairwise comparison with swapped positions;
//! - [`hallucination`]: listed papers that do not exist.
//!
//! Where the reference code measures something else than it says, its form is a named variant beside ours, so that
//! published numbers can be compared. Judges are in [`crate::judge`].
//!
//! A metric of many items is a [`Column`]: for each item a value, or the reason why there is none. A value that could
//! not be had is left out and counted; it is never 0.

pub mod citation;
pub mod grading;
pub mod hallucination;
pub mod preference;
pub mod punkt;
pub mod rubric;
pub mod text;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::statistics::{self, Estimate};

/// Items named per reason in a [`Summary`]; all are counted.
const NAMED_ITEMS: usize = 20;

/// One metric over the items of a run, in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Name of the metric, with its variant: `match (substring)`.
    pub metric: String,
    /// One cell per item.
    pub cells: Vec<Cell>,
}

/// Value of a metric on one item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Identifier of the item.
    pub item: String,
    /// Its value, or why it has none.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// A value, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The metric's value on the item, not scaled for print: shares are 0 to 1.
    Value(f64),
    /// The item is left out of the mean, for this reason.
    LeftOut(String),
}

/// A column's mean with what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the metric.
    pub metric: String,
    /// Mean with its 95 % interval; `None` when every item was left out.
    pub estimate: Option<Estimate>,
    /// Items in the mean.
    pub n: usize,
    /// Items left out, by reason.
    pub left_out: BTreeMap<String, LeftOut>,
    /// Set when all values are the same, which real measurements rarely are.
    pub uniform: Option<Uniform>,
}

/// Items that share a reason to be left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LeftOut {
    /// How many items share the reason.
    pub count: usize,
    /// The first of them.
    pub items: Vec<String>,
}

/// A column without variation: a scorer that did not run looks like this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Uniform {
    /// Every value is 0.
    AllZero,
    /// Every value is 1.
    AllOne,
    /// Every value is the same other number.
    Constant,
}

impl Column {
    /// A column of this metric without cells.
    pub fn new(metric: impl Into<String>) -> Self {
        Self { metric: metric.into(), cells: Vec::new() }
    }

    /// Adds an item's value. A value that is not a number is left out as such.
    pub fn push(&mut self, item: impl Into<String>, value: f64) {
        let outcome = if value.is_finite() {
            Outcome::Value(value)
        } else {
            Outcome::LeftOut("not a number".to_owned())
        };
        self.cells.push(Cell { item: item.into(), outcome });
    }

    /// Adds an item without a value.
    pub fn leave_out(&mut self, item: impl Into<String>, reason: impl Into<String>) {
        let outcome = Outcome::LeftOut(reason.into());
        self.cells.push(Cell { item: item.into(), outcome });
    }

    /// Adds a value or the reason for having none.
    pub fn push_result(&mut self, item: impl Into<String>, value: Result<f64, String>) {
        match value {
            Ok(value) => self.push(item, value),
            Err(reason) => self.leave_out(item, reason),
        }
    }

    /// The values there are, in order.
    pub fn values(&self) -> Vec<f64> {
        self.cells
            .iter()
            .filter_map(|cell| match cell.outcome {
                Outcome::Value(value) => Some(value),
                Outcome::LeftOut(_) => None,
            })
            .collect()
    }

    /// Mean, interval, and what was left out.
    pub fn summary(&self, seed: u64) -> Summary {
        let values = self.values();
        let mut left_out: BTreeMap<String, LeftOut> = BTreeMap::new();
        for cell in &self.cells {
            if let Outcome::LeftOut(reason) = &cell.outcome {
                let entry = left_out.entry(reason.clone()).or_default();
                entry.count += 1;
                if entry.items.len() < NAMED_ITEMS {
                    entry.items.push(cell.item.clone());
                }
            }
        }
        Summary {
            metric: self.metric.clone(),
            estimate: statistics::estimate(&values, seed),
            n: values.len(),
            left_out,
            uniform: uniform(&values),
        }
    }
}

/// Whether all of at least two values are the same, and which.
pub fn uniform(values: &[f64]) -> Option<Uniform> {
    let [first, rest @ ..] = values else { return None };
    let same = |value: f64| (value - first).abs() < f64::EPSILON;
    if rest.is_empty() || !rest.iter().all(|value| same(*value)) {
        return None;
    }
    Some(if same(0.0) {
        Uniform::AllZero
    } else if same(1.0) {
        Uniform::AllOne
    } else {
        Uniform::Constant
    })
}

#[cfg(test)]
mod tests;
