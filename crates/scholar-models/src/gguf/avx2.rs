//! What kernels in vectors of 256 bits share.
#![expect(unsafe_code, reason = "vector instructions")]

use std::arch::x86_64::{
    __m256, _mm_add_ps, _mm_add_ss, _mm_cvtss_f32, _mm_movehl_ps, _mm_shuffle_ps,
    _mm256_castps256_ps128, _mm256_extractf128_ps,
};

/// Sum of the eight numbers.
///
/// # Safety
/// The CPU has AVX.
#[inline(always)]
pub(super) unsafe fn total_of(x: __m256) -> f32 {
    // SAFETY: the caller has the features.
    unsafe {
        let x = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
        let x = _mm_add_ps(x, _mm_movehl_ps(x, x));
        _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps::<1>(x, x)))
    }
}
