//! How the units of sixteen outputs become a panel.
#![expect(
    unsafe_code,
    reason = "vector instructions, and a version compiled for detected CPU features"
)]

use std::ops::Range;

use super::super::formats::{Format, GROUP, Unit};
use super::{Blocks, OUTPUTS, Panel, ROW};
use crate::simd::{InstructionSet, SimdLevel};

/// How a format's units lie in a panel.
#[derive(Clone, Copy, Default)]
pub(super) struct Layout {
    pub(super) unit: usize,
    /// Inputs with one scale: 16 or 32.
    pub(super) scale_inputs: usize,
    /// Rows of `mins` in a unit, and whether their two factors are sums of 32 inputs or of 16.
    pub(super) pairs: usize,
    pub(super) wide_sums: bool,
}

impl Layout {
    fn of(format: Format) -> Self {
        let unit = format.unit();
        let scale_inputs = if format.pairs_groups() { 2 * GROUP } else { GROUP };
        let wide_sums = format.pairs_groups() && unit > 2 * GROUP;
        let pairs = if wide_sums { unit / (4 * GROUP) } else { unit / (2 * GROUP) };
        Self { unit, scale_inputs, pairs, wide_sums }
    }
}

crate::multiversion! {
    /// Lays out the outputs from `first` on, at `inputs`.
    lay_out = lay_out_units(
        panel: &mut Panel, weights: &Blocks<'_>, first: usize, inputs: Range<usize>
    )
}

#[inline(always)]
fn lay_out_units<const FMA: bool>(
    panel: &mut Panel,
    weights: &Blocks<'_>,
    first: usize,
    inputs: Range<usize>,
) {
    let layout = Layout::of(weights.format);
    let Layout { unit, scale_inputs, pairs, wide_sums } = layout;
    let (numbers, bytes) = weights.format.block();
    panel.layout = layout;
    panel.format = weights.format;
    panel.units = inputs.len() / unit;
    let scale_rows = unit / scale_inputs;
    let interleave = Interleave::detect();
    for at in 0..panel.units {
        for lane in 0..OUTPUTS {
            let Panel { rows, scales, mins, d, dmin, .. } = &mut *panel;
            let (decoded, output) = (&mut rows[lane], first + lane);
            if output < weights.outputs {
                let start = (inputs.start / numbers + at) * bytes;
                decoded.read(weights.format, &weights.row(output)[start..start + bytes]);
            } else {
                *decoded = Unit::ZERO;
            }
            for row in 0..scale_rows {
                let to = (at * scale_rows + row) * ROW + 2 * lane;
                let scale = decoded.scales[row * scale_inputs / GROUP];
                (scales[to], scales[to + 1]) = (scale, scale);
            }
            for pair in 0..pairs {
                let to = (at * pairs + pair) * ROW + 2 * lane;
                let (left, right) =
                    if wide_sums { (4 * pair, 4 * pair + 2) } else { (2 * pair, 2 * pair + 1) };
                (mins[to], mins[to + 1]) = (decoded.mins[left], decoded.mins[right]);
            }
            (d[at * OUTPUTS + lane], dmin[at * OUTPUTS + lane]) = (decoded.d, decoded.dmin);
        }
        let codes = &mut panel.codes[at * unit * OUTPUTS..][..unit * OUTPUTS];
        interleave.run(&panel.rows, unit, codes);
    }
}

/// Brings the codes of sixteen units, `[16, unit]`, into the order of a panel, `[unit / 4, 16, 4]`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Interleave {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Interleave {
    fn detect() -> Self {
        match SimdLevel::detect().instructions() {
            InstructionSet::Baseline => Self::Portable,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 | InstructionSet::Avx512 => Self::Avx2,
        }
    }

    fn run(self, rows: &[Unit; OUTPUTS], unit: usize, codes: &mut [u8]) {
        match self {
            Self::Portable => portable(rows, codes),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `detect` is the only source of this variant and found AVX2.
            Self::Avx2 => unsafe { avx2(rows, unit, codes) },
        }
    }
}

fn portable(rows: &[Unit; OUTPUTS], codes: &mut [u8]) {
    for (step, codes) in codes.as_chunks_mut::<{ 4 * OUTPUTS }>().0.iter_mut().enumerate() {
        for (lane, row) in rows.iter().enumerate() {
            codes[4 * lane..4 * lane + 4].copy_from_slice(&row.codes[4 * step..4 * step + 4]);
        }
    }
}

/// Transposes squares of 8 outputs and 8 times 4 codes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(rows: &[Unit; OUTPUTS], unit: usize, codes: &mut [u8]) {
    use std::arch::x86_64::{
        __m256i, _mm256_load_si256, _mm256_permute2x128_si256, _mm256_storeu_si256,
        _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
    };
    const SQUARE: usize = 32;
    for (at, codes) in codes.as_chunks_mut::<{ SQUARE * OUTPUTS }>().0.iter_mut().enumerate() {
        assert!((at + 1) * SQUARE <= unit, "a panel has the codes of one unit for each output");
        for half in 0..2 {
            let row = |i: usize| {
                let codes = &rows[8 * half + i].codes[at * SQUARE..][..SQUARE];
                // SAFETY: 32 bytes by the slice; a unit is aligned to 32 bytes and its codes come first.
                unsafe { _mm256_load_si256(codes.as_ptr().cast()) }
            };
            // Four rows as four vectors, each of two columns: 0 and 4, 1 and 5, 2 and 6, 3 and 7.
            let columns = |i: usize| -> [__m256i; 4] {
                let (a, b, c, d) = (row(i), row(i + 1), row(i + 2), row(i + 3));
                let (low, high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
                let (next, last) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
                [
                    _mm256_unpacklo_epi64(low, next),
                    _mm256_unpackhi_epi64(low, next),
                    _mm256_unpacklo_epi64(high, last),
                    _mm256_unpackhi_epi64(high, last),
                ]
            };
            let (upper, lower) = (columns(0), columns(4));
            for (column, (a, b)) in upper.into_iter().zip(lower).enumerate() {
                let pair = [
                    _mm256_permute2x128_si256::<0x20>(a, b),
                    _mm256_permute2x128_si256::<0x31>(a, b),
                ];
                for (vector, step) in pair.into_iter().zip([column, column + 4]) {
                    let to = &mut codes[step * 4 * OUTPUTS + half * SQUARE..][..SQUARE];
                    // SAFETY: 32 bytes by the slice.
                    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), vector) };
                }
            }
        }
    }
}
