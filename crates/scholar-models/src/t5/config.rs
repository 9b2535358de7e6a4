//! `config.json` of a T5.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::ModelError;

/// How a block's second half is gated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FeedForward {
    /// `relu(x wi) wo`: T5 1.0.
    Relu,
    /// `(gelu(x wi_0) * x wi_1) wo` with the tanh form of GELU: T5 1.1, FLAN-T5.
    GatedGelu,
}

/// The sizes of a T5, checked.
#[derive(Debug, Clone)]
pub(super) struct Config {
    pub(super) vocabulary: usize,
    pub(super) width: usize,
    pub(super) head_dim: usize,
    pub(super) heads: usize,
    pub(super) hidden: usize,
    pub(super) encoder_layers: usize,
    pub(super) decoder_layers: usize,
    pub(super) buckets: usize,
    pub(super) farthest: usize,
    pub(super) epsilon: f64,
    pub(super) feed_forward: FeedForward,
    /// Whether the output layer is the word embeddings.
    pub(super) tied: bool,
    pub(super) start: u32,
    pub(super) end: u32,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    model_type: String,
    vocab_size: usize,
    d_model: usize,
    d_kv: usize,
    d_ff: usize,
    num_layers: usize,
    num_decoder_layers: Option<usize>,
    num_heads: usize,
    #[serde(default = "buckets")]
    relative_attention_num_buckets: usize,
    #[serde(default = "farthest")]
    relative_attention_max_distance: usize,
    #[serde(default = "epsilon")]
    layer_norm_epsilon: f64,
    #[serde(default = "relu")]
    feed_forward_proj: String,
    #[serde(default = "yes")]
    tie_word_embeddings: bool,
    #[serde(default)]
    decoder_start_token_id: u32,
    #[serde(default = "end")]
    eos_token_id: u32,
}

fn buckets() -> usize {
    32
}

fn farthest() -> usize {
    128
}

fn epsilon() -> f64 {
    1e-6
}

fn relu() -> String {
    "relu".to_owned()
}

fn yes() -> bool {
    true
}

fn end() -> u32 {
    1
}

impl Config {
    /// Whether `config.json` is of a T5.
    ///
    /// # Errors
    /// When it is absent or no JSON.
    pub(super) fn is_t5(dir: &Path) -> Result<bool, ModelError> {
        #[derive(Deserialize)]
        struct Kind {
            #[serde(default)]
            model_type: String,
        }
        Ok(read::<Kind>(dir)?.0.model_type == "t5")
    }

    /// Reads and checks `config.json`.
    ///
    /// # Errors
    /// When it is absent, damaged, inconsistent, or not of a T5.
    pub(super) fn read(dir: &Path) -> Result<Self, ModelError> {
        let (file, path) = read::<File>(dir)?;
        let unsupported = |what: String| ModelError::Unsupported { path: path.clone(), what };
        if file.model_type != "t5" {
            return Err(unsupported(format!("model type {:?} as a T5", file.model_type)));
        }
        let feed_forward = match file.feed_forward_proj.as_str() {
            "relu" => FeedForward::Relu,
            "gated-gelu" => FeedForward::GatedGelu,
            other => return Err(unsupported(format!("feed-forward {other:?}"))),
        };
        let decoder_layers = file.num_decoder_layers.unwrap_or(file.num_layers);
        let sizes =
            [file.vocab_size, file.d_model, file.d_kv, file.d_ff, file.num_layers, decoder_layers];
        let sane = sizes.iter().all(|size| (1..1 << 20).contains(size))
            && (1..1 << 10).contains(&file.num_heads)
            && (4..1 << 12).contains(&file.relative_attention_num_buckets)
            && file.relative_attention_num_buckets.is_multiple_of(4)
            && (file.relative_attention_num_buckets..1 << 20)
                .contains(&file.relative_attention_max_distance)
            && file.layer_norm_epsilon > 0.0
            && (file.decoder_start_token_id as usize) < file.vocab_size;
        if !sane {
            return Err(ModelError::damaged(&path, "its sizes do not fit together"));
        }
        Ok(Self {
            vocabulary: file.vocab_size,
            width: file.d_model,
            head_dim: file.d_kv,
            heads: file.num_heads,
            hidden: file.d_ff,
            encoder_layers: file.num_layers,
            decoder_layers,
            buckets: file.relative_attention_num_buckets,
            farthest: file.relative_attention_max_distance,
            epsilon: file.layer_norm_epsilon,
            feed_forward,
            tied: file.tie_word_embeddings,
            start: file.decoder_start_token_id,
            end: file.eos_token_id,
        })
    }
}

/// `config.json` of folder `dir`, and its path.
fn read<T: DeserializeOwned>(dir: &Path) -> Result<(T, PathBuf), ModelError> {
    let path = dir.join("config.json");
    if !path.is_file() {
        return Err(ModelError::MissingFile { dir: dir.to_owned(), expected: "config.json" });
    }
    let text = fs_err::read_to_string(&path).map_err(|e| ModelError::read(&path, e))?;
    let file = serde_json::from_str(&text).map_err(|e| ModelError::damaged(&path, e))?;
    Ok((file, path))
}
