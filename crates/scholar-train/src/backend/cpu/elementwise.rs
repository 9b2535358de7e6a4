//! Functions of rows with their derivatives, in plain Rust, compiled several times: as the target is, with AVX2 + FMA,
//! with AVX-512.
//!
//! Sums run over 16 lanes whatever the vector width, so that the three versions differ only by fused rounding.

use scholar_models::lanes::{Erf, LANES, Lanes, dot, erf, exp, fma, max, sum, total};
use scholar_models::multiversion;

use crate::backend::dropout::SPREAD;
use crate::backend::{AdamStep, Mask};

/// Scale and shift of a layer normalisation, and what is added to variances.
#[derive(Clone, Copy)]
pub(crate) struct Norm<'a> {
    pub(crate) scale: &'a [f32],
    pub(crate) shift: &'a [f32],
    pub(crate) epsilon: f32,
}

multiversion! {
    /// Adds `bias` to every row of `values`.
    add_bias = add_bias_body(values: &mut [f32], bias: &[f32])
}
multiversion! {
    /// Adds `bias` to every row of `values`, and puts GELU of it (the exact form with erf) into `out`.
    bias_gelu = bias_gelu_body(values: &mut [f32], bias: &[f32], out: &mut [f32])
}
multiversion! {
    /// Multiplies `gradient` with the derivative of GELU at `input`.
    gelu_backward = gelu_backward_body(gradient: &mut [f32], input: &[f32])
}
multiversion! {
    /// Turns `scores * scale` into weights that sum to 1, in place.
    softmax = softmax_body(scores: &mut [f32], scale: f32)
}
multiversion! {
    /// Turns the gradient of softmax's `weights` into that of the unscaled scores, in place.
    softmax_backward = softmax_backward_body(gradient: &mut [f32], weights: &[f32], scale: f32)
}
multiversion! {
    /// Layer normalisation of every row of `values`, which become the normalised numbers before scale and shift;
    /// `inverse` gets one over the deviation of each row.
    layer_norm = layer_norm_body(
        values: &mut [f32], inverse: &mut [f32], norm: Norm<'_>, out: &mut [f32]
    )
}
multiversion! {
    /// Turns the gradient of a layer normalisation's output into that of its input, in place.
    layer_norm_backward = layer_norm_backward_body(
        gradient: &mut [f32], normal: &[f32], inverse: &[f32], scale: &[f32]
    )
}
multiversion! {
    /// `sums += values`, element by element.
    add = add_body(sums: &mut [f32], values: &[f32])
}
multiversion! {
    /// Adds every row of `values` to `sums`.
    add_columns = add_columns_body(values: &[f32], sums: &mut [f32])
}
multiversion! {
    /// Adds the element-wise product of every row of `left` and `right` to `sums`.
    add_product_columns = add_product_columns_body(left: &[f32], right: &[f32], sums: &mut [f32])
}
multiversion! {
    /// Drops elements and scales the others; `first` is the index of `values[0]` in its tensor.
    drop_out = drop_out_body(values: &mut [f32], first: u32, mask: Mask)
}
multiversion! {
    /// Sum of squares.
    squares = squares_body(values: &[f32]) -> f32
}
multiversion! {
    /// One step of `AdamW` on a run of weights.
    adam = adam_body(
        weights: &mut [f32], gradient: &[f32], mean: &mut [f32], square: &mut [f32], step: AdamStep
    )
}
multiversion! {
    /// `values = values * keep + others * (1 - keep)`.
    blend = blend_body(values: &mut [f32], others: &[f32], keep: f32)
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
fn bias_gelu_body<const FMA: bool>(values: &mut [f32], bias: &[f32], out: &mut [f32]) {
    let width = bias.len();
    for (row, out) in values.chunks_exact_mut(width).zip(out.chunks_exact_mut(width)) {
        for ((value, bias), out) in row.iter_mut().zip(bias).zip(out) {
            *value += bias;
            *out = *value * normal_cdf::<FMA>(*value).0;
        }
    }
}

#[inline(always)]
fn gelu_backward_body<const FMA: bool>(gradient: &mut [f32], input: &[f32]) {
    const DENSITY: f32 = 0.398_942_3;
    for (gradient, x) in gradient.iter_mut().zip(input) {
        let (cdf, bell) = normal_cdf::<FMA>(*x);
        *gradient *= fma::<FMA>(*x * DENSITY, bell, cdf);
    }
}

#[inline(always)]
fn softmax_body<const FMA: bool>(scores: &mut [f32], scale: f32) {
    let max = max(scores);
    let mut sums: Lanes = [0.0; LANES];
    let (chunks, rest) = scores.as_chunks_mut::<LANES>();
    for chunk in chunks {
        for (sum, score) in sums.iter_mut().zip(chunk) {
            *score = exp::<FMA>((*score - max) * scale);
            *sum += *score;
        }
    }
    for (sum, score) in sums.iter_mut().zip(rest) {
        *score = exp::<FMA>((*score - max) * scale);
        *sum += *score;
    }
    let inverse = 1.0 / total(&sums);
    for score in scores.iter_mut() {
        *score *= inverse;
    }
}

#[inline(always)]
fn softmax_backward_body<const FMA: bool>(gradient: &mut [f32], weights: &[f32], scale: f32) {
    let mean = dot::<FMA>(gradient, weights);
    for (gradient, weight) in gradient.iter_mut().zip(weights) {
        *gradient = (*gradient - mean) * (*weight * scale);
    }
}

#[inline(always)]
fn layer_norm_body<const FMA: bool>(
    values: &mut [f32],
    inverse: &mut [f32],
    Norm { scale, shift, epsilon }: Norm<'_>,
    out: &mut [f32],
) {
    let width = scale.len();
    let inverse_width = 1.0 / width as f32;
    let rows = values.chunks_exact_mut(width).zip(out.chunks_exact_mut(width));
    for ((row, out), inverse) in rows.zip(inverse) {
        let mean = sum(row) * inverse_width;
        for value in row.iter_mut() {
            *value -= mean;
        }
        *inverse = 1.0 / fma::<FMA>(dot::<FMA>(row, row), inverse_width, epsilon).sqrt();
        for (((value, out), scale), shift) in row.iter_mut().zip(out).zip(scale).zip(shift) {
            *value *= *inverse;
            *out = fma::<FMA>(*value, *scale, *shift);
        }
    }
}

#[inline(always)]
fn layer_norm_backward_body<const FMA: bool>(
    gradient: &mut [f32],
    normal: &[f32],
    inverse: &[f32],
    scale: &[f32],
) {
    let width = scale.len();
    let inverse_width = 1.0 / width as f32;
    let rows = gradient.chunks_exact_mut(width).zip(normal.chunks_exact(width));
    for ((gradient, normal), inverse) in rows.zip(inverse) {
        for (gradient, scale) in gradient.iter_mut().zip(scale) {
            *gradient *= scale;
        }
        let mean = sum(gradient) * inverse_width;
        let along = dot::<FMA>(gradient, normal) * inverse_width;
        for (gradient, normal) in gradient.iter_mut().zip(normal) {
            *gradient = (*gradient - fma::<FMA>(*normal, along, mean)) * inverse;
        }
    }
}

#[inline(always)]
fn add_body<const FMA: bool>(sums: &mut [f32], values: &[f32]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}

#[inline(always)]
fn add_columns_body<const FMA: bool>(values: &[f32], sums: &mut [f32]) {
    for row in values.chunks_exact(sums.len()) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
}

#[inline(always)]
fn add_product_columns_body<const FMA: bool>(left: &[f32], right: &[f32], sums: &mut [f32]) {
    let width = sums.len();
    for (left, right) in left.chunks_exact(width).zip(right.chunks_exact(width)) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum = fma::<FMA>(*left, *right, *sum);
        }
    }
}

#[inline(always)]
fn drop_out_body<const FMA: bool>(values: &mut [f32], first: u32, mask: Mask) {
    for (at, value) in (0_u32..).zip(values) {
        // Two rounds of multiply and shift: the finaliser of the 32-bit murmur hash.
        let mut bits = first.wrapping_add(at).wrapping_mul(SPREAD) ^ mask.key;
        bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
        bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
        bits ^= bits >> 16;
        *value = if bits >= mask.threshold { *value * mask.scale } else { 0.0 };
    }
}

#[inline(always)]
fn squares_body<const FMA: bool>(values: &[f32]) -> f32 {
    dot::<FMA>(values, values)
}

#[inline(always)]
fn adam_body<const FMA: bool>(
    weights: &mut [f32],
    gradient: &[f32],
    mean: &mut [f32],
    square: &mut [f32],
    step: AdamStep,
) {
    let weights = weights.iter_mut().zip(gradient);
    for (((weight, gradient), mean), square) in weights.zip(mean).zip(square) {
        let gradient = gradient * step.gradient_scale;
        *mean = fma::<FMA>(*mean - gradient, step.beta1, gradient);
        *square = fma::<FMA>(*square, step.beta2, (1.0 - step.beta2) * gradient * gradient);
        let root = fma::<FMA>(square.sqrt(), step.square_scale, step.epsilon);
        *weight = fma::<FMA>(*weight, step.shrink, -step.rate * *mean / root);
    }
}

#[inline(always)]
fn blend_body<const FMA: bool>(values: &mut [f32], others: &[f32], keep: f32) {
    for (value, other) in values.iter_mut().zip(others) {
        *value = fma::<FMA>(*value, keep, (1.0 - keep) * other);
    }
}

/// Standard normal CDF of `x`, and `exp(-x² / 2)`.
#[inline(always)]
fn normal_cdf<const FMA: bool>(x: f32) -> (f32, f32) {
    let Erf { value, bell } = erf::<FMA>(x * std::f32::consts::FRAC_1_SQRT_2);
    (fma::<FMA>(0.5, value, 0.5), bell)
}

#[cfg(test)]
mod tests;
