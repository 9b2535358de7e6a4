//! Where a training computes.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::elementwise::{self, AdamStep, Level};
use super::matrix::{self, View, ViewMut};
use super::noise::Mask;
use crate::error::TrainError;

/// Numbers of a task of row-wise work.
const CHUNK: usize = 1 << 14;
/// Rows that are summed into one partial sum before partial sums are added.
const SUMMED_ROWS: usize = 256;

/// Numbers that products are computed from. Weights, sums and everything between products are f32 in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// f32 throughout.
    F32,
    /// Factors of large products are rounded to bf16 where the processor multiplies those faster, f32 elsewhere.
    Mixed,
}

/// A processor with its threads.
///
/// The seam for other devices: the passes above it call its operations and never look at its threads.
pub struct Device {
    pool: rayon::ThreadPool,
    threads: usize,
    level: Level,
    half: Option<scholar_models::HalfProducts>,
}

impl Device {
    /// The processor, with `threads` threads, at least one.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub fn cpu(threads: usize, precision: Precision) -> Result<Self, TrainError> {
        let threads = threads.max(1);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|at| format!("scholar-train-{at}"))
            .build()
            .map_err(|source| TrainError::Threads { source: Box::new(source) })?;
        let half = match precision {
            Precision::F32 => None,
            Precision::Mixed => scholar_models::HalfProducts::detect(),
        };
        Ok(Self { pool, threads, level: Level::detect(), half })
    }

    /// What computes, in words.
    pub fn describe(&self) -> String {
        let products = self.half.as_ref().map_or("f32", scholar_models::HalfProducts::name);
        format!("{} threads, {products} products", self.threads)
    }

    /// Runs `work` on this device's threads.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// The compilation of row-wise functions to call inside tasks.
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// `out[m, n] (+)= left[m, k] * right[k, n]`.
    fn multiply(
        &self,
        (m, n, k): (usize, usize, usize),
        left: View<'_>,
        right: View<'_>,
        out: &mut [f32],
        accumulate: bool,
    ) {
        match &self.half {
            Some(half) if m * n * k >= 1 << 18 => half.multiply(
                (m, n, k),
                (left.data, left.row, left.column),
                (right.data, right.row, right.column),
                out,
                accumulate,
            ),
            _ => {
                let mut out = ViewMut { data: out, row: n };
                matrix::multiply((m, n, k), left, right, &mut out, accumulate, self.threads);
            }
        }
    }

    /// `out[rows, n] = input[rows, k] * weight[n, k]ᵀ`, without bias.
    pub(crate) fn linear(&self, input: &[f32], weight: &[f32], k: usize, out: &mut [f32]) {
        let (rows, n) = (input.len() / k, weight.len() / k);
        let weight = View::rows(weight, k).transposed();
        self.multiply((rows, n, k), View::rows(input, k), weight, out, false);
    }

    /// As [`Device::linear`], with `bias` added.
    pub(crate) fn linear_bias(
        &self,
        input: &[f32],
        (weight, bias): (&[f32], &[f32]),
        out: &mut [f32],
    ) {
        self.linear(input, weight, weight.len() / bias.len(), out);
        let level = self.level;
        let width = bias.len();
        out.par_chunks_mut(chunk(width)).for_each(|out| elementwise::add_bias(level, out, bias));
    }

    /// Adds to `input_gradient[rows, k]` what reaches a linear layer's input: `gradient[rows, n] * weight[n, k]`.
    pub(crate) fn linear_input(
        &self,
        gradient: &[f32],
        weight: &[f32],
        n: usize,
        input_gradient: &mut [f32],
        accumulate: bool,
    ) {
        let (rows, k) = (gradient.len() / n, weight.len() / n);
        let weight = View::rows(weight, k);
        let gradient = View::rows(gradient, n);
        self.multiply((rows, k, n), gradient, weight, input_gradient, accumulate);
    }

    /// Adds to a linear layer's gradients what `gradient[rows, n]` of its output means for weight and bias.
    pub(crate) fn linear_weight(
        &self,
        gradient: &[f32],
        input: &[f32],
        n: usize,
        into: &mut LinearGradient<'_>,
    ) {
        let rows = gradient.len() / n;
        let k = input.len() / rows.max(1);
        let left = View::rows(gradient, n).transposed();
        let weight = &mut into.all[into.weight.clone()];
        self.multiply((n, k, rows), left, View::rows(input, k), weight, true);
        self.add_columns(gradient, &mut into.all[into.bias.clone()]);
    }

    /// Adds bias, keeps the sum in `values` and puts its GELU into `out`.
    pub(crate) fn bias_gelu(&self, values: &mut [f32], bias: &[f32], out: &mut [f32]) {
        let (level, size) = (self.level, chunk(bias.len()));
        values
            .par_chunks_mut(size)
            .zip(out.par_chunks_mut(size))
            .for_each(|(values, out)| elementwise::bias_gelu(level, values, bias, out));
    }

    /// See [`elementwise::gelu_backward`].
    pub(crate) fn gelu_backward(&self, gradient: &mut [f32], input: &[f32]) {
        let level = self.level;
        gradient
            .par_chunks_mut(CHUNK)
            .zip(input.par_chunks(CHUNK))
            .for_each(|(gradient, input)| elementwise::gelu_backward(level, gradient, input));
    }

    /// See [`elementwise::layer_norm`].
    pub(crate) fn layer_norm(
        &self,
        values: &mut [f32],
        inverse: &mut [f32],
        norm: (&[f32], &[f32], f32),
        out: &mut [f32],
    ) {
        let (level, width) = (self.level, norm.0.len());
        let size = chunk(width);
        values
            .par_chunks_mut(size)
            .zip(inverse.par_chunks_mut(size / width))
            .zip(out.par_chunks_mut(size))
            .for_each(|((values, inverse), out)| {
                elementwise::layer_norm(level, values, inverse, norm, out);
            });
    }

    /// Turns the gradient of a normalisation's output into that of its input, and adds that of scale and shift, where they
    /// are asked for.
    pub(crate) fn layer_norm_backward(
        &self,
        gradient: &mut [f32],
        (normal, inverse): (&[f32], &[f32]),
        scale: &[f32],
        into: Option<LinearGradient<'_>>,
    ) {
        let (level, width) = (self.level, scale.len());
        if let Some(into) = into {
            let sums = self.columns(gradient.len(), width, |range, sums| {
                elementwise::add_product_columns(
                    level,
                    &gradient[range.clone()],
                    &normal[range],
                    sums,
                );
            });
            elementwise::add(level, &mut into.all[into.weight], &sums);
            self.add_columns(gradient, &mut into.all[into.bias]);
        }
        let size = chunk(width);
        gradient
            .par_chunks_mut(size)
            .zip(normal.par_chunks(size))
            .zip(inverse.par_chunks(size / width))
            .for_each(|((gradient, normal), inverse)| {
                elementwise::layer_norm_backward(level, gradient, normal, inverse, scale);
            });
    }

    /// `sums += values`.
    pub(crate) fn add(&self, sums: &mut [f32], values: &[f32]) {
        let level = self.level;
        sums.par_chunks_mut(CHUNK)
            .zip(values.par_chunks(CHUNK))
            .for_each(|(sums, values)| elementwise::add(level, sums, values));
    }

    /// Drops out elements of a tensor, forward and backward alike.
    pub(crate) fn drop_out(&self, values: &mut [f32], mask: Mask) {
        let level = self.level;
        values.par_chunks_mut(CHUNK).enumerate().for_each(|(at, values)| {
            elementwise::drop_out(level, values, (at * CHUNK) as u32, mask);
        });
    }

    /// Adds every row of `values` to `sums`.
    fn add_columns(&self, values: &[f32], sums: &mut [f32]) {
        let level = self.level;
        let found = self.columns(values.len(), sums.len(), |range, sums| {
            elementwise::add_columns(level, &values[range], sums);
        });
        elementwise::add(level, sums, &found);
    }

    /// Sums over rows: runs of [`SUMMED_ROWS`] rows side by side, then the runs in order.
    fn columns(
        &self,
        len: usize,
        width: usize,
        add: impl Fn(Range<usize>, &mut [f32]) + Sync,
    ) -> Vec<f32> {
        let size = SUMMED_ROWS * width;
        let parts: Vec<Vec<f32>> = (0..len.div_ceil(size))
            .into_par_iter()
            .map(|part| {
                let mut sums = vec![0.0; width];
                add(part * size..len.min((part + 1) * size), &mut sums);
                sums
            })
            .collect();
        let mut sums = vec![0.0; width];
        for part in parts {
            elementwise::add(self.level, &mut sums, &part);
        }
        sums
    }

    /// Sum of squares, in f64 over runs of fixed length.
    pub(crate) fn squares(&self, values: &[f32]) -> f64 {
        let level = self.level;
        let parts: Vec<f32> =
            values.par_chunks(CHUNK).map(|part| elementwise::squares(level, part)).collect();
        parts.into_iter().map(f64::from).sum()
    }

    /// One step of `AdamW` on a run of weights.
    pub(crate) fn adam(
        &self,
        weights: &mut [f32],
        gradient: &[f32],
        (mean, square): (&mut [f32], &mut [f32]),
        step: AdamStep,
    ) {
        let level = self.level;
        weights
            .par_chunks_mut(CHUNK)
            .zip(gradient.par_chunks(CHUNK))
            .zip(mean.par_chunks_mut(CHUNK).zip(square.par_chunks_mut(CHUNK)))
            .for_each(|((weights, gradient), (mean, square))| {
                elementwise::adam(level, weights, gradient, mean, square, step);
            });
    }

    /// `values = values * keep + others * (1 - keep)`.
    pub(crate) fn blend(&self, values: &mut [f32], others: &[f32], keep: f32) {
        let level = self.level;
        values
            .par_chunks_mut(CHUNK)
            .zip(others.par_chunks(CHUNK))
            .for_each(|(values, others)| elementwise::blend(level, values, others, keep));
    }
}

/// Where in the gradients of all parameters those of one layer lie.
pub(crate) struct LinearGradient<'a> {
    pub(crate) all: &'a mut [f32],
    pub(crate) weight: Range<usize>,
    pub(crate) bias: Range<usize>,
}

/// Elements of a task: whole rows.
fn chunk(width: usize) -> usize {
    (CHUNK / width).max(1) * width
}

/// Gives `buffer` exactly `len` elements; what they are is for the caller to write.
pub(crate) fn fit(buffer: &mut Vec<f32>, len: usize) {
    buffer.resize(len, 0.0);
}
