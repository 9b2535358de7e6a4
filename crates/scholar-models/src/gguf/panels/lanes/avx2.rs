//! Two vectors of 256 bits. Products of bytes are added in 16 bits for as long as these hold them.

mod four_rows;

use std::arch::x86_64::{
    __m256, __m256i, _mm256_abs_epi8, _mm256_add_epi16, _mm256_add_epi32, _mm256_cvtepi32_ps,
    _mm256_fmadd_ps, _mm256_fnmadd_ps, _mm256_load_ps, _mm256_load_si256, _mm256_madd_epi16,
    _mm256_maddubs_epi16, _mm256_mul_ps, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps,
    _mm256_setzero_si256, _mm256_sign_epi8, _mm256_storeu_ps,
};

use super::super::OUTPUTS;
use super::{Lanes, UnitRows, step_by_step};

/// The largest magnitude of two products of a code of 1.
const PAIR: usize = 2 * 127;

pub(in super::super) struct Avx2;

impl Lanes for Avx2 {
    type Weights = [__m256i; 2];
    type Partial = [__m256i; 2];
    type Sums = [__m256i; 2];
    type Floats = [__m256; 2];

    fn steps(max_code: usize) -> usize {
        i16::MAX as usize / (PAIR * max_code)
    }

    #[inline(always)]
    unsafe fn no_partial() -> Self::Partial {
        // SAFETY: the caller has the features.
        unsafe { [_mm256_setzero_si256(); 2] }
    }

    #[inline(always)]
    unsafe fn no_sums() -> Self::Sums {
        // SAFETY: the caller has the features.
        unsafe { [_mm256_setzero_si256(); 2] }
    }

    #[inline(always)]
    unsafe fn no_floats() -> Self::Floats {
        // SAFETY: the caller has the features.
        unsafe { [_mm256_setzero_ps(); 2] }
    }

    #[inline(always)]
    unsafe fn load<const SIGNED: bool>(codes: *const u8) -> Self::Weights {
        // SAFETY: the caller has the features; 64 bytes by contract, on a cache line in a panel.
        unsafe { [_mm256_load_si256(codes.cast()), _mm256_load_si256(codes.add(32).cast())] }
    }

    #[inline(always)]
    unsafe fn multiply<const SIGNED: bool>(
        sum: Self::Partial,
        weights: Self::Weights,
        x: i32,
    ) -> Self::Partial {
        // SAFETY: the caller has the features.
        unsafe {
            let x = _mm256_set1_epi32(x);
            if SIGNED {
                weights.map(|w| _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w)))
            } else {
                [
                    _mm256_add_epi16(sum[0], _mm256_maddubs_epi16(weights[0], x)),
                    _mm256_add_epi16(sum[1], _mm256_maddubs_epi16(weights[1], x)),
                ]
            }
        }
    }

    #[inline(always)]
    unsafe fn add_products<const ROWS: usize, const STEPS: usize, const SIGNED: bool>(
        sums: &mut [Self::Sums; ROWS],
        unit: UnitRows<ROWS>,
    ) {
        // SAFETY: as this function.
        unsafe {
            match (sums.first_chunk_mut(), unit.rows.first_chunk()) {
                (Some(sums), Some(rows)) if ROWS == 4 && !SIGNED => {
                    four_rows::add_products::<ROWS, STEPS>(sums, rows, &unit);
                }
                _ => step_by_step::<Self, ROWS, STEPS, SIGNED>(sums, unit),
            }
        }
    }

    #[inline(always)]
    unsafe fn scale(sums: Self::Sums, partial: Self::Partial, scales: *const i16) -> Self::Sums {
        // SAFETY: the caller has the features; 32 numbers by contract, on a cache line in a panel.
        unsafe {
            let low = _mm256_load_si256(scales.cast());
            let high = _mm256_load_si256(scales.add(OUTPUTS).cast());
            [
                _mm256_add_epi32(sums[0], _mm256_madd_epi16(partial[0], low)),
                _mm256_add_epi32(sums[1], _mm256_madd_epi16(partial[1], high)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn add_mins(sums: Self::Sums, mins: *const i16, x: i32) -> Self::Sums {
        // SAFETY: the caller has the features.
        let x = unsafe { [_mm256_set1_epi32(x); 2] };
        // SAFETY: as above; 32 numbers by contract.
        unsafe { Self::scale(sums, x, mins) }
    }

    #[inline(always)]
    unsafe fn finish(
        total: Self::Floats,
        (sums, d): (Self::Sums, *const f32),
        (mins, dmin): (Self::Sums, *const f32),
        x: f32,
    ) -> Self::Floats {
        // SAFETY: the caller has the features; 16 floats by contract, on a cache line in a panel.
        unsafe {
            let x = _mm256_set1_ps(x);
            let low = _mm256_mul_ps(_mm256_load_ps(d), _mm256_cvtepi32_ps(sums[0]));
            let high = _mm256_mul_ps(_mm256_load_ps(d.add(8)), _mm256_cvtepi32_ps(sums[1]));
            let (least, most) = (_mm256_load_ps(dmin), _mm256_load_ps(dmin.add(8)));
            let low = _mm256_fnmadd_ps(least, _mm256_cvtepi32_ps(mins[0]), low);
            let high = _mm256_fnmadd_ps(most, _mm256_cvtepi32_ps(mins[1]), high);
            [_mm256_fmadd_ps(low, x, total[0]), _mm256_fmadd_ps(high, x, total[1])]
        }
    }

    #[inline(always)]
    unsafe fn store(total: Self::Floats, out: &mut [f32; OUTPUTS]) {
        // SAFETY: the caller has the features; `out` has room for both halves.
        unsafe {
            _mm256_storeu_ps(out.as_mut_ptr(), total[0]);
            _mm256_storeu_ps(out.as_mut_ptr().add(8), total[1]);
        }
    }
}
