//! Row-wise functions in plain Rust, compiled several times: as the target is, with AVX2 + FMA, with AVX-512.
//!
//! Sums run over 16 lanes whatever the vector width, so that the three versions differ only by fused rounding.
#![expect(unsafe_code, reason = "calls functions compiled for CPU features after detecting them")]

use super::LayerNorm;
use crate::lanes::{self, LANES, Lanes, erf, exp, fma, max, sum, total};
use crate::multiversion;

multiversion! {
    /// Adds `bias` (`[width]`) to every row of `values`.
    add_bias = add_bias_body(values: &mut [f32], bias: &[f32])
}
multiversion! {
    /// `gelu(value + bias)` on every row of `values`.
    bias_gelu = bias_gelu_body(values: &mut [f32], bias: &[f32])
}
multiversion! {
    /// `value + bias + residual` on every row of `values`.
    bias_residual = bias_residual_body(values: &mut [f32], bias: &[f32], residual: &[f32])
}
multiversion! {
    /// Turns `scores * scale + bias` into weights that sum to 1, in place. `bias` is empty or as long as `scores`.
    softmax = softmax_body(scores: &mut [f32], scale: f32, bias: &[f32])
}
multiversion! {
    /// Normalises every row of `input` to mean 0 and variance 1, then scales and shifts.
    layer_norm = layer_norm_body(input: &[f32], norm: &LayerNorm, out: &mut [f32])
}
multiversion! {
    /// `sum += weight * values`, element by element.
    add_scaled = add_scaled_body(sum: &mut [f32], values: &[f32], weight: f32)
}
multiversion! {
    /// Inner product of slices of equal length.
    dot = dot_body(left: &[f32], right: &[f32]) -> f32
}

#[inline(always)]
fn add_bias_body<const FMA: bool>(values: &mut [f32], bias: &[f32]) {
    for row in values.chunks_exact_mut(bias.len()) {
        for (value, bias) in row.iter_mut().zip(bias) {
            *value += bias;
        }
    }
}

#[inline(always)]
fn bias_gelu_body<const FMA: bool>(values: &mut [f32], bias: &[f32]) {
    for row in values.chunks_exact_mut(bias.len()) {
        for (value, bias) in row.iter_mut().zip(bias) {
            *value = gelu::<FMA>(*value + bias);
        }
    }
}

#[inline(always)]
fn bias_residual_body<const FMA: bool>(values: &mut [f32], bias: &[f32], residual: &[f32]) {
    for (row, residual) in
        values.chunks_exact_mut(bias.len()).zip(residual.chunks_exact(bias.len()))
    {
        for ((value, bias), residual) in row.iter_mut().zip(bias).zip(residual) {
            *value = *value + bias + residual;
        }
    }
}

#[inline(always)]
fn softmax_body<const FMA: bool>(scores: &mut [f32], scale: f32, bias: &[f32]) {
    if bias.is_empty() {
        for score in scores.iter_mut() {
            *score *= scale;
        }
    } else {
        for (score, bias) in scores.iter_mut().zip(bias) {
            *score = fma::<FMA>(*score, scale, *bias);
        }
    }
    let max = max(scores);
    let mut sums: Lanes = [0.0; LANES];
    let (chunks, rest) = scores.as_chunks_mut::<LANES>();
    for chunk in chunks {
        for (sum, score) in sums.iter_mut().zip(chunk) {
            *score = exp::<FMA>(*score - max);
            *sum += *score;
        }
    }
    for (sum, score) in sums.iter_mut().zip(rest) {
        *score = exp::<FMA>(*score - max);
        *sum += *score;
    }
    let inverse = 1.0 / total(&sums);
    for score in scores.iter_mut() {
        *score *= inverse;
    }
}

#[inline(always)]
fn layer_norm_body<const FMA: bool>(input: &[f32], norm: &LayerNorm, out: &mut [f32]) {
    let width = norm.scale.len();
    let inverse_width = 1.0 / width as f32;
    for (row, out) in input.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
        let mean = sum(row) * inverse_width;
        let (chunks, rest) = row.as_chunks::<LANES>();
        let mut sums: Lanes = [0.0; LANES];
        for chunk in chunks {
            for (sum, value) in sums.iter_mut().zip(chunk) {
                let centred = value - mean;
                *sum = fma::<FMA>(centred, centred, *sum);
            }
        }
        for (sum, value) in sums.iter_mut().zip(rest) {
            let centred = value - mean;
            *sum = fma::<FMA>(centred, centred, *sum);
        }
        let inverse = 1.0 / (total(&sums) * inverse_width + norm.epsilon).sqrt();
        for (((out, value), scale), shift) in
            out.iter_mut().zip(row).zip(&norm.scale).zip(&norm.shift)
        {
            *out = fma::<FMA>((value - mean) * inverse, *scale, *shift);
        }
    }
}

#[inline(always)]
fn add_scaled_body<const FMA: bool>(sum: &mut [f32], values: &[f32], weight: f32) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum = fma::<FMA>(*value, weight, *sum);
    }
}

/// `x/2 (1 + erf(x/sqrt 2))`, absolute error below 3e-7 for the sizes that occur.
#[inline(always)]
fn gelu<const FMA: bool>(x: f32) -> f32 {
    let half = 0.5 * x;
    fma::<FMA>(half, erf::<FMA>(x * std::f32::consts::FRAC_1_SQRT_2).value, half)
}

multiversion! {
    /// Sum of bytes, as 64-bit numbers: as fast as memory gives them.
    sum_bytes = sum_bytes_body(bytes: &[u8]) -> u64
}

#[inline(always)]
fn sum_bytes_body<const FMA: bool>(bytes: &[u8]) -> u64 {
    const WORDS: usize = 32;
    let mut sums = [0_u64; WORDS];
    for words in bytes.as_chunks::<{ 8 * WORDS }>().0 {
        for (sum, word) in sums.iter_mut().zip(words.as_chunks::<8>().0) {
            *sum = sum.wrapping_add(u64::from_le_bytes(*word));
        }
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}

#[inline(always)]
fn dot_body<const FMA: bool>(left: &[f32], right: &[f32]) -> f32 {
    lanes::dot::<FMA>(left, right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::SimdLevel;

    fn levels() -> [SimdLevel; 2] {
        [SimdLevel::baseline(), SimdLevel::detect()]
    }

    #[test]
    fn gelu_and_exp_follow_their_definitions() {
        for step in -800..=800 {
            let x = step as f32 * 0.01;
            // erf(1) and friends by series would be a second implementation; the identity below is enough:
            // gelu(x) - gelu(-x) = x for every x.
            let odd = gelu::<false>(x) - gelu::<false>(-x);
            assert!((odd - x).abs() < 1e-5, "{x}");
            let e = exp::<false>(x);
            assert!((e / x.exp() - 1.0).abs() < 5e-7, "{x}: {e}");
        }
        let known =
            [(1.0, 0.841_344_7), (-1.0, -0.158_655_26), (0.5, 0.345_731_24), (3.0, 2.995_95)];
        for (x, expect) in known {
            assert!((gelu::<false>(x) - expect).abs() < 1e-6, "{x}");
        }
        assert!(exp::<true>(-1000.0) < 1e-37);
    }

    #[test]
    fn softmax_sums_to_one_at_every_length() {
        for level in levels() {
            for len in 1..70 {
                let mut scores: Vec<f32> = (0..len).map(|i| ((i * 37) % 11) as f32 - 5.0).collect();
                let expect: Vec<f32> = {
                    let exps: Vec<f32> = scores.iter().map(|s| (s * 0.5).exp()).collect();
                    let sum: f32 = exps.iter().sum();
                    exps.iter().map(|e| e / sum).collect()
                };
                softmax(level, &mut scores, 0.5, &[]);
                for (got, expect) in scores.iter().zip(&expect) {
                    assert!((got - expect).abs() < 1e-6, "len {len}: {got} {expect}");
                }
            }
        }
    }

    #[test]
    fn layer_norm_has_mean_zero_and_variance_one() {
        for level in levels() {
            for width in [1_usize, 5, 16, 33, 384] {
                let norm =
                    LayerNorm { scale: vec![1.0; width], shift: vec![0.0; width], epsilon: 1e-12 };
                let input: Vec<f32> = (0..2 * width).map(|i| ((i * 7919) % 101) as f32).collect();
                let mut out = vec![0.0; 2 * width];
                layer_norm(level, &input, &norm, &mut out);
                for row in out.chunks(width).filter(|_| width > 1) {
                    let mean: f32 = row.iter().sum::<f32>() / width as f32;
                    let variance: f32 = row.iter().map(|v| v * v).sum::<f32>() / width as f32;
                    assert!(mean.abs() < 1e-5 && (variance - 1.0).abs() < 1e-4, "width {width}");
                }
            }
        }
    }
}
