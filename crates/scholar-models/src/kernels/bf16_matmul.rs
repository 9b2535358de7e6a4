//! Products of whole f32 matrices from factors rounded to bf16, for training: both factors change from call to call, so
//! they are rounded and packed each time, and sums leave in f32.
#![expect(unsafe_code, reason = "hands checked slices to the vector kernels as pointers")]

use std::ops::Range;

use parking_lot::Mutex;
use rayon::prelude::*;

use super::amx::BLOCK;
use super::bf16::Bf16;
use super::block::{Finish, PANEL, ProductArgs, Scales, to_half};
use super::{Aligned, Engine as _, Machine};
use crate::matmul::{MatMulShape, MatRef};

/// Rows of a task.
const TASK_ROWS: usize = 4 * BLOCK;

/// Products of f32 matrices from factors rounded to bf16, with f32 sums.
///
/// Each element is summed in an order that depends on `k` alone.
pub struct Bf16Matmul {
    engine: Bf16,
    name: &'static str,
    /// Buffers of past calls.
    spare: Mutex<Vec<Aligned<u16>>>,
}

/// A matrix as its storage: `outer` runs of `inner` neighbours, `stride` apart.
struct Storage<'a> {
    data: &'a [f32],
    outer: usize,
    inner: usize,
    stride: usize,
}

impl Bf16Matmul {
    /// With AMX tiles or `vdpbf16ps`, whichever this machine has; `None` where it has neither.
    pub fn detect() -> Option<Self> {
        let machine = Machine::detect();
        let (engine, name) = if machine.amx {
            (Bf16::amx(), "amx bf16")
        } else if machine.avx512_bf16 {
            (Bf16::avx512(), "avx512 bf16")
        } else {
            return None;
        };
        Some(Self { engine, name, spare: Mutex::new(Vec::new()) })
    }

    /// The instructions used, in words.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// `out[m, n] = left[m, k] * right[k, n]`, or `+=` where `accumulate`, on the threads of the current pool.
    ///
    /// One distance of each factor is 1; `out` is row-major.
    ///
    /// # Panics
    /// When an operand does not hold its matrix, or neither of its distances is 1.
    pub fn multiply(
        &self,
        shape: MatMulShape,
        left: MatRef<'_>,
        right: MatRef<'_>,
        out: &mut [f32],
        accumulate: bool,
    ) {
        let MatMulShape { m, n, k } = shape;
        assert!(out.len() >= m * n, "the result holds [m, n]");
        if m == 0 || n == 0 || k == 0 {
            return;
        }
        let depth = k.next_multiple_of(BLOCK);
        let (left_is_rows, left) = storage(left, m, k);
        let (right_is_rows, right) = storage(right, k, n);
        let rows = self.round(&left, if left_is_rows { depth } else { left.inner });
        let columns = self.round(&right, if right_is_rows { right.inner } else { depth });
        let mut panels = self.buffer(n.next_multiple_of(BLOCK) * depth);
        panels[..n.next_multiple_of(BLOCK) * depth]
            .par_chunks_mut(PANEL * depth)
            .enumerate()
            .for_each(|(panel, out)| {
                if right_is_rows {
                    interleave(&columns, k, n, panel * PANEL, out);
                } else {
                    gather(&columns, depth, n, panel * PANEL, out);
                }
            });
        let zeros = vec![0.0_f32; n.next_multiple_of(BLOCK)];
        out[..m * n].par_chunks_mut(TASK_ROWS * n).enumerate().for_each(|(task, out)| {
            let first = task * TASK_ROWS;
            let count = out.len() / n;
            let turned = (!left_is_rows).then(|| {
                let mut turned = self.buffer(TASK_ROWS * depth);
                turn(&rows, k, m, first..first + count, depth, &mut turned);
                turned
            });
            let activations: &[u16] = match &turned {
                Some(turned) => turned,
                None => &rows[first * depth..],
            };
            assert!(activations.len() >= count.next_multiple_of(BLOCK) * depth, "whole blocks");
            let target = out.as_mut_ptr();
            let work = ProductArgs {
                activations: activations.as_ptr().cast(),
                activation_stride: depth / 2,
                panels: panels.as_ptr().cast(),
                steps: depth / 2,
                rows: count,
                columns: n,
                out: target.cast(),
                out_stride: n,
                half_out: false,
                bias: zeros.as_ptr(),
                residual: target,
                finish: if accumulate { Finish::Residual } else { Finish::Sum },
                scales: Scales::NONE,
            };
            let tiles = self.engine.enter();
            // SAFETY: this thread was set up; the factors were padded to whole blocks and tiles above; `out` holds
            // [count, n], is borrowed mutably, and each of its elements is read before it is written.
            unsafe { self.engine.run(&work) }
            drop(tiles);
            if let Some(turned) = turned {
                self.spare.lock().push(turned);
            }
        });
        self.spare.lock().extend([rows, columns, panels]);
    }

    /// A buffer of at least `len` elements with whatever was in it.
    fn buffer(&self, len: usize) -> Aligned<u16> {
        let mut buffer = {
            let mut spare = self.spare.lock();
            // The smallest that is large enough, else any: sizes repeat, so after a step all of them are there.
            let fitting = spare
                .iter()
                .enumerate()
                .filter(|(_, buffer)| buffer.len() >= len)
                .min_by_key(|(_, buffer)| buffer.len())
                .map(|(at, _)| at);
            fitting.map(|at| spare.swap_remove(at)).unwrap_or_default()
        };
        buffer.need(len);
        buffer
    }

    /// The matrix in bf16, `[outer to whole blocks, width]`, with zeros behind `inner` of each run.
    fn round(&self, matrix: &Storage<'_>, width: usize) -> Aligned<u16> {
        let mut rounded = self.buffer(matrix.outer.next_multiple_of(BLOCK) * width);
        rounded[..matrix.outer * width]
            .par_chunks_mut(width)
            .enumerate()
            .with_min_len(16)
            .for_each(|(at, out)| {
                let run = &matrix.data[at * matrix.stride..][..matrix.inner];
                // SAFETY: the engine exists, so AVX-512 and AVX-512-BF16 do.
                unsafe { to_half(run, &mut out[..matrix.inner]) }
                out[matrix.inner..].fill(0);
            });
        rounded
    }
}

/// A matrix of `rows` and `columns` as it lies, and whether its runs are its rows.
///
/// # Panics
/// When the numbers do not hold it or neither distance is 1.
fn storage(matrix: MatRef<'_>, rows: usize, columns: usize) -> (bool, Storage<'_>) {
    let MatRef { data, row, column } = matrix;
    let is_rows = column == 1;
    assert!(is_rows || row == 1, "a factor is row-major or column-major");
    let (outer, inner, stride) =
        if is_rows { (rows, columns, row) } else { (columns, rows, column) };
    assert!((outer - 1) * stride + inner <= data.len(), "a factor holds its matrix");
    (is_rows, Storage { data, outer, inner, stride })
}

/// The panel of columns from `first` of a row-major `[k, n]`: lines of 16 pairs of rows, zeros beyond `k`.
fn interleave(rows: &[u16], k: usize, n: usize, first: usize, out: &mut [u16]) {
    const NONE: [u16; PANEL] = [0; PANEL];
    let count = PANEL.min(n.saturating_sub(first));
    for (pair, line) in out.chunks_exact_mut(2 * PANEL).enumerate() {
        let row = |at: usize| -> &[u16] {
            if at < k { &rows[at * n + first..][..count] } else { &NONE[..count] }
        };
        let (even, odd) = (row(2 * pair), row(2 * pair + 1));
        for ((slot, even), odd) in line.as_chunks_mut::<2>().0.iter_mut().zip(even).zip(odd) {
            *slot = [*even, *odd];
        }
    }
}

/// The panel of columns from `first` of a matrix whose `n` columns are runs of `depth`.
fn gather(columns: &[u16], depth: usize, n: usize, first: usize, out: &mut [u16]) {
    let count = PANEL.min(n.saturating_sub(first));
    for (at, run) in columns[first.min(n) * depth..].chunks_exact(depth).take(count).enumerate() {
        let lines = out.chunks_exact_mut(2 * PANEL);
        for (line, pair) in lines.zip(run.as_chunks::<2>().0) {
            line[2 * at..2 * at + 2].copy_from_slice(pair);
        }
    }
}

/// The `rows` of a matrix whose `m` rows lie across `k` runs, as rows of `depth`, zeros beyond `k`.
fn turn(runs: &[u16], k: usize, m: usize, rows: Range<usize>, depth: usize, out: &mut [u16]) {
    let (first, count) = (rows.start, rows.len());
    // Square by square: written straight away, the rows of one run lie so far apart that they push each other out of the
    // cache.
    let mut square = [[0_u16; BLOCK]; BLOCK];
    for start in (0..count).step_by(BLOCK) {
        let height = BLOCK.min(count - start);
        for across in (0..depth).step_by(BLOCK) {
            let width = BLOCK.min(k.saturating_sub(across));
            for (column, run) in runs.chunks_exact(m).skip(across).take(width).enumerate() {
                for (row, value) in square.iter_mut().zip(&run[first + start..][..height]) {
                    row[column] = *value;
                }
            }
            let out = out[start * depth..].chunks_exact_mut(depth).take(height);
            for (row, out) in square.iter_mut().zip(out) {
                row[width..].fill(0);
                out[across..across + BLOCK].copy_from_slice(row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of eight bits, so that rounding changes nothing.
    fn number(at: usize) -> f32 {
        ((at * 7919) % 257) as f32 / 64.0 - 2.0
    }

    #[test]
    fn products_in_all_orientations_are_sums_of_products() {
        let Some(products) = Bf16Matmul::detect() else { return };
        for (m, n, k) in [(33, 65, 31), (128, 32, 64), (200, 7, 100), (1, 48, 5)] {
            let value = |i: usize, j: usize| {
                (0..k).map(|l| number(i * k + l) * number(1_000 + l * n + j)).sum::<f32>()
            };
            let left_rows: Vec<f32> = (0..m * k).map(number).collect();
            let left_columns: Vec<f32> = (0..m * k).map(|at| number(at % m * k + at / m)).collect();
            let right_rows: Vec<f32> = (0..n * k).map(|at| number(1_000 + at)).collect();
            let right_columns: Vec<f32> =
                (0..n * k).map(|at| number(1_000 + at % k * n + at / k)).collect();
            let lefts = [MatRef::rows(&left_rows, k), MatRef::rows(&left_columns, m).transposed()];
            let rights =
                [MatRef::rows(&right_rows, n), MatRef::rows(&right_columns, k).transposed()];
            let shape = MatMulShape { m, n, k };
            for (left, right) in
                lefts.into_iter().flat_map(|left| rights.map(|right| (left, right)))
            {
                let mut out = vec![1.0; m * n];
                products.multiply(shape, left, right, &mut out, true);
                products.multiply(shape, left, right, &mut out, true);
                let sums =
                    out.iter().enumerate().map(|(at, got)| got - 1.0 - 2.0 * value(at / n, at % n));
                let off = sums.fold(0.0_f32, |most, off| most.max(off.abs()));
                products.multiply(shape, left, right, &mut out, false);
                let once = out.iter().enumerate().map(|(at, got)| got - value(at / n, at % n));
                let off = once.fold(off, |most, off| most.max(off.abs()));
                assert!(off < 2e-3, "{m} {n} {k}: {off}");
            }
        }
    }
}
