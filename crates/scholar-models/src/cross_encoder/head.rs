//! The classification heads of the three families.

use crate::encoder::config::{Architecture, NetworkConfig};
use crate::error::ModelError;
use crate::kernels::dot;
use crate::simd::SimdLevel;
use crate::weights::Weights;

/// `out(tanh(dense(state of the first token)))`, or `out(state)` where a BERT checkpoint has no pooler.
///
/// BERT calls the two layers pooler and classifier, the others `classifier.dense` and `classifier.out_proj`.
pub(super) struct Head {
    dense: Option<Layer>,
    out: Layer,
}

/// `weight` is `[outputs, hidden]`, row after row, with as many biases.
struct Layer {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Layer {
    fn load(weights: &Weights, name: &str, n: usize, k: usize) -> Result<Self, ModelError> {
        let weight = weights.get(&format!("{name}.weight"), &[n, k])?;
        let bias = weights.get(&format!("{name}.bias"), &[n])?;
        Ok(Self { weight, bias })
    }

    fn apply(&self, input: &[f32]) -> Vec<f32> {
        let level = SimdLevel::detect();
        let rows = self.weight.chunks_exact(input.len()).zip(&self.bias);
        rows.map(|(row, bias)| dot(level, row, input) + bias).collect()
    }
}

impl Head {
    /// Reads the head.
    ///
    /// # Errors
    /// When the checkpoint has none, as that of a bi-encoder.
    pub(super) fn load(weights: &Weights, config: &NetworkConfig) -> Result<Self, ModelError> {
        let NetworkConfig { hidden, labels, .. } = *config;
        let (dense, out) = match config.architecture {
            Architecture::Bert => ("pooler.dense", "classifier"),
            Architecture::Mpnet | Architecture::Roberta => {
                ("classifier.dense", "classifier.out_proj")
            }
        };
        let bare =
            config.architecture == Architecture::Bert && !weights.has(&format!("{dense}.weight"));
        let dense = if bare { None } else { Some(Layer::load(weights, dense, hidden, hidden)?) };
        Ok(Self { dense, out: Layer::load(weights, out, labels, hidden)? })
    }

    /// One logit per label for the first token's last hidden state, `[hidden]`.
    pub(super) fn logits(&self, state: &[f32]) -> Vec<f32> {
        match &self.dense {
            None => self.out.apply(state),
            Some(dense) => {
                let mut middle = dense.apply(state);
                for value in &mut middle {
                    *value = value.tanh();
                }
                self.out.apply(&middle)
            }
        }
    }
}
