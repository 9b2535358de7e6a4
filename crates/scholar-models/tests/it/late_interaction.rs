//! The reranker without a cross-encoder, on a tiny random encoder: order, depth, explanation.

use std::sync::Arc;

use futures::executor::block_on;
use scholar_core::{Explanation, Query, Reranker as _, RetrievalScore, Retrieved};
use scholar_models::{
    EncoderOptions, LateInteractionOptions, LateInteractionReranker, LocalEncoder, TokenEncoder,
};

use crate::golden;

fn reranker(depth: usize) -> LateInteractionReranker {
    reading(depth, TokenEncoder::Retriever)
}

fn reading(depth: usize, reading: TokenEncoder) -> LateInteractionReranker {
    let dir = golden::dir("tiny-bert-encoder");
    let encoder = LocalEncoder::open(&dir, "tiny", EncoderOptions::project(2)).expect("opens");
    let options = LateInteractionOptions { depth, ..LateInteractionOptions::project(reading) };
    LateInteractionReranker::new(Arc::new(encoder), options).expect("starts")
}

fn found() -> Vec<Retrieved> {
    scholar_testing::corpus::passages()
        .into_iter()
        .take(12)
        .zip(0_u8..)
        .map(|((passage, paper), rank)| {
            let score = RetrievalScore::new(10.0 - f32::from(rank)).expect("finite");
            let explanation = Explanation::new(score.value(), "test");
            Retrieved { passage, paper, score, explanation, found_by: Vec::new() }
        })
        .collect()
}

fn scores(depth: usize, query: &str, found: &[Retrieved]) -> Vec<f32> {
    let query = Query::new(query).expect("a query");
    let scores = block_on(reranker(depth).rerank(&query, found)).expect("runs");
    scores.iter().map(|score| score.value()).collect()
}

#[test]
fn the_name_says_what_it_is() {
    let reranker = reranker(5);
    assert_eq!(
        reranker.info().name,
        "late interaction of tiny + lexical features (no cross-encoder)"
    );
    assert!(!reranker.info().cross_encoder);
}

#[test]
fn a_title_that_is_the_query_rises() {
    let found = found();
    let title = found[8].passage.title.clone();
    let scores = scores(12, &title, &found);
    let above = scores.iter().filter(|score| **score > scores[8]).count();
    assert!(above < 8, "rank {above} after, 8 before: {scores:?}");
}

#[test]
fn beyond_the_depth_the_retrievers_order_stays_below() {
    let mut found = found();
    found.reverse();
    let scores = scores(4, "the membrane of cells", &found);
    let (tail, head) = scores.split_at(8);
    let lowest = head.iter().copied().fold(f32::INFINITY, f32::min);
    assert!(tail.iter().all(|score| *score < lowest));
    assert!(tail.is_sorted(), "worst retrieval score first, as reversed: {tail:?}");
}

#[test]
fn what_was_read_before_scores_the_same() {
    let found = found();
    let query = |text: &str| Query::new(text).expect("a query");
    let scores = |reranker: &LateInteractionReranker, text: &str| -> Vec<f32> {
        let scores = block_on(reranker.rerank(&query(text), &found)).expect("runs");
        scores.iter().map(|score| score.value()).collect()
    };
    let warm = reading(12, TokenEncoder::Separate);
    let _reads = scores(&warm, "proteins of the membrane");
    let fresh = scores(&reading(12, TokenEncoder::Separate), "models of the cell");
    scholar_testing::assert_all_close(&scores(&warm, "models of the cell"), &fresh, 1e-5);
    assert_ne!(fresh, scores(&reading(12, TokenEncoder::Retriever), "models of the cell"));
}

#[test]
fn explanations_add_up_and_few_candidates_are_no_problem() {
    let reranker = reranker(30);
    let query = Query::new("models of the cell").expect("a query");
    let found = found();
    for count in [0, 1, 2, 12] {
        let explained = block_on(reranker.explain(&query, &found[..count])).expect("runs");
        assert_eq!(explained.len(), count);
        for explanation in &explained {
            let sum: f32 = explanation.details.iter().map(|detail| detail.value).sum();
            assert!((sum - explanation.value).abs() < 1e-4);
        }
    }
}
