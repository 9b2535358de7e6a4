//! The products in vectors of 256 bits.
#![expect(unsafe_code, reason = "vector instructions, and loads from checked slices")]

mod blocks;

use std::arch::x86_64::{
    __m256, __m256i, _MM_HINT_T0, _mm_add_ps, _mm_add_ss, _mm_cvtss_f32, _mm_movehl_ps,
    _mm_prefetch, _mm_shuffle_ps, _mm256_abs_epi8, _mm256_add_epi32, _mm256_castps256_ps128,
    _mm256_cvtepi32_ps, _mm256_extractf128_ps, _mm256_fmadd_ps, _mm256_fnmadd_ps,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi16, _mm256_set1_ps,
    _mm256_setzero_ps, _mm256_setzero_si256, _mm256_sign_epi8,
};
use std::ops::Range;

use super::MAX_ROWS;
use crate::gguf::activations::Rounded;
use crate::gguf::formats::{Format, GROUP, Unit};
use crate::gguf::panels::Blocks;

use blocks::{Block, Other, Q4K, Q5K, Q6K};

/// Numbers of a vector of codes.
const VECTOR: usize = 32;
/// Vectors of a large unit.
const VECTORS: usize = 8;

/// See [`super::multiply`].
///
/// # Safety
/// The CPU has AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn multiply(
    weights: &Blocks<'_>,
    outputs: Range<usize>,
    x: &Rounded,
    sink: &mut dyn FnMut(usize, &[f32]),
) {
    // SAFETY: this function has the features, and the caller checked the sizes.
    unsafe {
        match weights.format {
            Format::Q4K => rows::<Large<Q4K>>(weights, outputs, x, sink),
            Format::Q5K => rows::<Large<Q5K>>(weights, outputs, x, sink),
            Format::Q6K => rows::<Large<Q6K>>(weights, outputs, x, sink),
            Format::Q2K => rows::<Large<Other<10>>>(weights, outputs, x, sink),
            Format::Q3K => rows::<Large<Other<11>>>(weights, outputs, x, sink),
            Format::Q4_0 => rows::<Small<2>>(weights, outputs, x, sink),
            Format::Q4_1 => rows::<Small<3>>(weights, outputs, x, sink),
            Format::Q5_0 => rows::<Small<6>>(weights, outputs, x, sink),
            Format::Q5_1 => rows::<Small<7>>(weights, outputs, x, sink),
            Format::Q8_0 => rows::<Small<8>>(weights, outputs, x, sink),
            Format::F32 | Format::F16 | Format::Bf16 => {
                unreachable!("dense formats have kernels of their own")
            }
        }
    }
}

/// How the products of one output are computed.
trait Output {
    /// The products of one output's blocks with `N` rows of `x` from `first` on.
    ///
    /// # Safety
    /// The CPU has AVX2 and FMA; the rows are there and as long as the output's.
    unsafe fn multiply<const N: usize>(row: &[u8], x: &Rounded, first: usize) -> [f32; N];
}

#[inline(always)]
unsafe fn rows<O: Output>(
    weights: &Blocks<'_>,
    outputs: Range<usize>,
    x: &Rounded,
    sink: &mut dyn FnMut(usize, &[f32]),
) {
    let n = x.rows();
    for output in outputs {
        let row = weights.row(output);
        let mut totals = [0.0; MAX_ROWS];
        let mut at = 0;
        // SAFETY: the caller has the features and checked that `x` has `n` rows as long as an output's.
        unsafe {
            while n - at >= 4 {
                totals[at..at + 4].copy_from_slice(&O::multiply::<4>(row, x, at));
                at += 4;
            }
            if n - at >= 2 {
                totals[at..at + 2].copy_from_slice(&O::multiply::<2>(row, x, at));
                at += 2;
            }
            if n - at == 1 {
                totals[at..=at].copy_from_slice(&O::multiply::<1>(row, x, at));
            }
        }
        sink(output, &totals[..n]);
    }
}

/// Formats of 256 weights.
struct Large<B>(std::marker::PhantomData<B>);

impl<B: Block> Output for Large<B> {
    #[inline(always)]
    unsafe fn multiply<const N: usize>(row: &[u8], x: &Rounded, first: usize) -> [f32; N] {
        const UNIT: usize = VECTOR * VECTORS;
        let units = row.len() / B::BYTES;
        let mut unit = Unit::ZERO;
        // SAFETY: `row` has `units` blocks and each row of `x` as many units, by contract.
        unsafe {
            let mut totals = [_mm256_setzero_ps(); N];
            for at in 0..units {
                let start_of_block = row.as_ptr().add(at * B::BYTES);
                prefetch(start_of_block, B::BYTES);
                let block = B::start(start_of_block, &mut unit);
                let start: [usize; N] = std::array::from_fn(|i| (first + i) * x.width + at * UNIT);
                let mut sums = [_mm256_setzero_si256(); N];
                for j in 0..VECTORS {
                    let (codes, scales) = (block.codes(j), block.scales(j));
                    for (sum, start) in sums.iter_mut().zip(start) {
                        let x = vector(x.codes.as_ptr().add(start + VECTOR * j).cast());
                        let products = _mm256_maddubs_epi16(codes, x);
                        *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(products, scales));
                    }
                }
                let (d, dmin) = block.factors();
                let mins = block.mins();
                for ((total, sum), start) in totals.iter_mut().zip(sums).zip(start) {
                    let scale = *x.scales.as_ptr().add(start / UNIT);
                    let least = vector(x.sums.as_ptr().add(start / GROUP).cast());
                    let least = _mm256_cvtepi32_ps(_mm256_madd_epi16(mins, least));
                    let d = _mm256_set1_ps(d * scale);
                    *total = _mm256_fmadd_ps(d, _mm256_cvtepi32_ps(sum), *total);
                    *total = _mm256_fnmadd_ps(_mm256_set1_ps(dmin * scale), least, *total);
                }
            }
            totals.map(|total| total_of(total))
        }
    }
}

/// Formats of 32 weights, by ggml's number.
struct Small<const FORMAT: u32>;

impl<const FORMAT: u32> Output for Small<FORMAT> {
    #[inline(always)]
    unsafe fn multiply<const N: usize>(row: &[u8], x: &Rounded, first: usize) -> [f32; N] {
        let format = Format::of(FORMAT).expect("formats are named by their numbers");
        let signed = matches!(format, Format::Q8_0);
        let bytes = format.block().1;
        let mut unit = Unit::ZERO;
        // SAFETY: each row of `x` has as many units as `row` has blocks, by contract.
        unsafe {
            let ones = _mm256_set1_epi16(1);
            let mut totals = [_mm256_setzero_ps(); N];
            let mut least = [0.0_f32; N];
            for (at, block) in row.chunks_exact(bytes).enumerate() {
                unit.read(format, block);
                let codes = vector(unit.codes.as_ptr().cast());
                let sizes = if signed { _mm256_abs_epi8(codes) } else { codes };
                for (i, total) in totals.iter_mut().enumerate() {
                    let start = (first + i) * x.width + at * VECTOR;
                    let y = vector(x.codes.as_ptr().add(start).cast());
                    let y = if signed { _mm256_sign_epi8(y, codes) } else { y };
                    let sum = _mm256_madd_epi16(_mm256_maddubs_epi16(sizes, y), ones);
                    let scale = *x.scales.as_ptr().add(start / VECTOR);
                    let d = _mm256_set1_ps(unit.d * scale);
                    *total = _mm256_fmadd_ps(d, _mm256_cvtepi32_ps(sum), *total);
                    if !signed {
                        let sum = i32::from(*x.pair_sums.as_ptr().add(start / VECTOR));
                        let min = i32::from(unit.mins[0]) * sum;
                        least[i] = (unit.dmin * scale).mul_add(min as f32, least[i]);
                    }
                }
            }
            std::array::from_fn(|i| total_of(totals[i]) - least[i])
        }
    }
}

/// Asks for the bytes that lie some blocks ahead, which may be those of the next output or beyond the matrix.
#[inline(always)]
unsafe fn prefetch(block: *const u8, len: usize) {
    const AHEAD: usize = 3072;
    const LINE: usize = 64;
    for at in 0..len.div_ceil(LINE) {
        // SAFETY: the caller has the features; a prefetch reads nothing that could fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(block.wrapping_add(AHEAD + at * LINE).cast()) };
    }
}

#[inline(always)]
unsafe fn vector(at: *const __m256i) -> __m256i {
    // SAFETY: the caller has the features, and 32 bytes there.
    unsafe { _mm256_loadu_si256(at) }
}

#[inline(always)]
unsafe fn total_of(x: __m256) -> f32 {
    // SAFETY: the caller has the features.
    unsafe {
        let x = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
        let x = _mm_add_ps(x, _mm_movehl_ps(x, x));
        _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps::<1>(x, x)))
    }
}
