//! Activations in int8: what a quantised weight is multiplied with.
#![expect(
    unsafe_code,
    reason = "threads write rows of their own, and kernels are compiled for CPU features that were detected"
)]

use super::formats::{GROUP, MAX_UNIT};
use super::pool::{Disjoint, Pool};
use crate::kernels::Aligned;
use crate::multiversion;
use crate::simd::SimdLevel;

/// Up to this many rows the weights are read in place; more are worth a panel.
pub(super) const MAX_ROWS: usize = 8;
/// The largest magnitude of a code.
const MOST: f32 = 127.0;
/// Adding it leaves the nearest integer in the low bits of an f32.
const ROUND: f32 = 12_582_912.0;

/// Two neighbouring units of 256 in the order in which two blocks are multiplied: the first unit in the first half of each vector,
/// the second in the second. Behind an odd number of units there are zeros.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(super) struct UnitPair {
    /// Of even and of odd stretches of 32 codes: four codes of each of the four stretches side by side, vector by vector.
    pub(super) codes: [[[i8; 32]; 8]; 2],
    /// The scale of each unit four times.
    pub(super) scales: [f32; 8],
    /// Sums of stretches of 32 codes.
    pub(super) pair_sums: [i16; 16],
    /// Sums of groups of 16 codes: the first eight of both units, then the second eight.
    pub(super) sums: [i16; 32],
}

impl UnitPair {
    const ZERO: Self =
        Self { codes: [[[0; 32]; 8]; 2], scales: [0.0; 8], pair_sums: [0; 16], sums: [0; 32] };

    /// Takes one of the two units, with the sums of its groups and of each two groups.
    fn take(
        &mut self,
        second: usize,
        (codes, scale): (&[i8; MAX_UNIT], f32),
        (sums, pair_sums): (&[i16; 16], &[i16; 8]),
    ) {
        let (codes, _) = codes.as_chunks::<4>();
        for (odd, vectors) in self.codes.iter_mut().enumerate() {
            for (at, vector) in vectors.iter_mut().enumerate() {
                let to = &mut vector.as_chunks_mut::<4>().0[4 * second..][..4];
                for (quarter, to) in to.iter_mut().enumerate() {
                    *to = codes[16 * quarter + 8 * odd + at];
                }
            }
        }
        self.scales[4 * second..][..4].fill(scale);
        self.sums[8 * second..][..8].copy_from_slice(&sums[..8]);
        self.sums[16 + 8 * second..][..8].copy_from_slice(&sums[8..]);
        self.pair_sums[8 * second..][..8].copy_from_slice(pair_sums);
    }
}

/// Rows of numbers as codes of 8 bits, with a scale for each unit of them.
#[derive(Default)]
pub(super) struct Rounded {
    /// Numbers that share a scale: 256 or 32, as the weights' format has it.
    pub(super) unit: usize,
    /// Numbers of a row, a multiple of `unit`.
    pub(super) width: usize,
    rows: usize,
    /// `[n, width]`, and what an earlier use left behind them. Vectors of them cross no cache line.
    pub(super) codes: Aligned<i8>,
    /// Few rows of units of 256 once more, `[n, pairs_per_row]`.
    pub(super) pairs: Vec<UnitPair>,
    /// `[n, width / unit]`.
    pub(super) scales: Vec<f32>,
    /// Sums of the codes of each group of 16: `[n, width / 16]`.
    pub(super) sums: Vec<i16>,
    /// Sums of each two groups: `[n, width / 32]`.
    pub(super) pair_sums: Vec<i16>,
}

impl Rounded {
    /// Rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Pairs of units that are kept of each row: none but of few rows of large units.
    pub(super) fn pairs_per_row(&self) -> usize {
        let are_kept = self.unit == MAX_UNIT && self.rows <= MAX_ROWS;
        if are_kept { self.width.div_ceil(2 * MAX_UNIT) } else { 0 }
    }

    /// Takes rows `[n, width]` in place of what was there.
    pub(super) fn take(&mut self, rows: &[f32], width: usize, unit: usize, pool: &Pool) {
        debug_assert!(width.is_multiple_of(unit) && rows.len().is_multiple_of(width));
        let n = rows.len() / width;
        (self.unit, self.width, self.rows) = (unit, width, n);
        self.codes.need(n * width);
        let pairs_per_row = self.pairs_per_row();
        self.pairs.clear();
        self.pairs.resize(n * pairs_per_row, UnitPair::ZERO);
        self.scales.resize(n * (width / unit), 0.0);
        self.sums.resize(n * (width / GROUP), 0);
        self.pair_sums.resize(n * (width / (2 * GROUP)), 0);
        let level = SimdLevel::detect();
        let codes = Disjoint::new(&mut self.codes);
        let pairs = Disjoint::new(&mut self.pairs);
        let scales = Disjoint::new(&mut self.scales);
        let sums = Disjoint::new(&mut self.sums);
        let pair_sums = Disjoint::new(&mut self.pair_sums);
        pool.run(n, &|i| {
            let part = |per_row: usize| (i * per_row, per_row);
            let (at, len) = part(width);
            let row = &rows[at..at + len];
            // SAFETY: row `i` of each buffer is written by part `i` alone.
            let (codes, scales, sums, pair_sums) = unsafe {
                let (scales_at, scales_len) = part(width / unit);
                let (sums_at, sums_len) = part(width / GROUP);
                let (pairs_at, pairs_len) = part(width / (2 * GROUP));
                (
                    codes.range(at, len),
                    scales.range(scales_at, scales_len),
                    sums.range(sums_at, sums_len),
                    pair_sums.range(pairs_at, pairs_len),
                )
            };
            round(level, row, unit, codes, scales, sums);
            for (pair, sums) in pair_sums.iter_mut().zip(sums.as_chunks::<2>().0) {
                *pair = sums[0] + sums[1];
            }
            if pairs_per_row == 0 {
                return;
            }
            // SAFETY: as above.
            let pairs = unsafe { pairs.range(i * pairs_per_row, pairs_per_row) };
            let units = codes.as_chunks().0.iter().zip(scales.iter().copied());
            let sums = sums.as_chunks().0.iter().zip(pair_sums.as_chunks().0);
            for (at, (unit, sums)) in units.zip(sums).enumerate() {
                pairs[at / 2].take(at % 2, unit, sums);
            }
        });
    }
}

multiversion! {
    /// Rounds one row.
    round = round_row(
        row: &[f32], unit: usize, codes: &mut [i8], scales: &mut [f32], sums: &mut [i16]
    )
}

#[inline(always)]
fn round_row<const FMA: bool>(
    row: &[f32],
    unit: usize,
    codes: &mut [i8],
    scales: &mut [f32],
    sums: &mut [i16],
) {
    let units = row.chunks_exact(unit).zip(codes.chunks_exact_mut(unit));
    for ((row, codes), (scale, sums)) in
        units.zip(scales.iter_mut().zip(sums.chunks_exact_mut(unit / GROUP)))
    {
        let mut most = [0.0_f32; GROUP];
        for group in row.as_chunks::<GROUP>().0 {
            for (most, x) in most.iter_mut().zip(group) {
                let size = x.abs();
                *most = if size > *most { size } else { *most };
            }
        }
        let most = most.iter().fold(0.0_f32, |a, b| if *b > a { *b } else { a });
        *scale = most / MOST;
        let inverse = if most > 0.0 { MOST / most } else { 0.0 };
        for ((group, codes), sum) in
            row.as_chunks::<GROUP>().0.iter().zip(codes.as_chunks_mut::<GROUP>().0).zip(sums)
        {
            let mut total = 0_i32;
            for (x, code) in group.iter().zip(codes) {
                // The low byte of the mantissa is the integer in two's complement.
                *code = (x * inverse + ROUND).to_bits() as i8;
                total += i32::from(*code);
            }
            *sum = total as i16;
        }
    }
}
