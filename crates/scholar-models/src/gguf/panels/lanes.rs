//! Sixteen outputs side by side, for each set of instructions.
#![expect(unsafe_code, reason = "vector instructions, and loads through pointers")]

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod vnni;

use super::{OUTPUTS, ROW};

/// The operations of a tile. All are exact but the floats.
///
/// # Safety
/// Every function needs the CPU features of the implementation, and pointers to as many numbers as it says.
pub(super) trait Lanes: Sized {
    /// Four codes of each output.
    type Weights: Copy;
    /// Sums of products before they are scaled.
    type Partial: Copy;
    /// One 32-bit sum for each output.
    type Sums: Copy;
    /// One float for each output.
    type Floats: Copy;

    /// How many products of codes up to `max_code` a partial sum holds.
    fn steps(max_code: usize) -> usize;

    unsafe fn no_partial() -> Self::Partial;
    unsafe fn no_sums() -> Self::Sums;
    unsafe fn no_floats() -> Self::Floats;

    /// 64 codes; `SIGNED` says what they are.
    unsafe fn load<const SIGNED: bool>(codes: *const u8) -> Self::Weights;

    /// Adds the products of the weights with four activations, which are the bytes of `x`. With `SIGNED` a partial sum holds
    /// one product only.
    unsafe fn multiply<const SIGNED: bool>(
        sum: Self::Partial,
        weights: Self::Weights,
        x: i32,
    ) -> Self::Partial;

    /// Adds the scaled products of a unit.
    #[inline(always)]
    unsafe fn add_products<const ROWS: usize, const STEPS: usize, const SIGNED: bool>(
        sums: &mut [Self::Sums; ROWS],
        unit: UnitRows<ROWS>,
    ) {
        // SAFETY: as this function.
        unsafe { step_by_step::<Self, ROWS, STEPS, SIGNED>(sums, unit) }
    }

    /// Adds partial sums times scales, of which each of 16 stands twice.
    unsafe fn scale(sums: Self::Sums, partial: Self::Partial, scales: *const i16) -> Self::Sums;

    /// Adds the products of two minima of each output with the two 16-bit sums in `x`.
    unsafe fn add_mins(sums: Self::Sums, mins: *const i16, x: i32) -> Self::Sums;

    /// `total + x * (d * sums - dmin * mins)`, `d` and `dmin` being 16 floats.
    unsafe fn finish(
        total: Self::Floats,
        sums: (Self::Sums, *const f32),
        mins: (Self::Sums, *const f32),
        x: f32,
    ) -> Self::Floats;

    unsafe fn store(total: Self::Floats, out: &mut [f32; OUTPUTS]);
}

/// A unit of a panel and the rows of activations it is multiplied with.
#[derive(Clone, Copy)]
pub(super) struct UnitRows<const ROWS: usize> {
    /// On a cache line.
    pub(super) codes: *const u8,
    pub(super) rows: [*const i8; ROWS],
    /// On a cache line.
    pub(super) scales: *const i16,
    /// Rows of scales.
    pub(super) scale_rows: usize,
    /// Partial sums that have the same scales.
    pub(super) parts: usize,
}

/// See [`Lanes::add_products`]: a partial sum of `STEPS` steps after the other.
///
/// # Safety
/// As the functions of [`Lanes`].
#[inline(always)]
unsafe fn step_by_step<L: Lanes, const ROWS: usize, const STEPS: usize, const SIGNED: bool>(
    sums: &mut [L::Sums; ROWS],
    unit: UnitRows<ROWS>,
) {
    let UnitRows { codes, rows, scales, scale_rows, parts } = unit;
    // SAFETY: the caller has the features, and as many numbers behind the pointers.
    unsafe {
        for scale_row in 0..scale_rows {
            for part in 0..parts {
                let first = (scale_row * parts + part) * STEPS;
                let mut partial = [L::no_partial(); ROWS];
                for step in first..first + STEPS {
                    let weights = L::load::<SIGNED>(codes.add(step * 4 * OUTPUTS));
                    for (partial, row) in partial.iter_mut().zip(rows) {
                        let x = row.add(4 * step).cast::<i32>().read_unaligned();
                        *partial = L::multiply::<SIGNED>(*partial, weights, x);
                    }
                }
                let scales = scales.add(scale_row * ROW);
                for (sums, partial) in sums.iter_mut().zip(partial) {
                    *sums = L::scale(*sums, partial, scales);
                }
            }
        }
    }
}

/// Plain Rust.
pub(super) struct Portable;

impl Lanes for Portable {
    type Weights = [[u8; 4]; OUTPUTS];
    type Partial = [i32; OUTPUTS];
    type Sums = [i32; OUTPUTS];
    type Floats = [f32; OUTPUTS];

    fn steps(_: usize) -> usize {
        8
    }

    #[inline(always)]
    unsafe fn no_partial() -> [i32; OUTPUTS] {
        [0; OUTPUTS]
    }

    #[inline(always)]
    unsafe fn no_sums() -> [i32; OUTPUTS] {
        [0; OUTPUTS]
    }

    #[inline(always)]
    unsafe fn no_floats() -> [f32; OUTPUTS] {
        [0.0; OUTPUTS]
    }

    #[inline(always)]
    unsafe fn load<const SIGNED: bool>(codes: *const u8) -> [[u8; 4]; OUTPUTS] {
        // SAFETY: 64 bytes by contract.
        unsafe { codes.cast::<[[u8; 4]; OUTPUTS]>().read() }
    }

    #[inline(always)]
    unsafe fn multiply<const SIGNED: bool>(
        mut sum: [i32; OUTPUTS],
        weights: [[u8; 4]; OUTPUTS],
        x: i32,
    ) -> [i32; OUTPUTS] {
        let x = x.to_le_bytes().map(|byte| i32::from(byte.cast_signed()));
        for (sum, weights) in sum.iter_mut().zip(weights) {
            for (code, x) in weights.into_iter().zip(x) {
                let code = if SIGNED { i32::from(code.cast_signed()) } else { i32::from(code) };
                *sum += code * x;
            }
        }
        sum
    }

    #[inline(always)]
    unsafe fn scale(
        mut sums: [i32; OUTPUTS],
        partial: [i32; OUTPUTS],
        scales: *const i16,
    ) -> [i32; OUTPUTS] {
        for (lane, (sum, partial)) in sums.iter_mut().zip(partial).enumerate() {
            // SAFETY: 32 numbers by contract.
            *sum += partial * i32::from(unsafe { *scales.add(2 * lane) });
        }
        sums
    }

    #[inline(always)]
    unsafe fn add_mins(mut sums: [i32; OUTPUTS], mins: *const i16, x: i32) -> [i32; OUTPUTS] {
        let (left, right) = (i32::from(x as i16), x >> 16);
        for (lane, sum) in sums.iter_mut().enumerate() {
            // SAFETY: 32 numbers by contract.
            let pair = unsafe { [*mins.add(2 * lane), *mins.add(2 * lane + 1)] };
            *sum += i32::from(pair[0]) * left + i32::from(pair[1]) * right;
        }
        sums
    }

    #[inline(always)]
    unsafe fn finish(
        mut total: [f32; OUTPUTS],
        (sums, d): ([i32; OUTPUTS], *const f32),
        (mins, dmin): ([i32; OUTPUTS], *const f32),
        x: f32,
    ) -> [f32; OUTPUTS] {
        for lane in 0..OUTPUTS {
            // SAFETY: 16 floats by contract.
            let (d, dmin) = unsafe { (*d.add(lane), *dmin.add(lane)) };
            total[lane] += x * (d * sums[lane] as f32 - dmin * mins[lane] as f32);
        }
        total
    }

    #[inline(always)]
    unsafe fn store(total: [f32; OUTPUTS], out: &mut [f32; OUTPUTS]) {
        *out = total;
    }
}
