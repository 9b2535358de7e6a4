//! Models in eight bits.

use std::path::Path;

use scholar_models::quantize::pack;
use scholar_models::{
    CrossEncoderOptions, EncoderOptions, LocalCrossEncoder, LocalEncoder, Precision,
};

use crate::golden::{self, Scored};

fn open(dir: &Path) -> LocalCrossEncoder {
    let options =
        CrossEncoderOptions { precision: Precision::F32, ..CrossEncoderOptions::paper(1) };
    LocalCrossEncoder::open(dir, "tiny", options).expect("opens")
}

#[test]
fn packed_models_are_smaller_and_score_nearly_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let tiny = golden::dir("tiny-bert-cross");
    let packed = pack(&tiny, folder.path()).expect("packed");
    assert!(packed.packed >= 7 && packed.kept >= 10, "{packed:?}");
    assert!((1e-4..0.01).contains(&packed.relative_error), "{packed:?}");
    let bytes = |dir: &Path| fs_err::read(dir.join("model.safetensors")).expect("there");
    assert!(bytes(folder.path()).len() < bytes(&tiny).len() * 3 / 4, "the tiny model is in f16");
    let (before, after) = (open(&tiny), open(folder.path()));
    for row in golden::expected::<Scored>("tiny-bert-cross") {
        let logit =
            |model: &LocalCrossEncoder| model.logits(&row.query, &[&row.passage]).expect("runs")[0];
        assert!((logit(&before) - logit(&after)).abs() < 0.05, "{:?}", row.query);
    }
    let again = tempfile::tempdir().expect("a folder");
    pack(&tiny, again.path()).expect("packed");
    assert_eq!(bytes(folder.path()), bytes(again.path()), "the same bytes each time");
    let twice = tempfile::tempdir().expect("a folder");
    let repacked = pack(folder.path(), twice.path()).expect("a packed model can be packed");
    assert!(repacked.relative_error < 1e-3, "packing again loses nothing: {repacked:?}");
    assert!(pack(&tiny, &folder.path().join("config.json")).is_err(), "a file is no folder");
    let options = EncoderOptions::project(1);
    LocalEncoder::open(folder.path(), "tiny", options).expect("the encoder inside opens, too");
}

#[test]
fn scales_that_are_gone_or_do_not_fit_are_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    pack(&golden::dir("tiny-bert-cross"), folder.path()).expect("packed");
    let weights = folder.path().join("model.safetensors");
    let whole = fs_err::read(&weights).expect("there");
    let find = |needle: &[u8]| {
        whole.windows(needle.len()).position(|window| window == needle).expect("in the header")
    };
    let mut renamed = whole.clone();
    let at = find(b"pooler.dense.weight.scale");
    renamed[at + 20..at + 25].copy_from_slice(b"skale");
    fs_err::write(&weights, renamed).expect("written");
    let options = CrossEncoderOptions::paper(1);
    let error = LocalCrossEncoder::open(folder.path(), "tiny", options).err().expect("no scales");
    assert!(error.to_string().contains("has no scales"), "{error}");
}
