//! Functions of 16 numbers in an AVX-512 register: to f32's precision, and to bf16's where the result is stored so.
#![expect(unsafe_code, reason = "vector instructions; every caller checks the features")]

use std::arch::x86_64::{
    __m256bh, __m256i, __m512, __mmask16, _mm256_mask_storeu_epi16, _mm256_storeu_si256,
    _mm512_abs_ps, _mm512_add_epi32, _mm512_add_ps, _mm512_and_ps, _mm512_castps_si512,
    _mm512_castsi512_ps, _mm512_cvtneps_pbh, _mm512_fmadd_ps, _mm512_fmsub_ps, _mm512_fnmadd_ps,
    _mm512_loadu_ps, _mm512_mask_add_ps, _mm512_mask_loadu_ps, _mm512_maskz_loadu_ps,
    _mm512_max_ps, _mm512_min_ps, _mm512_mul_ps, _mm512_or_ps, _mm512_permutex2var_ps,
    _mm512_rcp14_ps, _mm512_reduce_add_ps, _mm512_reduce_max_ps, _mm512_roundscale_ps,
    _mm512_scalef_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_slli_epi32, _mm512_sub_ps,
};

/// Numbers of a register.
pub(super) const LANES: usize = 16;

/// The mask of a whole register.
pub(super) const ALL: __mmask16 = 0xffff;

/// The mask of the first `left` lanes, all where `left >= 16`.
#[inline(always)]
pub(super) fn mask_of(left: usize) -> __mmask16 {
    if left >= LANES { ALL } else { (1_u16 << left) - 1 }
}

/// Stores 16 numbers rounded to bf16.
///
/// # Safety
/// AVX-512 F, BW, VL and BF16 are present; `out` is writable where `mask` is set.
#[inline(always)]
pub(super) unsafe fn store_half(out: *mut u16, mask: __mmask16, value: __m512) {
    // SAFETY: the caller's; the cast keeps the bits.
    unsafe {
        let half = std::mem::transmute::<__m256bh, __m256i>(_mm512_cvtneps_pbh(value));
        // A mask costs a store several times as much on some CPUs.
        if mask == ALL {
            _mm256_storeu_si256(out.cast(), half);
        } else {
            _mm256_mask_storeu_epi16(out.cast(), mask, half);
        }
    }
}

/// `exp(x)` for `x <= 0`; see the scalar version in `elementwise`.
///
/// # Safety
/// AVX-512 F is present.
#[inline(always)]
unsafe fn exp(x: __m512) -> __m512 {
    // SAFETY: the caller has AVX-512 F.
    unsafe {
        let x = _mm512_max_ps(x, _mm512_set1_ps(-87.0));
        let n =
            _mm512_roundscale_ps::<8>(_mm512_mul_ps(x, _mm512_set1_ps(std::f32::consts::LOG2_E)));
        let r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693_359_4), x);
        let r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.121_944_4e-4), r);
        let mut p = _mm512_set1_ps(1.987_569_1e-4);
        for c in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
            p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(c));
        }
        let p = _mm512_fmadd_ps(_mm512_mul_ps(p, r), r, r);
        _mm512_scalef_ps(_mm512_add_ps(p, _mm512_set1_ps(1.0)), n)
    }
}

/// GELU to f32's precision; see the scalar version in `elementwise`.
///
/// # Safety
/// AVX-512 F and DQ are present.
#[inline(always)]
pub(super) unsafe fn gelu(x: __m512) -> __m512 {
    // SAFETY: the caller has AVX-512 F and DQ.
    unsafe {
        let one = _mm512_set1_ps(1.0);
        let z = _mm512_mul_ps(x, _mm512_set1_ps(std::f32::consts::FRAC_1_SQRT_2));
        let a = _mm512_abs_ps(z);
        let d = _mm512_fmadd_ps(a, _mm512_set1_ps(0.327_591_1), one);
        // One Newton step takes the 14-bit reciprocal to full precision.
        let t = _mm512_rcp14_ps(d);
        let t = _mm512_mul_ps(t, _mm512_fnmadd_ps(d, t, _mm512_set1_ps(2.0)));
        let mut p = _mm512_set1_ps(1.061_405_4);
        for c in [-1.453_152_1, 1.421_413_8, -0.284_496_72, 0.254_829_6] {
            p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(c));
        }
        let e = exp(_mm512_sub_ps(_mm512_setzero_ps(), _mm512_mul_ps(a, a)));
        let erf = _mm512_fnmadd_ps(_mm512_mul_ps(p, t), e, one);
        let sign = _mm512_and_ps(z, _mm512_set1_ps(-0.0));
        let erf = _mm512_or_ps(erf, sign);
        let half = _mm512_mul_ps(x, _mm512_set1_ps(0.5));
        _mm512_fmadd_ps(half, erf, half)
    }
}

/// Segments of [`NORMAL`], with their middles [`SEGMENT`] apart.
const SEGMENTS: usize = 2 * LANES;
/// 31 of them reach to where the normal distribution is 1 to seven digits.
const SEGMENT: f64 = 0.16;

/// The normal distribution less a half, by segments of `|x|`: constant, linear and quadratic coefficient of the distance to a
/// segment's middle, in segments. Absolute error below 1e-5.
static NORMAL: [[f32; SEGMENTS]; 3] = normal();

/// Interpolates each segment at its middle and the outer Chebyshev nodes.
const fn normal() -> [[f32; SEGMENTS]; 3] {
    /// √3/4: the nodes of three points are at 0 and ±√3/2 of half a segment.
    const NODE: f64 = 0.433_012_701_892_219_3;
    let mut table = [[0.0; SEGMENTS]; 3];
    // The last one stays constant: everything beyond is clamped to it.
    table[0][SEGMENTS - 1] = 0.5;
    let mut at = 0;
    while at < SEGMENTS - 1 {
        let middle = at as f64;
        let below = half_normal((middle - NODE) * SEGMENT);
        let here = half_normal(middle * SEGMENT);
        let above = half_normal((middle + NODE) * SEGMENT);
        table[0][at] = here as f32;
        table[1][at] = ((above - below) / (2.0 * NODE)) as f32;
        table[2][at] = ((above + below - 2.0 * here) / (2.0 * NODE * NODE)) as f32;
        at += 1;
    }
    table
}

/// The normal distribution less a half, by its series.
const fn half_normal(x: f64) -> f64 {
    /// 1/√(2π).
    const DENSITY: f64 = 0.398_942_280_401_432_7;
    let (mut term, mut sum, mut n) = (x, x, 1.0);
    while n < 120.0 {
        term *= -x * x / (2.0 * n);
        sum += term / (2.0 * n + 1.0);
        n += 1.0;
    }
    DENSITY * sum
}

/// GELU for a result in bf16: error below 1e-5 of `|x|`.
///
/// A third of the instructions of [`gelu`]: `x (1/2 + sign(x) N(|x|))`, with `N` from a table in registers.
///
/// # Safety
/// AVX-512 F and DQ are present.
#[inline(always)]
pub(super) unsafe fn gelu_to_half(x: __m512) -> __m512 {
    // Added, it leaves the nearest whole number in the last bits.
    const ROUND: f32 = 8_388_608.0;
    // SAFETY: the caller has AVX-512 F and DQ; the table's rows hold two registers.
    unsafe {
        let row = |of: usize| {
            let row = NORMAL[of].as_ptr();
            (_mm512_loadu_ps(row), _mm512_loadu_ps(row.add(LANES)))
        };
        let most = _mm512_set1_ps((SEGMENTS - 1) as f32);
        let segments = _mm512_mul_ps(_mm512_abs_ps(x), _mm512_set1_ps((1.0 / SEGMENT) as f32));
        let segments = _mm512_min_ps(segments, most);
        let rounded = _mm512_add_ps(segments, _mm512_set1_ps(ROUND));
        let rest = _mm512_sub_ps(segments, _mm512_sub_ps(rounded, _mm512_set1_ps(ROUND)));
        let at = _mm512_castps_si512(rounded);
        let pick = |(low, high)| _mm512_permutex2var_ps(low, at, high);
        let value = _mm512_fmadd_ps(pick(row(2)), rest, pick(row(1)));
        let value = _mm512_fmadd_ps(value, rest, pick(row(0)));
        let value = _mm512_or_ps(value, _mm512_and_ps(x, _mm512_set1_ps(-0.0)));
        _mm512_mul_ps(x, _mm512_add_ps(value, _mm512_set1_ps(0.5)))
    }
}

/// `2^x` for `x <= 0` and a result in bf16: relative error below 2e-4, and 2^-126 where it would be less.
///
/// Source: the Chebyshev series of degree 3 on the fraction.
///
/// # Safety
/// AVX-512 F is present.
#[inline(always)]
unsafe fn power_of_two_to_half(x: __m512) -> __m512 {
    // Added, it leaves the nearest whole number in the last bits, negative ones too.
    const ROUND: f32 = 12_582_912.0;
    // SAFETY: the caller has AVX-512 F.
    unsafe {
        let x = _mm512_max_ps(x, _mm512_set1_ps(-126.0));
        let rounded = _mm512_add_ps(x, _mm512_set1_ps(ROUND));
        let r = _mm512_sub_ps(x, _mm512_sub_ps(rounded, _mm512_set1_ps(ROUND)));
        let mut p = _mm512_set1_ps(0.055_922_036);
        for c in [0.242_640_08, 0.693_121, 0.999_924_5] {
            p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(c));
        }
        // Into the exponent.
        let n = _mm512_slli_epi32::<23>(_mm512_castps_si512(rounded));
        _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p), n))
    }
}

/// `exp(scores * scale + bias)`, divided by the largest and rounded to bf16; what these must be multiplied with to sum to 1.
/// `bias` is empty or as long as `scores`, `scale` is positive.
///
/// # Safety
/// AVX-512 F, BW, DQ, VL and BF16 are present.
///
/// # Panics
/// When the lengths differ or there are no scores.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,avx512bf16")]
pub(super) unsafe fn softmax_to_half(
    scores: &[f32],
    scale: f32,
    bias: &[f32],
    out: &mut [u16],
) -> f32 {
    let len = scores.len();
    assert!(len > 0 && out.len() == len, "one weight for each score");
    assert!(bias.is_empty() || bias.len() == len, "no bias or one for each score");
    // Powers of two, which are exact where it matters.
    let scale = scale * std::f32::consts::LOG2_E;
    // SAFETY: masks end at the last score; the caller has the features.
    unsafe {
        let factor = _mm512_set1_ps(scale);
        let log2e = _mm512_set1_ps(std::f32::consts::LOG2_E);
        let biased = |at: usize, mask: __mmask16, score: __m512, less: __m512| {
            if bias.is_empty() {
                return _mm512_fmsub_ps(score, factor, less);
            }
            let bias = _mm512_maskz_loadu_ps(mask, bias.as_ptr().add(at));
            _mm512_fmadd_ps(score, factor, _mm512_fmsub_ps(bias, log2e, less))
        };
        let lowest = _mm512_set1_ps(f32::NEG_INFINITY);
        let load = |at: usize, mask: __mmask16, less: __m512| {
            let scores = _mm512_mask_loadu_ps(lowest, mask, scores.as_ptr().add(at));
            biased(at, mask, scores, less)
        };
        let mut top = lowest;
        for at in (0..len).step_by(LANES) {
            top = _mm512_max_ps(top, load(at, mask_of(len - at), _mm512_setzero_ps()));
        }
        let top = _mm512_set1_ps(_mm512_reduce_max_ps(top));
        let mut sum = _mm512_setzero_ps();
        for at in (0..len).step_by(LANES) {
            let mask = mask_of(len - at);
            let weight = power_of_two_to_half(load(at, mask, top));
            sum = _mm512_mask_add_ps(sum, mask, sum, weight);
            store_half(out.as_mut_ptr().add(at), mask, weight);
        }
        1.0 / _mm512_reduce_add_ps(sum)
    }
}

#[cfg(test)]
mod tests {
    use std::arch::x86_64::_mm512_storeu_ps;

    use super::*;
    use crate::kernels::Machine;
    use crate::kernels::elementwise;
    use crate::simd::SimdLevel;

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    fn both_gelus(x: f32) -> (f32, f32) {
        let mut out = [[0.0_f32; LANES]; 2];
        // SAFETY: the features are this function's, and both rows hold a register.
        unsafe {
            let x = _mm512_set1_ps(x);
            _mm512_storeu_ps(out[0].as_mut_ptr(), gelu(x));
            _mm512_storeu_ps(out[1].as_mut_ptr(), gelu_to_half(x));
        }
        (out[0][0], out[1][0])
    }

    #[test]
    fn gelu_for_bf16_is_gelu_to_five_digits() {
        if !Machine::detect().avx512 {
            return eprintln!("skipped: this CPU has no AVX-512");
        }
        for step in -4000..=4000 {
            let x = step as f32 * 0.003;
            // SAFETY: the features were found.
            let (exact, rough) = unsafe { both_gelus(x) };
            assert!((exact - rough).abs() <= 1.5e-5 * x.abs().max(1e-3), "{x}: {exact} {rough}");
        }
        // SAFETY: as above.
        let (_, none) = unsafe { both_gelus(f32::NAN) };
        assert!(none.is_nan(), "what is no number stays none");
    }

    #[test]
    fn softmax_for_bf16_is_softmax_at_every_length() {
        if !Machine::detect().avx512_bf16 {
            return eprintln!("skipped: this CPU has no AVX-512-BF16");
        }
        for len in 1..70 {
            let scores: Vec<f32> = (0..len).map(|i| ((i * 37) % 11) as f32 * 3.0 - 15.0).collect();
            let biases: Vec<f32> = (0..len).map(|i| ((i * 13) % 7) as f32 - 3.0).collect();
            for bias in [&[][..], &biases] {
                let mut exact = scores.clone();
                elementwise::softmax(SimdLevel::baseline(), &mut exact, 0.5, bias);
                let mut out = vec![0; len];
                // SAFETY: the features were found.
                let total = unsafe { softmax_to_half(&scores, 0.5, bias, &mut out) };
                for (got, expect) in out.iter().zip(&exact) {
                    let got = half::bf16::from_bits(*got).to_f32() * total;
                    assert!((got - expect).abs() <= 5e-3 * expect + 1e-9, "{len}: {got} {expect}");
                }
            }
        }
    }
}
