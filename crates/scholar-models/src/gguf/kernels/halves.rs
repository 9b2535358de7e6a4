//! Keys and values in half precision, by AVX2 and F16C: scores of a few queries, and sums of values.
#![expect(unsafe_code, reason = "vector instructions, and loads from checked slices")]

use std::arch::x86_64::{
    _mm_loadu_si128, _mm256_cvtph_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps,
    _mm256_setzero_ps, _mm256_storeu_ps,
};

use crate::gguf::avx2::total_of;
use crate::gguf::formats::half_to_f32;

use super::MAX_HEAD;

/// Numbers of a vector.
const VECTOR: usize = 8;
/// Queries that are multiplied with a key at a time.
const QUERIES: usize = 8;
/// Values that are added to an output at a time.
const VALUES: usize = 4;

/// Whether this machine has the instructions.
pub(super) fn has_instructions() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
}

/// Whether heads of `dim` numbers can be computed here, on this machine.
pub(super) fn fit(dim: usize) -> bool {
    dim.is_multiple_of(VECTOR) && dim <= MAX_HEAD && has_instructions()
}

/// Scores of `queries` `[m, dim]` against `keys` `[n, dim]`, into rows of `scores` that are `stride` apart.
///
/// # Safety
/// [`fit`] says yes, and all slices have as many numbers.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn score(
    queries: &[f32],
    keys: &[u16],
    dim: usize,
    scores: &mut [f32],
    stride: usize,
) {
    for (at, queries) in queries.chunks(QUERIES * dim).enumerate() {
        let scores = &mut scores[at * QUERIES * stride..];
        // SAFETY: this function has the features, and the sizes are the caller's.
        unsafe {
            match queries.len() / dim {
                1 => score_rows::<1>(queries, keys, dim, scores, stride),
                2 => score_rows::<2>(queries, keys, dim, scores, stride),
                3 => score_rows::<3>(queries, keys, dim, scores, stride),
                4 => score_rows::<4>(queries, keys, dim, scores, stride),
                5 => score_rows::<5>(queries, keys, dim, scores, stride),
                6 => score_rows::<6>(queries, keys, dim, scores, stride),
                7 => score_rows::<7>(queries, keys, dim, scores, stride),
                _ => score_rows::<8>(queries, keys, dim, scores, stride),
            }
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn score_rows<const N: usize>(
    queries: &[f32],
    keys: &[u16],
    dim: usize,
    scores: &mut [f32],
    stride: usize,
) {
    for (i, key) in keys.chunks_exact(dim).enumerate() {
        let mut sums = [_mm256_setzero_ps(); N];
        for from in (0..dim).step_by(VECTOR) {
            // SAFETY: `dim` is a multiple of a vector, and there are `N` queries of as many numbers.
            unsafe {
                let key = _mm256_cvtph_ps(_mm_loadu_si128(key.as_ptr().add(from).cast()));
                for (j, sum) in sums.iter_mut().enumerate() {
                    let query = _mm256_loadu_ps(queries.as_ptr().add(j * dim + from));
                    *sum = _mm256_fmadd_ps(query, key, *sum);
                }
            }
        }
        for (j, sum) in sums.into_iter().enumerate() {
            // SAFETY: this function has the features.
            scores[j * stride + i] = unsafe { total_of(sum) };
        }
    }
}

/// Adds to each of the outputs `[m, dim]` the values `[n, dim]` weighted by its row of probabilities; rows are `stride` apart.
///
/// # Safety
/// As for [`score`].
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn mix(
    probabilities: &[f32],
    stride: usize,
    values: &[u16],
    dim: usize,
    outputs: &mut [f32],
) {
    let mut wide = [0.0; VALUES * MAX_HEAD];
    for (at, halves) in values.chunks(VALUES * dim).enumerate() {
        let wide = &mut wide[..halves.len()];
        // SAFETY: this function has the features.
        unsafe { widen(halves, wide) };
        for (j, output) in outputs.chunks_exact_mut(dim).enumerate() {
            let weights = &probabilities[j * stride + at * VALUES..][..halves.len() / dim];
            // SAFETY: this function has the features; there is a value for each weight.
            unsafe {
                match *weights {
                    [a, b, c, d] => add([a, b, c, d], wide, dim, output),
                    [a, b, c] => add([a, b, c], wide, dim, output),
                    [a, b] => add([a, b], wide, dim, output),
                    [a] => add([a], wide, dim, output),
                    _ => unreachable!("chunks have one to four values"),
                }
            }
        }
    }
}

/// Adds `N` weighted values to one output, one after the other.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn add<const N: usize>(weights: [f32; N], values: &[f32], dim: usize, output: &mut [f32]) {
    let mut wide = [_mm256_setzero_ps(); N];
    for (wide, weight) in wide.iter_mut().zip(weights) {
        *wide = _mm256_set1_ps(weight);
    }
    for from in (0..dim).step_by(VECTOR) {
        // SAFETY: `dim` is a multiple of a vector, and there are `N` values of as many numbers.
        unsafe {
            let to = output.as_mut_ptr().add(from);
            let mut sum = _mm256_loadu_ps(to);
            for (i, weight) in wide.iter().enumerate() {
                let value = _mm256_loadu_ps(values.as_ptr().add(i * dim + from));
                sum = _mm256_fmadd_ps(*weight, value, sum);
            }
            _mm256_storeu_ps(to, sum);
        }
    }
}

/// Numbers in half precision as f32, as many as both have.
///
/// # Safety
/// [`has_instructions`] says yes.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn widen(halves: &[u16], out: &mut [f32]) {
    let (halves, rest) = halves.as_chunks::<VECTOR>();
    let (out, rest_of_out) = out.as_chunks_mut::<VECTOR>();
    for (from, to) in halves.iter().zip(out) {
        // SAFETY: both have as many numbers as a vector.
        unsafe {
            let wide = _mm256_cvtph_ps(_mm_loadu_si128(from.as_ptr().cast()));
            _mm256_storeu_ps(to.as_mut_ptr(), wide);
        }
    }
    for (from, to) in rest.iter().zip(rest_of_out) {
        *to = half_to_f32(*from);
    }
}
