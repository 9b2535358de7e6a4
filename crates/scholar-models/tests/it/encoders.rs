//! Bi-encoders.

use scholar_core::{Encoder as _, Side, Similarity};
use scholar_models::{Backend, EncoderOptions, LocalEncoder, ModelError, Precision};
use scholar_testing::{assert_all_close, cosine};

use crate::golden::{self, Encoded};

const MODELS: [&str; 2] = ["tiny-bert-encoder", "tiny-mpnet-encoder"];

fn options(precision: Precision, backend: Backend, threads: usize) -> EncoderOptions {
    EncoderOptions { precision, backend, ..EncoderOptions::project(threads) }
}

fn open(model: &str, options: EncoderOptions) -> LocalEncoder {
    LocalEncoder::open(&golden::dir(model), model, options).expect("the tiny model opens")
}

/// Every engine this machine has, f32 ones first.
fn engines(model: &str) -> Vec<LocalEncoder> {
    let all = [
        (Precision::F32, Backend::Portable),
        (Precision::F32, Backend::Avx512),
        (Precision::Bf16, Backend::Avx512),
        (Precision::Bf16, Backend::Amx),
    ];
    let dir = golden::dir(model);
    let opened = all.map(|(precision, backend)| {
        match LocalEncoder::open(&dir, model, options(precision, backend, 2)) {
            Ok(encoder) => Some(encoder),
            Err(error @ ModelError::Setting { .. }) => {
                eprintln!("skipped {precision:?} on {backend:?} for {model}: {error}");
                None
            }
            Err(error) => panic!("{model}: {error}"),
        }
    });
    opened.into_iter().flatten().collect()
}

#[test]
fn vectors_are_those_of_pytorch_on_every_engine() {
    for model in MODELS {
        let rows: Vec<Encoded> = golden::expected(model);
        let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
        for encoder in engines(model) {
            let got = encoder.encode(Side::Passage, &texts).expect("encodes");
            assert_eq!(got.len(), rows.len());
            for (row, vector) in rows.iter().zip(got.rows()) {
                if encoder.engine().ends_with("f32") {
                    assert_all_close(vector, &row.vector, 2e-5);
                }
                let similarity = cosine(vector, &row.vector);
                assert!(similarity > 0.999, "{} {:?}: {similarity}", encoder.engine(), row.text);
            }
        }
    }
}

#[test]
fn limits_norms_and_truncation_come_from_the_files() {
    let rows: Vec<Encoded> = golden::expected("tiny-bert-encoder");
    let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
    let bert = open("tiny-bert-encoder", EncoderOptions::project(1));
    assert_eq!((bert.info().dim, bert.info().max_tokens), (32, 48));
    assert_eq!(bert.info().similarity, Similarity::Dot);
    let cut = rows.iter().filter(|row| row.ids.len() == 48).count();
    assert_eq!(bert.encode(Side::Passage, &texts).expect("encodes").truncated, cut);
    assert_eq!(cut, 1, "one golden text is too long");

    let mpnet = open("tiny-mpnet-encoder", EncoderOptions::project(1));
    assert_eq!((mpnet.info().dim, mpnet.info().max_tokens), (64, 40));
    assert_eq!(mpnet.info().similarity, Similarity::Cosine);

    let short = EncoderOptions { max_tokens: Some(10), ..EncoderOptions::project(1) };
    let short = open("tiny-bert-encoder", short);
    assert!(short.encode(Side::Passage, &texts).expect("encodes").truncated > cut);
    let wide = EncoderOptions { max_tokens: Some(49), ..EncoderOptions::project(1) };
    let refused = LocalEncoder::open(&golden::dir("tiny-bert-encoder"), "tiny", wide);
    assert!(matches!(refused, Err(ModelError::Setting { setting: "max_tokens", .. })));
}

#[test]
fn neighbours_threads_and_order_change_nothing() {
    for model in MODELS {
        let texts: Vec<String> = (0..40).map(|at| "the cell membrane ".repeat(at % 9)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for encoder in engines(model) {
            let together = encoder.encode(Side::Passage, &texts).expect("encodes");
            for (at, row) in together.rows().enumerate() {
                let alone = encoder.encode(Side::Passage, &texts[at..=at]).expect("encodes");
                assert_all_close(&alone.values, row, 1e-6);
            }
        }
    }
}

#[test]
fn token_states_leave_special_tokens_out_and_have_length_one() {
    let encoder = open("tiny-bert-encoder", EncoderOptions::project(1));
    let rows: Vec<Encoded> = golden::expected("tiny-bert-encoder");
    let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
    let states = encoder.token_states(Side::Query, &texts).expect("runs").expect("offers states");
    for (row, states) in rows.iter().zip(&states) {
        assert_eq!(states.len(), row.ids.len() - 2, "{:?}", row.text);
        for state in states.rows() {
            let norm: f32 = state.iter().map(|value| value * value).sum();
            assert!((norm - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn the_fingerprint_follows_what_decides_vectors() {
    let base = EncoderOptions::project(1);
    let print =
        |model: &str, options: EncoderOptions| open(model, options).info().fingerprint.clone();
    let fingerprint = print("tiny-bert-encoder", base.clone());
    assert_eq!(fingerprint.len(), 64);
    let same = EncoderOptions { threads: 2, backend: Backend::Portable, ..base.clone() };
    assert_eq!(fingerprint, print("tiny-bert-encoder", same));
    let shorter = EncoderOptions { max_tokens: Some(20), ..base.clone() };
    let cosine = EncoderOptions { similarity: Some(Similarity::Cosine), ..base.clone() };
    for changed in [shorter, cosine] {
        assert_ne!(fingerprint, print("tiny-bert-encoder", changed));
    }
    assert_ne!(fingerprint, print("tiny-mpnet-encoder", base));
}

#[test]
fn the_default_encoder_gives_published_numbers() {
    let Some(dir) = scholar_testing::model_dir("all-MiniLM-L6-v2") else { return };
    let encoder = LocalEncoder::open(&dir, "minilm", options(Precision::F32, Backend::Auto, 2));
    // Source: values printed by sentence-transformers for these two sentences.
    let texts = ["This is an example sentence", "Each sentence is converted"];
    let got = encoder.expect("opens").encode(Side::Passage, &texts).expect("encodes");
    let expected = [
        [0.067_656_9, 0.063_495_9, 0.048_713_1, 0.079_304_9],
        [0.086_438_6, 0.102_762_6, 0.005_394_6, 0.002_044_5],
    ];
    for (row, expected) in got.rows().zip(expected) {
        assert_all_close(&row[..4], &expected, 1e-5);
    }
}

#[test]
fn published_weights_give_published_numbers() {
    let Some(dir) = scholar_testing::large_model_dir("all-mpnet-base-v2") else { return };
    let encoder = LocalEncoder::open(&dir, "mpnet", options(Precision::F32, Backend::Auto, 2));
    let encoder = encoder.expect("opens");
    assert_eq!(encoder.info().max_tokens, 384);
    // Source: values printed by sentence-transformers for these two sentences.
    let texts = ["This is an example sentence", "Each sentence is converted"];
    let got = encoder.encode(Side::Passage, &texts).expect("encodes");
    assert_all_close(
        &got.values[..4],
        &[0.022_502_6, -0.078_291_7, -0.023_030_7, -0.005_100_1],
        1e-6,
    );
    let rows: Vec<&[f32]> = got.rows().collect();
    assert!((cosine(rows[0], rows[1]) - 0.404_88).abs() < 1e-5);
}

/// Each option changes the vector of a text it applies to, to that of the prepared text, and the fingerprint.
#[test]
fn texts_are_prepared_as_asked() {
    let open = |lowercase, normalize_text| {
        let preparation = scholar_core::TextPreparation { lowercase, normalize_text };
        let options = EncoderOptions { preparation, ..EncoderOptions::project(1) };
        LocalEncoder::open(&golden::dir("tiny-mpnet-encoder"), "tiny", options).expect("opens")
    };
    let (plain, lower, normal) = (open(false, false), open(true, false), open(false, true));
    let vector = |encoder: &LocalEncoder, text: &str| {
        encoder.encode(Side::Passage, &[text]).expect("encodes").values
    };
    let fancy = "retrieval\u{2014}augmented \u{201c}generation\u{201d}\u{2026}";
    let simple = "retrieval-augmented \"generation\"...";
    assert_eq!(vector(&normal, fancy), vector(&plain, simple));
    assert_eq!(vector(&lower, "RETRIEVAL Augmented"), vector(&plain, "retrieval augmented"));
    assert_ne!(plain.info().fingerprint, lower.info().fingerprint);
    assert_ne!(lower.info().fingerprint, normal.info().fingerprint);
    assert_eq!(lower.count_tokens("ABC").expect("n"), plain.count_tokens("abc").expect("n"));
    assert_eq!(normal.count_tokens(fancy).expect("n"), plain.count_tokens(simple).expect("n"));
}
