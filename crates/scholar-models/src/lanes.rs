//! Sums and functions over 16 lanes, whatever the vector width, so that compilations for different CPUs differ only by fused
//! rounding.
//!
//! They are inlined into functions compiled for a CPU's features; `FMA` says whether those have a fused multiply-add.
#![expect(unsafe_code, reason = "an unchecked conversion of a number that was clamped")]

/// Lanes of a sum.
pub const LANES: usize = 16;
/// Partial sums, one for each lane.
pub type Lanes = [f32; LANES];

/// `a * b + c`, with one rounding where `FMA`.
#[inline(always)]
pub fn fma<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// Sum of the values.
#[inline(always)]
pub fn sum(values: &[f32]) -> f32 {
    let mut sums: Lanes = [0.0; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += value;
        }
    }
    for (sum, value) in sums.iter_mut().zip(rest) {
        *sum += value;
    }
    total(&sums)
}

/// The largest of the values, `-inf` where there is none; a NaN is passed over.
#[inline(always)]
pub fn max(values: &[f32]) -> f32 {
    let mut top: Lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (top, value) in top.iter_mut().zip(chunk) {
            *top = if *value > *top { *value } else { *top };
        }
    }
    rest.iter().chain(&top).fold(f32::NEG_INFINITY, |a, b| if *b > a { *b } else { a })
}

/// Inner product of slices of equal length.
#[inline(always)]
pub fn dot<const FMA: bool>(left: &[f32], right: &[f32]) -> f32 {
    let mut sums: Lanes = [0.0; LANES];
    let (lefts, left_rest) = left.as_chunks::<LANES>();
    let (rights, right_rest) = right.as_chunks::<LANES>();
    for (left, right) in lefts.iter().zip(rights) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum = fma::<FMA>(*left, *right, *sum);
        }
    }
    for ((sum, left), right) in sums.iter_mut().zip(left_rest).zip(right_rest) {
        *sum = fma::<FMA>(*left, *right, *sum);
    }
    total(&sums)
}

/// Sum of the lanes, pairwise.
#[inline(always)]
pub fn total(lanes: &Lanes) -> f32 {
    let mut lanes = *lanes;
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0]
}

/// `exp(x)` for `x <= 88`, relative error below 2e-7; below -87 the result is that of -87.
///
/// Source: the usual split `x = n ln 2 + r` with a polynomial of degree 6 (Cephes `expf`).
#[inline(always)]
pub fn exp<const FMA: bool>(x: f32) -> f32 {
    // Adding and subtracting 1.5 * 2^23 rounds to the nearest integer without a library call.
    const ROUND: f32 = 12_582_912.0;
    let x = if x > -87.0 { x } else { -87.0 };
    let n = fma::<FMA>(x, std::f32::consts::LOG2_E, ROUND) - ROUND;
    let r = fma::<FMA>(n, -0.693_359_4, x);
    let r = fma::<FMA>(n, 2.121_944_4e-4, r);
    let mut p = 1.987_569_1e-4;
    for c in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        p = fma::<FMA>(p, r, c);
    }
    let p = fma::<FMA>(p * r, r, r) + 1.0;
    // SAFETY: n lies between -126 and 127 after the clamp above.
    let exponent = unsafe { n.to_int_unchecked::<i32>() };
    p * f32::from_bits(((exponent + 127) as u32) << 23)
}

/// The error function at a point, and the bell curve it is the integral of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Erf {
    /// `erf(z)`, within -1 and 1, absolute error below 1.5e-7.
    pub value: f32,
    /// `exp(-z²)`.
    pub bell: f32,
}

/// The error function at `z`.
///
/// Source: Abramowitz and Stegun 7.1.26.
#[inline(always)]
pub fn erf<const FMA: bool>(z: f32) -> Erf {
    let a = z.abs();
    let t = 1.0 / fma::<FMA>(a, 0.327_591_1, 1.0);
    let mut p = 1.061_405_4;
    for c in [-1.453_152_1, 1.421_413_8, -0.284_496_72, 0.254_829_6] {
        p = fma::<FMA>(p, t, c);
    }
    let bell = exp::<FMA>(-(a * a));
    let magnitude = 1.0 - p * t * bell;
    Erf { value: magnitude.copysign(z), bell }
}
