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

use super::activations::Rounded;
use super::formats::{Format, GROUP, MAX_UNIT, Unit};
use crate::simd::{InstructionSet, SimdLevel};

use lanes::{Lanes, Portable};
#[cfg(target_arch = "x86_64")]
use lanes::{avx2::Avx2, vnni::Vnni};

/// Outputs of a panel.
pub(super) const OUTPUTS: usize = 16;
/// Inputs that are laid out before they are used: with their scales they fill two thirds of a first-level cache.
const INPUTS: usize = 1024;
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
}

/// How products are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// In plain Rust.
    Portable,
    /// `vpmaddubsw`.
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
            InstructionSet::Avx512 if is_x86_feature_detected!("avx512vnni") => return Self::Vnni,
            InstructionSet::Avx512 | InstructionSet::Avx2 => return Self::Avx2,
            InstructionSet::Baseline => {}
        }
        Self::Portable
    }

    /// All that this machine runs, for tests.
    #[cfg(test)]
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
    /// Rows before they are laid out: `[16, unit]`.
    rows: [[u8; MAX_UNIT]; OUTPUTS],
    unit: Unit,
    layout: Layout,
    format: Format,
    units: usize,
}

/// How a format's units lie in a panel.
#[derive(Clone, Copy, Default)]
struct Layout {
    unit: usize,
    /// Inputs with one scale: 16 or 32.
    scale_inputs: usize,
    /// Rows of `mins` in a unit, and whether their two factors are sums of 32 inputs or of 16.
    pairs: usize,
    wide_sums: bool,
}

impl Layout {
    fn of(format: Format) -> Self {
        let unit = format.unit();
        let scale_inputs = if format.pairs_groups() { 2 * GROUP } else { GROUP };
        let wide_sums = format.pairs_groups() && unit > 2 * GROUP;
        let pairs = if wide_sums { unit / (4 * GROUP) } else { unit / (2 * GROUP) };
        Self { unit, scale_inputs, pairs, wide_sums }
    }
}

impl Panel {
    /// An empty one, on the heap.
    pub(super) fn new() -> Box<Self> {
        // SAFETY: all fields are numbers, for which zero bits are a value, but `format`, of which they are the first variant.
        unsafe { Box::new_zeroed().assume_init() }
    }

    /// Multiplies all rows of `x` with the outputs `first..first + 16` (or as many as there are); `sink(row, values)` gets the
    /// products of each row once, for each stretch of [`INPUTS`] inputs: they are to be added up.
    pub(super) fn multiply(
        &mut self,
        level: Level,
        weights: &Blocks<'_>,
        first: usize,
        x: &Rounded,
        sink: &mut dyn FnMut(bool, usize, &[f32]),
    ) {
        let outputs = OUTPUTS.min(weights.outputs - first);
        let mut from = 0;
        while from < weights.inputs {
            let to = weights.inputs.min(from + INPUTS);
            self.lay_out(weights, first, from..to);
            let mut row = 0;
            while row < x.rows() {
                let mut tile = [[0.0; OUTPUTS]; MAX_TILE];
                let done = self.tile(level, Corner { x, row, from }, &mut tile);
                for (i, values) in tile[..done].iter().enumerate() {
                    sink(from == 0, row + i, &values[..outputs]);
                }
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
        self.lay_out(weights, 0, 0..weights.inputs.min(INPUTS));
        for _ in 0..passes {
            let mut row = 0;
            while row < x.rows() {
                let mut tile = [[0.0; OUTPUTS]; MAX_TILE];
                row += self.tile(level, Corner { x, row, from: 0 }, &mut tile);
                *sum += tile[0][0];
            }
        }
    }

    /// Lays out the outputs from `first` on, at `inputs`.
    fn lay_out(&mut self, weights: &Blocks<'_>, first: usize, inputs: std::ops::Range<usize>) {
        lay_out(SimdLevel::detect(), self, weights, first, inputs);
    }
}

crate::multiversion! {
    /// See [`Panel::lay_out`].
    lay_out = lay_out_units(
        panel: &mut Panel, weights: &Blocks<'_>, first: usize, inputs: std::ops::Range<usize>
    )
}

#[inline(always)]
fn lay_out_units<const FMA: bool>(
    panel: &mut Panel,
    weights: &Blocks<'_>,
    first: usize,
    inputs: std::ops::Range<usize>,
) {
    let layout = Layout::of(weights.format);
    let Layout { unit, scale_inputs, pairs, wide_sums } = layout;
    let (numbers, bytes) = weights.format.block();
    panel.layout = layout;
    panel.format = weights.format;
    panel.units = inputs.len() / unit;
    let scale_rows = unit / scale_inputs;
    for at in 0..panel.units {
        for lane in 0..OUTPUTS {
            let Panel { unit: decoded, rows, scales, mins, d, dmin, .. } = &mut *panel;
            let output = first + lane;
            if output >= weights.outputs {
                rows[lane][..unit].fill(0);
                (d[at * OUTPUTS + lane], dmin[at * OUTPUTS + lane]) = (0.0, 0.0);
                continue;
            }
            let start = (inputs.start / numbers + at) * bytes;
            decoded.read(weights.format, &weights.row(output)[start..start + bytes]);
            rows[lane][..unit].copy_from_slice(&decoded.codes[..unit]);
            for row in 0..scale_rows {
                let to = (at * scale_rows + row) * ROW + 2 * lane;
                let scale = decoded.scales[row * scale_inputs / GROUP];
                (scales[to], scales[to + 1]) = (scale, scale);
            }
            for pair in 0..pairs {
                let to = (at * pairs + pair) * ROW + 2 * lane;
                let (left, right) =
                    if wide_sums { (4 * pair, 4 * pair + 2) } else { (2 * pair, 2 * pair + 1) };
                (mins[to], mins[to + 1]) = (decoded.mins[left], decoded.mins[right]);
            }
            (d[at * OUTPUTS + lane], dmin[at * OUTPUTS + lane]) = (decoded.d, decoded.dmin);
        }
        let codes = &mut panel.codes[at * unit * OUTPUTS..][..unit * OUTPUTS];
        for (step, codes) in codes.as_chunks_mut::<{ 4 * OUTPUTS }>().0.iter_mut().enumerate() {
            for (lane, row) in panel.rows.iter().enumerate() {
                codes[4 * lane..4 * lane + 4].copy_from_slice(&row[4 * step..4 * step + 4]);
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
    // SAFETY: `lay_out` filled `units` units of each table, and the columns hold as many.
    unsafe {
        let mut totals = [L::no_floats(); ROWS];
        for at in 0..panel.units {
            let mut sums = [L::no_sums(); ROWS];
            for part in 0..unit / (4 * STEPS) {
                let input = at * unit + part * 4 * STEPS;
                let codes = panel.codes.as_ptr().add(input * OUTPUTS);
                let mut partial = [L::no_partial(); ROWS];
                for step in 0..STEPS {
                    let weights = L::load::<SIGNED>(codes.add(step * 4 * OUTPUTS));
                    for (partial, column) in partial.iter_mut().zip(columns) {
                        let x = column.codes.as_ptr().add(input + 4 * step).cast::<i32>();
                        *partial = L::multiply::<SIGNED>(*partial, weights, x.read_unaligned());
                    }
                }
                let scales = panel.scales.as_ptr().add(input / scale_inputs * ROW);
                for (sums, partial) in sums.iter_mut().zip(partial) {
                    *sums = L::scale(*sums, partial, scales);
                }
            }
            let d = panel.d.as_ptr().add(at * OUTPUTS);
            let dmin = panel.dmin.as_ptr().add(at * OUTPUTS);
            for ((total, sums), column) in totals.iter_mut().zip(sums).zip(columns) {
                let mut mins = L::no_sums();
                for pair in (0..pairs).take(if SIGNED { 0 } else { pairs }) {
                    let row = panel.mins.as_ptr().add((at * pairs + pair) * ROW);
                    let x = column.sums.as_ptr().add(2 * (at * pairs + pair)).cast::<i32>();
                    mins = L::add_mins(mins, row, x.read_unaligned());
                }
                *total = L::finish(*total, (sums, d), (mins, dmin), column.scales[at]);
            }
        }
        for (total, out) in totals.into_iter().zip(out) {
            L::store(total, out);
        }
    }
}
