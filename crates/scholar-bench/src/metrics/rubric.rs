//! The rubric score of Scholar-CS.
//!
//! A question's rubric is a list of items an expert wants in the answer, each with a weight and mostly with snippets
//! that show it. The score adds to them general components: length, expertise, citations, excerpts. Steps: read the
//! configurations ([`config`]); let a judge value each component (`crate::judge::rubric`); weigh ([`score`]); compare
//! annotators ([`agreement`]).
//!
//! Source: ScholarQABench and `multidoc_qa_eval`; what differs is said where it differs.

pub mod agreement;
pub mod config;

use serde::{Deserialize, Serialize};

pub use config::{RubricCase, RubricConfig, RubricItem};

use crate::judge::Judged;

/// The judge's values for one answer, each in `[0, 1]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Components {
    /// [`length_score`] of the answer's words.
    pub length: f64,
    /// Whether the level suits the one who asks.
    pub expertise: Judged<f64>,
    /// Share of claims with a citation.
    pub citations: Judged<f64>,
    /// Share of citations with an excerpt.
    pub excerpts: Judged<f64>,
    /// One entry per rubric item, in the configuration's order.
    pub items: Vec<ItemValue>,
}

/// The judge's values for one rubric item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemValue {
    /// How far the criterion is met; `None` when criteria are not asked about.
    pub criterion: Option<Judged<f64>>,
    /// Share of the snippets that are present; `None` when the item has none or they are not asked about.
    pub evidence: Option<Judged<f64>>,
}

/// What happens to a component that could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unread {
    /// Its weight goes to the others in proportion. Ours.
    Reweigh,
    /// It counts 0. The reference scorer.
    Zero,
}

/// A score with its parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RubricScore {
    /// Weighted mean of all components, in `[0, 1]`; `None` when less than half of the weight could be read.
    pub score: Option<f64>,
    /// The same of the items alone: how far the annotator's wishes are met.
    pub ann_score: Option<f64>,
    /// Components whose judgement could not be read, by name.
    pub unreadable: Vec<String>,
    /// Weight of the components that were read, of 1.
    pub read_weight: f64,
    /// What was weighed, in this order: length, expertise, citations, excerpts, then the items.
    #[serde(default)]
    pub parts: Vec<RubricPart>,
}

/// A component with its weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RubricPart {
    /// `length`, an item's name, or that with `_evidence` behind it.
    pub name: String,
    /// Its share of the score, of 1.
    pub weight: f64,
    /// In `[0, 1]`, or what could not be read.
    pub value: Judged<f64>,
}

impl RubricScore {
    /// The value of the component called `name`.
    ///
    /// # Errors
    /// Why there is none, for a column.
    pub fn part(&self, name: &str) -> Result<f64, String> {
        match self.parts.iter().find(|part| part.name == name).map(|part| &part.value) {
            Some(Judged::Read(value)) => Ok(*value),
            Some(Judged::Unreadable(_)) => Err("could not be read".to_owned()),
            None => Err("not asked about".to_owned()),
        }
    }
}

/// Least share of the weight that a score needs. Ours.
const LEAST_READ: f64 = 0.5;

/// 1 up to `low` words, 0 from `high` words, linear between.
pub fn length_score(words: usize, low: usize, high: usize) -> f64 {
    if high <= low {
        return f64::from(u8::from(words <= low));
    }
    let over = words.clamp(low, high) - low;
    1.0 - crate::statistics::ratio(over, high - low)
}

/// Weights of an item that must be there and of one that is nice to have, for `must` and `nice` of them.
///
/// All items together weigh 0.6; where both kinds occur, the first kind weighs twice the second.
#[cfg(test)]
pub(crate) fn item_weights(must: usize, nice: usize) -> (f64, f64) {
    let of = |n: usize| 0.6 / crate::statistics::ratio(n, 1);
    match (must, nice) {
        (0, 0) => (0.0, 0.0),
        (must, 0) => (of(must), 0.0),
        (0, nice) => (0.0, of(nice)),
        _ => (2.0 * of(2 * must + nice), of(2 * must + nice)),
    }
}

/// Weighs the components of one answer.
///
/// An item with snippets splits its weight evenly between criterion and snippets; with only one of the two its whole
/// weight goes there.
pub fn score(config: &RubricConfig, components: &Components, unread: Unread) -> RubricScore {
    let Components { length, expertise, citations, excerpts, items } = components;
    let mut general = Weighed::new(unread);
    general.add("length", config.length_weight, &Judged::Read(*length));
    general.add("expertise", config.expertise_weight, expertise);
    general.add("citations", config.citations_weight, citations);
    general.add("excerpts", config.excerpts_weight, excerpts);

    let mut wishes = Weighed::new(unread);
    for (item, value) in config.other_properties.iter().zip(items) {
        let weight = item.weight;
        match (&value.criterion, &value.evidence) {
            (Some(criterion), Some(evidence)) => {
                wishes.add(&item.name, weight / 2.0, criterion);
                wishes.add(&format!("{}_evidence", item.name), weight / 2.0, evidence);
            }
            (Some(criterion), None) => wishes.add(&item.name, weight, criterion),
            (None, Some(evidence)) => {
                wishes.add(&format!("{}_evidence", item.name), weight, evidence);
            }
            (None, None) => wishes.skip(weight),
        }
    }

    let asked = general.asked + wishes.asked;
    let read = general.read + wishes.read;
    let sum = general.sum + wishes.sum;
    RubricScore {
        score: share(sum, read, asked),
        ann_score: share(wishes.sum, wishes.read, wishes.asked),
        unreadable: [general.unreadable, wishes.unreadable].concat(),
        read_weight: read,
        parts: [general.parts, wishes.parts].concat(),
    }
}

/// Mean of what was read, scaled to the weight asked for, if enough was read.
fn share(sum: f64, read: f64, asked: f64) -> Option<f64> {
    (asked > 0.0 && read / asked >= LEAST_READ).then(|| sum / read)
}

struct Weighed {
    unread: Unread,
    asked: f64,
    read: f64,
    sum: f64,
    unreadable: Vec<String>,
    parts: Vec<RubricPart>,
}

impl Weighed {
    fn new(unread: Unread) -> Self {
        Self { unread, asked: 0.0, read: 0.0, sum: 0.0, unreadable: Vec::new(), parts: Vec::new() }
    }

    /// An item that nothing is asked about counts 0 in the reference scorer, and not at all in ours.
    fn skip(&mut self, weight: f64) {
        if self.unread == Unread::Zero {
            self.asked += weight;
            self.read += weight;
        }
    }

    fn add(&mut self, name: &str, weight: f64, value: &Judged<f64>) {
        self.asked += weight;
        self.parts.push(RubricPart { name: name.to_owned(), weight, value: value.clone() });
        match value {
            Judged::Read(value) => {
                self.read += weight;
                self.sum += weight * value;
            }
            Judged::Unreadable(_) => {
                self.unreadable.push(name.to_owned());
                if self.unread == Unread::Zero {
                    self.read += weight;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
