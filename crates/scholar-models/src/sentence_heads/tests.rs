use std::time::Instant;

use scholar_core::random::SplitMix64;
use scholar_core::{PassageKind, SentenceRole};

use super::*;

const DIM: usize = 8;

fn random(n: usize, stream: u64) -> Vec<f32> {
    let mut random = SplitMix64::stream(3, stream);
    (0..n).map(|_| random.normal() as f32 * 0.2).collect()
}

fn unit(dim: usize, stream: u64) -> Vec<f32> {
    let vector = random(dim, stream);
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.into_iter().map(|x| x / norm).collect()
}

fn config(dim: usize, hidden: usize) -> SentenceHeadsConfig {
    SentenceHeadsConfig {
        format: FORMAT,
        name: "tiny".to_owned(),
        encoder: "tiny-encoder".to_owned(),
        dim,
        role_hidden: hidden,
        answer_hidden: hidden,
        answer_blocks: vec![AnswerBlock::Product, AnswerBlock::Difference, AnswerBlock::Sentence],
        role_temperature: 1.5,
        answer_calibration: AnswerCalibration { scale: 0.8, shift: -1.0 },
    }
}

fn heads(dim: usize, hidden: usize) -> SentenceHeads {
    let config = config(dim, hidden);
    let weights = StemWeights::of_texts(["green tea and sleep", "black tea", "cells divide"]);
    let features = Features::new(dim, config.answer_blocks.clone(), weights.clone());
    let head = |inputs: usize, outputs: usize, stream: u64| {
        let tensors = [
            random(inputs * hidden, stream),
            random(hidden, stream + 1),
            random(hidden * outputs, stream + 2),
            random(outputs, stream + 3),
        ];
        Mlp::new(hidden, tensors).expect("fits")
    };
    let (role, answers) =
        (head(features.role_width(), ROLES, 10), head(features.answer_width(), 1, 20));
    SentenceHeads::new(config, weights, role, answers, Path::new("tiny")).expect("fits")
}

fn sentence<'a>(text: &'a str, vector: &'a [f32]) -> SentenceInContext<'a> {
    SentenceInContext {
        sentence: EmbeddedText { text, vector },
        before: None,
        after: None,
        title: None,
        kind: PassageKind::Abstract,
        section: "",
        nth: 0,
        of: 1,
    }
}

#[test]
fn other_sentences_change_no_score_and_roles_sum_to_one() {
    let heads = heads(DIM, 6);
    let (q, a, b, title) = (unit(DIM, 1), unit(DIM, 2), unit(DIM, 3), unit(DIM, 4));
    let question = EmbeddedText { text: "Does tea improve sleep?", vector: &q };
    let full = SentenceInContext {
        before: Some(&b),
        title: Some(EmbeddedText { text: "Tea", vector: &title }),
        section: "Results",
        nth: 2,
        of: 9,
        ..sentence("Tea improved sleep by 12%.", &a)
    };
    let alone = heads.classify(question, &[full]).expect("runs");
    let many: Vec<_> =
        (0..300).map(|n| if n == 290 { full } else { sentence("Cells.", &b) }).collect();
    let among = heads.classify(question, &many).expect("runs");
    assert_eq!(among.len(), 300);
    let role = alone[0].role.to_array();
    for (x, y) in role.iter().zip(among[290].role.to_array()) {
        assert!((x - y).abs() < 1e-5);
    }
    assert!((alone[0].answers - among[290].answers).abs() < 1e-5);
    assert!((role.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    assert!(SentenceRole::ALL.contains(&alone[0].role.most_probable()));
    assert!((0.0..=1.0).contains(&alone[0].answers));
}

#[test]
fn vectors_of_another_encoder_are_rejected() {
    let heads = heads(DIM, 6);
    let (q, short) = (unit(DIM, 1), unit(DIM - 1, 2));
    let question = EmbeddedText { text: "?", vector: &q };
    let long = SentenceInContext { before: Some(&short), ..sentence("x", &q) };
    for wrong in [sentence("x", &short), long] {
        let error = heads.classify(question, &[wrong]).expect_err("too short");
        assert_eq!(error.kind(), PortErrorKind::Rejected);
    }
    assert!(heads.classify(question, &[]).expect("nothing to do").is_empty());
}

#[test]
fn a_folder_is_opened_or_refused_with_its_reason() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |config: &SentenceHeadsConfig| {
        let json = serde_json::to_string(config).expect("JSON");
        fs_err::write(dir.path().join(CONFIG_FILE), json).expect("written");
    };
    let sound = config(DIM, 6);
    write(&SentenceHeadsConfig { format: 99, ..sound.clone() });
    assert!(SentenceHeads::open(dir.path()).expect_err("format").to_string().contains("format 99"));
    write(&SentenceHeadsConfig { role_temperature: 0.0, ..sound.clone() });
    let error = SentenceHeads::open(dir.path()).expect_err("temperature").to_string();
    assert!(error.contains("above 0"), "{error}");
    write(&sound);
    assert!(SentenceHeads::open(dir.path()).is_err(), "no weights");
    fs_err::write(dir.path().join(WEIGHTS_FILE), b"nonsense").expect("written");
    let error = SentenceHeads::open(dir.path()).expect_err("damaged").to_string();
    assert!(error.contains("damaged"), "{error}");
}

/// The budget of evidence mode: 600 sentences in 30 ms. Ten times that fails here, for busy machines.
#[test]
fn six_hundred_sentences_are_fast() {
    let heads = heads(384, 64);
    let vectors: Vec<Vec<f32>> = (0..600).map(|n| unit(384, n)).collect();
    let text = "Compared with placebo, green tea significantly improved the sleep of adults by 12% (p < 0.05) after six weeks.";
    let sentences: Vec<SentenceInContext<'_>> = vectors
        .iter()
        .map(|vector| SentenceInContext {
            before: Some(vector),
            after: Some(vector),
            title: Some(EmbeddedText { text: "Effects of tea on sleep in adults", vector }),
            nth: 1,
            of: 9,
            ..sentence(text, vector)
        })
        .collect();
    let question = EmbeddedText { text: "Does green tea improve sleep?", vector: &vectors[0] };
    let begun = Instant::now();
    assert_eq!(heads.classify(question, &sentences).expect("runs").len(), 600);
    let taken = begun.elapsed();
    assert!(taken.as_millis() < 300, "{taken:?}");
}
