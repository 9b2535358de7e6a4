//! A multilayer perceptron with one hidden layer.

use crate::matmul::{MatMulShape, MatMut, MatRef, matmul};

/// `output = relu(input * hidden_weight + hidden_bias) * output_weight + output_bias`.
#[derive(Debug, Clone, PartialEq)]
pub struct Mlp {
    hidden: usize,
    /// `[inputs, hidden]`, row-major.
    pub hidden_weight: Vec<f32>,
    /// `[hidden]`.
    pub hidden_bias: Vec<f32>,
    /// `[hidden, outputs]`, row-major.
    pub output_weight: Vec<f32>,
    /// `[outputs]`.
    pub output_bias: Vec<f32>,
}

impl Mlp {
    /// From the weights and biases of both layers, in the order of the fields.
    ///
    /// # Errors
    /// What does not fit together, in words.
    pub fn new(hidden: usize, tensors: [Vec<f32>; 4]) -> Result<Self, String> {
        let [hidden_weight, hidden_bias, output_weight, output_bias] = tensors;
        let outputs = output_bias.len();
        let fits = hidden > 0
            && outputs > 0
            && hidden_bias.len() == hidden
            && !hidden_weight.is_empty()
            && hidden_weight.len().is_multiple_of(hidden)
            && output_weight.len() == hidden * outputs;
        if !fits {
            return Err(format!("does not have {hidden} hidden units"));
        }
        Ok(Self { hidden, hidden_weight, hidden_bias, output_weight, output_bias })
    }

    /// Numbers it reads.
    pub fn inputs(&self) -> usize {
        self.hidden_weight.len() / self.hidden
    }

    /// Hidden units.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// Numbers it gives.
    pub fn outputs(&self) -> usize {
        self.output_bias.len()
    }

    /// Activations of the hidden layer: `[rows, inputs]` to `[rows, hidden]`.
    ///
    /// # Panics
    /// When `input` does not hold whole rows.
    pub fn activations(&self, input: &[f32]) -> Vec<f32> {
        let mut out = affine(input, &self.hidden_weight, &self.hidden_bias);
        for value in &mut out {
            *value = value.max(0.0);
        }
        out
    }

    /// The second layer: `[rows, hidden]` to `[rows, outputs]`.
    ///
    /// # Panics
    /// When `activations` does not hold whole rows.
    pub fn logits(&self, activations: &[f32]) -> Vec<f32> {
        affine(activations, &self.output_weight, &self.output_bias)
    }

    /// Both layers: `[rows, inputs]` to `[rows, outputs]`.
    ///
    /// # Panics
    /// When `input` does not hold whole rows.
    pub fn forward(&self, input: &[f32]) -> Vec<f32> {
        self.logits(&self.activations(input))
    }
}

/// `[rows, inputs] * [inputs, outputs] + bias`, on this thread.
fn affine(input: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
    let (n, k) = (bias.len(), weight.len() / bias.len());
    assert!(input.len().is_multiple_of(k), "the input holds whole rows");
    let m = input.len() / k;
    let mut out: Vec<f32> = bias.iter().copied().cycle().take(m * n).collect();
    let mut target = MatMut { data: &mut out, row: n };
    let shape = MatMulShape { m, n, k };
    matmul(shape, MatRef::rows(input, k), MatRef::rows(weight, n), &mut target, true, 1);
    out
}
