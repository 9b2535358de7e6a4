//! What a run found, as data and as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::collection::Collection;
use super::metrics::Scores;
use crate::statistics::{self, Difference, Estimate, SEED};

/// Version of the JSON form.
pub const SCHEMA: &str = "openscholar.bench.retrieval/1";

/// What the name of a reranked system ends with.
const RERANKED: &str = "+rerank";
/// What the name of a system that pools several queries has before its reranker.
const POOLED: &str = "+queries";
/// The same of one that pools them by their scores as they are.
const RAW: &str = "+raw-queries";

/// Queries that a collection has at least, to count in the means over collections: the interval of a mean over fewer is wider
/// than any difference that systems have. Ours.
pub const MIN_QUERIES: usize = 20;

/// One system on one collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemReport {
    /// `bm25`, `dense`, `hybrid`, `hybrid+rerank`.
    pub system: String,
    /// Mean nDCG over the first 10, 0 to 1.
    pub ndcg10: Estimate,
    /// Mean recall over the first 100, 0 to 1.
    pub recall100: Estimate,
    /// Mean reciprocal rank over the first 10, 0 to 1.
    pub mrr10: Estimate,
    /// The measures of each query by its name.
    pub per_query: BTreeMap<String, Scores>,
}

/// Systems on one collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Schema of the report: [`SCHEMA`].
    pub schema: String,
    /// Name of the collection.
    pub collection: String,
    /// Number of queries scored.
    pub queries: usize,
    /// Queries left out because nothing is relevant to them.
    pub left_out: usize,
    /// Queries from whose ranking the document of the query's own name was left out, by some system.
    #[serde(default)]
    pub own_documents_left_out: usize,
    /// In the order they ran.
    pub systems: Vec<SystemReport>,
    /// nDCG@10 of each system minus that of the one it has to beat: one that pools standardised scores the one that pools
    /// them as they are, where both ran; a reranked one its own ranking without, hybrid the better of the others without
    /// reranking, any other the one before it in the list.
    pub differences: Vec<Comparison>,
}

/// Two systems compared on the same queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The system that is compared.
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
    /// The report as JSON without its numbers per query.
    pub fn summary(&self) -> serde_json::Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        for system in value["systems"].as_array_mut().into_iter().flatten() {
            if let Some(system) = system.as_object_mut() {
                system.remove("per_query");
            }
        }
        value
    }

    pub(super) fn new(
        collection: &Collection,
        systems: Vec<SystemReport>,
        own_documents_left_out: usize,
    ) -> Self {
        let mut differences = Vec::new();
        for (at, system) in systems.iter().enumerate() {
            let Some(over) = rival(system, &systems[..at]) else { continue };
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
            own_documents_left_out,
            systems,
            differences,
        }
    }

    /// Whether it has enough queries to count in means over collections.
    fn counts(&self) -> bool {
        self.queries >= MIN_QUERIES
    }
}

/// The system among `earlier` that `system` has to beat.
fn rival<'a>(system: &SystemReport, earlier: &'a [SystemReport]) -> Option<&'a SystemReport> {
    let raw = system.system.replace(POOLED, RAW);
    if let Some(raw) = earlier.iter().find(|other| other.system == raw) {
        return Some(raw);
    }
    if let Some(plain) = system.system.strip_suffix(RERANKED) {
        return earlier.iter().find(|other| other.system == plain).or(earlier.last());
    }
    let name = &system.system;
    if let Some(single) = name.strip_suffix(RAW).or_else(|| name.strip_suffix(POOLED)) {
        return earlier.iter().find(|other| other.system == single).or(earlier.last());
    }
    if system.system == "hybrid" {
        let plain = earlier.iter().filter(|other| !other.system.contains('+'));
        return plain.max_by(|a, b| a.ndcg10.mean.total_cmp(&b.ndcg10.mean));
    }
    earlier.last()
}

/// Two tables: measures per collection and system with the means over collections, and who beats whom by how much; then what
/// was left out.
pub fn markdown(reports: &[Report]) -> String {
    let mut out = measures(reports);
    out.push_str(&gains(reports));
    out.push_str(&left_out(reports));
    out
}

fn left_out(reports: &[Report]) -> String {
    let mut out = String::new();
    for report in reports {
        let Report { collection, queries, left_out, own_documents_left_out: own, .. } = report;
        // Writing to a String cannot fail.
        if *left_out > 0 {
            let _ = write!(
                out,
                "\n{collection}: {left_out} queries without a relevant document were left out.\n"
            );
        }
        if *own > 0 {
            let _ = write!(
                out,
                "\n{collection}: the document whose id is the query's was left out of the rankings of {own} queries, as BEIR does.\n"
            );
        }
        if !report.counts() {
            let _ = write!(
                out,
                "\n{collection}: {queries} queries are too few to count in the means.\n"
            );
        }
    }
    out
}

/// Differences in nDCG@10 on the same queries; over all collections, the ratio of the means.
fn gains(reports: &[Report]) -> String {
    let mut out = String::from(
        "\n| collection | system | over | nDCG@10 gain (95 % interval, paired) | relative | p |\n|---|---|---|---|---|---|\n",
    );
    let mut totals: Vec<(&str, [f64; 2])> = Vec::new();
    let mut rows = 0;
    for report in reports {
        for Comparison { system, over, ndcg10 } in &report.differences {
            let Some(rival) = report.systems.iter().find(|other| other.system == *over) else {
                continue;
            };
            let base = rival.ndcg10.mean;
            let Estimate { mean, low, high } = ndcg10.estimate;
            // Writing to a String cannot fail.
            let _ = writeln!(
                out,
                "| {} | {system} | {over} | {mean:+.4} ({low:+.4} to {high:+.4}) | {:+.1} % | {:.3} |",
                report.collection,
                100.0 * mean / base,
                ndcg10.p
            );
            rows += 1;
            if !report.counts() {
                continue;
            }
            let place = totals.iter().position(|(name, _)| name == system).unwrap_or_else(|| {
                totals.push((system, [0.0; 2]));
                totals.len() - 1
            });
            totals[place].1[0] += base;
            totals[place].1[1] += base + mean;
        }
    }
    if rows == 0 {
        return String::new();
    }
    let counted = reports.iter().filter(|report| report.counts()).count();
    for (system, [base, reached]) in totals {
        if counted > 1 {
            let _ = writeln!(
                out,
                "| **mean of {counted}** | {system} | | | {:+.1} % | |",
                100.0 * (reached / base - 1.0)
            );
        }
    }
    out
}

fn measures(reports: &[Report]) -> String {
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
            if !report.counts() {
                continue;
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn system(name: &str, ndcg10: [f64; 2]) -> SystemReport {
        let scores = |ndcg10| Scores { ndcg10, recall100: 1.0, mrr10: 1.0 };
        let per_query =
            vec![("a".to_owned(), scores(ndcg10[0])), ("b".to_owned(), scores(ndcg10[1]))];
        SystemReport::new(name, per_query)
    }

    #[test]
    fn hybrid_has_to_beat_the_better_single_and_reranking_the_hybrid() {
        let systems = [
            system("bm25", [0.5, 0.5]),
            system("dense", [0.2, 0.4]),
            system("hybrid", [0.6, 0.6]),
            system("bm25+rerank", [0.9, 0.9]),
            system("hybrid+rerank", [0.6, 0.7]),
            system("hybrid+queries", [0.8, 0.7]),
            system("hybrid+queries+rerank", [0.8, 0.7]),
            system("dense+raw-queries", [0.8, 0.7]),
            system("dense+queries", [0.8, 0.7]),
        ];
        let name = |at: usize| rival(&systems[at], &systems[..at]).map(|r| r.system.as_str());
        assert_eq!(name(0), None);
        assert_eq!([name(1), name(2)], [Some("bm25"), Some("bm25")]);
        assert_eq!([name(3), name(4)], [Some("bm25"), Some("hybrid")]);
        assert_eq!([name(5), name(6)], [Some("hybrid"), Some("hybrid+queries")]);
        assert_eq!([name(7), name(8)], [Some("dense"), Some("dense+raw-queries")]);
    }

    #[test]
    fn gains_are_relative_to_the_rival() {
        let report = Report {
            schema: SCHEMA.to_owned(),
            collection: "tiny".to_owned(),
            queries: 20,
            left_out: 0,
            own_documents_left_out: 3,
            differences: vec![Comparison {
                system: "hybrid".to_owned(),
                over: "bm25".to_owned(),
                ndcg10: statistics::difference(&[0.6, 0.6], &[0.5, 0.5], SEED).expect("pairs"),
            }],
            systems: vec![system("bm25", [0.5, 0.5]), system("hybrid", [0.6, 0.6])],
        };
        let table = gains(std::slice::from_ref(&report));
        assert!(table.contains("| tiny | hybrid | bm25 | +0.1000"), "{table}");
        assert!(table.contains("| +20.0 % |"), "{table}");
        assert!(!table.contains("mean of"), "one collection has no mean: {table}");
        let few = Report { queries: 19, ..report.clone() };
        let two = gains(&[report.clone(), few.clone(), report.clone()]);
        assert!(two.contains("| **mean of 2** | hybrid | | | +20.0 % | |"), "{two}");
        assert!(!measures(&[few.clone(), report.clone()]).contains("mean of"));
        let said = left_out(&[few, report]);
        assert!(said.contains("19 queries are too few"), "{said}");
        assert!(said.contains("left out of the rankings of 3 queries"), "{said}");
        assert!(gains(&[]).is_empty());
    }
}
