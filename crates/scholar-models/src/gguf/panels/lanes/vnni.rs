//! One vector of 512 bits; `vpdpbusd` adds products of bytes in 32 bits.

use std::arch::x86_64::{
    __m512, __m512i, _mm512_abs_epi8, _mm512_add_epi32, _mm512_cvtepi32_ps, _mm512_dpbusd_epi32,
    _mm512_fmadd_ps, _mm512_fnmadd_ps, _mm512_load_ps, _mm512_load_si512, _mm512_madd_epi16,
    _mm512_mask_sub_epi8, _mm512_movepi8_mask, _mm512_mul_ps, _mm512_mullo_epi32,
    _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps, _mm512_setzero_si512, _mm512_srai_epi32,
    _mm512_storeu_ps,
};

use super::super::OUTPUTS;
use super::Lanes;

pub(in super::super) struct Vnni;

impl Lanes for Vnni {
    type Weights = __m512i;
    type Partial = __m512i;
    type Sums = __m512i;
    type Floats = __m512;

    fn steps(_: usize) -> usize {
        8
    }

    #[inline(always)]
    unsafe fn no_partial() -> __m512i {
        // SAFETY: the caller has the features.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    unsafe fn no_sums() -> __m512i {
        // SAFETY: the caller has the features.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    unsafe fn no_floats() -> __m512 {
        // SAFETY: the caller has the features.
        unsafe { _mm512_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn load<const SIGNED: bool>(codes: *const u8) -> __m512i {
        // SAFETY: the caller has the features; 64 bytes by contract, on a cache line in a panel.
        unsafe { _mm512_load_si512(codes.cast()) }
    }

    #[inline(always)]
    unsafe fn multiply<const SIGNED: bool>(sum: __m512i, weights: __m512i, x: i32) -> __m512i {
        // SAFETY: the caller has the features.
        unsafe {
            let x = _mm512_set1_epi32(x);
            if SIGNED {
                let negative = _mm512_movepi8_mask(weights);
                let x = _mm512_mask_sub_epi8(x, negative, _mm512_setzero_si512(), x);
                _mm512_dpbusd_epi32(sum, _mm512_abs_epi8(weights), x)
            } else {
                _mm512_dpbusd_epi32(sum, weights, x)
            }
        }
    }

    #[inline(always)]
    unsafe fn scale(sums: __m512i, partial: __m512i, scales: *const i16) -> __m512i {
        // SAFETY: the caller has the features; 32 numbers by contract, on a cache line in a panel.
        unsafe {
            // Both halves of each 32 bits are the scale: the upper one with its sign remains.
            let scales = _mm512_srai_epi32::<16>(_mm512_load_si512(scales.cast()));
            _mm512_add_epi32(sums, _mm512_mullo_epi32(partial, scales))
        }
    }

    #[inline(always)]
    unsafe fn add_mins(sums: __m512i, mins: *const i16, x: i32) -> __m512i {
        // SAFETY: the caller has the features; 32 numbers by contract, on a cache line in a panel.
        unsafe {
            let products = _mm512_madd_epi16(_mm512_load_si512(mins.cast()), _mm512_set1_epi32(x));
            _mm512_add_epi32(sums, products)
        }
    }

    #[inline(always)]
    unsafe fn finish(
        total: __m512,
        (sums, d): (__m512i, *const f32),
        (mins, dmin): (__m512i, *const f32),
        x: f32,
    ) -> __m512 {
        // SAFETY: the caller has the features; 16 floats by contract, on a cache line in a panel.
        unsafe {
            let scaled = _mm512_mul_ps(_mm512_load_ps(d), _mm512_cvtepi32_ps(sums));
            let value = _mm512_fnmadd_ps(_mm512_load_ps(dmin), _mm512_cvtepi32_ps(mins), scaled);
            _mm512_fmadd_ps(value, _mm512_set1_ps(x), total)
        }
    }

    #[inline(always)]
    unsafe fn store(total: __m512, out: &mut [f32; OUTPUTS]) {
        // SAFETY: the caller has the features; `out` has room for all lanes.
        unsafe { _mm512_storeu_ps(out.as_mut_ptr(), total) }
    }
}
