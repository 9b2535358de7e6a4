//! Cross-encoders.

use futures::executor::block_on;
use scholar_core::{Explanation, Query, Reranker as _, RetrievalScore, Retrieved};
use scholar_models::{
    Backend, CrossEncoderOptions, LocalCrossEncoder, LocalEncoder, ModelError, Precision,
};
use scholar_testing::assert_all_close;

use crate::golden::{self, Scored};

const MODELS: [&str; 2] = ["tiny-bert-cross", "tiny-xlmr-cross"];

fn open(model: &str, precision: Precision, backend: Backend) -> Option<LocalCrossEncoder> {
    let options = CrossEncoderOptions { precision, backend, ..CrossEncoderOptions::paper(2) };
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
        ] {
            let Some(reranker) = open(model, precision, backend) else { continue };
            for row in &rows {
                let got = reranker.logits(&row.query, &[&row.passage]).expect("runs");
                assert_all_close(&got, &[row.logit], tolerance);
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
