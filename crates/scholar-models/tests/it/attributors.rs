//! Trained judges.

use futures::executor::block_on;
use scholar_core::{Attributor as _, Verdict};
use scholar_models::attributor::Stance;
use scholar_models::{Backend, CrossEncoderOptions, ModelError, Precision, TrainedAttributor};
use scholar_testing::assert_all_close;

use crate::golden::{self, Judged};

const MODEL: &str = "tiny-bert-attributor";

fn open(precision: Precision, backend: Backend) -> Option<TrainedAttributor> {
    let options = CrossEncoderOptions { precision, backend, ..CrossEncoderOptions::project(2) };
    match TrainedAttributor::open(&golden::dir(MODEL), MODEL, options) {
        Ok(judge) => Some(judge),
        Err(error @ ModelError::Setting { .. }) => {
            eprintln!("skipped {precision:?} on {backend:?}: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn rows() -> Vec<Judged> {
    golden::expected(MODEL)
}

#[test]
fn logits_and_calibrated_probabilities_are_those_of_pytorch() {
    let rows = rows();
    let pairs: Vec<(&str, &str)> =
        rows.iter().map(|row| (row.claim.as_str(), row.evidence.as_str())).collect();
    for (precision, backend, tolerance) in [
        (Precision::F32, Backend::Portable, 2e-5),
        (Precision::F32, Backend::Avx512, 2e-5),
        (Precision::Bf16, Backend::Auto, 3e-2),
    ] {
        let Some(judge) = open(precision, backend) else { continue };
        let logits = judge.logits(&pairs).expect("runs");
        let stances = judge.stances(&pairs).expect("runs");
        for ((row, logits), stance) in rows.iter().zip(&logits).zip(stances) {
            assert_all_close(logits, &row.logits, tolerance);
            let Stance { supports, contradicts, neither } = stance;
            assert_all_close(&[supports, contradicts, neither], &row.stance, tolerance);
        }
    }
}

#[test]
fn the_port_judges_in_order_and_tells_evidence() {
    let judge = open(Precision::F32, Backend::Auto).expect("opens");
    let name = judge.name();
    let digest = name.strip_prefix("tiny-bert-attributor/7 (").and_then(|d| d.strip_suffix(')'));
    assert!(
        digest.is_some_and(|d| d.len() == 8 && d.bytes().all(|b| b.is_ascii_hexdigit())),
        "{name}"
    );
    let rows = rows();
    let pairs: Vec<(&str, &str)> =
        rows.iter().map(|row| (row.claim.as_str(), row.evidence.as_str())).collect();
    let judged = block_on(judge.judge(&pairs)).expect("runs");
    for (row, judgement) in rows.iter().zip(&judged) {
        let [supports, contradicts, _] = row.stance;
        assert!((judgement.score - supports).abs() < 1e-4, "{row:?}");
        let expected = if supports >= 0.5 {
            Verdict::Supported
        } else if contradicts >= 0.5 {
            Verdict::Contradicted
        } else if supports >= 0.35 && supports > contradicts {
            Verdict::Partial
        } else {
            Verdict::Unsupported
        };
        assert_eq!(judgement.verdict, expected, "{row:?}");
    }
    let candidates = ["the treatment of cells", "water is a model", ""];
    let scores = block_on(judge.evidence("cells are in water", &candidates)).expect("runs");
    let scores = scores.expect("a trained judge tells evidence");
    for (candidate, score) in candidates.iter().zip(scores) {
        let stances = judge.stances(&[("cells are in water", candidate)]).expect("runs");
        assert!((score - (1.0 - stances[0].neither)).abs() < 1e-5);
    }
    assert!(block_on(judge.judge(&[])).expect("runs").is_empty());
}

#[test]
fn rerankers_are_no_judges_and_the_reverse() {
    let options = CrossEncoderOptions::project(1);
    let reranker = golden::dir("tiny-bert-cross");
    let error = TrainedAttributor::open(&reranker, "x", options.clone()).err().expect("one class");
    assert!(error.to_string().contains("supports, contradicts and neither"), "{error}");
    let judge = golden::dir(MODEL);
    let error = scholar_models::LocalCrossEncoder::open(&judge, "x", options).err().expect("three");
    assert!(error.to_string().contains("3 logits as a reranker"), "{error}");
}
