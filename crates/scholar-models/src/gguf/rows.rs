//! Products of a few rows of activations with quantised weights, for writing replies.
//!
//! Each output's blocks are read once, in the file's order, and multiplied with all rows. What a row of activations gives does
//! not depend, to the last bit, on the rows beside it.
#![expect(unsafe_code, reason = "calls a version compiled for detected CPU features")]

#[cfg(target_arch = "x86_64")]
mod avx2;

use std::ops::Range;

use super::activations::{MAX_ROWS, Rounded};
use super::formats::{Format, GROUP, Unit};
use super::panels::{Blocks, Level};

/// Multiplies the rows of `x` (at most [`MAX_ROWS`]) with the outputs in `outputs`, into `out`: `[outputs, rows]`.
pub(super) fn multiply(
    level: Level,
    weights: &Blocks<'_>,
    outputs: Range<usize>,
    x: &Rounded,
    out: &mut [f32],
) {
    assert!(
        x.width == weights.inputs
            && x.unit == weights.format.unit()
            && x.rows() <= MAX_ROWS
            && x.pairs.len() == x.rows() * x.pairs_per_row()
            && outputs.end <= weights.outputs
            && out.len() == outputs.len() * x.rows(),
        "activations fit the weights, and products the place for them"
    );
    match level {
        Level::Portable => portable(weights, outputs, x, out),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Level::detect` is the only source of these levels and found AVX2, FMA and F16C for both.
        Level::Avx2 | Level::Vnni => unsafe { avx2::multiply(weights, outputs, x, out) },
    }
}

fn portable(weights: &Blocks<'_>, outputs: Range<usize>, x: &Rounded, out: &mut [f32]) {
    let (numbers, bytes) = weights.format.block();
    let mut unit = Unit::ZERO;
    out.fill(0.0);
    for (output, totals) in outputs.zip(out.chunks_exact_mut(x.rows())) {
        for (at, block) in weights.row(output).chunks_exact(bytes).enumerate() {
            unit.read(weights.format, block);
            for (row, total) in totals.iter_mut().enumerate() {
                let start = row * x.width + at * numbers;
                let codes = &x.codes[start..start + numbers];
                let sums = &x.sums[start / GROUP..(start + numbers) / GROUP];
                let (products, mins) = integers(&unit, weights.format, codes, sums);
                *total += x.scales[start / numbers]
                    * (unit.d * products as f32 - unit.dmin * mins as f32);
            }
        }
    }
}

/// The scaled products of a unit, and its minima times the sums of the activations.
fn integers(unit: &Unit, format: Format, codes: &[i8], sums: &[i16]) -> (i32, i32) {
    let (mut products, mut mins) = (0, 0);
    for (group, (x, sum)) in codes.as_chunks::<GROUP>().0.iter().zip(sums).enumerate() {
        let weights = &unit.codes[group * GROUP..];
        let product: i32 = match format {
            Format::Q8_0 => {
                weights.iter().zip(x).map(|(w, x)| i32::from(w.cast_signed()) * i32::from(*x)).sum()
            }
            _ => weights.iter().zip(x).map(|(w, x)| i32::from(*w) * i32::from(*x)).sum(),
        };
        products += i32::from(unit.scales[group]) * product;
        mins += i32::from(unit.mins[group]) * i32::from(*sum);
    }
    (products, mins)
}
