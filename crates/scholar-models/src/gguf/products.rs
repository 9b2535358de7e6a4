//! Products of activations with weights, on all threads: one step for all matrices that read the same activations.
//!
//! Few rows are multiplied with the blocks in the file's order, many with panels (`rows`, `panels`); dense weights
//! in f32. Up to [`MAX_ROWS`] rows, what a row gives does not depend on the rows beside it.
#![expect(
    unsafe_code,
    reason = "threads write columns of their own, and kernels are compiled for detected CPU features"
)]

use std::cell::RefCell;

use super::activations::{MAX_ROWS, Rounded};
use super::formats::Format;
use super::panels::{Blocks, Level, OUTPUTS, Panel};
use super::pool::{Disjoint, MAX_PARTS, Pool};
use super::rows;
use super::weights::{Linear, numbers};
use crate::matmul::{MatMulShape, MatMut, MatRef, matmul};
use crate::simd::SimdLevel;

/// Bytes of weights in a part of a step with few rows: some microseconds.
const PART_BYTES: usize = 48 << 10;
/// The most panels in a part of a step with many rows, and the parts that each thread gets at least, if there are panels enough.
const MAX_PANELS: usize = 4;
const PARTS_PER_THREAD: usize = 4;
/// Outputs in a part of a step with dense weights and many rows.
const DENSE_OUTPUTS: usize = 64;

thread_local! {
    /// Room for a panel, for each thread that computes.
    static PANEL: RefCell<Box<Panel>> = RefCell::new(Panel::new());
}

/// Rows of activations, in every form that the weights want.
#[derive(Default)]
pub(super) struct Activations {
    width: usize,
    rows: usize,
    /// Units of 256 and of 32.
    large: Rounded,
    small: Rounded,
    dense: Vec<f32>,
}

/// What becomes of products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// They are stored.
    Store,
    /// They are added to what is there.
    Add,
}

/// One product of a step: `[rows, outputs of the layer]` in `out`.
pub(super) struct Product<'a> {
    pub(super) layer: &'a Linear,
    pub(super) out: &'a mut [f32],
    pub(super) target: Target,
}

/// What computes.
pub(super) struct Machine {
    pub(super) pool: Pool,
    pub(super) level: Level,
}

impl Activations {
    /// Takes rows `[rows, width]` for the layers that will be asked about.
    pub(super) fn take(&mut self, x: &[f32], width: usize, layers: &[&Linear], machine: &Machine) {
        (self.width, self.rows) = (width, x.len() / width);
        let wants =
            |unit: usize| layers.iter().any(|layer| layer.matrix.blocks().format.unit() == unit);
        if wants(256) {
            self.large.take(x, width, 256, &machine.pool);
        }
        if wants(32) {
            self.small.take(x, width, 32, &machine.pool);
        }
        if wants(0) {
            self.dense.clear();
            self.dense.extend_from_slice(x);
        }
    }

    fn rounded(&self, format: Format) -> &Rounded {
        if format.unit() == self.small.unit { &self.small } else { &self.large }
    }
}

/// A stretch of one matrix's outputs.
struct Part {
    product: usize,
    first: usize,
    len: usize,
}

/// How many outputs of `weights` make a part: with many rows several parts for each thread, of several panels, so that the
/// blocks of most panels are fetched by the thread that needs them.
fn part_len(weights: &Blocks<'_>, rows: usize, threads: usize) -> usize {
    if rows <= MAX_ROWS {
        let row = (weights.bytes.len() / weights.outputs).max(1);
        (PART_BYTES / row).max(1)
    } else if weights.format.is_dense() {
        DENSE_OUTPUTS
    } else {
        let panels = weights.outputs / (OUTPUTS * threads * PARTS_PER_THREAD);
        OUTPUTS * panels.clamp(1, MAX_PANELS)
    }
}

fn parts(weights: &[Blocks<'_>], rows: usize, threads: usize) -> Vec<Part> {
    let part_len = |weights| part_len(weights, rows, threads);
    let total: usize = weights.iter().map(|w| w.outputs.div_ceil(part_len(w))).sum();
    let factor = total.div_ceil(MAX_PARTS / 2);
    let mut parts = Vec::with_capacity(total);
    for (product, weights) in weights.iter().enumerate() {
        let len = part_len(weights) * factor;
        for first in (0..weights.outputs).step_by(len) {
            parts.push(Part { product, first, len: len.min(weights.outputs - first) });
        }
    }
    parts
}

/// Computes all `products` of the same activations in one step.
pub(super) fn multiply(machine: &Machine, x: &Activations, products: &mut [Product<'_>]) {
    let weights_of: Vec<Blocks<'_>> =
        products.iter().map(|product| product.layer.matrix.blocks()).collect();
    let threads = machine.pool.threads();
    let parts = parts(&weights_of, x.rows, threads);
    let outs: Vec<_> = products
        .iter_mut()
        .map(|product| {
            assert!(
                product.out.len() == x.rows * product.layer.width(),
                "a product has a number for each row and output"
            );
            (Disjoint::new(product.out), product.layer.bias.as_deref(), product.target)
        })
        .collect();
    machine.pool.run(parts.len(), &|i| {
        let Part { product, first, len } = parts[i];
        let weights = &weights_of[product];
        let (out, bias, target) = &outs[product];
        let stretch = Stretch {
            weights,
            outputs: first..first + len,
            next: parts.get(i + threads).map(|part| (&weights_of[part.product], part.first)),
        };
        stretch.multiply(machine.level, x, &mut |fresh, row, from, values| {
            // SAFETY: the outputs of a part are in no other part, and `out` is borrowed by `products`.
            let out = unsafe { out.range(row * weights.outputs + from, values.len()) };
            match (fresh && *target == Target::Store, bias) {
                (true, None) => out.copy_from_slice(values),
                (true, Some(bias)) => {
                    for ((out, value), bias) in out.iter_mut().zip(values).zip(&bias[from..]) {
                        *out = value + bias;
                    }
                }
                (false, _) => {
                    for (out, value) in out.iter_mut().zip(values) {
                        *out += value;
                    }
                    if let Some(bias) = bias.filter(|_| fresh) {
                        for (out, bias) in out.iter_mut().zip(&bias[from..]) {
                            *out += bias;
                        }
                    }
                }
            }
        });
    });
}

/// `out[row, i] = activation(gate x)[i] * (up x)[i]`, in one step.
pub(super) fn multiply_gated(
    machine: &Machine,
    x: &Activations,
    (gate, up): (&Linear, &Linear),
    activate: &(dyn Fn(&mut [f32], &[f32]) + Sync),
    out: &mut [f32],
) {
    let width = gate.width();
    assert!(
        out.len() == x.rows * width && up.width() == width,
        "a gate has a number for each row and output"
    );
    let (gates, ups) = (gate.matrix.blocks(), up.matrix.blocks());
    let threads = machine.pool.threads();
    let parts = parts(&[gates], x.rows, threads);
    let out = Disjoint::new(out);
    machine.pool.run(parts.len(), &|i| {
        let Part { first, len, .. } = parts[i];
        let mut pair = [vec![0.0; x.rows * len], vec![0.0; x.rows * len]];
        let after = parts.get(i + threads).map(|part| (&gates, part.first));
        let halves = [(gate, &gates, Some((&ups, first))), (up, &ups, after)];
        for ((layer, weights, next), values) in halves.into_iter().zip(&mut pair) {
            let mut add = |_: bool, row: usize, from: usize, found: &[f32]| {
                let to = &mut values[row * len + from - first..][..found.len()];
                for (to, found) in to.iter_mut().zip(found) {
                    *to += found;
                }
            };
            let stretch = Stretch { weights, outputs: first..first + len, next };
            stretch.multiply(machine.level, x, &mut add);
            if let Some(bias) = &layer.bias {
                for row in values.chunks_exact_mut(len) {
                    for (value, bias) in row.iter_mut().zip(&bias[first..]) {
                        *value += bias;
                    }
                }
            }
        }
        let [gates, ups] = &mut pair;
        activate(gates, ups);
        for (row, values) in gates.chunks_exact(len).enumerate() {
            // SAFETY: the outputs of a part are in no other part, and `out` stays borrowed.
            unsafe { out.range(row * width + first, len) }.copy_from_slice(values);
        }
    });
}

/// Some outputs of a matrix.
struct Stretch<'a> {
    weights: &'a Blocks<'a>,
    outputs: std::ops::Range<usize>,
    /// The weights and the first output that this thread probably multiplies next.
    next: Option<(&'a Blocks<'a>, usize)>,
}

impl Stretch<'_> {
    /// The products of all rows; `sink` takes them in stretches: whether they are the first of their row and outputs (others
    /// are to be added), the row, the output of the first, and the numbers.
    fn multiply(
        self,
        level: Level,
        x: &Activations,
        sink: &mut impl FnMut(bool, usize, usize, &[f32]),
    ) {
        let Self { weights, outputs, next } = self;
        if weights.format.is_dense() {
            return dense(x, weights, outputs, sink);
        }
        let rounded = x.rounded(weights.format);
        if x.rows <= MAX_ROWS {
            return few_rows(level, weights, outputs, rounded, sink);
        }
        let end = outputs.end;
        PANEL.with_borrow_mut(|panel| {
            for first in outputs.step_by(OUTPUTS) {
                let after = first + OUTPUTS;
                let next = if after < end { Some((weights, after)) } else { next };
                let outputs = OUTPUTS.min(weights.outputs - first);
                panel.multiply(level, (weights, first), next, rounded, &mut |fresh, row, tile| {
                    for (i, values) in tile.iter().enumerate() {
                        sink(fresh, row + i, first, &values[..outputs]);
                    }
                });
            }
        });
    }
}

/// Some outputs at a time, so that `sink` takes stretches of them.
fn few_rows(
    level: Level,
    weights: &Blocks<'_>,
    outputs: std::ops::Range<usize>,
    x: &Rounded,
    sink: &mut impl FnMut(bool, usize, usize, &[f32]),
) {
    const OUTPUTS: usize = 64;
    let n = x.rows();
    let (mut found, mut row_of) = ([0.0; OUTPUTS * MAX_ROWS], [0.0; OUTPUTS]);
    for first in outputs.clone().step_by(OUTPUTS) {
        let len = OUTPUTS.min(outputs.end - first);
        let found = &mut found[..len * n];
        rows::multiply(level, weights, first..first + len, x, found);
        if n == 1 {
            sink(true, 0, first, found);
            continue;
        }
        for row in 0..n {
            for (to, values) in row_of.iter_mut().zip(found.chunks_exact(n)) {
                *to = values[row];
            }
            sink(true, row, first, &row_of[..len]);
        }
    }
}

fn dense(
    x: &Activations,
    weights: &Blocks<'_>,
    outputs: std::ops::Range<usize>,
    sink: &mut impl FnMut(bool, usize, usize, &[f32]),
) {
    let (inputs, bytes) = (weights.inputs, weights.bytes.len() / weights.outputs);
    let level = SimdLevel::detect();
    if x.rows <= MAX_ROWS {
        let mut weight = vec![0.0; inputs];
        for output in outputs {
            convert(level, weights.format, &weights.bytes[output * bytes..][..bytes], &mut weight);
            for (row, x) in x.dense.chunks_exact(inputs).enumerate() {
                sink(true, row, output, &[crate::kernels::dot(level, x, &weight)]);
            }
        }
        return;
    }
    let len = outputs.len();
    let mut block = vec![0.0; len * inputs];
    let stored = &weights.bytes[outputs.start * bytes..outputs.end * bytes];
    convert(level, weights.format, stored, &mut block);
    let mut out = vec![0.0; x.rows * len];
    let shape = MatMulShape { m: x.rows, n: len, k: inputs };
    let right = MatRef::rows(&block, inputs).transposed();
    let left = MatRef::rows(&x.dense, inputs);
    matmul(shape, left, right, &mut MatMut { data: &mut out, row: len }, false, 1);
    for (row, values) in out.chunks_exact(len).enumerate() {
        sink(true, row, outputs.start, values);
    }
}

crate::multiversion! {
    /// Dense numbers as f32.
    convert = convert_numbers(format: Format, bytes: &[u8], out: &mut [f32])
}

#[inline(always)]
fn convert_numbers<const FMA: bool>(format: Format, bytes: &[u8], out: &mut [f32]) {
    numbers(format, bytes, out);
}

#[cfg(test)]
mod tests;
