//! The products in vectors of 256 bits.
#![expect(unsafe_code, reason = "vector instructions, and loads from checked slices")]

mod blocks;

use std::arch::x86_64::{
    __m256i, _MM_HINT_T0, _mm_prefetch, _mm256_abs_epi8, _mm256_add_epi16, _mm256_add_epi32,
    _mm256_castps128_ps256, _mm256_cvtepi32_ps, _mm256_fmadd_ps, _mm256_fnmadd_ps, _mm256_load_ps,
    _mm256_load_si256, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_mul_ps,
    _mm256_permutevar8x32_ps, _mm256_set1_epi16, _mm256_set1_ps, _mm256_setr_epi32,
    _mm256_setzero_ps, _mm256_setzero_si256, _mm256_sign_epi8,
};
use std::ops::Range;

use crate::gguf::activations::{MAX_ROWS, Rounded};
use crate::gguf::avx2::total_of;
use crate::gguf::formats::{Format, Unit};
use crate::gguf::panels::Blocks;

use blocks::{Block, Other, Q4K, Q5K, Q6K, TABLES, Tables};

/// Numbers of a vector of codes.
const VECTOR: usize = 32;
/// Those of half a vector.
const HALF: usize = 16;

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
    /// Stores the products of one output's blocks with the first `n` rows of `x` in `out`.
    ///
    /// # Safety
    /// The CPU has AVX2, FMA and F16C; the rows are there, at most [`MAX_ROWS`], and as long as the output's.
    unsafe fn multiply(row: &[u8], x: &Rounded, n: usize, tables: &'static Tables, out: &mut [f32]);
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
    // SAFETY: the caller has the features and checked that `x` has at most `MAX_ROWS` rows as long as an output's.
    unsafe {
        // With a known number of one the totals stay in registers.
        if x.rows() == 1 {
            for (output, out) in outputs.zip(out.chunks_exact_mut(1)) {
                O::multiply(weights.row(output), x, 1, tables, out);
            }
        } else {
            for (output, out) in outputs.zip(out.chunks_exact_mut(x.rows())) {
                O::multiply(weights.row(output), x, x.rows(), tables, out);
            }
        }
    }
}

/// Formats of 256 weights.
struct Large<B>(std::marker::PhantomData<B>);

impl<B: Block> Output for Large<B> {
    #[inline(always)]
    unsafe fn multiply(
        row: &[u8],
        x: &Rounded,
        n: usize,
        tables: &'static Tables,
        out: &mut [f32],
    ) {
        let units = row.len() / B::BYTES;
        let pairs = units.div_ceil(2);
        let mut room = [Unit::ZERO; 2];
        // SAFETY: `row` has blocks for as many units as each row of `x` has, by contract.
        unsafe {
            let mut totals = [_mm256_setzero_ps(); MAX_ROWS];
            let mut sums = [_mm256_setzero_si256(); MAX_ROWS];
            for at in 0..pairs {
                let first = row.as_ptr().add(2 * at * B::BYTES);
                // Behind the last of an odd number of units `x` has zeros, with which any block can be multiplied.
                let second = if 2 * at + 1 < units { first.add(B::BYTES) } else { first };
                prefetch(first, 2 * B::BYTES);
                let block = B::start([first, second], &mut room, tables);
                let x = x.pairs.as_ptr().add(at);
                // The codes stay in registers while the rows pass by, one after the other.
                let (codes, scales) = (block.codes::<0>(), block.scales::<0>());
                for (i, sum) in sums[..n].iter_mut().enumerate() {
                    *sum = products::<B>(codes, scales, &(*x.add(i * pairs)).codes[0]);
                }
                let (codes, scales) = (block.codes::<1>(), block.scales::<1>());
                let factors = _mm256_castps128_ps256(block.factors());
                let d =
                    _mm256_permutevar8x32_ps(factors, _mm256_setr_epi32(0, 0, 0, 0, 2, 2, 2, 2));
                let dmin =
                    _mm256_permutevar8x32_ps(factors, _mm256_setr_epi32(1, 1, 1, 1, 3, 3, 3, 3));
                for (i, (total, even)) in totals[..n].iter_mut().zip(&sums).enumerate() {
                    let x = &*x.add(i * pairs);
                    let odd = products::<B>(codes, scales, &x.codes[1]);
                    let sum = _mm256_cvtepi32_ps(_mm256_add_epi32(*even, odd));
                    let least = _mm256_cvtepi32_ps(block.least(x));
                    let sum = _mm256_fnmadd_ps(dmin, least, _mm256_mul_ps(d, sum));
                    *total = _mm256_fmadd_ps(_mm256_load_ps(x.scales.as_ptr()), sum, *total);
                }
            }
            for (out, total) in out[..n].iter_mut().zip(totals) {
                *out = total_of(total);
            }
        }
    }
}

/// The scaled products of eight vectors of codes with those of `x`. Products are added in 16 bits as long as these hold them.
#[inline(always)]
unsafe fn products<B: Block>(
    codes: [__m256i; 8],
    scales: [__m256i; 2],
    x: &[[i8; VECTOR]; 8],
) -> __m256i {
    /// The most products of two codes and activations, added to each other, that 16 bits hold.
    const fn most(max_code: i32) -> i32 {
        i16::MAX as i32 / (2 * 127 * max_code)
    }
    const {
        assert!(most(B::MAX_CODE) >= 2, "16 bits hold two of them");
    }
    // SAFETY: the caller has the features.
    unsafe {
        match most(B::MAX_CODE) {
            8.. if B::WIDE => {
                let all = _mm256_add_epi16(four(codes, x, 0), four(codes, x, 4));
                _mm256_madd_epi16(all, scales[0])
            }
            4.. => _mm256_add_epi32(
                _mm256_madd_epi16(four(codes, x, 0), scales[0]),
                _mm256_madd_epi16(four(codes, x, 4), scales[1]),
            ),
            _ => {
                let first = _mm256_madd_epi16(two(codes, x, 0), scales[0]);
                let second = _mm256_madd_epi16(two(codes, x, 2), scales[0]);
                let third = _mm256_madd_epi16(two(codes, x, 4), scales[1]);
                let fourth = _mm256_madd_epi16(two(codes, x, 6), scales[1]);
                let first = _mm256_add_epi32(first, second);
                _mm256_add_epi32(first, _mm256_add_epi32(third, fourth))
            }
        }
    }
}

/// Two products of vectors from the `i`-th on, added.
#[inline(always)]
unsafe fn two(codes: [__m256i; 8], x: &[[i8; VECTOR]; 8], i: usize) -> __m256i {
    // SAFETY: the caller has the features; the activations are aligned.
    unsafe {
        let first = _mm256_maddubs_epi16(codes[i], _mm256_load_si256(x[i].as_ptr().cast()));
        let second = _mm256_load_si256(x[i + 1].as_ptr().cast());
        _mm256_add_epi16(first, _mm256_maddubs_epi16(codes[i + 1], second))
    }
}

/// Four products of vectors from the `i`-th on, added.
#[inline(always)]
unsafe fn four(codes: [__m256i; 8], x: &[[i8; VECTOR]; 8], i: usize) -> __m256i {
    // SAFETY: the caller has the features.
    unsafe { _mm256_add_epi16(two(codes, x, i), two(codes, x, i + 2)) }
}

/// Formats of 32 weights, by ggml's number.
struct Small<const FORMAT: u32>;

impl<const FORMAT: u32> Output for Small<FORMAT> {
    #[inline(always)]
    unsafe fn multiply(row: &[u8], x: &Rounded, n: usize, _: &'static Tables, out: &mut [f32]) {
        let format = Format::of(FORMAT).expect("formats are named by their numbers");
        let signed = matches!(format, Format::Q8_0);
        let bytes = format.block().1;
        let mut unit = Unit::ZERO;
        // SAFETY: each row of `x` has as many units as `row` has blocks, by contract.
        unsafe {
            let ones = _mm256_set1_epi16(1);
            let mut totals = [_mm256_setzero_ps(); MAX_ROWS];
            let mut least = [0.0_f32; MAX_ROWS];
            for (at, block) in row.chunks_exact(bytes).enumerate() {
                unit.read(format, block);
                let codes = vector(unit.codes.as_ptr().cast());
                let sizes = if signed { _mm256_abs_epi8(codes) } else { codes };
                for (i, total) in totals[..n].iter_mut().enumerate() {
                    let start = i * x.width + at * VECTOR;
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
            for (out, (total, least)) in out[..n].iter_mut().zip(totals.into_iter().zip(least)) {
                *out = total_of(total) - least;
            }
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
