use std::sync::Arc;

use scholar_core::{Explanation, RetrievalScore};
use scholar_testing::corpus;
use serde_json::json;

use super::*;

fn near(at: usize, relevance: Option<u8>, cosine: Option<f32>, citations: Option<u32>) -> Near {
    let (passage, paper) = corpus::passages().swap_remove(at);
    let paper = scholar_core::PaperMeta { citation_count: citations, ..(*paper).clone() };
    let opening = Retrieved {
        passage,
        paper: Arc::new(paper.clone()),
        score: RetrievalScore::new(0.0).expect("finite"),
        explanation: Explanation::new(0.0, "x"),
        found_by: Vec::new(),
    };
    let origin = EvidenceOrigin::Search { query: "q".to_owned() };
    let scored = ScoredPaper { paper, origin, relevance, rationale: String::new(), cosine };
    Near { scored, opening, passages: Vec::new() }
}

#[test]
fn scores_come_in_many_coats() {
    let reply = json!({"papers": [
        {"key": "P1", "score": "3", "rationale": "r"},
        {"key": "[P2]", "score": 9},
        {"key": "P3", "score": -1},
        {"key": "P3", "score": 4},
    ]});
    let scores = parse(&reply, 3).expect("scores");
    let values: Vec<u8> = scores.values().map(|(score, _)| *score).collect();
    assert_eq!(values, [3, 5, 0], "the first of two counts");
    assert_eq!(parse(&json!({"score": 2}), 1).expect("one")["P1"].0, 2);
    for wrong in [
        json!({"papers": [{"key": "P4", "score": 1}]}),
        json!({"papers": []}),
        json!({"papers": [{"key": "P1", "score": "high"}]}),
        json!({"x": 1}),
    ] {
        assert!(parse(&wrong, 3).is_err(), "{wrong}");
    }
}

#[test]
fn relevance_two_is_out_three_is_in_and_ties_are_broken_in_order() {
    let papers = vec![
        near(0, Some(2), None, None),
        near(1, Some(3), None, Some(1)),
        near(2, Some(3), Some(0.5), None),
        near(3, Some(3), None, Some(9)),
        near(4, None, Some(0.9), None),
        near(5, Some(5), None, None),
    ];
    let ids: Vec<_> = papers.iter().map(|one| one.scored.paper.id.clone()).collect();
    let places = |min| -> Vec<usize> {
        let ordered = order(papers.clone(), min);
        ordered
            .iter()
            .filter_map(|one| ids.iter().position(|id| *id == one.scored.paper.id))
            .collect()
    };
    assert_eq!(places(3), [5, 2, 3, 1]);
    assert_eq!(places(0), [5, 2, 3, 1, 0, 4], "without a score last");
}

#[test]
fn recommendations_are_fused_by_their_ranks() {
    let hit = |at| near(at, None, None, None).opening;
    let seed: PaperId = "local:seed".parse().expect("an id");
    let places = |near: &[usize], with: &[usize], most| -> Vec<usize> {
        let of = |all: &[usize]| all.iter().map(|at| hit(*at)).collect();
        let found = recommended(&seed, of(near), of(with), most);
        let at = |one: &Retrieved| (0..9).find(|at| hit(*at).paper.id == one.paper.id);
        found.iter().filter_map(|(_, one)| at(one)).collect()
    };
    assert_eq!(places(&[1, 2, 3], &[3], 3)[0], 3, "found on both ways");
    assert_eq!(places(&[1, 2, 3], &[4, 5, 6], 2).len(), 2);
    assert!(places(&[1, 2, 3], &[4, 5, 6], 2).contains(&4), "the first of each way");
    assert_eq!(places(&[1, 2], &[], 4), [1, 2], "without a graph as they were found");
}
