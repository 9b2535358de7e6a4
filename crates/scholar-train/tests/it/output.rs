use scholar_models::{Backend, CrossEncoderOptions, LocalCrossEncoder, Precision};
use scholar_train::{Control, SaveDtype, Settings, Task, train};

use crate::material::settings;

/// The folder a training leaves opens for inference and scores as it was trained to.
#[test]
fn a_trained_reranker_opens_for_inference() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings =
        Settings { save_dtype: SaveDtype::F16, ..settings(folder.path(), Task::Reranker) };
    let report = train(&settings, &folder.path().join("out"), None, &mut |_| Control::Continue)
        .expect("trains");
    let options = CrossEncoderOptions {
        max_tokens: Some(48),
        precision: Precision::F32,
        backend: Backend::Auto,
        ..CrossEncoderOptions::paper(1)
    };
    let reranker = LocalCrossEncoder::open(&report.model, "trained", options).expect("opens");
    let texts = ["w20 w31 w0 w40", "w20 w31 w12 w40", "w0 w22", "w13 w22"];
    let logits = reranker.logits("w5 w15", &texts).expect("scores");
    assert!(logits[0] > logits[1] && logits[2] > logits[3], "{logits:?}");
    let config = fs_err::read_to_string(report.model.join("config.json")).expect("a config");
    let config: serde_json::Value = serde_json::from_str(&config).expect("JSON");
    assert_eq!(config["num_labels"], 1);
    assert_eq!(config["architectures"][0], "BertForSequenceClassification");
}

/// A reranker that begins from an attributor has learnt something before its first step.
#[test]
fn a_reranker_begins_with_what_an_attributor_knows_of_evidence() {
    let folder = tempfile::tempdir().expect("a folder");
    let judge = settings(folder.path(), Task::Attributor);
    let judge = train(&judge, &folder.path().join("judge"), None, &mut |_| Control::Continue)
        .expect("trains");
    // What w0 supports is what the right passages hold.
    let settings =
        Settings { init: judge.model, max_steps: 1, ..settings(folder.path(), Task::Reranker) };
    let out = folder.path().join("out");
    let report = train(&settings, &out, None, &mut |_| Control::Continue).expect("trains");
    let (name, before) = &report.first[0];
    assert_eq!(name, "ndcg@10");
    assert!(*before > 0.7, "{before}, by chance it would be about 0.55");
}
