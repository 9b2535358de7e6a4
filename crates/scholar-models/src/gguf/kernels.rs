//! The arithmetic between the products: norms, gates, softmax rows, scores of a few queries.
//!
//! Each kernel is written once in plain Rust and compiled for several sets of instructions ([`crate::simd`]).
#![expect(unsafe_code, reason = "calls functions compiled for CPU features after detecting them")]

#[cfg(target_arch = "x86_64")]
mod halves;

use super::formats::half_to_f32;
use crate::lanes::{self, LANES, Lanes, exp, fma, total};
use crate::matmul::{MatMulShape, MatMut, MatRef, matmul};
use crate::multiversion;
use crate::simd::SimdLevel;

/// The widest head of keys and values.
pub(super) const MAX_HEAD: usize = 512;

/// How scores become weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Softmax {
    /// Factor of the scores.
    pub(super) scale: f32,
    /// Scores are bent to stay within this (`cap * tanh(score / cap)`), where the model wants that.
    pub(super) cap: Option<f32>,
}

multiversion! {
    /// One block of scores of one query: turns `scores[first..end]` into unnormalised probabilities relative to the running
    /// maximum, clears the rest, updates maximum and sum, and returns the factor by which earlier results shrink.
    soften = soften_body(
        scores: &mut [f32], visible: (usize, usize), softmax: Softmax, running: &mut (f32, f32)
    ) -> f32
}
/// Scores of a few queries of one group against keys `[n, dim]` in half precision: each key is read once.
pub(super) fn score_few(
    level: SimdLevel,
    queries: &[f32],
    keys: &[u16],
    dim: usize,
    (scores, stride): (&mut [f32], usize),
) {
    let (n_queries, n_keys) = (queries.len() / dim, keys.len() / dim);
    assert!(
        queries.len() == n_queries * dim
            && n_queries > 0
            && n_keys <= stride
            && (n_queries - 1) * stride + n_keys <= scores.len(),
        "queries are whole, and there is room for their scores"
    );
    #[cfg(target_arch = "x86_64")]
    if level != SimdLevel::baseline() && halves::fit(dim) {
        // SAFETY: the instructions were found, and the slices checked.
        return unsafe { halves::score(queries, keys, dim, scores, stride) };
    }
    score_portably(level, queries, keys, dim, scores, stride);
}

/// Adds to each of a few outputs the values `[n, dim]` weighted by its row of probabilities.
pub(super) fn mix_few(
    level: SimdLevel,
    (probabilities, stride): (&[f32], usize),
    values: &[u16],
    dim: usize,
    outputs: &mut [f32],
) {
    #[cfg(target_arch = "x86_64")]
    if level != SimdLevel::baseline() && halves::fit(dim) {
        // SAFETY: the instructions were found; the function checks the slices itself.
        return unsafe { halves::mix(probabilities, stride, values, dim, outputs) };
    }
    mix_portably(level, probabilities, stride, values, dim, outputs);
}

/// Half-precision numbers as f32.
pub(super) fn from_halves(level: SimdLevel, from: &[u16], to: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if level != SimdLevel::baseline() && halves::has_instructions() {
        // SAFETY: the instructions were found.
        return unsafe { halves::widen(from, to) };
    }
    from_halves_portably(level, from, to);
}

multiversion! {
    score_portably = score_body(
        queries: &[f32], keys: &[u16], dim: usize, scores: &mut [f32], stride: usize
    )
}
multiversion! {
    mix_portably = mix_body(
        probabilities: &[f32], stride: usize, values: &[u16], dim: usize, outputs: &mut [f32]
    )
}
multiversion! {
    /// `gate := silu(gate) * up`.
    silu = silu_body(gate: &mut [f32], up: &[f32])
}
multiversion! {
    /// `gate := gelu(gate) * up`, in the form with tanh.
    gelu = gelu_body(gate: &mut [f32], up: &[f32])
}
multiversion! {
    /// Root-mean-square norm of each row, in place.
    rms_norm = rms_norm_body(x: &mut [f32], weight: &[f32], epsilon: f32)
}
multiversion! {
    /// Half-precision numbers from f32, rounded to the nearest.
    to_halves = to_halves_body(from: &[f32], to: &mut [u16])
}
multiversion! {
    from_halves_portably = from_halves_body(from: &[u16], to: &mut [f32])
}

#[inline(always)]
fn soften_body<const FMA: bool>(
    scores: &mut [f32],
    (first, end): (usize, usize),
    softmax: Softmax,
    running: &mut (f32, f32),
) -> f32 {
    let Softmax { scale, cap } = softmax;
    scores[..first].fill(0.0);
    scores[end..].fill(0.0);
    let scores = &mut scores[first..end];
    if scores.is_empty() {
        return 1.0;
    }
    let scale = match cap {
        None => scale,
        Some(cap) => {
            for score in &mut *scores {
                *score = cap * tanh::<FMA>(*score * scale / cap);
            }
            1.0
        }
    };
    let (max, sum) = *running;
    let new_max = (lanes::max(scores) * scale).max(max);
    let shrink = if max == f32::NEG_INFINITY { 0.0 } else { exp::<FMA>(max - new_max) };
    let mut sums: Lanes = [0.0; LANES];
    let (chunks, rest) = scores.as_chunks_mut::<LANES>();
    for chunk in chunks {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *x = exp::<FMA>(*x * scale - new_max);
            *sum += *x;
        }
    }
    let mut added = total(&sums);
    for x in rest {
        *x = exp::<FMA>(*x * scale - new_max);
        added += *x;
    }
    *running = (new_max, sum * shrink + added);
    shrink
}

/// Through the exponential function, as [`exp`] vectorises.
#[inline(always)]
fn tanh<const FMA: bool>(x: f32) -> f32 {
    let e = exp::<FMA>((2.0 * x).min(80.0));
    (e - 1.0) / (e + 1.0)
}

#[inline(always)]
fn score_body<const FMA: bool>(
    queries: &[f32],
    keys: &[u16],
    dim: usize,
    scores: &mut [f32],
    stride: usize,
) {
    let mut key = [0.0; MAX_HEAD];
    let key = &mut key[..dim];
    for (i, halves) in keys.chunks_exact(dim).enumerate() {
        from_halves_body::<FMA>(halves, key);
        for (j, query) in queries.chunks_exact(dim).enumerate() {
            scores[j * stride + i] = lanes::dot::<FMA>(key, query);
        }
    }
}

#[inline(always)]
fn mix_body<const FMA: bool>(
    probabilities: &[f32],
    stride: usize,
    values: &[u16],
    dim: usize,
    outputs: &mut [f32],
) {
    let mut value = [0.0; MAX_HEAD];
    let value = &mut value[..dim];
    for (i, halves) in values.chunks_exact(dim).enumerate() {
        from_halves_body::<FMA>(halves, value);
        for (j, output) in outputs.chunks_exact_mut(dim).enumerate() {
            let p = probabilities[j * stride + i];
            for (o, v) in output.iter_mut().zip(&*value) {
                *o = fma::<FMA>(p, *v, *o);
            }
        }
    }
}

#[inline(always)]
fn silu_body<const FMA: bool>(gate: &mut [f32], up: &[f32]) {
    for (gate, up) in gate.iter_mut().zip(up) {
        *gate = *gate / (1.0 + exp::<FMA>((-*gate).min(80.0))) * up;
    }
}

#[inline(always)]
fn gelu_body<const FMA: bool>(gate: &mut [f32], up: &[f32]) {
    const ROOT_OF_TWO_BY_PI: f32 = 0.797_884_6;
    for (gate, up) in gate.iter_mut().zip(up) {
        let x = *gate;
        let inner = ROOT_OF_TWO_BY_PI * x * (1.0 + 0.044_715 * x * x);
        *gate = 0.5 * x * (1.0 + tanh::<FMA>(inner)) * up;
    }
}

#[inline(always)]
fn rms_norm_body<const FMA: bool>(x: &mut [f32], weight: &[f32], epsilon: f32) {
    for row in x.chunks_exact_mut(weight.len()) {
        let squares = lanes::dot::<FMA>(row, row);
        let factor = 1.0 / (squares / row.len() as f32 + epsilon).sqrt();
        for (x, weight) in row.iter_mut().zip(weight) {
            *x = *x * factor * weight;
        }
    }
}

#[inline(always)]
fn to_halves_body<const FMA: bool>(from: &[f32], to: &mut [u16]) {
    const TWO_TO_MINUS_112: f32 = f32::from_bits((127 - 112) << 23);
    const LARGEST: f32 = 65504.0;
    for (from, to) in from.iter().zip(to) {
        // Scaled down, the exponent is that of half precision; adding half of the last place, less one if that is even, rounds.
        let size = from.abs().min(LARGEST) * TWO_TO_MINUS_112;
        let bits = size.to_bits();
        let rounded = bits + 0x0fff + (bits >> 13 & 1);
        *to = (rounded >> 13) as u16 | (from.to_bits() >> 16 & 0x8000) as u16;
    }
}

#[inline(always)]
fn from_halves_body<const FMA: bool>(from: &[u16], to: &mut [f32]) {
    for (from, to) in from.iter().zip(to) {
        *to = half_to_f32(*from);
    }
}

/// `x += y`.
pub(super) fn add(x: &mut [f32], y: &[f32]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += y;
    }
}

/// `out[.., ..n] = X Y^T` for `x` `[m, dim]`, `y` `[n, dim]`; rows of `out` are `stride` apart.
pub(super) fn gemm_transposed(x: &[f32], y: &[f32], dim: usize, out: &mut [f32], stride: usize) {
    let shape = MatMulShape { m: x.len() / dim, n: y.len() / dim, k: dim };
    let right = MatRef::rows(y, dim).transposed();
    matmul(shape, MatRef::rows(x, dim), right, &mut MatMut { data: out, row: stride }, false, 1);
}

/// `out += P V` for `p` `[m, n]` with rows `stride` apart, `v` `[n, dim]`, `out` `[m, dim]`.
pub(super) fn gemm_accumulate(p: &[f32], stride: usize, v: &[f32], dim: usize, out: &mut [f32]) {
    let shape = MatMulShape { m: out.len() / dim, n: dim, k: v.len() / dim };
    let mut out = MatMut { data: out, row: dim };
    matmul(shape, MatRef::rows(p, stride), MatRef::rows(v, dim), &mut out, true, 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels() -> [SimdLevel; 2] {
        [SimdLevel::baseline(), SimdLevel::detect()]
    }

    #[test]
    fn halves_are_those_of_the_standard() {
        let numbers: Vec<f32> = (0..20_000).map(|i| (i as f32 - 9000.0).powi(3) * 1e-8).collect();
        let tiny: Vec<f32> = (0..100).map(|i| i as f32 * 1.3e-8).collect();
        for level in levels() {
            for numbers in [&numbers, &tiny] {
                let (mut halves, mut back) = (vec![0; numbers.len()], vec![0.0; numbers.len()]);
                to_halves(level, numbers, &mut halves);
                from_halves(level, &halves, &mut back);
                for ((number, half), back) in numbers.iter().zip(&halves).zip(&back) {
                    let expected = half::f16::from_f32(*number);
                    assert_eq!((*half, *back), (expected.to_bits(), expected.to_f32()), "{number}");
                }
            }
        }
    }

    #[test]
    fn scores_and_sums_of_a_few_queries_are_those_of_the_definitions() {
        for (queries, dim, n) in [(1, 16, 1), (3, 64, 7), (6, 128, 9), (11, 80, 12), (2, 12, 5)] {
            for level in levels() {
                check_few(level, queries, dim, n);
            }
        }
    }

    fn check_few(level: SimdLevel, queries: usize, dim: usize, n: usize) {
        let number = |i: usize| ((i * 7919) % 1009) as f32 / 500.0 - 1.0;
        let q: Vec<f32> = (0..queries * dim).map(number).collect();
        let halves: Vec<half::f16> =
            (0..n * dim).map(|i| half::f16::from_f32(number(3 * i + 1))).collect();
        let bits: Vec<u16> = halves.iter().map(|half| half.to_bits()).collect();
        let wide: Vec<f32> = halves.iter().map(|half| half.to_f32()).collect();
        let stride = n + 2;
        let mut scores = vec![0.0; queries * stride];
        score_few(level, &q, &bits, dim, (&mut scores, stride));
        let mut sums = vec![0.5; queries * dim];
        mix_few(level, (&scores, stride), &bits, dim, &mut sums);
        for (j, query) in q.chunks_exact(dim).enumerate() {
            let found = &scores[j * stride..][..n];
            for (i, (found, key)) in found.iter().zip(wide.chunks_exact(dim)).enumerate() {
                let expected: f32 = query.iter().zip(key).map(|(q, k)| q * k).sum();
                assert!((found - expected).abs() < 1e-4, "{queries} {dim} {n} {j} {i}");
            }
            for (at, sum) in sums[j * dim..][..dim].iter().enumerate() {
                let expected: f32 = (0..n).map(|i| found[i] * wide[i * dim + at]).sum();
                assert!((sum - 0.5 - expected).abs() < 1e-3, "{queries} {dim} {n} {j} {at}");
            }
        }
    }

    #[test]
    fn a_softmax_in_blocks_is_that_of_the_whole_row_with_and_without_a_cap() {
        let scores: Vec<f32> = (0..90).map(|i| ((i * 37) % 90) as f32 / 3.0 - 12.0).collect();
        for cap in [None, Some(9.0_f32)] {
            let bent = |x: f32| cap.map_or(x * 0.5, |cap| cap * (x * 0.5 / cap).tanh());
            let weights: Vec<f32> = scores[7..80].iter().map(|x| bent(*x).exp()).collect();
            let total: f32 = weights.iter().sum();
            for level in levels() {
                let mut running = (f32::NEG_INFINITY, 0.0);
                let mut found = scores.clone();
                let (left, right) = found.split_at_mut(50);
                let softmax = Softmax { scale: 0.5, cap };
                soften(level, left, (7, 50), softmax, &mut running);
                let shrink = soften(level, right, (0, 30), softmax, &mut running);
                left.iter_mut().for_each(|x| *x *= shrink);
                for (i, found) in found.iter().enumerate() {
                    let inside = (7..80).contains(&i);
                    let expected = if inside { weights[i - 7] / total } else { 0.0 };
                    assert!((found / running.1 - expected).abs() < 1e-5, "{i}");
                }
            }
        }
    }

    #[test]
    fn gates_are_those_of_the_definitions() {
        let gate: Vec<f32> = (-100..100).map(|i| i as f32 / 7.0).collect();
        let up: Vec<f32> = (0..200).map(|i| (i % 9) as f32 - 4.0).collect();
        for level in levels() {
            let (mut with_silu, mut with_gelu) = (gate.clone(), gate.clone());
            silu(level, &mut with_silu, &up);
            gelu(level, &mut with_gelu, &up);
            for (i, (x, up)) in gate.iter().zip(&up).enumerate() {
                let expected = x / (1.0 + (-x).exp()) * up;
                assert!((with_silu[i] - expected).abs() < 1e-4, "{x}");
                let expected = 0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x.powi(3))).tanh());
                assert!((with_gelu[i] - expected * up).abs() < 1e-4, "{x}");
            }
        }
    }
}
