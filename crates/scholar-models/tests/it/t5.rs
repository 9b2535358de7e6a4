//! The T5 judge against what transformers computes; see `scripts/make_tiny_t5.py`.

use futures::executor::block_on;
use scholar_core::{Attributor as _, Verdict};
use scholar_models::t5::prompt;
use scholar_models::{T5Attributor, T5Precision};
use scholar_testing::assert_all_close;
use serde::Deserialize;

use crate::golden;

#[derive(Deserialize)]
struct File {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    prompt: String,
    first: Vec<f32>,
    reply: Vec<u32>,
    text: String,
}

fn rows() -> Vec<Row> {
    let text = fs_err::read_to_string(golden::dir("t5.json")).expect("the golden file is there");
    serde_json::from_str::<File>(&text).expect("the golden file is JSON").rows
}

fn open(precision: T5Precision) -> T5Attributor {
    T5Attributor::open(&golden::dir("tiny-t5"), "tiny-t5", precision).expect("opens")
}

#[test]
fn logits_and_greedy_replies_are_those_of_transformers() {
    let exact = open(T5Precision::Auto);
    for row in rows() {
        let reply = exact.reply(&row.prompt).expect("runs");
        assert_all_close(&reply.first, &row.first, 2e-4);
        assert_eq!((&reply.ids, &reply.text), (&row.reply, &row.text), "{:?}", row.prompt);
    }
}

#[test]
fn eight_bits_are_near_f32() {
    let (exact, short) = (open(T5Precision::F32), open(T5Precision::Q8));
    assert!(exact.name().ends_with("f32)") && short.name().ends_with("8 bit)"));
    for row in rows() {
        let exact = exact.reply(&row.prompt).expect("runs").first;
        let short = short.reply(&row.prompt).expect("runs").first;
        let norm = |values: &[f32]| values.iter().map(|v| v * v).sum::<f32>().sqrt();
        let apart: Vec<f32> = exact.iter().zip(&short).map(|(a, b)| a - b).collect();
        assert!(norm(&apart) < 0.1 * norm(&exact), "{:?}: {}", row.prompt, norm(&apart));
        assert!(norm(&apart) > 0.0, "eight bits were used");
    }
}

#[test]
fn the_port_asks_with_the_prompt_and_takes_the_label_only() {
    let judge = open(T5Precision::F32);
    let pairs = [("cells are in water", "water is the treatment"), ("a", "b")];
    let judged = block_on(judge.judge(&pairs)).expect("runs");
    assert_eq!(judged.len(), 2);
    for ((claim, reference), judgement) in pairs.iter().zip(judged) {
        let reply = judge.reply(&prompt(claim, reference)).expect("runs");
        assert_ne!(reply.text, "Attributable", "random weights do not write the label");
        assert_ne!(judgement.verdict, Verdict::Supported);
        assert!((0.0..=0.5).contains(&judgement.score));
    }
    assert!(judge.name().starts_with("tiny-t5/1 ("), "{}", judge.name());
}

#[test]
fn a_missing_shard_and_another_architecture_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for entry in fs_err::read_dir(golden::dir("tiny-t5")).expect("there") {
        let entry = entry.expect("readable");
        fs_err::copy(entry.path(), folder.path().join(entry.file_name())).expect("copied");
    }
    let open = || T5Attributor::open(folder.path(), "tiny", T5Precision::Auto);
    assert!(open().is_ok());
    let shard = folder.path().join("pytorch_model-00002-of-00002.bin");
    let whole = fs_err::read(&shard).expect("there");
    for keep in [0, 100, whole.len() / 2] {
        fs_err::write(&shard, &whole[..keep]).expect("written");
        let error = open().err().expect("cut").to_string();
        assert!(error.contains("pytorch_model-00002"), "{error}");
    }
    fs_err::remove_file(&shard).expect("removed");
    let error = open().err().expect("a shard is gone").to_string();
    assert!(error.contains("pytorch_model-00002"), "{error}");
    let bert = T5Attributor::open(&golden::dir("tiny-bert-cross"), "bert", T5Precision::Auto);
    let error = bert.err().expect("no T5").to_string();
    assert!(error.contains("config.json"), "{error}");
}
