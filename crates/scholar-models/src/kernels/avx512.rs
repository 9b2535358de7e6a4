//! f32 products on AVX-512 with weights packed once.
#![expect(unsafe_code, reason = "hands checked slices to the vector kernels as pointers")]

use super::block::{Finish, PANEL, ProductArgs, Scales, product_f32};
use super::elementwise;
use super::{Aligned, Attention, AttentionScratch, Engine, LayerNorm, Linear, Target, ThreadGuard};
use crate::simd::SimdLevel;

/// Query rows whose scores are held at a time.
const QUERY_ROWS: usize = 12;

/// The f32 back-end of CPUs with AVX-512.
pub(crate) struct Avx512 {
    level: SimdLevel,
}

impl Avx512 {
    /// Only where [`super::Machine::detect`] found `avx512`.
    ///
    /// # Panics
    /// Elsewhere: running the kernels there would be undefined.
    pub(crate) fn new() -> Self {
        assert!(super::Machine::detect().avx512, "the engine is chosen by what the machine has");
        Self { level: SimdLevel::detect() }
    }
}

impl Engine for Avx512 {
    type Activation = f32;
    type Weight = Aligned<f32>;

    const SEPARATE: bool = false;

    /// Panels of 16 outputs: `[n / 16, k, 16]`, the last filled up with zeros.
    fn pack(&self, weight: &[f32], n: usize, k: usize) -> Aligned<f32> {
        debug_assert_eq!(weight.len(), n * k, "a weight is [n, k]");
        let mut packed = Aligned::default();
        packed.need(n.div_ceil(PANEL) * PANEL * k);
        for (output, row) in weight.chunks_exact(k).enumerate() {
            let start = output / PANEL * PANEL * k + output % PANEL;
            for (input, value) in row.iter().enumerate() {
                packed[start + input * PANEL] = *value;
            }
        }
        packed
    }

    fn enter(&self) -> ThreadGuard {
        ThreadGuard::plain()
    }

    fn product(
        &self,
        input: &[f32],
        rows: usize,
        layer: &Linear<Aligned<f32>>,
        target: Target<'_, f32>,
    ) {
        let (n, k) = (layer.n, layer.k);
        let (finish, out, residual) = match target {
            Target::Store(out) => (Finish::Bias, out, None),
            Target::Gelu(out) => (Finish::Gelu, out, None),
            Target::AddTo { residual, out } => (Finish::Residual, out, Some(residual)),
        };
        assert!(
            input.len() >= rows * k
                && out.len() >= rows * n
                && layer.bias.len() == n
                && layer.weight.len() >= n.div_ceil(PANEL) * PANEL * k
                && residual.is_none_or(|residual| residual.len() >= rows * n),
            "buffers hold [rows, k] and [rows, n]"
        );
        let work = ProductArgs {
            activations: input.as_ptr().cast(),
            activation_stride: k,
            panels: layer.weight.as_ptr(),
            steps: k,
            rows,
            columns: n,
            out: out.as_mut_ptr().cast(),
            out_stride: n,
            half_out: false,
            bias: layer.bias.as_ptr(),
            residual: residual.map_or(std::ptr::null(), <[f32]>::as_ptr),
            finish,
            scales: Scales::NONE,
        };
        // SAFETY: `new` checked the features, the assertion above the sizes; `out` is borrowed mutably.
        unsafe { product_f32(&work) }
    }

    fn attention(&self, work: Attention<'_, f32>, scratch: &mut AttentionScratch<f32>) {
        let Attention { qkv, context, len, heads, head_dim, bias } = work;
        let width = heads * head_dim;
        let stride = 3 * width;
        assert!(
            qkv.len() >= len * stride && context.len() >= len * width,
            "buffers hold [len, 3 * width] and [len, width]"
        );
        let padded = len.div_ceil(PANEL) * PANEL;
        let padded_dim = head_dim.div_ceil(PANEL) * PANEL;
        scratch.keys.need(padded * head_dim);
        scratch.values.need(padded_dim * len);
        scratch.scores.need(QUERY_ROWS * padded);
        let scale = 1.0 / (head_dim as f32).sqrt();
        for head in 0..heads {
            let at = head * head_dim;
            pack_keys(&qkv[width + at..], stride, len, head_dim, &mut scratch.keys);
            pack_values(&qkv[2 * width + at..], stride, len, head_dim, &mut scratch.values);
            for start in (0..len).step_by(QUERY_ROWS) {
                let rows = QUERY_ROWS.min(len - start);
                let scores = ProductArgs {
                    activations: qkv[start * stride + at..].as_ptr().cast(),
                    activation_stride: stride,
                    panels: scratch.keys.as_ptr(),
                    steps: head_dim,
                    rows,
                    columns: len,
                    out: scratch.scores.as_mut_ptr().cast(),
                    out_stride: padded,
                    half_out: false,
                    bias: std::ptr::null(),
                    residual: std::ptr::null(),
                    finish: Finish::Sum,
                    scales: Scales::NONE,
                };
                // SAFETY: `new` checked the features; row `start + rows - 1` and its head's columns are inside `qkv`,
                // keys and scores were sized above.
                unsafe { product_f32(&scores) }
                for (row, scores) in scratch.scores.chunks_exact_mut(padded).take(rows).enumerate()
                {
                    let bias = bias.map_or(&[][..], |bias| bias.row(head, start + row, len));
                    elementwise::softmax(self.level, &mut scores[..len], scale, bias);
                }
                let weighted = ProductArgs {
                    activations: scratch.scores.as_ptr().cast(),
                    activation_stride: padded,
                    panels: scratch.values.as_ptr(),
                    steps: len,
                    rows,
                    columns: head_dim,
                    out: context[start * width + at..].as_mut_ptr().cast(),
                    out_stride: width,
                    half_out: false,
                    bias: std::ptr::null(),
                    residual: std::ptr::null(),
                    finish: Finish::Sum,
                    scales: Scales::NONE,
                };
                // SAFETY: as above; the block's rows and columns are inside `context`.
                unsafe { product_f32(&weighted) }
            }
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

/// Keys as panels of 16 keys: `[len / 16, dim, 16]`.
fn pack_keys(keys: &[f32], stride: usize, len: usize, dim: usize, out: &mut [f32]) {
    for (panel, start) in out.chunks_exact_mut(PANEL * dim).zip((0..len).step_by(PANEL)) {
        for key in 0..PANEL {
            if start + key < len {
                let row = &keys[(start + key) * stride..][..dim];
                for (line, value) in panel.chunks_exact_mut(PANEL).zip(row) {
                    line[key] = *value;
                }
            } else {
                for line in panel.chunks_exact_mut(PANEL) {
                    line[key] = 0.0;
                }
            }
        }
    }
}

/// Values as panels of 16 dimensions: `[dim / 16, len, 16]`.
fn pack_values(values: &[f32], stride: usize, len: usize, dim: usize, out: &mut [f32]) {
    for (panel, start) in out.chunks_exact_mut(PANEL * len).zip((0..dim).step_by(PANEL)) {
        let width = PANEL.min(dim - start);
        for (line, row) in panel.chunks_exact_mut(PANEL).zip(values.chunks(stride)) {
            line[..width].copy_from_slice(&row[start..start + width]);
            line[width..].fill(0.0);
        }
    }
}
