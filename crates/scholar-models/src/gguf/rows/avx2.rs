//! The products in vectors of 256 bits.
#![expect(unsafe_code, reason = "vector instructions, and loads from checked slices")]

mod blocks;

use std::arch::x86_64::{
    __m256i, _MM_HINT_T0, _mm_movehdup_ps, _mm_mul_ps, _mm_prefetch, _mm_set1_ps, _mm256_abs_epi8,
    _mm256_add_epi32, _mm256_broadcastss_ps, _mm256_cvtepi32_ps, _mm256_fmadd_ps, _mm256_fnmadd_ps,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi16, _mm256_set1_ps,
    _mm256_setzero_ps, _mm256_setzero_si256, _mm256_sign_epi8,
};
use std::ops::Range;

use crate::gguf::activations::Rounded;
use crate::gguf::avx2::total_of;
use crate::gguf::formats::{Format, GROUP, Unit};
use crate::gguf::panels::Blocks;

use blocks::{Block, Other, Pair, Q4K, Q5K, Q6K, TABLES, Tables};

/// Numbers of a vector of codes.
const VECTOR: usize = 32;
/// Vectors of a large unit.
const VECTORS: usize = 8;

/// See [`super::multiply`].
///
/// # Safety
/// The CPU has AVX2, FMA and F16C.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn multiply(
    weights: &Blocks<'_>,
    outputs: Range<usize>,
    x: &Rounded,
    out: &mut [f32],
) {
    // SAFETY: this function has the features, and the caller checked the sizes.
    unsafe {
        match weights.format {
            Format::Q4K => rows::<Large<Q4K>>(weights, outputs, x, out),
            Format::Q5K => rows::<Large<Q5K>>(weights, outputs, x, out),
            Format::Q6K => rows::<Large<Q6K>>(weights, outputs, x, out),
            Format::Q2K => rows::<Large<Other<10>>>(weights, outputs, x, out),
            Format::Q3K => rows::<Large<Other<11>>>(weights, outputs, x, out),
            Format::Q4_0 => rows::<Small<2>>(weights, outputs, x, out),
            Format::Q4_1 => rows::<Small<3>>(weights, outputs, x, out),
            Format::Q5_0 => rows::<Small<6>>(weights, outputs, x, out),
            Format::Q5_1 => rows::<Small<7>>(weights, outputs, x, out),
            Format::Q8_0 => rows::<Small<8>>(weights, outputs, x, out),
            Format::F32 | Format::F16 | Format::Bf16 => {
                unreachable!("dense formats have kernels of their own")
            }
        }
    }
}

/// How the products of one output are computed.
trait Output {
    /// Stores the products of one output's blocks with `N` rows of `x` from `first` on in `out[first..]`; returns `N`.
    ///
    /// # Safety
    /// The CPU has AVX2, FMA and F16C; the rows are there and as long as the output's.
    unsafe fn multiply<const N: usize>(
        row: &[u8],
        x: &Rounded,
        first: usize,
        tables: &'static Tables,
        out: &mut [f32],
    ) -> usize;
}

#[inline(always)]
unsafe fn rows<O: Output>(
    weights: &Blocks<'_>,
    outputs: Range<usize>,
    x: &Rounded,
    out: &mut [f32],
) {
    // What the tables hold is hidden from the compiler, which would make several instructions of a shuffle by a known table.
    let tables = std::hint::black_box(&TABLES);
    let n = x.rows();
    for (output, out) in outputs.zip(out.chunks_exact_mut(n)) {
        let row = weights.row(output);
        // SAFETY: the caller has the features and checked that `x` has `n` rows as long as an output's.
        unsafe {
            let mut at = 0;
            while at < n {
                at += match n - at {
                    1 => O::multiply::<1>(row, x, at, tables, out),
                    2 | 3 => O::multiply::<2>(row, x, at, tables, out),
                    4..8 => O::multiply::<4>(row, x, at, tables, out),
                    _ => O::multiply::<8>(row, x, at, tables, out),
                };
            }
        }
    }
}

/// Formats of 256 weights.
struct Large<B>(std::marker::PhantomData<B>);

impl<B: Block> Output for Large<B> {
    #[inline(always)]
    unsafe fn multiply<const N: usize>(
        row: &[u8],
        x: &Rounded,
        first: usize,
        tables: &'static Tables,
        out: &mut [f32],
    ) -> usize {
        const UNIT: usize = VECTOR * VECTORS;
        let units = row.len() / B::BYTES;
        let mut unit = Unit::ZERO;
        // SAFETY: `row` has `units` blocks and each row of `x` as many units, by contract.
        unsafe {
            let mut totals = [_mm256_setzero_ps(); N];
            for at in 0..units {
                let start_of_block = row.as_ptr().add(at * B::BYTES);
                prefetch(start_of_block, B::BYTES);
                let block = B::start(start_of_block, &mut unit, tables);
                let codes_of_x = x.codes.as_ptr().add(first * x.width + at * UNIT);
                let mut sums = [_mm256_setzero_si256(); N];
                add_pair::<B, N, 0, 0>(block, codes_of_x, x.width, &mut sums);
                add_pair::<B, N, 0, 1>(block, codes_of_x, x.width, &mut sums);
                add_pair::<B, N, 1, 0>(block, codes_of_x, x.width, &mut sums);
                add_pair::<B, N, 1, 1>(block, codes_of_x, x.width, &mut sums);
                // `d` and `dmin`, and the minimum of each group of 16.
                let (factors, mins) = (block.factors(), block.mins());
                for (i, (total, sum)) in totals.iter_mut().zip(sums).enumerate() {
                    let start = (first + i) * x.width + at * UNIT;
                    let scale = _mm_set1_ps(*x.scales.as_ptr().add(start / UNIT));
                    let least = vector(x.sums.as_ptr().add(start / GROUP).cast());
                    let least = _mm256_cvtepi32_ps(_mm256_madd_epi16(mins, least));
                    let factors = _mm_mul_ps(factors, scale);
                    let (d, dmin) = (factors, _mm_movehdup_ps(factors));
                    let sum = _mm256_cvtepi32_ps(sum);
                    *total = _mm256_fmadd_ps(_mm256_broadcastss_ps(d), sum, *total);
                    *total = _mm256_fnmadd_ps(_mm256_broadcastss_ps(dmin), least, *total);
                }
            }
            for (out, total) in out[first..first + N].iter_mut().zip(totals) {
                *out = total_of(total);
            }
        }
        N
    }
}

/// Adds the products of two vectors of a block with those of `N` rows of codes, which are `width` apart.
#[inline(always)]
unsafe fn add_pair<B: Block, const N: usize, const HALF: usize, const PAIR: usize>(
    block: B,
    codes_of_x: *const i8,
    width: usize,
    sums: &mut [__m256i; N],
) {
    let first = VECTOR * (4 * HALF + (3 - B::APART) * PAIR);
    // SAFETY: as the caller's.
    unsafe {
        let Pair { codes, scales } = block.pair::<HALF, PAIR>();
        for (i, sum) in sums.iter_mut().enumerate() {
            let x = codes_of_x.add(i * width + first);
            let low = _mm256_maddubs_epi16(codes[0], vector(x.cast()));
            let high = _mm256_maddubs_epi16(codes[1], vector(x.add(B::APART * VECTOR).cast()));
            let low = _mm256_madd_epi16(low, scales[0]);
            let high = _mm256_madd_epi16(high, scales[1]);
            *sum = _mm256_add_epi32(*sum, _mm256_add_epi32(low, high));
        }
    }
}

/// Formats of 32 weights, by ggml's number.
struct Small<const FORMAT: u32>;

impl<const FORMAT: u32> Output for Small<FORMAT> {
    #[inline(always)]
    unsafe fn multiply<const N: usize>(
        row: &[u8],
        x: &Rounded,
        first: usize,
        _: &'static Tables,
        out: &mut [f32],
    ) -> usize {
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
            for (out, (total, least)) in
                out[first..first + N].iter_mut().zip(totals.into_iter().zip(least))
            {
                *out = total_of(total) - least;
            }
        }
        N
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
