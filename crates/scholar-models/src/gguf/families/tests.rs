//! Every family and block format against transformers, on tiny random models (`golden/make_families.py`), and bad files.

use std::collections::BTreeMap;
use std::path::Path;

use scholar_testing::cosine;

use super::*;
use crate::gguf::model::Model;
use crate::gguf::panels::Level;
use crate::gguf::pool::Pool;
use crate::gguf::products::Machine;
use crate::gguf::sampler::most_likely;
use crate::gguf::tests::{Case, golden};
use crate::gguf::{GgufGenerator, GgufOptions, GgufSession, GgufSummary};

fn model(name: &str, level: Level) -> Model {
    let file = GgufFile::open(&golden(name)).unwrap();
    let shape = Hyperparameters::read(&file).unwrap();
    let machine = Machine { pool: Pool::start(2, "test").unwrap(), level };
    Model::load(&file, shape, 512, machine).unwrap()
}

#[test]
fn every_family_and_format_has_the_logits_of_transformers() {
    let text = fs_err::read_to_string(golden("families.json")).unwrap();
    let all: BTreeMap<String, Vec<Case>> = serde_json::from_str(&text).unwrap();
    assert_eq!(all.len(), 12);
    for (name, cases) in all {
        let dense = name.contains("f16");
        for level in Level::all() {
            let model = model(&name, level);
            for Case { tokens, logits: expected, greedy } in &cases {
                let mut cache = model.cache();
                let mut logits = model.forward(&mut cache, tokens, 0);
                let furthest = logits
                    .iter()
                    .zip(expected)
                    .map(|(found, expected)| (found - expected).abs())
                    .fold(0.0, f32::max);
                let similar = cosine(&logits, expected);
                // Keys and values are kept in half precision; inputs of quantised weights are rounded to 8 bits.
                let (floor, most) = if dense { (0.999_99, 0.02) } else { (0.997, 0.6) };
                let n = tokens.len();
                assert!(similar > floor, "{name} {level:?} {n} tokens: cosine {similar}");
                assert!(furthest < most, "{name} {level:?} {n} tokens: {furthest}");
                if !dense {
                    continue;
                }
                for (i, token) in greedy.iter().enumerate() {
                    // Two tokens may be as likely as each other but for rounding.
                    let best = logits[most_likely(&logits).unwrap() as usize];
                    let short = best - logits[*token as usize];
                    assert!(short < most, "{name} {n} tokens, at {i}: {short}");
                    logits = model.forward(&mut cache, &[*token], n + i);
                }
            }
        }
    }
}

#[test]
fn a_window_and_a_cap_matter() {
    // Without its features a family would compute something else: the tests above would see it.
    for (name, key, value) in [
        ("tiny-gemma2-f16.gguf", "gemma2.attention.sliding_window", 500_u64),
        ("tiny-mistral-f16.gguf", "llama.attention.sliding_window", 500),
    ] {
        let mut file = GgufFile::open(&golden(name)).unwrap();
        let tokens: Vec<u32> = (10..80).collect();
        let logits = |file: &GgufFile| {
            let shape = Hyperparameters::read(file).unwrap();
            let pool = Pool::start(1, "test").unwrap();
            let machine = Machine { pool, level: Level::detect() };
            let model = Model::load(file, shape, 512, machine).unwrap();
            model.forward(&mut model.cache(), &tokens, 0)
        };
        let with = logits(&file);
        file.metadata.insert(key.to_owned(), crate::gguf::file::Value::Uint(value));
        assert!(cosine(&with, &logits(&file)) < 0.999, "{name}");
    }
}

fn open_error(path: &Path, options: GgufOptions) -> GgufError {
    GgufGenerator::open(path, options).unwrap_err()
}

#[test]
fn a_split_model_is_read_from_all_its_parts_and_a_missing_one_is_named() {
    let whole = GgufFile::open(&golden("tiny-qwen3-f16.gguf")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = |part: usize| dir.path().join(format!("m-{part:05}-of-00002.gguf"));
    crate::gguf::file::split_for_tests(&golden("tiny-qwen3-f16.gguf"), &path(1), &path(2));
    for part in [1, 2] {
        let file = GgufFile::open(&path(part)).unwrap();
        assert_eq!(file.tensors.len(), whole.tensors.len());
        assert_eq!(file.maps.len(), 2);
    }
    fs_err::remove_file(path(2)).unwrap();
    let error = open_error(&path(1), GgufOptions::laptop());
    assert!(error.to_string().contains("m-00002-of-00002.gguf is missing, part 2 of 2"), "{error}");
    assert!(error.hint().contains("all parts"));
}

#[test]
fn a_context_beyond_memory_is_refused_with_both_numbers() {
    let options = GgufOptions { memory_bytes: Some(1 << 18), ..GgufOptions::laptop() };
    let error = open_error(&golden("tiny-qwen3-f16.gguf"), options);
    assert!(matches!(error, GgufError::Memory { tokens: 512, .. }), "{error}");
}

#[test]
fn a_vocabulary_of_another_size_and_an_unknown_format_are_named() {
    let bytes = fs_err::read(golden("tiny-qwen3-f16.gguf")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let changed = |name: &str, find: &[u8], skip: usize, with: &[u8]| {
        let at = bytes.windows(find.len()).position(|window| window == find).unwrap();
        let mut bytes = bytes.clone();
        bytes[at + find.len() + skip..][..with.len()].copy_from_slice(with);
        let path = dir.path().join(name);
        fs_err::write(&path, bytes).unwrap();
        open_error(&path, GgufOptions::laptop())
    };
    // After the name of a tensor: its number of dimensions, two dimensions, the format.
    let error = changed("rows.gguf", b"token_embd.weight", 12, &280_u64.to_le_bytes());
    assert!(error.to_string().contains("vocabulary of 290 tokens and embeddings for 280"));
    let error = changed("format.gguf", b"blk.0.ffn_up.weight", 20, &39_u32.to_le_bytes());
    assert!(matches!(error, GgufError::UnsupportedFormat { format: 39, .. }), "{error}");
    assert!(error.to_string().contains("blk.0.ffn_up.weight has block format 39; read are F32"));
}

#[test]
fn two_programs_open_a_file_at_once_and_write_nothing_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.gguf");
    fs_err::copy(golden("tiny-qwen3-f16.gguf"), &path).unwrap();
    let before = fs_err::read(&path).unwrap();
    // Nothing is repacked: there is no copy that two could write, or that a full disk could cut off.
    let logits = std::thread::scope(|scope| {
        let readers = [(); 2].map(|()| {
            scope.spawn(|| {
                let mut session = GgufSession::open(&path, &GgufOptions::laptop()).unwrap();
                session.read(&[1, 2, 3])
            })
        });
        readers.map(|reader| reader.join().unwrap())
    });
    assert_eq!(logits[0], logits[1]);
    let names: Vec<_> =
        fs_err::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["m.gguf"]);
    assert_eq!(fs_err::read(&path).unwrap(), before);
}

#[test]
fn the_head_of_a_file_says_what_it_is() {
    let path = golden("tiny-qwen3-f16.gguf");
    let summary = GgufSummary::read(&path).unwrap();
    assert_eq!((summary.architecture, summary.context_tokens), ("qwen3", 512));
    assert_eq!(summary.bytes, path.metadata().unwrap().len());
    // Two bytes for almost every number.
    assert!((summary.bytes / 4..summary.bytes).contains(&summary.weights), "{summary:?}");
}
