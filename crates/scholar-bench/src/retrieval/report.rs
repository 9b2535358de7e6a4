//! What a run found, as data and as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::collection::Collection;
use super::metrics::Scores;
use crate::statistics::{self, Difference, Estimate, SEED};

/// Version of the JSON form.
pub const SCHEMA: &str = "openscholar.bench.retrieval/1";

/// One system on one collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemReport {
    /// `bm25`, `dense`, `hybrid`, `hybrid+rerank`.
    pub system: String,
    /// nDCG@10.
    pub ndcg10: Estimate,
    /// Recall@100.
    pub recall100: Estimate,
    /// MRR@10.
    pub mrr10: Estimate,
    /// The measures of each query by its name.
    pub per_query: BTreeMap<String, Scores>,
}

/// Systems on one collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name of the collection.
    pub collection: String,
    /// Queries scored.
    pub queries: usize,
    /// Queries left out because nothing is relevant to them.
    pub left_out: usize,
    /// In the order they ran.
    pub systems: Vec<SystemReport>,
    /// nDCG@10 of each system minus that of the one before it in the list.
    pub differences: Vec<Comparison>,
}

/// Two systems compared on the same queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The first.
    pub system: String,
    /// The one it is compared with.
    pub over: String,
    /// nDCG@10 of the first minus that of the other.
    pub ndcg10: Difference,
}

impl SystemReport {
    /// Means and intervals over queries.
    pub(super) fn new(system: &str, per_query: Vec<(String, Scores)>) -> Self {
        let per_query: BTreeMap<String, Scores> = per_query.into_iter().collect();
        let over = |pick: fn(&Scores) -> f64| {
            let values: Vec<f64> = per_query.values().map(pick).collect();
            statistics::estimate(&values, SEED).unwrap_or(Estimate {
                mean: f64::NAN,
                low: f64::NAN,
                high: f64::NAN,
            })
        };
        Self {
            system: system.to_owned(),
            ndcg10: over(|scores| scores.ndcg10),
            recall100: over(|scores| scores.recall100),
            mrr10: over(|scores| scores.mrr10),
            per_query,
        }
    }

    fn ndcg_values(&self) -> Vec<f64> {
        self.per_query.values().map(|scores| scores.ndcg10).collect()
    }
}

impl Report {
    pub(super) fn new(collection: &Collection, systems: Vec<SystemReport>) -> Self {
        let mut differences = Vec::new();
        for pair in systems.windows(2) {
            let [over, system] = pair else { continue };
            let values = (system.ndcg_values(), over.ndcg_values());
            if let Some(ndcg10) = statistics::difference(&values.0, &values.1, SEED) {
                differences.push(Comparison {
                    system: system.system.clone(),
                    over: over.system.clone(),
                    ndcg10,
                });
            }
        }
        Self {
            schema: SCHEMA.to_owned(),
            collection: collection.name.clone(),
            queries: collection.queries.len(),
            left_out: collection.left_out,
            systems,
            differences,
        }
    }
}

/// One row per collection and system, then the means over collections.
pub fn markdown(reports: &[Report]) -> String {
    let mut out = String::from(
        "| collection | queries | system | nDCG@10 (95 % interval) | Recall@100 | MRR@10 |\n|---|---|---|---|---|---|\n",
    );
    let mut means: Vec<(&str, [Vec<f64>; 3])> = Vec::new();
    for report in reports {
        for system in &report.systems {
            let SystemReport { system: name, ndcg10, recall100, mrr10, per_query: _ } = system;
            // Writing to a String cannot fail.
            let _ = writeln!(
                out,
                "| {} | {} | {name} | {:.4} ({:.4}–{:.4}) | {:.4} | {:.4} |",
                report.collection,
                report.queries,
                ndcg10.mean,
                ndcg10.low,
                ndcg10.high,
                recall100.mean,
                mrr10.mean
            );
            let place = means.iter().position(|(other, _)| other == name).unwrap_or_else(|| {
                means.push((name, Default::default()));
                means.len() - 1
            });
            let values = [ndcg10.mean, recall100.mean, mrr10.mean];
            for (list, value) in means[place].1.iter_mut().zip(values) {
                list.push(value);
            }
        }
    }
    for (name, lists) in &means {
        if lists[0].len() > 1 {
            let [ndcg10, recall100, mrr10] = lists.each_ref().map(|list| statistics::mean(list));
            let _ = writeln!(
                out,
                "| **mean of {}** | | {name} | {ndcg10:.4} | {recall100:.4} | {mrr10:.4} |",
                lists[0].len()
            );
        }
    }
    out
}
