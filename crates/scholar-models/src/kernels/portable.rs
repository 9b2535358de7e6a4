//! f32 products through the `gemm` crate: AVX2, NEON, anything.

use super::elementwise;
use super::{Attention, AttentionScratch, Engine, LayerNorm, Linear, Target, ThreadGuard};
use crate::matmul::{MatMulShape, MatMut, MatRef, matmul};
use crate::simd::SimdLevel;

/// The back-end that runs everywhere.
pub(crate) struct Portable {
    level: SimdLevel,
}

impl Portable {
    pub(crate) fn new() -> Self {
        Self { level: SimdLevel::detect() }
    }

    /// As on a machine without any detected vector extension (row-wise functions only).
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { level: SimdLevel::baseline() }
    }
}

impl Engine for Portable {
    type Activation = f32;
    type Weight = Vec<f32>;

    const SEPARATE: bool = false;

    fn pack(&self, weight: &[f32], n: usize, k: usize) -> Vec<f32> {
        debug_assert_eq!(weight.len(), n * k, "a weight is [n, k]");
        weight.to_vec()
    }

    fn enter(&self) -> ThreadGuard {
        ThreadGuard::plain()
    }

    fn product(
        &self,
        input: &[f32],
        rows: usize,
        layer: &Linear<Vec<f32>>,
        target: Target<'_, f32>,
    ) {
        let (n, k) = (layer.n, layer.k);
        let left = MatRef { data: &input[..rows * k], row: k, column: 1 };
        let right = MatRef { data: &layer.weight, row: 1, column: k };
        let times = |out: &mut [f32]| {
            let shape = MatMulShape { m: rows, n, k };
            matmul(shape, left, right, &mut MatMut { data: out, row: n }, false, 1);
        };
        match target {
            Target::Store(out) => {
                let out = &mut out[..rows * n];
                times(out);
                elementwise::add_bias(self.level, out, &layer.bias);
            }
            Target::Gelu(out) => {
                let out = &mut out[..rows * n];
                times(out);
                elementwise::bias_gelu(self.level, out, &layer.bias);
            }
            Target::AddTo { residual, out } => {
                let out = &mut out[..rows * n];
                times(out);
                elementwise::bias_residual(self.level, out, &layer.bias, &residual[..rows * n]);
            }
        }
    }

    fn attention(&self, work: Attention<'_, f32>, scratch: &mut AttentionScratch<f32>) {
        let Attention { qkv, context, len, heads, head_dim, bias } = work;
        let width = heads * head_dim;
        let stride = 3 * width;
        debug_assert!(qkv.len() >= len * stride && context.len() >= len * width);
        scratch.scores.need(len * len);
        let scores = &mut scratch.scores[..len * len];
        let scale = 1.0 / (head_dim as f32).sqrt();
        for head in 0..heads {
            let queries = MatRef { data: &qkv[head * head_dim..], row: stride, column: 1 };
            let keys = MatRef { data: &qkv[width + head * head_dim..], row: 1, column: stride };
            let values =
                MatRef { data: &qkv[2 * width + head * head_dim..], row: stride, column: 1 };
            let shape = MatMulShape { m: len, n: len, k: head_dim };
            let mut out = MatMut { data: scores, row: len };
            matmul(shape, queries, keys, &mut out, false, 1);
            for (query, row) in scores.chunks_exact_mut(len).enumerate() {
                let bias = bias.map_or(&[][..], |bias| bias.row(head, query, len));
                elementwise::softmax(self.level, row, scale, bias);
            }
            let weights = MatRef { data: scores, row: len, column: 1 };
            let mut out = MatMut { data: &mut context[head * head_dim..], row: width };
            let shape = MatMulShape { m: len, n: head_dim, k: len };
            matmul(shape, weights, values, &mut out, false, 1);
        }
    }

    fn layer_norm(
        &self,
        input: &[f32],
        rows: usize,
        norm: &LayerNorm,
        states: &mut [f32],
        _activations: &mut [f32],
    ) {
        let len = rows * norm.scale.len();
        elementwise::layer_norm(self.level, &input[..len], norm, &mut states[..len]);
    }

    fn activations<'a>(states: &'a [f32], _activations: &'a [f32]) -> &'a [f32] {
        states
    }

    fn padded_rows(rows: usize) -> usize {
        rows
    }
}
