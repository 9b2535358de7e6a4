//! Row-wise functions in plain Rust, compiled several times: as the target is, with AVX2 + FMA, with AVX-512.
//!
//! Sums run over 16 lanes whatever the vector width, so that the three versions differ only by fused rounding.
#![expect(unsafe_code, reason = "calls functions compiled for CPU features after detecting them")]

use super::LayerNorm;
use crate::lanes::{self, LANES, Lanes, exp, fma, total};

/// Which compilation of the functions to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Level(Inner);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inner {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best this machine runs.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if super::Machine::detect().avx512 {
                return Self(Inner::Avx512);
            }
            if std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("fma")
            {
                return Self(Inner::Avx2);
            }
        }
        Self(Inner::Plain)
    }

    /// The version without any detected feature.
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self(Inner::Plain)
    }
}

/// Whether `mul_add` is one instruction without asking for a feature.
const PLAIN_FMA: bool = cfg!(target_arch = "aarch64");

macro_rules! versions {
    ($(#[$doc:meta])* $name:ident = $body:ident($($arg:ident: $kind:ty),*) $(-> $ret:ty)?) => {
        $(#[$doc])*
        pub(crate) fn $name(level: Level, $($arg: $kind),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $kind),*) $(-> $ret)? {
                $body::<true>($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
            fn avx512($($arg: $kind),*) $(-> $ret)? {
                $body::<true>($($arg),*)
            }
            match level.0 {
                Inner::Plain => $body::<PLAIN_FMA>($($arg),*),
                // SAFETY: `Level::detect` is the only source of these levels and checked the features.
                #[cfg(target_arch = "x86_64")]
                Inner::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Inner::Avx512 => unsafe { avx512($($arg),*) },
            }
        }
    };
}

versions! {
    /// Adds `bias` (`[width]`) to every row of `values`.
    add_bias = add_bias_body(values: &mut [f32], bias: &[f32])
}
versions! {
    /// `gelu(value + bias)` on every row of `values`.
    bias_gelu = bias_gelu_body(values: &mut [f32], bias: &[f32])
}
versions! {
    /// `value + bias + residual` on every row of `values`.
    bias_residual = bias_residual_body(values: &mut [f32], bias: &[f32], residual: &[f32])
}
versions! {
    /// Turns `scores * scale + bias` into weights that sum to 1, in place. `bias` is empty or as long as `scores`.
    softmax = softmax_body(scores: &mut [f32], scale: f32, bias: &[f32])
}
versions! {
    /// Normalises every row of `input` to mean 0 and variance 1, then scales and shifts.
    layer_norm = layer_norm_body(input: &[f32], norm: &LayerNorm, out: &mut [f32])
}
versions! {
    /// `sum += weight * values`, element by element.
    add_scaled = add_scaled_body(sum: &mut [f32], values: &[f32], weight: f32)
}
versions! {
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
    let mut top: Lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = scores.as_chunks::<LANES>();
    for chunk in chunks {
        for (top, score) in top.iter_mut().zip(chunk) {
            *top = if *score > *top { *score } else { *top };
        }
    }
    let max = rest.iter().chain(&top).fold(f32::NEG_INFINITY, |a, b| if *b > a { *b } else { a });
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
        let (chunks, rest) = row.as_chunks::<LANES>();
        let mut sums: Lanes = [0.0; LANES];
        for chunk in chunks {
            for (sum, value) in sums.iter_mut().zip(chunk) {
                *sum += value;
            }
        }
        for (sum, value) in sums.iter_mut().zip(rest) {
            *sum += value;
        }
        let mean = total(&sums) * inverse_width;
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
///
/// Source: erf by Abramowitz and Stegun 7.1.26 (error below 1.5e-7).
#[inline(always)]
fn gelu<const FMA: bool>(x: f32) -> f32 {
    let z = x * std::f32::consts::FRAC_1_SQRT_2;
    let a = z.abs();
    let t = 1.0 / fma::<FMA>(a, 0.327_591_1, 1.0);
    let mut p = 1.061_405_4;
    for c in [-1.453_152_1, 1.421_413_8, -0.284_496_72, 0.254_829_6] {
        p = fma::<FMA>(p, t, c);
    }
    let erf = 1.0 - p * t * exp::<FMA>(-(a * a));
    let half = 0.5 * x;
    fma::<FMA>(half, erf.copysign(z), half)
}

#[inline(always)]
fn dot_body<const FMA: bool>(left: &[f32], right: &[f32]) -> f32 {
    lanes::dot::<FMA>(left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels() -> [Level; 2] {
        [Level::plain(), Level::detect()]
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
