use std::sync::Arc;

use scholar_core::{RerankScore, RetrievalScore};

use super::testing::{ranked, retrieved};
use super::*;
use crate::config::{AskConfig, DedupRule, ScoreTransform};

fn cited(id: &str, count: Option<u32>) -> Retrieved {
    let mut retrieved = retrieved(id, id, id);
    Arc::make_mut(&mut retrieved.paper).citation_count = count;
    retrieved
}

fn ids(ranked: &[Ranked]) -> Vec<String> {
    ranked.iter().map(|r| r.retrieved.paper.id.to_string()).collect()
}

/// H.11 and what ours does instead.
#[test]
fn duplicates_keep_the_richer_record_at_the_first_place() {
    let lists = || {
        vec![
            vec![retrieved("x", "1", "id0"), retrieved("y", "1", "id1")],
            vec![retrieved("x", "1", "id2")],
        ]
    };
    let order =
        |pool: Vec<Retrieved>| pool.iter().map(|hit| hit.paper.id.to_string()).collect::<Vec<_>>();
    assert_eq!(order(dedup(lists(), DedupRule::Upstream)), ["local:id2", "local:id1"]);
    assert_eq!(order(dedup(lists(), DedupRule::Richest)), ["local:id0", "local:id1"]);
    let mut richer = lists();
    Arc::make_mut(&mut richer[1][0].paper).citation_count = Some(3);
    assert_eq!(order(dedup(richer, DedupRule::Richest)), ["local:id2", "local:id1"]);
    let untitled =
        vec![vec![retrieved("x", "", "a"), retrieved("x", "", "b"), retrieved(" ", "", "c")]];
    assert_eq!(order(dedup(untitled, DedupRule::Richest)), ["local:a", "local:b"], "two papers");
    let folded = vec![vec![retrieved("The  Text", "T: a", "a"), retrieved("the text", "t a", "b")]];
    assert_eq!(order(dedup(folded, DedupRule::Richest)), ["local:a"]);
}

fn scored(text: &str, score: f32) -> Retrieved {
    let mut hit = retrieved(text, text, text);
    hit.score = RetrievalScore::new(score).expect("finite");
    hit
}

#[test]
fn a_query_with_larger_scores_has_no_advantage() {
    // The second query's scores are a hundred times as large.
    let pool = |factor: f32| {
        let first = vec![scored("one", 0.9), scored("shared", 0.5), scored("last", 0.1)];
        let second = [("two", 0.9), ("shared", 0.8), ("end", 0.1)];
        let second = second.map(|(text, score)| scored(text, score * factor)).to_vec();
        let mut pool = dedup(vec![first, second], DedupRule::Richest);
        pool.sort_by_key(|hit| std::cmp::Reverse(hit.score));
        pool.into_iter().map(|hit| hit.passage.text).collect::<Vec<_>>()
    };
    assert_eq!(pool(1.0), pool(100.0));
    assert_eq!(pool(1.0)[0], "shared", "what both found comes first");
}

#[test]
fn the_scores_of_one_search_stay_and_parts_add_up() {
    let scores = |lists| -> Vec<f32> {
        dedup(lists, DedupRule::Richest).iter().map(|hit| hit.score.value()).collect()
    };
    let one = || vec![scored("a", 0.9), scored("b", 0.5)];
    assert_eq!(scores(vec![one()]), [0.9, 0.5]);
    // Twice in one list is one finding.
    assert_eq!(scores(vec![vec![scored("a", 0.9), scored("a", 0.5)]]), [0.9]);
    let both = dedup(vec![one(), one()], DedupRule::Richest);
    for hit in &both {
        let parts: f32 = hit.explanation.details.iter().map(|part| part.value).sum();
        assert!((parts - hit.score.value()).abs() < 1e-5, "{hit:?}");
    }
    assert!((both[0].score.value() - 8.0).abs() < 1e-4, "one deviation above the mean, twice");
}

/// H.10: titles A A A A A B A B, at most 3.
#[test]
fn the_cap_lets_exactly_max_through() {
    let titles = ["A", "A", "A", "A", "A", "B", "A", "B"];
    let list = || -> Vec<Ranked> {
        let one = |(nth, title): (usize, &&str)| ranked(&nth.to_string(), title);
        titles.iter().enumerate().map(one).collect()
    };
    let places = |ranked: Vec<Ranked>| {
        ranked.into_iter().map(|r| r.retrieved.passage.text).collect::<Vec<_>>()
    };
    assert_eq!(places(cap(list(), 3, CapRule::Paper)), ["0", "1", "2", "5", "7"]);
    assert_eq!(places(cap(list(), 3, CapRule::Upstream)), ["0", "1", "2", "3", "5", "7"]);
}

#[test]
fn the_citation_bonus_is_a_share_and_needs_a_citation() {
    let config = |transform| {
        let mut ranking = AskConfig::paper().ranking;
        ranking.norm_cite = true;
        ranking.score_transform = transform;
        ranking
    };
    let pool = |counts: [Option<u32>; 3]| {
        let one = |(id, count)| cited(id, count);
        ["a", "b", "c"].into_iter().zip(counts).map(one).collect::<Vec<_>>()
    };
    let scores = || [0.2, 0.0, 0.1].map(|s| RerankScore::new(s).expect("finite")).to_vec();
    let counts = [None, Some(100), Some(50)];
    let ranked = order_of(&config(ScoreTransform::None), pool(counts), scores());
    assert_eq!(ids(&ranked), ["local:b", "local:c", "local:a"]);
    assert!((ranked[1].score.value() - 0.6).abs() < 1e-6);
    let ranked = order_of(&config(ScoreTransform::Sigmoid), pool(counts), scores());
    assert!((ranked[0].score.value() - 1.5).abs() < 1e-6);
    let ranked = order_of(&config(ScoreTransform::None), pool([None, Some(0), None]), scores());
    assert_eq!(ids(&ranked), ["local:a", "local:c", "local:b"], "no division by zero");
}

fn order_of(config: &RankingConfig, pool: Vec<Retrieved>, scores: Vec<RerankScore>) -> Vec<Ranked> {
    rank::order(config, pool, scores, true)
}

#[test]
fn the_citation_filter_gives_way_when_too_few_remain() {
    let pool = || {
        ["a", "b", "c"]
            .into_iter()
            .zip([Some(9), None, Some(12)])
            .map(|(id, count)| cited(id, count))
            .collect::<Vec<_>>()
    };
    let left = |min, top_n| {
        let mut pool = pool();
        filter_by_citations(&mut pool, min, top_n);
        pool.len()
    };
    assert_eq!(left(Some(9), 1), 2);
    assert_eq!(left(Some(9), 2), 3, "not more than top_n");
    assert_eq!(left(None, 0), 3);
}
