//! Do two annotators' rubrics rank systems alike?
//!
//! For each question with two rubrics the systems have two lists of scores; they are correlated, and the mean over
//! questions is the agreement. The reference code takes absolute values, so that opposite rankings agree fully, and one
//! copy of it correlates the orders that sort the scores, which are no ranks. Both are here under their names.

use serde::{Deserialize, Serialize};

use crate::statistics::correlation::{kendall, pearson, spearman};
use crate::statistics::{self, Estimate};

/// How two lists of scores are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Pearson's r of scores.
    Pearson,
    /// Pearson's r of ranks.
    Ranks,
    /// Kendall's tau-b, which corrects for ties.
    Kendall,
    /// Absolute Pearson's r of scores, 0 if a list is constant (`multidoc_qa_eval`).
    UpstreamPearson,
    /// Absolute tau-b, 0 if a list is constant (`multidoc_qa_eval`).
    UpstreamKendall,
    /// Absolute Pearson's r of the orders that sort the negated scores (ScholarQABench's copy).
    UpstreamOrders,
}

/// Agreement of two rubrics about the same systems, as a correlation within -1 and 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RubricAgreement {
    /// Mean over the questions that have a value.
    pub estimate: Option<Estimate>,
    /// Value of each question; `None` where a list is constant.
    pub per_question: Vec<Option<f64>>,
    /// Questions without a value.
    pub undefined: usize,
}

/// Agreement of `questions`, each the scores of the same systems under two rubrics.
pub fn agreement(
    questions: &[(Vec<f64>, Vec<f64>)],
    comparison: Comparison,
    seed: u64,
) -> RubricAgreement {
    let per_question: Vec<Option<f64>> =
        questions.iter().map(|(a, b)| compare(a, b, comparison)).collect();
    let values: Vec<f64> = per_question.iter().flatten().copied().collect();
    RubricAgreement {
        estimate: statistics::estimate(&values, seed),
        undefined: per_question.len() - values.len(),
        per_question,
    }
}

fn compare(a: &[f64], b: &[f64], comparison: Comparison) -> Option<f64> {
    let or_zero = |value: Option<f64>| Some(value.map_or(0.0, f64::abs));
    match comparison {
        Comparison::Pearson => pearson(a, b),
        Comparison::Ranks => spearman(a, b),
        Comparison::Kendall => kendall(a, b),
        Comparison::UpstreamPearson => or_zero(pearson(a, b)),
        Comparison::UpstreamKendall => or_zero(kendall(a, b)),
        Comparison::UpstreamOrders => or_zero(pearson(&sorting_order(a), &sorting_order(b))),
    }
}

/// Places of the values from the greatest down, as numbers: `[5, 9, 7]` gives `[1, 2, 0]`.
fn sorting_order(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    order.into_iter().map(|place| statistics::ratio(place, 1)).collect()
}
