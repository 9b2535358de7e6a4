//! Products of many rows of activations with quantised weights, for reading prompts.
//!
//! Weights stay in the file's layout. Sixteen outputs at a time are laid out as a [`Panel`] in the first-level cache, four
//! inputs of each output side by side, and multiplied with all rows before the next are taken: what that costs is
//! spread over the rows of a prompt, and no second copy of the model is kept in memory or on disk.
//!
//! Integers are exact in all implementations of [`Lanes`]; floats are added in one order, unit by unit.
#![expect(
    unsafe_code,
    reason = "kernels compiled for detected CPU features, which read through checked pointers"
)]

mod lanes;
mod layout;

use super::activations::Rounded;
use super::formats::{Format, GROUP, Unit};
use crate::simd::{InstructionSet, SimdLevel};

use lanes::{Lanes, Portable, UnitRows};
#[cfg(target_arch = "x86_64")]
use lanes::{avx2::Avx2, vnni::Vnni};
use layout::{Layout, lay_out};

/// Outputs of a panel.
pub(super) const OUTPUTS: usize = 16;
/// Inputs that are laid out before they are used: with their scales they fill most of a first-level cache.
const INPUTS: usize = 1536;
/// Bytes that come from memory together.
const LINE: usize = 64;
/// 16-bit numbers of one group's scales (or one pair's minima), each written twice, or of one pair each.
const ROW: usize = 2 * OUTPUTS;
/// Units of a panel of the smallest unit.
const MAX_UNITS: usize = INPUTS / 32;

/// Quantised weights `[outputs, inputs]` as the file has them.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    pub(super) format: Format,
    pub(super) bytes: &'a [u8],
    pub(super) outputs: usize,
    pub(super) inputs: usize,
}

impl<'a> Blocks<'a> {
    /// Bytes of a row.
    pub(super) fn row_bytes(&self) -> usize {
        let (numbers, bytes) = self.format.block();
        self.inputs / numbers * bytes
    }

    /// The blocks of one output.
    pub(super) fn row(&self, output: usize) -> &'a [u8] {
        let len = self.row_bytes();
        &self.bytes[output * len..][..len]
    }

    /// Asks for the blocks of [`INPUTS`] inputs of one output, if there is such an output: they come from memory while other
    /// products are computed.
    fn fetch(&self, output: usize, from: usize) {
        if output >= self.outputs {
            return;
        }
        let (numbers, bytes) = self.format.block();
        let to = self.inputs.min(from + INPUTS);
        for line in self.row(output)[from / numbers * bytes..to / numbers * bytes].chunks(LINE) {
            #[cfg(target_arch = "x86_64")]
            {
                use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
                // SAFETY: a hint that reads nothing; every x86-64 processor has it.
                unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) };
            }
            #[cfg(not(target_arch = "x86_64"))]
            let _ = line;
        }
    }
}

/// Takes the products of some rows: whether they are the first of these outputs, the first row, and 16 numbers of each.
pub(super) type Sink<'a> = dyn FnMut(bool, usize, &[[f32; OUTPUTS]]) + 'a;

/// How products are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// In plain Rust.
    Portable,
    /// `vpmaddubsw`, beside FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// `vpdpbusd` on 512 bits.
    #[cfg(target_arch = "x86_64")]
    Vnni,
}

impl Level {
    /// The best this machine runs.
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        match SimdLevel::detect().instructions() {
            _ if !is_x86_feature_detected!("f16c") => {}
            InstructionSet::Avx512 if is_x86_feature_detected!("avx512vnni") => return Self::Vnni,
            InstructionSet::Avx512 | InstructionSet::Avx2 => return Self::Avx2,
            InstructionSet::Baseline => {}
        }
        Self::Portable
    }

    /// The instructions, for measurements.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Self::Vnni => "AVX-512 VNNI",
        }
    }

    /// All that this machine runs.
    pub(super) fn all() -> Vec<Self> {
        let mut all = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        match Self::detect() {
            Self::Portable => {}
            Self::Avx2 => all.push(Self::Avx2),
            Self::Vnni => all.extend([Self::Avx2, Self::Vnni]),
        }
        all
    }
}

/// Room for the weights of [`OUTPUTS`] outputs and [`INPUTS`] inputs.
#[repr(C, align(64))]
pub(super) struct Panel {
    /// `[inputs / 4, 16, 4]`.
    codes: [u8; INPUTS * OUTPUTS],
    /// `[groups or pairs of groups, 16, 2]`, both numbers equal.
    scales: [i16; INPUTS / GROUP * ROW],
    /// `[pairs, 16, 2]`, for the two sums of a pair.
    mins: [i16; INPUTS / GROUP / 2 * ROW],
    /// `[units, 16]`.
    d: [f32; MAX_UNITS * OUTPUTS],
    dmin: [f32; MAX_UNITS * OUTPUTS],
    /// One unit of each output before they are laid out.
    rows: [Unit; OUTPUTS],
    layout: Layout,
    format: Format,
    units: usize,
}

impl Panel {
    /// An empty one, on the heap.
    pub(super) fn new() -> Box<Self> {
        // SAFETY: all fields are numbers, for which zero bits are a value, but `format`, of which they are the first variant.
        unsafe { Box::new_zeroed().assume_init() }
    }

    /// Multiplies all rows of `x` with the outputs `first..first + 16` (0 beyond the last); `sink(first time, row, values)`
    /// gets the products of some rows from `row` on, once for each stretch of [`INPUTS`] inputs: they are to be added up. `next`
    /// are the weights and the first output that will be multiplied after them.
    pub(super) fn multiply(
        &mut self,
        level: Level,
        (weights, first): (&Blocks<'_>, usize),
        next: Option<(&Blocks<'_>, usize)>,
        x: &Rounded,
        sink: &mut Sink<'_>,
    ) {
        let mut tile = [[0.0; OUTPUTS]; MAX_TILE];
        let mut from = 0;
        while from < weights.inputs {
            let to = weights.inputs.min(from + INPUTS);
            lay_out(SimdLevel::detect(), self, weights, first, from..to);
            let ahead = if to < weights.inputs { Some((weights, first)) } else { next };
            let ahead_from = if to < weights.inputs { to } else { 0 };
            let (mut row, mut lane) = (0, 0);
            while row < x.rows() {
                if let Some((weights, first)) = ahead.filter(|_| lane < OUTPUTS) {
                    weights.fetch(first + lane, ahead_from);
                    lane += 1;
                }
                let done = self.tile(level, Corner { x, row, from }, &mut tile);
                sink(from == 0, row, &tile[..done]);
                row += done;
            }
            from = to;
        }
    }

    /// Multiplies one layout again and again, to measure what products alone take; adds something of them to `sum`.
    pub(super) fn repeat(
        &mut self,
        level: Level,
        weights: &Blocks<'_>,
        x: &Rounded,
        passes: usize,
        sum: &mut f32,
    ) {
        lay_out(SimdLevel::detect(), self, weights, 0, 0..weights.inputs.min(INPUTS));
        let mut tile = [[0.0; OUTPUTS]; MAX_TILE];
        for _ in 0..passes {
            let mut row = 0;
            while row < x.rows() {
                row += self.tile(level, Corner { x, row, from: 0 }, &mut tile);
                *sum += tile[0][0];
            }
        }
    }
}

/// The most rows of a tile.
const MAX_TILE: usize = 12;
/// Products of some rows with the outputs of a panel.
type Tile = [[f32; OUTPUTS]; MAX_TILE];

/// Where a tile begins: at a row of the activations, and at the input that the panel begins with.
#[derive(Clone, Copy)]
struct Corner<'a> {
    x: &'a Rounded,
    row: usize,
    from: usize,
}

impl Panel {
    /// The products of a few rows of `x` from `row` on, `[rows, 16]`; how many they were.
    fn tile(&self, level: Level, corner: Corner<'_>, out: &mut Tile) -> usize {
        match level {
            Level::Portable => {
                // SAFETY: plain Rust runs everywhere.
                unsafe { tile::<Portable, 1>(self, corner, out) }
            }
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Level::detect` is the only source of these levels and found their instructions.
            Level::Avx2 => unsafe { tile_avx2(self, corner, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Level::Vnni => unsafe { tile_vnni(self, corner, out) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn tile_avx2(panel: &Panel, corner: Corner<'_>, out: &mut Tile) -> usize {
    let left = corner.x.rows() - corner.row;
    // SAFETY: the features of this function are those of `Avx2`.
    unsafe {
        if left >= 4 {
            tile::<Avx2, 4>(panel, corner, out)
        } else {
            tile::<Avx2, 1>(panel, corner, out)
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
unsafe fn tile_vnni(panel: &Panel, corner: Corner<'_>, out: &mut Tile) -> usize {
    let left = corner.x.rows() - corner.row;
    // SAFETY: the features of this function are those of `Vnni`.
    unsafe {
        if left >= MAX_TILE {
            tile::<Vnni, MAX_TILE>(panel, corner, out)
        } else if left >= 4 {
            tile::<Vnni, 4>(panel, corner, out)
        } else {
            tile::<Vnni, 1>(panel, corner, out)
        }
    }
}

/// Chooses the steps between two scalings: as many as the partial sums of `L` hold, within what one scale covers.
///
/// # Safety
/// The CPU has the features of `L`.
#[inline(always)]
unsafe fn tile<L: Lanes, const ROWS: usize>(
    panel: &Panel,
    corner: Corner<'_>,
    out: &mut Tile,
) -> usize {
    let Corner { x, row, from } = corner;
    let inputs = panel.units * panel.layout.unit;
    assert!(
        row + ROWS <= x.rows()
            && from + inputs <= x.width
            && x.unit == panel.layout.unit
            && inputs <= INPUTS,
        "a tile lies within the activations"
    );
    let width = x.width;
    let sums = if panel.layout.wide_sums { (&x.pair_sums, 2 * GROUP) } else { (&x.sums, GROUP) };
    let columns = std::array::from_fn(|i| Column {
        codes: &x.codes[(row + i) * width + from..][..inputs],
        scales: &x.scales[((row + i) * width + from) / x.unit..][..panel.units],
        sums: &sums.0[((row + i) * width + from) / sums.1..][..inputs / sums.1],
    });
    let steps = L::steps(panel.format.max_code()).min(panel.layout.scale_inputs / 4);
    // SAFETY: the columns and the panel have `panel.units` units each.
    unsafe {
        match (panel.format, steps) {
            (Format::Q8_0, _) => units::<L, ROWS, 1, true>(panel, &columns, out),
            (_, 8..) => units::<L, ROWS, 8, false>(panel, &columns, out),
            (_, 4..8) => units::<L, ROWS, 4, false>(panel, &columns, out),
            _ => units::<L, ROWS, 2, false>(panel, &columns, out),
        }
    }
    ROWS
}

/// One row of activations beside a panel.
struct Column<'a> {
    codes: &'a [i8],
    scales: &'a [f32],
    sums: &'a [i16],
}

/// # Safety
/// The CPU has the features of `L`, and the columns are as long as the panel.
#[inline(always)]
unsafe fn units<L: Lanes, const ROWS: usize, const STEPS: usize, const SIGNED: bool>(
    panel: &Panel,
    columns: &[Column<'_>; ROWS],
    out: &mut Tile,
) {
    let Layout { unit, scale_inputs, pairs, .. } = panel.layout;
    let scale_rows = unit / scale_inputs;
    // SAFETY: `lay_out` filled `units` units of each table, and the columns hold as many.
    unsafe {
        let mut totals = [L::no_floats(); ROWS];
        for at in 0..panel.units {
            let mut sums = [L::no_sums(); ROWS];
            let input = at * unit;
            let stretch = UnitRows {
                codes: panel.codes.as_ptr().add(input * OUTPUTS),
                rows: columns.each_ref().map(|column| column.codes.as_ptr().add(input)),
                scales: panel.scales.as_ptr().add(at * scale_rows * ROW),
                scale_rows,
                parts: scale_inputs / (4 * STEPS),
            };
            L::add_products::<ROWS, STEPS, SIGNED>(&mut sums, stretch);
            let d = panel.d.as_ptr().add(at * OUTPUTS);
            let dmin = panel.dmin.as_ptr().add(at * OUTPUTS);
            let mut mins = [L::no_sums(); ROWS];
            for pair in at * pairs..at * pairs + if SIGNED { 0 } else { pairs } {
                let row = panel.mins.as_ptr().add(pair * ROW);
                for (mins, column) in mins.iter_mut().zip(columns) {
                    let x = column.sums.as_ptr().add(2 * pair).cast::<i32>();
                    *mins = L::add_mins(*mins, row, x.read_unaligned());
                }
            }
            let rows = totals.iter_mut().zip(sums).zip(mins).zip(columns);
            for (((total, sums), mins), column) in rows {
                *total = L::finish(*total, (sums, d), (mins, dmin), column.scales[at]);
            }
        }
        for (total, out) in totals.into_iter().zip(out) {
            L::store(total, out);
        }
    }
}
