//! f32 products through the `gemm` crate: AVX2, NEON, anything.
#![expect(unsafe_code, reason = "the gemm crate takes raw pointers")]

use super::elementwise::{self, Level};
use super::{Attention, AttentionScratch, Engine, LayerNorm, Linear, Target, ThreadGuard};

/// The back-end that runs everywhere.
pub(crate) struct Portable {
    level: Level,
}

impl Portable {
    pub(crate) fn new() -> Self {
        Self { level: Level::detect() }
    }

    /// As on a machine without any detected vector extension (row-wise functions only).
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { level: Level::plain() }
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
        let left = View { data: &input[..rows * k], row: k, column: 1 };
        let right = View { data: &layer.weight, row: 1, column: k };
        let times = |out: &mut [f32]| {
            multiply((rows, n, k), &left, &right, &mut ViewMut { data: out, row: n });
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
            let queries = View { data: &qkv[head * head_dim..], row: stride, column: 1 };
            let keys = View { data: &qkv[width + head * head_dim..], row: 1, column: stride };
            let values = View { data: &qkv[2 * width + head * head_dim..], row: stride, column: 1 };
            multiply(
                (len, len, head_dim),
                &queries,
                &keys,
                &mut ViewMut { data: scores, row: len },
            );
            for (query, row) in scores.chunks_exact_mut(len).enumerate() {
                let bias: &[f32] = match bias {
                    Some((table, reach)) => {
                        let start = head * (2 * reach + 1) + reach - query;
                        &table[start..start + len]
                    }
                    None => &[],
                };
                elementwise::softmax(self.level, row, scale, bias);
            }
            let weights = View { data: scores, row: len, column: 1 };
            let mut out = ViewMut { data: &mut context[head * head_dim..], row: width };
            multiply((len, head_dim, len), &weights, &values, &mut out);
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

/// A matrix in a slice: element (i, j) at `i * row + j * column`.
struct View<'a> {
    data: &'a [f32],
    row: usize,
    column: usize,
}

struct ViewMut<'a> {
    data: &'a mut [f32],
    row: usize,
}

/// `out[m, n] = left[m, k] * right[k, n]`.
fn multiply(
    (m, n, k): (usize, usize, usize),
    left: &View<'_>,
    right: &View<'_>,
    out: &mut ViewMut<'_>,
) {
    let last = |rows: usize, columns: usize, row: usize, column: usize| {
        (rows - 1) * row + (columns - 1) * column
    };
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    assert!(last(m, k, left.row, left.column) < left.data.len(), "left operand covers [m, k]");
    assert!(last(k, n, right.row, right.column) < right.data.len(), "right operand covers [k, n]");
    assert!(last(m, n, out.row, 1) < out.data.len(), "result covers [m, n]");
    // SAFETY: the assertions above put the last element of each operand inside its slice; `out` is borrowed mutably and
    // so overlaps neither operand. Strides of slices fit isize.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.data.as_mut_ptr(),
            1,
            out.row.cast_signed(),
            false,
            left.data.as_ptr(),
            left.column.cast_signed(),
            left.row.cast_signed(),
            right.data.as_ptr(),
            right.column.cast_signed(),
            right.row.cast_signed(),
            0.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}
