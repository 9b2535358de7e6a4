//! nDCG@10, Recall@100, MRR@10 of one ranking.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Rank to which nDCG and MRR look.
pub const SHALLOW: usize = 10;
/// Rank to which recall looks.
pub const DEEP: usize = 100;

/// Relevance grades of documents by name; grades of 0 and below are judged irrelevant.
pub type Grades = BTreeMap<String, i32>;

/// The measures of one query.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// nDCG over the first 10, 0 to 1.
    pub ndcg10: f64,
    /// Recall over the first 100, 0 to 1.
    pub recall100: f64,
    /// Reciprocal rank of the first relevant document among the first 10, 0 if none, to 1.
    pub mrr10: f64,
}

impl Scores {
    /// Of `ranking`, best first, each document once. `None` when nothing is relevant: no measure is defined.
    pub fn of(ranking: &[String], grades: &Grades) -> Option<Self> {
        let mut ideal: Vec<f64> =
            grades.values().filter(|grade| **grade > 0).map(|grade| f64::from(*grade)).collect();
        if ideal.is_empty() {
            return None;
        }
        ideal.sort_by(|a, b| b.total_cmp(a));
        let gain = |id: &String| grades.get(id).map_or(0.0, |grade| f64::from((*grade).max(0)));
        let found = ranking.iter().take(SHALLOW).map(gain);
        let hits = ranking.iter().take(DEEP).filter(|id| gain(id) > 0.0).count();
        let first = ranking.iter().take(SHALLOW).position(|id| gain(id) > 0.0);
        Some(Self {
            ndcg10: dcg(found) / dcg(ideal.iter().copied().take(SHALLOW)),
            recall100: count(hits) / count(ideal.len()),
            mrr10: first.map_or(0.0, |place| 1.0 / count(place + 1)),
        })
    }
}

fn dcg(gains: impl Iterator<Item = f64>) -> f64 {
    gains.enumerate().map(|(place, gain)| gain / (count(place) + 2.0).log2()).sum()
}

#[expect(clippy::cast_precision_loss, reason = "ranks and counts of documents")]
fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grades(list: &[(&str, i32)]) -> Grades {
        list.iter().map(|(id, grade)| ((*id).to_owned(), *grade)).collect()
    }

    #[test]
    fn small_rankings_by_hand() {
        let check = |ranking: &str, judged: &[(&str, i32)], expect: Option<[f64; 3]>| {
            let ranking: Vec<String> = ranking.split_whitespace().map(ToOwned::to_owned).collect();
            let scores = Scores::of(&ranking, &grades(judged));
            let found = scores.map(|s| [s.ndcg10, s.recall100, s.mrr10]);
            match (found, expect) {
                (Some(found), Some(expect)) => {
                    for (found, expect) in found.iter().zip(expect) {
                        assert!((found - expect).abs() < 1e-9, "{ranking:?}: {found} {expect}");
                    }
                }
                (found, expect) => assert_eq!(found, expect),
            }
        };
        check("a b c", &[("a", 1)], Some([1.0, 1.0, 1.0]));
        check("b a c", &[("a", 1)], Some([1.0 / 3.0_f64.log2(), 1.0, 0.5]));
        // (2/log2 3 + 1/log2 5) / (2 + 1/log2 3), one of three found late, one never.
        let ideal = 2.0 + 1.0 / 3.0_f64.log2() + 1.0 / 4.0_f64.log2();
        let found = 2.0 / 3.0_f64.log2() + 1.0 / 5.0_f64.log2();
        check("x a y b", &[("a", 2), ("b", 1), ("z", 1)], Some([found / ideal, 2.0 / 3.0, 0.5]));
        check("a b", &[("q", 1)], Some([0.0, 0.0, 0.0]));
        check("a b", &[("a", 0), ("b", -1)], None);
        check("", &[("a", 1)], Some([0.0, 0.0, 0.0]));
    }

    #[test]
    fn the_python_reference_agrees() {
        #[derive(Deserialize)]
        struct Case {
            ranking: Vec<String>,
            grades: Grades,
            scores: Scores,
        }
        let golden = include_str!("../../tests/golden/retrieval_metrics.json");
        let cases: Vec<Case> = serde_json::from_str(golden).expect("golden file");
        assert!(cases.len() >= 20);
        for case in cases {
            let scores = Scores::of(&case.ranking, &case.grades).expect("relevant documents");
            assert!((scores.ndcg10 - case.scores.ndcg10).abs() < 1e-9);
            assert!((scores.recall100 - case.scores.recall100).abs() < 1e-9);
            assert!((scores.mrr10 - case.scores.mrr10).abs() < 1e-9);
        }
    }
}
