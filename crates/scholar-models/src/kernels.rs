//! The arithmetic of a transformer encoder, in four back-ends chosen at run time.
//!
//! | back-end | products | runs on |
//! |---|---|---|
//! | AMX | bf16 inputs, f32 sums, 16 × 16 tiles | x86-64 with AMX-BF16 |
//! | AVX-512 | f32, or bf16 inputs with f32 sums (`vdpbf16ps`) on the same packed weights as AMX | x86-64 with AVX-512 |
//! | AVX-512 int8 | linear layers in int8 (`vpdpbusd`), attention in bf16 | x86-64 with AVX-512-VNNI and -BF16 |
//! | portable | f32 through the `gemm` crate | anything |
//!
//! Sums, softmax, `LayerNorm`, GELU and the residual stream are f32 in all of them; what is stored in bf16 is computed to a few
//! digits more than it keeps (`functions`). Every row of a product is summed in an
//! order that does not depend on the other rows in the AVX-512 and AMX back-ends, so the neighbours in a batch do not
//! change a vector there; the portable one may differ in the last bit.
//!
//! This module and its children are the only place with `unsafe` arithmetic. The public face is safe: slices are checked
//! against the stated sizes before a pointer is taken.

mod aligned;
#[cfg(target_arch = "x86_64")]
mod amx;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod bf16;
#[cfg(target_arch = "x86_64")]
mod bf16_matmul;
#[cfg(not(target_arch = "x86_64"))]
#[path = "kernels/no_bf16_matmul.rs"]
mod bf16_matmul;
#[cfg(target_arch = "x86_64")]
mod block;
mod elementwise;
#[cfg(target_arch = "x86_64")]
mod functions;
#[cfg(target_arch = "x86_64")]
mod int8;
mod portable;

pub(crate) use aligned::Aligned;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
#[cfg(target_arch = "x86_64")]
pub(crate) use bf16::Bf16;
pub use bf16_matmul::Bf16Matmul;
pub(crate) use elementwise::{add_scaled, dot, sum_bytes};
#[cfg(target_arch = "x86_64")]
pub(crate) use int8::Int8;
pub(crate) use portable::Portable;

/// A linear layer: `n` outputs of `k` inputs.
pub(crate) struct Linear<W> {
    pub(crate) weight: W,
    pub(crate) bias: Vec<f32>,
    pub(crate) n: usize,
    pub(crate) k: usize,
}

/// Scale and shift of a layer normalisation.
pub(crate) struct LayerNorm {
    pub(crate) scale: Vec<f32>,
    pub(crate) shift: Vec<f32>,
    pub(crate) epsilon: f32,
}

/// Where a product goes. All are `[rows, n]`, row-major.
pub(crate) enum Target<'a, A> {
    /// `product + bias`.
    Store(&'a mut [A]),
    /// `gelu(product + bias)`, the exact form with erf.
    Gelu(&'a mut [A]),
    /// `product + bias + residual`, in f32.
    AddTo { residual: &'a [f32], out: &'a mut [f32] },
}

/// What one head's attention over one sequence reads and writes.
pub(crate) struct Attention<'a, A> {
    /// `[len, 3 * heads * head_dim]`: queries, keys, values.
    pub(crate) qkv: &'a [A],
    /// `[len, heads * head_dim]`.
    pub(crate) context: &'a mut [A],
    pub(crate) len: usize,
    pub(crate) heads: usize,
    pub(crate) head_dim: usize,
    /// Added to the scaled scores before softmax, where the model has one.
    pub(crate) bias: Option<DistanceBias<'a>>,
}

/// Relative position bias of attention scores.
#[derive(Clone, Copy)]
pub(crate) struct DistanceBias<'a> {
    /// Per head, the bias of each distance `key - query` from `-reach` to `reach`: `[heads, 2 * reach + 1]`.
    pub(crate) table: &'a [f32],
    pub(crate) reach: usize,
}

impl<'a> DistanceBias<'a> {
    /// The biases of `query` towards keys `0..len`, all within `reach` of it.
    fn row(self, head: usize, query: usize, len: usize) -> &'a [f32] {
        let first = head * (2 * self.reach + 1) + self.reach - query;
        &self.table[first..first + len]
    }
}

/// Scratch of [`Engine::attention`], reused between calls.
pub(crate) struct AttentionScratch<A> {
    scores: Aligned<f32>,
    weights: Aligned<A>,
    keys: Aligned<A>,
    values: Aligned<A>,
}

impl<A: Copy + Default> Default for AttentionScratch<A> {
    fn default() -> Self {
        Self {
            scores: Aligned::default(),
            weights: Aligned::default(),
            keys: Aligned::default(),
            values: Aligned::default(),
        }
    }
}

/// One back-end.
pub(crate) trait Engine: Send + Sync + 'static {
    /// Number type of a product's inputs.
    type Activation: Copy + Default + Send + Sync;
    /// A packed weight.
    type Weight: Send + Sync;

    /// Packs a row-major `[n, k]` weight.
    fn pack(&self, weight: &[f32], n: usize, k: usize) -> Self::Weight;

    /// Sets this thread up; undone when the guard is dropped.
    fn enter(&self) -> ThreadGuard;

    /// `input` is `[rows, k]`; buffers hold rows up to [`Engine::padded_rows`], those after `rows` are garbage.
    fn product(
        &self,
        input: &[Self::Activation],
        rows: usize,
        layer: &Linear<Self::Weight>,
        target: Target<'_, Self::Activation>,
    );

    /// All heads of one sequence.
    fn attention(
        &self,
        work: Attention<'_, Self::Activation>,
        scratch: &mut AttentionScratch<Self::Activation>,
    );

    /// Normalises `[rows, width]` of `input` into `states` and, where products need another type, `activations`.
    fn layer_norm(
        &self,
        input: &[f32],
        rows: usize,
        norm: &LayerNorm,
        states: &mut [f32],
        activations: &mut [Self::Activation],
    );

    /// What the next product reads: `states` themselves in f32 engines, `activations` in bf16 ones.
    fn activations<'a>(
        states: &'a [f32],
        activations: &'a [Self::Activation],
    ) -> &'a [Self::Activation];

    /// Whether `activations` are apart from `states`.
    const SEPARATE: bool;

    /// Rows a buffer must have for `rows` rows in use.
    fn padded_rows(rows: usize) -> usize;
}

/// Undoes [`Engine::enter`].
pub(crate) struct ThreadGuard {
    #[cfg(target_arch = "x86_64")]
    tiles: bool,
}

impl ThreadGuard {
    fn plain() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            tiles: false,
        }
    }
}

impl Drop for ThreadGuard {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if self.tiles {
            amx::release();
        }
    }
}

/// What this machine can do.
#[expect(clippy::struct_excessive_bools, reason = "one for each set of instructions")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Machine {
    /// AVX-512 F, BW, DQ and VL.
    pub(crate) avx512: bool,
    /// `vdpbf16ps`.
    pub(crate) avx512_bf16: bool,
    /// `vpdpbusd`, beside `vdpbf16ps`.
    pub(crate) avx512_vnni: bool,
    /// AMX-BF16, and the kernel lets this process use it.
    pub(crate) amx: bool,
}

impl Machine {
    /// Asks CPU and kernel; the answer never changes within a process.
    pub(crate) fn detect() -> Self {
        static FOUND: std::sync::OnceLock<Machine> = std::sync::OnceLock::new();
        *FOUND.get_or_init(|| {
            #[cfg(target_arch = "x86_64")]
            {
                let avx512 = std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512bw")
                    && std::arch::is_x86_feature_detected!("avx512dq")
                    && std::arch::is_x86_feature_detected!("avx512vl");
                let avx512_bf16 = avx512 && std::arch::is_x86_feature_detected!("avx512bf16");
                let avx512_vnni = avx512_bf16 && std::arch::is_x86_feature_detected!("avx512vnni");
                Self { avx512, avx512_bf16, avx512_vnni, amx: avx512_bf16 && amx::available() }
            }
            #[cfg(not(target_arch = "x86_64"))]
            {
                Self { avx512: false, avx512_bf16: false, avx512_vnni: false, amx: false }
            }
        })
    }
}

#[cfg(test)]
mod tests;
