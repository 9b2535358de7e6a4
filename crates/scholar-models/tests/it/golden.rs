//! The golden files.

use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Folder of a tiny model.
pub(crate) fn dir(model: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(model)
}

/// The expected values of a tiny model.
pub(crate) fn expected<T: DeserializeOwned>(model: &str) -> Vec<T> {
    let text = fs_err::read_to_string(dir("encoders.json")).expect("the golden file is there");
    let mut all: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&text).expect("the golden file is JSON");
    let rows = all.remove(model).expect("the golden file has this model");
    serde_json::from_value(rows).expect("the golden rows have the expected form")
}

#[derive(Debug, Deserialize)]
pub(crate) struct Encoded {
    pub(crate) text: String,
    pub(crate) ids: Vec<u32>,
    pub(crate) vector: Vec<f32>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Scored {
    pub(crate) query: String,
    pub(crate) passage: String,
    pub(crate) logit: f32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Judged {
    pub(crate) claim: String,
    pub(crate) evidence: String,
    pub(crate) logits: [f32; 3],
    pub(crate) stance: [f32; 3],
}
