//! The arithmetic between the quantised products: norms, rotary positions, gates, softmax rows, dense products.
//!
//! Each kernel is written once in portable Rust. On x86-64 it is compiled a second time for AVX2 and FMA, and the
//! version is chosen at run time: the binary runs on any machine of its architecture.

use candle_core::utils::barrier_pool;

use crate::matmul::{MatMulShape, MatMut, MatRef, matmul};

/// Lanes of the explicit partial sums; the compiler may not reorder a floating-point sum by itself.
const LANES: usize = 16;

macro_rules! multiversion {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        #[cfg_attr(
            target_arch = "x86_64",
            expect(unsafe_code, reason = "calls a version compiled for detected CPU features")
        )]
        pub(super) fn $name($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn portable($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn with_avx2($($arg: $ty),*) $(-> $ret)? {
                    portable($($arg),*)
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: both features were detected on this machine.
                    return unsafe { with_avx2($($arg),*) };
                }
            }
            portable($($arg),*)
        }
    };
}

/// e^x for x <= 88, by 2^n times a polynomial of degree 6: relative error below 3e-7, and it vectorises.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    let t = x.max(-87.0) * std::f32::consts::LOG2_E;
    let n = (t + ROUND) - ROUND;
    let f = t - n;
    let p = 1.540_353e-4_f32;
    let p = p * f + 1.333_355_8e-3;
    let p = p * f + 9.618_129e-3;
    let p = p * f + 5.550_411e-2;
    let p = p * f + 0.240_226_5;
    let p = p * f + std::f32::consts::LN_2;
    let p = p * f + 1.0;
    f32::from_bits(((n as i32 + 127) as u32) << 23) * p
}

multiversion! {
    /// One block of scores of one query: turns `scores[..valid]` into unnormalised probabilities relative to the running
    /// maximum, clears the rest, updates maximum and sum, and returns the factor by which earlier results shrink.
    fn soften(scores: &mut [f32], valid: usize, scale: f32, running: &mut (f32, f32)) -> f32 {
        let (scores, masked) = scores.split_at_mut(valid);
        masked.fill(0.0);
        if scores.is_empty() {
            return 1.0;
        }
        let (max, sum) = *running;
        let mut maxima = [f32::NEG_INFINITY; LANES];
        let mut chunks = scores.chunks_exact(LANES);
        for chunk in &mut chunks {
            for (m, x) in maxima.iter_mut().zip(chunk) {
                *m = if *x > *m { *x } else { *m };
            }
        }
        let tail = chunks.remainder().iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let new_max = (maxima.iter().copied().fold(tail, f32::max) * scale).max(max);
        let shrink = if max == f32::NEG_INFINITY { 0.0 } else { exp(max - new_max) };
        let mut sums = [0.0; LANES];
        let mut chunks = scores.chunks_exact_mut(LANES);
        for chunk in &mut chunks {
            for (s, x) in sums.iter_mut().zip(chunk) {
                *x = exp(*x * scale - new_max);
                *s += *x;
            }
        }
        let mut added: f32 = sums.iter().sum();
        for x in chunks.into_remainder() {
            *x = exp(*x * scale - new_max);
            added += *x;
        }
        *running = (new_max, sum * shrink + added);
        shrink
    }
}

multiversion! {
    /// Scores of a few queries of one group against keys `[n, dim]` that lie one after the other: each key is read once.
    fn score_few(queries: &[f32], keys: &[f32], dim: usize, scores: &mut [f32], stride: usize) {
        for (i, key) in keys.chunks_exact(dim).enumerate() {
            for (j, query) in queries.chunks_exact(dim).enumerate() {
                let mut sums = [0.0f32; LANES];
                for (k, q) in key.chunks_exact(LANES).zip(query.chunks_exact(LANES)) {
                    for lane in 0..LANES {
                        sums[lane] += k[lane] * q[lane];
                    }
                }
                let tail = dim - dim % LANES;
                let rest: f32 = key[tail..].iter().zip(&query[tail..]).map(|(k, q)| k * q).sum();
                scores[j * stride + i] = sums.iter().sum::<f32>() + rest;
            }
        }
    }
}

multiversion! {
    /// Adds to each of a few outputs the values `[n, dim]` weighted by its row of probabilities.
    fn mix_few(probabilities: &[f32], stride: usize, values: &[f32], dim: usize, outputs: &mut [f32]) {
        for (j, output) in outputs.chunks_exact_mut(dim).enumerate() {
            let row = &probabilities[j * stride..];
            for (p, value) in row.iter().zip(values.chunks_exact(dim)) {
                for (o, v) in output.iter_mut().zip(value) {
                    *o += p * v;
                }
            }
        }
    }
}

multiversion! {
    /// `gate := silu(gate) * up`.
    fn gate_chunk(gate: &mut [f32], up: &[f32]) {
        for (g, u) in gate.iter_mut().zip(up) {
            let x = *g;
            *g = x / (1.0 + exp((-x).min(87.0))) * u;
        }
    }
}

multiversion! {
    /// One row of root-mean-square norm.
    fn normalise(x: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) {
        let mut sums = [0.0f32; LANES];
        let mut chunks = x.chunks_exact(LANES);
        for chunk in &mut chunks {
            for lane in 0..LANES {
                sums[lane] += chunk[lane] * chunk[lane];
            }
        }
        let squares: f32 = sums.iter().sum::<f32>() + chunks.remainder().iter().map(|x| x * x).sum::<f32>();
        let factor = 1.0 / (squares / x.len() as f32 + epsilon).sqrt();
        for ((o, x), w) in out.iter_mut().zip(x).zip(weight) {
            *o = x * factor * w;
        }
    }
}

/// Root-mean-square norm of each row.
pub(super) fn rms_norm(x: &[f32], weight: &[f32], epsilon: f32) -> Vec<f32> {
    let dim = weight.len();
    let mut out = vec![0.0; x.len()];
    for (out, x) in out.chunks_exact_mut(dim).zip(x.chunks_exact(dim)) {
        normalise(x, weight, epsilon, out);
    }
    out
}

/// `gate := silu(gate) * up`, on all threads.
pub(super) fn gate(gate: &mut [f32], up: &[f32]) {
    const CHUNK: usize = 8192;
    parallel_chunks(gate, CHUNK, |i, gate| gate_chunk(gate, &up[i * CHUNK..][..gate.len()]));
}

/// `x += y`.
pub(super) fn add(x: &mut [f32], y: &[f32]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += y;
    }
}

/// `X W^T` for `x` `[n, n_in]` and dense `w` `[n_out, n_in]`, row-major.
pub(super) fn product_transposed(x: &[f32], w: &[f32], n_in: usize, columns: usize) -> Vec<f32> {
    let (n, n_out) = (x.len() / n_in, w.len() / n_in);
    let mut out = vec![0.0; n * n_out];
    if n == 1 {
        parallel_chunks(&mut out, columns, |i, out| {
            let w = &w[i * columns * n_in..][..out.len() * n_in];
            score_few(x, w, n_in, out, 0);
        });
    } else {
        let rows = n.div_ceil(barrier_pool().n_workers() + 1);
        parallel_chunks(&mut out, rows * n_out, |i, out| {
            let x = &x[i * rows * n_in..][..out.len() / n_out * n_in];
            gemm_transposed(x, w, n_in, out, n_out);
        });
    }
    out
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

/// Runs `work(i, chunk i)` over the chunks of `data` on candle's pool, the one its quantised products use: a second
/// pool would wait for cores on which the first still spins.
#[expect(
    unsafe_code,
    reason = "hands disjoint parts of a slice to the threads of a pool that takes Fn"
)]
pub(super) fn parallel_chunks(
    data: &mut [f32],
    chunk: usize,
    work: impl Fn(usize, &mut [f32]) + Sync,
) {
    struct Base(*mut f32);
    // SAFETY: the pointer is only used for disjoint ranges, see below.
    unsafe impl Sync for Base {}
    impl Base {
        fn at(&self, i: usize) -> *mut f32 {
            self.0.wrapping_add(i)
        }
    }

    let len = data.len();
    let n_chunks = len.div_ceil(chunk);
    if n_chunks <= 1 {
        if len > 0 {
            work(0, data);
        }
        return;
    }
    let base = Base(data.as_mut_ptr());
    barrier_pool().execute_chunked(n_chunks, |range| {
        for i in range {
            let start = i * chunk;
            let n = chunk.min(len - start);
            // SAFETY: the pool hands out every index exactly once, so the parts are disjoint; they lie inside `data`,
            // which stays exclusively borrowed until `execute_chunked` returns.
            let part = unsafe { std::slice::from_raw_parts_mut(base.at(start), n) };
            work(i, part);
        }
    });
}
