//! The classification heads of the three families.

use crate::encoder::config::{Architecture, NetworkConfig};
use crate::error::ModelError;
use crate::kernels::{Level, dot};
use crate::weights::Weights;

/// `out(tanh(dense(state of the first token)))`.
///
/// BERT calls the two layers pooler and classifier, the others `classifier.dense` and `classifier.out_proj`.
pub(super) struct Head {
    dense: Vec<f32>,
    dense_bias: Vec<f32>,
    out: Vec<f32>,
    out_bias: f32,
}

impl Head {
    /// Reads the head.
    ///
    /// # Errors
    /// When the checkpoint has none, as that of a bi-encoder.
    pub(super) fn load(weights: &Weights, config: &NetworkConfig) -> Result<Self, ModelError> {
        let (dense, out) = match config.architecture {
            Architecture::Bert => ("pooler.dense", "classifier"),
            Architecture::Mpnet | Architecture::Roberta => {
                ("classifier.dense", "classifier.out_proj")
            }
        };
        let hidden = config.hidden;
        let out_bias = weights.get(&format!("{out}.bias"), &[1])?;
        Ok(Self {
            dense: weights.get(&format!("{dense}.weight"), &[hidden, hidden])?,
            dense_bias: weights.get(&format!("{dense}.bias"), &[hidden])?,
            out: weights.get(&format!("{out}.weight"), &[1, hidden])?,
            out_bias: out_bias[0],
        })
    }

    /// The logit for the first token's last hidden state, `[hidden]`.
    pub(super) fn logit(&self, state: &[f32]) -> f32 {
        let level = Level::detect();
        let middle: Vec<f32> = self
            .dense
            .chunks_exact(state.len())
            .zip(&self.dense_bias)
            .map(|(row, bias)| (dot(level, row, state) + bias).tanh())
            .collect();
        dot(level, &self.out, &middle) + self.out_bias
    }
}
