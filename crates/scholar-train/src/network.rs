//! BERT-shaped encoders that can be trained: post-norm layers, GELU, learned positions, token types.
//!
//! The derivatives are written by hand, layer by layer, and everything lies in a few flat buffers: that is what makes a
//! step on a CPU as fast as its products ([decision 0011](../../../docs/decisions/0011-training-engine.md)).
//!
//! Weights have the names of the published checkpoints, so a trained folder opens wherever those do.

mod check;
pub(crate) mod head;
pub(crate) mod interaction;
mod layer;
mod layout;
mod packed;
mod parameters;
mod pass;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub(crate) use check::check;
pub(crate) use packed::Packed;
pub(crate) use parameters::{Freeze, Parameters, read_numbers};
pub(crate) use pass::{Needed, Tape};

use crate::error::TrainError;

/// Sizes of an encoder; `config.json` of a BERT checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Rows of the table of words.
    #[serde(rename = "vocab_size")]
    pub vocabulary: usize,
    /// Numbers of a token's state.
    #[serde(rename = "hidden_size")]
    pub hidden: usize,
    /// Number of transformer layers.
    #[serde(rename = "num_hidden_layers")]
    pub layers: usize,
    /// Attention heads of a layer.
    #[serde(rename = "num_attention_heads")]
    pub heads: usize,
    /// Numbers between the two products of a layer's second half.
    #[serde(rename = "intermediate_size")]
    pub intermediate: usize,
    /// Longest input in tokens.
    #[serde(rename = "max_position_embeddings")]
    pub positions: usize,
    /// Rows of the table of token types; 2 for pairs.
    #[serde(rename = "type_vocab_size")]
    pub segments: usize,
    /// Added to the variance in layer normalisation.
    #[serde(rename = "layer_norm_eps", default = "epsilon")]
    pub epsilon: f32,
}

fn epsilon() -> f32 {
    1e-12
}

impl Shape {
    /// Reads and checks `config.json` of a model folder.
    ///
    /// # Errors
    /// When it is absent, damaged, inconsistent, or of another family.
    pub fn read(dir: &Path) -> Result<Self, TrainError> {
        let path = dir.join("config.json");
        let text = fs_err::read_to_string(&path).map_err(|e| TrainError::read(&path, e))?;
        let all: serde_json::Value =
            serde_json::from_str(&text).map_err(|e| TrainError::damaged(&path, e))?;
        let is = |field: &str, wanted: &str| {
            all.get(field).is_none_or(|value| value.as_str() == Some(wanted))
        };
        let known = all["model_type"].as_str() == Some("bert")
            && is("hidden_act", "gelu")
            && is("position_embedding_type", "absolute");
        if !known {
            return Err(TrainError::Other {
                path,
                kind: "architecture",
                problem: "only BERT shapes with GELU and absolute positions are trained here"
                    .to_owned(),
            });
        }
        let shape: Self = serde_json::from_value(all).map_err(|e| TrainError::damaged(&path, e))?;
        shape.check().map_err(|problem| TrainError::damaged(&path, problem))?;
        Ok(shape)
    }

    fn check(&self) -> Result<(), &'static str> {
        let sizes = [
            self.vocabulary,
            self.hidden,
            self.layers,
            self.heads,
            self.intermediate,
            self.positions,
            self.segments,
        ];
        if sizes.iter().any(|size| !(1..1 << 20).contains(size)) {
            return Err("a size is 0 or absurd");
        }
        // Flat buffers are indexed with 32 bits in dropout masks, and a checkpoint is held in memory three times.
        let weights = (self.vocabulary + self.positions) * self.hidden
            + self.layers * self.hidden * (4 * self.hidden + 2 * self.intermediate);
        if weights >= 1 << 30 {
            return Err("it is too large to be trained here");
        }
        if !self.hidden.is_multiple_of(self.heads) {
            return Err("the heads do not divide the hidden size");
        }
        Ok(())
    }

    /// Numbers of a head.
    pub(crate) fn head_width(&self) -> usize {
        self.hidden / self.heads
    }
}

#[cfg(test)]
mod tests;
