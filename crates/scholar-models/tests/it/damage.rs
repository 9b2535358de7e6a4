//! Model folders that are incomplete or broken.

use std::path::Path;

use scholar_models::{EncoderOptions, LocalEncoder, ModelError};

use crate::golden;

/// A copy of a tiny model's folder, to be damaged.
fn copy(model: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for entry in fs_err::read_dir(golden::dir(model)).expect("the tiny model is there") {
        let entry = entry.expect("a readable folder");
        if entry.path().is_file() {
            fs_err::copy(entry.path(), folder.path().join(entry.file_name())).expect("copied");
        }
    }
    folder
}

fn open(dir: &Path) -> Result<LocalEncoder, ModelError> {
    LocalEncoder::open(dir, "tiny", EncoderOptions::project(1))
}

fn change(path: &Path, change: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    let bytes = fs_err::read(path).expect("readable");
    fs_err::write(path, change(bytes)).expect("written");
}

#[test]
fn every_missing_file_is_named_with_the_next_step() {
    for (model, file) in [
        ("tiny-bert-encoder", "config.json"),
        ("tiny-bert-encoder", "pytorch_model.bin"),
        ("tiny-bert-encoder", "tokenizer.json"),
        ("tiny-bert-cross", "vocab.txt"),
        ("tiny-xlmr-cross", "sentencepiece.bpe.model"),
    ] {
        let folder = copy(model);
        fs_err::remove_file(folder.path().join(file)).expect("removed");
        let error = open(folder.path()).err().expect("an incomplete folder is refused");
        assert!(error.to_string().contains(file), "{error}");
        assert!(error.hint().expect("a next step").contains("openscholar models pull"));
    }
}

#[test]
fn cut_files_are_damaged_not_a_panic() {
    for (model, file) in [
        ("tiny-bert-encoder", "config.json"),
        ("tiny-bert-encoder", "pytorch_model.bin"),
        ("tiny-bert-encoder", "tokenizer.json"),
        ("tiny-bert-cross", "model.safetensors"),
        ("tiny-mpnet-encoder", "modules.json"),
        ("tiny-xlmr-cross", "sentencepiece.bpe.model"),
    ] {
        let whole = fs_err::read(golden::dir(model).join(file)).expect("readable").len();
        for keep in [0, 1, 7, whole / 3, whole / 2, whole - 2] {
            let folder = copy(model);
            change(&folder.path().join(file), |bytes| bytes[..keep].to_vec());
            let error = open(folder.path()).err();
            let error = error.unwrap_or_else(|| panic!("{file} cut to {keep} bytes opened"));
            assert!(error.to_string().contains(file), "{file} cut to {keep}: {error}");
            assert!(error.hint().is_some(), "{error}");
        }
    }
}

#[test]
fn wrong_shapes_and_foreign_tokenizers_are_refused() {
    let folder = copy("tiny-bert-cross");
    change(&folder.path().join("config.json"), |bytes| {
        String::from_utf8(bytes)
            .expect("text")
            .replace("\"intermediate_size\": 96", "\"intermediate_size\": 97")
            .into_bytes()
    });
    let error = open(folder.path()).err().expect("97 is not 96");
    assert!(matches!(error, ModelError::Tensor { .. }), "{error}");

    let folder = copy("tiny-bert-cross");
    change(&folder.path().join("vocab.txt"), |mut bytes| {
        bytes.extend(b"extra\nwords\n");
        bytes
    });
    let error = open(folder.path()).err().expect("ids beyond the embedding are refused");
    assert!(error.to_string().contains("do not belong together"), "{error}");

    let folder = copy("tiny-bert-cross");
    change(&folder.path().join("config.json"), |bytes| {
        String::from_utf8(bytes).expect("text").replace("\"gelu\"", "\"swish\"").into_bytes()
    });
    let error = open(folder.path()).err().expect("swish is unknown");
    assert!(matches!(error, ModelError::Unsupported { .. }), "{error}");
}
