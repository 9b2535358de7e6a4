//! Linear layers in int8 (`vpdpbusd`), everything between them in bf16 or f32 as in [`Bf16`].
//!
//! A weight has one scale for each output. Activations get one for each row when they are multiplied: the largest of a row
//! becomes 127, so an unusually large one costs its neighbours precision. They are stored with 128 added, as the
//! instruction wants one factor without a sign; what that adds to each sum is known from the weight and taken off again.
#![expect(unsafe_code, reason = "hands checked slices to the vector kernels as pointers")]

use std::arch::x86_64::{
    __m512, _mm_storeu_si128, _mm256_loadu_si256, _mm512_add_epi32, _mm512_castsi512_ps,
    _mm512_cvtepi32_epi8, _mm512_cvtepu16_epi32, _mm512_cvtps_epi32, _mm512_mul_ps,
    _mm512_set1_epi32, _mm512_set1_ps, _mm512_slli_epi32,
};

use parking_lot::Mutex;

use super::amx::BLOCK;
use super::block::{Finish, PANEL, ProductArgs, Scales, product_int8};
use super::{
    Aligned, Attention, AttentionScratch, Bf16, Engine, LayerNorm, Linear, Machine, Target,
    ThreadGuard,
};

/// Inputs of a step.
const GROUP: usize = 4;
/// The largest magnitude of a number.
const MOST: f32 = 127.0;
/// What is added to activations.
const SHIFT: i32 = 128;

/// The int8 back-end. Widths must be multiples of 32.
pub(crate) struct Int8 {
    half: Bf16,
    spare: Mutex<Vec<Rounded>>,
}

/// A weight in int8.
pub(crate) struct Int8Weight {
    /// `[n / 16, k / 4, 16, 4]`.
    panels: Aligned<i8>,
    /// What 1 stands for, of each output.
    scales: Vec<f32>,
    /// What the shift of the activations adds to each sum.
    offsets: Vec<f32>,
}

/// Activations in int8.
#[derive(Default)]
struct Rounded {
    values: Aligned<u8>,
    /// What 1 stands for, of each row.
    scales: Vec<f32>,
}

impl Int8 {
    /// Only where [`Machine::detect`] found `avx512_vnni`.
    ///
    /// # Panics
    /// Elsewhere: running the kernels there would be undefined.
    pub(crate) fn new() -> Self {
        assert!(Machine::detect().avx512_vnni, "the engine is chosen by what the machine has");
        Self { half: Bf16::avx512(), spare: Mutex::new(Vec::new()) }
    }
}

impl Engine for Int8 {
    type Activation = u16;
    type Weight = Int8Weight;

    const SEPARATE: bool = Bf16::SEPARATE;

    fn pack(&self, weight: &[f32], n: usize, k: usize) -> Int8Weight {
        assert!(
            weight.len() == n * k && k.is_multiple_of(BLOCK),
            "a weight is [n, k] in whole steps"
        );
        let mut panels = Aligned::default();
        panels.need(n.div_ceil(PANEL) * PANEL * k);
        let (mut scales, mut offsets) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for (output, row) in weight.chunks_exact(k).enumerate() {
            let most = row.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
            let scale = if most > 0.0 { most / MOST } else { 1.0 };
            let start = output / PANEL * PANEL * k + output % PANEL * GROUP;
            let mut sum = 0_i32;
            for (input, value) in row.iter().enumerate() {
                let rounded = (value / scale).round_ties_even() as i8;
                panels[start + input / GROUP * PANEL * GROUP + input % GROUP] = rounded;
                sum += i32::from(rounded);
            }
            scales.push(scale);
            offsets.push((SHIFT * sum) as f32);
        }
        Int8Weight { panels, scales, offsets }
    }

    fn enter(&self) -> ThreadGuard {
        self.half.enter()
    }

    fn product(
        &self,
        input: &[u16],
        rows: usize,
        layer: &Linear<Int8Weight>,
        target: Target<'_, u16>,
    ) {
        let (n, k) = (layer.n, layer.k);
        let (finish, out, room, residual): (_, *mut u8, _, Option<&[f32]>) = match target {
            Target::Store(out) => (Finish::Bias, out.as_mut_ptr().cast(), out.len(), None),
            Target::Gelu(out) => (Finish::Gelu, out.as_mut_ptr().cast(), out.len(), None),
            Target::AddTo { residual, out } => {
                (Finish::Residual, out.as_mut_ptr().cast(), out.len(), Some(residual))
            }
        };
        let Int8Weight { panels, scales, offsets } = &layer.weight;
        assert!(
            input.len() >= rows * k
                && k.is_multiple_of(BLOCK)
                && room >= rows * n
                && [layer.bias.len(), scales.len(), offsets.len()] == [n; 3]
                && panels.len() >= n.div_ceil(PANEL) * PANEL * k
                && residual.is_none_or(|residual| residual.len() >= rows * n),
            "buffers hold [rows, k] and [rows, n]"
        );
        let mut rounded = self.spare.lock().pop().unwrap_or_default();
        rounded.take(&input[..rows * k], k);
        let work = ProductArgs {
            activations: rounded.values.as_ptr().cast(),
            activation_stride: k / GROUP,
            panels: panels.as_ptr().cast(),
            steps: k / GROUP,
            rows,
            columns: n,
            out,
            out_stride: n,
            half_out: residual.is_none(),
            bias: layer.bias.as_ptr(),
            residual: residual.map_or(std::ptr::null(), <[f32]>::as_ptr),
            finish,
            scales: Scales {
                rows: rounded.scales.as_ptr(),
                columns: scales.as_ptr(),
                offsets: offsets.as_ptr(),
            },
        };
        // SAFETY: `new` checked the features, the assertion the sizes, and `take` made as many rows; `out` was borrowed
        // mutably until here and is not touched otherwise.
        unsafe { product_int8(&work) }
        self.spare.lock().push(rounded);
    }

    fn attention(&self, work: Attention<'_, u16>, scratch: &mut AttentionScratch<u16>) {
        self.half.attention(work, scratch);
    }

    fn layer_norm(
        &self,
        input: &[f32],
        rows: usize,
        norm: &LayerNorm,
        states: &mut [f32],
        activations: &mut [u16],
    ) {
        self.half.layer_norm(input, rows, norm, states, activations);
    }

    fn activations<'a>(states: &'a [f32], activations: &'a [u16]) -> &'a [u16] {
        Bf16::activations(states, activations)
    }

    fn padded_rows(rows: usize) -> usize {
        Bf16::padded_rows(rows)
    }
}

impl Rounded {
    /// Takes rows of `k` bf16 numbers.
    fn take(&mut self, input: &[u16], k: usize) {
        self.values.need(input.len());
        self.scales.clear();
        for (row, out) in input.chunks_exact(k).zip(self.values.chunks_exact_mut(k)) {
            // SAFETY: engines are only made where the features are.
            self.scales.push(unsafe { round(row, out) });
        }
    }
}

/// Rounds bf16 numbers to 8 bits with [`SHIFT`] added; what 1 stands for. The length is a multiple of 16, the rest stays.
///
/// # Safety
/// AVX-512 F, BW and VL are present.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn round(row: &[u16], out: &mut [u8]) -> f32 {
    // Without the sign, bf16 numbers are ordered as their bits are.
    let most = row.iter().map(|bits| bits & 0x7fff).max().unwrap_or(0);
    let most = f32::from_bits(u32::from(most) << 16);
    let scale = if most > 0.0 { most / MOST } else { 1.0 };
    for (row, out) in row.as_chunks::<PANEL>().0.iter().zip(out.as_chunks_mut::<PANEL>().0) {
        // SAFETY: both chunks hold 16 numbers, and the caller has the features.
        unsafe {
            let bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256(row.as_ptr().cast()));
            let value: __m512 = _mm512_castsi512_ps(_mm512_slli_epi32::<16>(bits));
            let value = _mm512_cvtps_epi32(_mm512_mul_ps(value, _mm512_set1_ps(1.0 / scale)));
            let value = _mm512_add_epi32(value, _mm512_set1_epi32(SHIFT));
            _mm_storeu_si128(out.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(value));
        }
    }
    scale
}
