//! Cross-encoders.

use futures::executor::block_on;
use scholar_core::{Explanation, Query, Reranker as _, RetrievalScore, Retrieved};
use scholar_models::{
    Backend, CrossEncoderOptions, LocalCrossEncoder, LocalEncoder, ModelError, Precision,
};
use scholar_testing::assert_all_close;

use crate::golden::{self, Scored};

const MODELS: [&str; 3] = ["tiny-bert-cross", "tiny-xlmr-cross", "tiny-bert-bare"];

fn open(model: &str, precision: Precision, backend: Backend) -> Option<LocalCrossEncoder> {
    let preset = match model {
        "tiny-bert-bare" => CrossEncoderOptions::project(2),
        _ => CrossEncoderOptions::paper(2),
    };
    let options = CrossEncoderOptions { precision, backend, ..preset };
    match LocalCrossEncoder::open(&golden::dir(model), model, options) {
        Ok(reranker) => Some(reranker),
        Err(error @ ModelError::Setting { .. }) => {
            eprintln!("skipped {precision:?} on {backend:?} for {model}: {error}");
            None
        }
        Err(error) => panic!("{model}: {error}"),
    }
}

#[test]
fn logits_are_those_of_pytorch() {
    for model in MODELS {
        let rows: Vec<Scored> = golden::expected(model);
        for (precision, backend, tolerance) in [
            (Precision::F32, Backend::Portable, 2e-5),
            (Precision::F32, Backend::Avx512, 2e-5),
            (Precision::Bf16, Backend::Avx512, 3e-2),
            (Precision::Int8, Backend::Avx512, 1e-1),
        ] {
            let Some(reranker) = open(model, precision, backend) else { continue };
            for row in &rows {
                let got = reranker.logits(&row.query, &[&row.passage]).expect("runs");
                assert_all_close(&got, &[row.logit], tolerance);
            }
        }
    }
}

/// Neighbours in a batch change no logit by more than the port allows, whatever is computed in what numbers.
#[test]
fn batching_changes_nothing() {
    let words = ["water", "cells", "the", "membrane", "of", "a", "study", "protein"];
    let text = |at: usize| {
        let word = |n: usize| words[(at * 7 + n * n) % words.len()];
        (0..1 + at * 5 % 60).map(word).collect::<Vec<_>>().join(" ")
    };
    let texts: Vec<String> = (0..70).map(text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for model in MODELS {
        for (precision, backend) in [
            (Precision::F32, Backend::Portable),
            (Precision::F32, Backend::Avx512),
            (Precision::Bf16, Backend::Auto),
            (Precision::Int8, Backend::Auto),
        ] {
            let Some(reranker) = open(model, precision, backend) else { continue };
            let together = reranker.logits("effect of water on cells", &texts).expect("runs");
            for (text, logit) in texts.iter().zip(&together) {
                let alone = reranker.logits("effect of water on cells", &[text]).expect("runs");
                assert_all_close(&alone, &[*logit], 1e-3);
            }
        }
    }
}

#[test]
fn the_port_scores_title_and_text_in_input_order() {
    let reranker = open("tiny-bert-cross", Precision::F32, Backend::Auto).expect("opens");
    assert!(reranker.info().cross_encoder);
    assert_eq!(reranker.info().name, "cross-encoder tiny-bert-cross");
    let query = Query::new("effect of treatment on cells").expect("a query");
    let found: Vec<Retrieved> = scholar_testing::corpus::passages()
        .into_iter()
        .take(7)
        .map(|(passage, paper)| Retrieved {
            passage,
            paper,
            score: RetrievalScore::new(1.0).expect("finite"),
            explanation: Explanation::new(1.0, "test"),
            found_by: Vec::new(),
        })
        .collect();
    let scores = block_on(reranker.rerank(&query, &found)).expect("runs");
    let scores: Vec<f32> = scores.iter().map(|score| score.value()).collect();
    for (found, score) in found.iter().zip(&scores) {
        let text = found.passage.encoded_text();
        let alone = reranker.logits(query.as_str(), &[&text]).expect("runs");
        assert_all_close(&alone, &[*score], 1e-5);
    }
    assert!(block_on(reranker.rerank(&query, &[])).expect("runs").is_empty());
}

#[test]
fn a_bi_encoder_is_no_cross_encoder_and_the_reverse_opens() {
    let options = CrossEncoderOptions::paper(1);
    let refused = LocalCrossEncoder::open(&golden::dir("tiny-mpnet-encoder"), "tiny", options);
    assert!(refused.is_err(), "no head in the checkpoint");
    // The encoder inside a cross-encoder checkpoint has a prefix before its names.
    let options = scholar_models::EncoderOptions::project(1);
    LocalEncoder::open(&golden::dir("tiny-bert-cross"), "tiny", options).expect("opens");
}
