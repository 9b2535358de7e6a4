//! Inner products of an f32 query with a stored f16 row or an f32 centroid, chosen for the CPU at run time.

use half::f16;

/// The fastest inner product this CPU has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// No instructions beyond what every CPU of the architecture has.
    Portable,
    /// AVX2, FMA and F16C: eight numbers at a time.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F: sixteen numbers at a time.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernel {
    /// The fastest of which the CPU has the instructions.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c")
            {
                return Self::Avx2;
            }
        }
        Self::Portable
    }

    /// `Σ query[i] · row[i]`, accumulated in f32; `row` is `query.len()` little-endian f16 values, any alignment.
    ///
    /// Kernels differ in the order of additions, so in the last bits.
    pub fn dot(self, query: &[f32], row: &[u8]) -> f32 {
        debug_assert_eq!(query.len() * 2, row.len());
        match self {
            Self::Portable => portable(query, row),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => x86::dot(query, row),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => x86::dot_wide(query, row),
        }
    }

    /// `Σ a[i] · b[i]` of two f32 vectors of one length.
    pub(crate) fn dot_f32(self, a: &[f32], b: &[f32]) -> f32 {
        debug_assert_eq!(a.len(), b.len());
        match self {
            Self::Portable => a.iter().zip(b).map(|(a, b)| a * b).sum(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => x86::dot_f32(a, b),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => x86::dot_f32_wide(a, b),
        }
    }
}

/// The numbers of a stored row.
pub(crate) fn decoded(row: &[u8]) -> Vec<f32> {
    row.chunks_exact(2).map(|bytes| f16::from_le_bytes([bytes[0], bytes[1]]).to_f32()).collect()
}

fn portable(query: &[f32], row: &[u8]) -> f32 {
    query
        .iter()
        .zip(row.chunks_exact(2))
        .map(|(q, bytes)| q * f16::from_le_bytes([bytes[0], bytes[1]]).to_f32())
        .sum()
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "CPU intrinsics, called only after detection")]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_loadu_si128, _mm256_add_ps, _mm256_cvtph_ps, _mm256_fmadd_ps,
        _mm256_loadu_ps, _mm256_loadu_si256, _mm256_setzero_ps, _mm256_storeu_ps, _mm512_add_ps,
        _mm512_cvtph_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_reduce_add_ps, _mm512_setzero_ps,
    };

    pub(super) fn dot(query: &[f32], row: &[u8]) -> f32 {
        // SAFETY: `Kernel::Avx2` is only made by `detect`, after all three features were found.
        unsafe { dot_avx2(query, row) }
    }

    pub(super) fn dot_wide(query: &[f32], row: &[u8]) -> f32 {
        // SAFETY: `Kernel::Avx512` is only made by `detect`, after the feature was found.
        unsafe { dot_avx512(query, row) }
    }

    pub(super) fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
        // SAFETY: as for `dot`.
        unsafe { dot_f32_avx2(a, b) }
    }

    pub(super) fn dot_f32_wide(a: &[f32], b: &[f32]) -> f32 {
        // SAFETY: as for `dot_wide`.
        unsafe { dot_f32_avx512(a, b) }
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn dot_avx2(query: &[f32], row: &[u8]) -> f32 {
        let whole = query.len().min(row.len() / 2);
        let blocks = whole / 16;
        let mut sums = [_mm256_setzero_ps(); 2];
        for block in 0..blocks {
            for (half, sum) in sums.iter_mut().enumerate() {
                let at = block * 16 + half * 8;
                // SAFETY: `at + 8 <= whole`, so 8 floats of `query` and 16 bytes of `row` lie in bounds; loads
                // are unaligned ones.
                let (q, r) = unsafe {
                    (
                        _mm256_loadu_ps(query.as_ptr().add(at)),
                        _mm_loadu_si128(row.as_ptr().add(at * 2).cast::<__m128i>()),
                    )
                };
                *sum = _mm256_fmadd_ps(q, _mm256_cvtph_ps(r), *sum);
            }
        }
        let tail = blocks * 16;
        lanes(_mm256_add_ps(sums[0], sums[1]))
            + super::portable(&query[tail..whole], &row[tail * 2..whole * 2])
    }

    #[target_feature(enable = "avx512f")]
    unsafe fn dot_avx512(query: &[f32], row: &[u8]) -> f32 {
        let whole = query.len().min(row.len() / 2);
        let blocks = whole / 32;
        let mut sums = [_mm512_setzero_ps(); 2];
        for block in 0..blocks {
            for (half, sum) in sums.iter_mut().enumerate() {
                let at = block * 32 + half * 16;
                // SAFETY: `at + 16 <= whole`, so 16 floats of `query` and 32 bytes of `row` lie in bounds.
                let (q, r) = unsafe {
                    (
                        _mm512_loadu_ps(query.as_ptr().add(at)),
                        _mm256_loadu_si256(row.as_ptr().add(at * 2).cast::<__m256i>()),
                    )
                };
                *sum = _mm512_fmadd_ps(q, _mm512_cvtph_ps(r), *sum);
            }
        }
        let tail = blocks * 32;
        _mm512_reduce_add_ps(_mm512_add_ps(sums[0], sums[1]))
            + super::portable(&query[tail..whole], &row[tail * 2..whole * 2])
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn dot_f32_avx2(a: &[f32], b: &[f32]) -> f32 {
        let whole = a.len().min(b.len());
        let mut sums = [_mm256_setzero_ps(); 2];
        for (i, at) in (0..whole / 8).map(|block| block * 8).enumerate() {
            // SAFETY: `at + 8 <= whole`.
            let (x, y) = unsafe {
                (_mm256_loadu_ps(a.as_ptr().add(at)), _mm256_loadu_ps(b.as_ptr().add(at)))
            };
            sums[i % 2] = _mm256_fmadd_ps(x, y, sums[i % 2]);
        }
        let tail: f32 =
            a[whole / 8 * 8..whole].iter().zip(&b[whole / 8 * 8..whole]).map(|(x, y)| x * y).sum();
        lanes(_mm256_add_ps(sums[0], sums[1])) + tail
    }

    #[target_feature(enable = "avx512f")]
    unsafe fn dot_f32_avx512(a: &[f32], b: &[f32]) -> f32 {
        let whole = a.len().min(b.len());
        let mut sums = [_mm512_setzero_ps(); 2];
        for (i, at) in (0..whole / 16).map(|block| block * 16).enumerate() {
            // SAFETY: `at + 16 <= whole`.
            let (x, y) = unsafe {
                (_mm512_loadu_ps(a.as_ptr().add(at)), _mm512_loadu_ps(b.as_ptr().add(at)))
            };
            sums[i % 2] = _mm512_fmadd_ps(x, y, sums[i % 2]);
        }
        let tail: f32 = a[whole / 16 * 16..whole]
            .iter()
            .zip(&b[whole / 16 * 16..whole])
            .map(|(x, y)| x * y)
            .sum();
        _mm512_reduce_add_ps(_mm512_add_ps(sums[0], sums[1])) + tail
    }

    #[target_feature(enable = "avx2")]
    fn lanes(sum: std::arch::x86_64::__m256) -> f32 {
        let mut lanes = [0.0_f32; 8];
        // SAFETY: `lanes` has room for 8 floats.
        unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), sum) };
        lanes.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_kernel_agrees_with_plain_arithmetic(
            pairs in prop::collection::vec((-4.0_f32..4.0, -4.0_f32..4.0), 0..100)
        ) {
            let query: Vec<f32> = pairs.iter().map(|(q, _)| *q).collect();
            let row: Vec<u8> =
                pairs.iter().flat_map(|(_, r)| f16::from_f32(*r).to_le_bytes()).collect();
            let expect: f64 = pairs
                .iter()
                .map(|(q, r)| f64::from(*q) * f64::from(f16::from_f32(*r).to_f32()))
                .sum();
            let stored = decoded(&row);
            let kernels = [
                Some(Kernel::Portable),
                Some(Kernel::detect()),
                #[cfg(target_arch = "x86_64")]
                (Kernel::detect() == Kernel::Avx512 && is_x86_feature_detected!("f16c")).then_some(Kernel::Avx2),
            ];
            for kernel in kernels.into_iter().flatten() {
                let got = f64::from(kernel.dot(&query, &row));
                prop_assert!((got - expect).abs() < 1e-3, "{kernel:?}: {got} for {expect}");
                let got = f64::from(kernel.dot_f32(&query, &stored));
                prop_assert!((got - expect).abs() < 1e-3, "{kernel:?}, f32: {got} for {expect}");
            }
        }
    }
}
