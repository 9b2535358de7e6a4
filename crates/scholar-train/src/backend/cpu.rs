//! The CPU as a device.

mod attention;
mod elementwise;

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;
use scholar_models::simd::SimdLevel;
use scholar_models::{MatMulShape, MatMut, MatRef, matmul};

use self::attention::Sequence;
use super::{
    AdamStep, Attention, AttentionGradients, AttentionTape, Backend, Buffer, LinearMut, LinearRef,
    Mask, Moments, NormTape, Precision, Tables, Tokens, WeightRef,
};
use crate::error::TrainError;

/// Numbers of a task of row-wise work.
const CHUNK: usize = 1 << 14;
/// Rows that are summed into one partial sum before partial sums are added.
const SUMMED_ROWS: usize = 256;

/// The CPU. Called inside [`super::Threads::run`], it computes with those threads.
pub(crate) struct CpuBackend {
    threads: usize,
    level: SimdLevel,
    bf16: Option<scholar_models::Bf16Matmul>,
}

impl CpuBackend {
    /// The CPU with `threads` threads.
    pub(crate) fn new(threads: usize, precision: Precision) -> Self {
        let bf16 = match precision {
            Precision::F32 => None,
            Precision::Mixed => scholar_models::Bf16Matmul::detect(),
        };
        Self { threads, level: SimdLevel::detect(), bf16 }
    }

    /// `out[m, n] (+)= left[m, k] * right[k, n]`.
    fn multiply(
        &self,
        shape: MatMulShape,
        left: MatRef<'_>,
        right: MatRef<'_>,
        out: &mut [f32],
        accumulate: bool,
    ) {
        match &self.bf16 {
            Some(bf16) if shape.m * shape.n * shape.k >= 1 << 18 => {
                bf16.multiply(shape, left, right, out, accumulate);
            }
            _ => {
                let mut out = MatMut { data: out, row: shape.n };
                matmul(shape, left, right, &mut out, accumulate, self.threads);
            }
        }
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
}

impl Backend for CpuBackend {
    fn describe(&self) -> String {
        let products = self.bf16.as_ref().map_or("f32", scholar_models::Bf16Matmul::name);
        format!("{} threads, {products} products", self.threads)
    }

    fn fit(&self, buffer: &mut Buffer, len: usize) {
        buffer.host_mut().resize(len, 0.0);
    }

    fn put(&self, values: Vec<f32>) -> Buffer {
        values.into()
    }

    fn read<'a>(&self, buffer: &'a Buffer) -> Result<Cow<'a, [f32]>, TrainError> {
        Ok(Cow::Borrowed(buffer.host()))
    }

    fn copy(&self, from: &Buffer, to: &mut Buffer) {
        let to = to.host_mut();
        to.clear();
        to.extend_from_slice(from.host());
    }

    fn clear(&self, buffer: &mut Buffer, range: Range<usize>) {
        buffer.host_mut()[range].fill(0.0);
    }

    fn linear(
        &self,
        input: &Buffer,
        WeightRef { buffer: weights, range: at }: WeightRef<'_>,
        k: usize,
        out: &mut Buffer,
    ) {
        let (rows, n) = (input.len() / k, at.len() / k);
        let weight = MatRef::rows(&weights.host()[at.clone()], k).transposed();
        self.multiply(
            MatMulShape { m: rows, n, k },
            MatRef::rows(input.host(), k),
            weight,
            out.host_mut(),
            false,
        );
    }

    fn linear_bias(
        &self,
        input: &Buffer,
        LinearRef { weights, at }: LinearRef<'_>,
        out: &mut Buffer,
    ) {
        let width = at.bias.len();
        self.linear(input, WeightRef::new(weights, &at.weight), at.weight.len() / width, out);
        let (level, bias) = (self.level, &weights.host()[at.bias.clone()]);
        out.host_mut()
            .par_chunks_mut(chunk(width))
            .for_each(|out| elementwise::add_bias(level, out, bias));
    }

    fn linear_input(
        &self,
        gradient: &Buffer,
        WeightRef { buffer: weights, range: at }: WeightRef<'_>,
        n: usize,
        out: &mut Buffer,
        accumulate: bool,
    ) {
        let (rows, k) = (gradient.len() / n, at.len() / n);
        let weight = MatRef::rows(&weights.host()[at.clone()], k);
        let gradient = MatRef::rows(gradient.host(), n);
        self.multiply(
            MatMulShape { m: rows, n: k, k: n },
            gradient,
            weight,
            out.host_mut(),
            accumulate,
        );
    }

    fn linear_weight(
        &self,
        gradient: &Buffer,
        input: &Buffer,
        n: usize,
        LinearMut { gradient: into, at }: LinearMut<'_>,
    ) {
        let rows = gradient.len() / n;
        let k = input.len() / rows.max(1);
        let left = MatRef::rows(gradient.host(), n).transposed();
        let right = MatRef::rows(input.host(), k);
        let into = into.host_mut();
        self.multiply(
            MatMulShape { m: n, n: k, k: rows },
            left,
            right,
            &mut into[at.weight.clone()],
            true,
        );
        self.add_columns(gradient.host(), &mut into[at.bias.clone()]);
    }

    fn bias_gelu(
        &self,
        values: &mut Buffer,
        WeightRef { buffer: weights, range: at }: WeightRef<'_>,
        out: &mut Buffer,
    ) {
        let (level, size) = (self.level, chunk(at.len()));
        let bias = &weights.host()[at.clone()];
        values
            .host_mut()
            .par_chunks_mut(size)
            .zip(out.host_mut().par_chunks_mut(size))
            .for_each(|(values, out)| elementwise::bias_gelu(level, values, bias, out));
    }

    fn gelu_backward(&self, gradient: &mut Buffer, input: &Buffer) {
        let level = self.level;
        gradient
            .host_mut()
            .par_chunks_mut(CHUNK)
            .zip(input.host().par_chunks(CHUNK))
            .for_each(|(gradient, input)| elementwise::gelu_backward(level, gradient, input));
    }

    fn tanh(&self, values: &mut Buffer) {
        for value in values.host_mut() {
            *value = value.tanh();
        }
    }

    fn tanh_backward(&self, gradient: &mut Buffer, values: &Buffer) {
        for (gradient, value) in gradient.host_mut().iter_mut().zip(values.host()) {
            *gradient *= 1.0 - value * value;
        }
    }

    fn layer_norm(
        &self,
        values: &mut Buffer,
        inverse: &mut Buffer,
        LinearRef { weights, at }: LinearRef<'_>,
        epsilon: f32,
        out: &mut Buffer,
    ) {
        let (level, width) = (self.level, at.weight.len());
        let weights = weights.host();
        let norm = elementwise::Norm {
            scale: &weights[at.weight.clone()],
            shift: &weights[at.bias.clone()],
            epsilon,
        };
        let size = chunk(width);
        values
            .host_mut()
            .par_chunks_mut(size)
            .zip(inverse.host_mut().par_chunks_mut(size / width))
            .zip(out.host_mut().par_chunks_mut(size))
            .for_each(|((values, inverse), out)| {
                elementwise::layer_norm(level, values, inverse, norm, out);
            });
    }

    fn layer_norm_backward(
        &self,
        gradient: &mut Buffer,
        NormTape { normal, inverse }: NormTape<'_>,
        LinearRef { weights, at }: LinearRef<'_>,
        into: &mut Buffer,
    ) {
        let (level, width) = (self.level, at.weight.len());
        let (gradient, normal, into) = (gradient.host_mut(), normal.host(), into.host_mut());
        let sums = self.columns(gradient.len(), width, |range, sums| {
            let gradient = &gradient[range.clone()];
            elementwise::add_product_columns(level, gradient, &normal[range], sums);
        });
        elementwise::add(level, &mut into[at.weight.clone()], &sums);
        self.add_columns(gradient, &mut into[at.bias.clone()]);
        let (scale, size) = (&weights.host()[at.weight.clone()], chunk(width));
        gradient
            .par_chunks_mut(size)
            .zip(normal.par_chunks(size))
            .zip(inverse.host().par_chunks(size / width))
            .for_each(|((gradient, normal), inverse)| {
                elementwise::layer_norm_backward(level, gradient, normal, inverse, scale);
            });
    }

    fn add(&self, sums: &mut Buffer, values: &Buffer) {
        let level = self.level;
        sums.host_mut()
            .par_chunks_mut(CHUNK)
            .zip(values.host().par_chunks(CHUNK))
            .for_each(|(sums, values)| elementwise::add(level, sums, values));
    }

    fn drop_out(&self, values: &mut Buffer, mask: Mask) {
        let level = self.level;
        values.host_mut().par_chunks_mut(CHUNK).enumerate().for_each(|(at, values)| {
            elementwise::drop_out(level, values, (at * CHUNK) as u32, mask);
        });
    }

    fn gather(&self, from: &Buffer, rows: &[usize], width: usize, out: &mut Buffer) {
        let (from, out) = (from.host(), out.host_mut());
        out.clear();
        for row in rows {
            out.extend_from_slice(&from[row * width..][..width]);
        }
    }

    fn scatter(&self, from: &Buffer, rows: &[usize], width: usize, into: &mut Buffer) {
        let into = into.host_mut();
        for (row, values) in rows.iter().zip(from.host().chunks_exact(width)) {
            elementwise::add(self.level, &mut into[row * width..][..width], values);
        }
    }

    fn embed(
        &self,
        weights: &Buffer,
        tables: Tables<'_>,
        tokens: Tokens<'_>,
        width: usize,
        out: &mut Buffer,
    ) {
        let [words, positions, types] = tables.map(|range| &weights.host()[range.clone()]);
        let Tokens { words: ids, types: kinds, positions: places } = tokens;
        let tokens = ids.iter().zip(kinds).zip(places);
        for (row, ((id, kind), place)) in out.host_mut().chunks_exact_mut(width).zip(tokens) {
            let word = &words[*id as usize * width..][..width];
            let position = &positions[*place as usize * width..][..width];
            let kind = &types[*kind as usize * width..][..width];
            for (((value, word), position), kind) in
                row.iter_mut().zip(word).zip(position).zip(kind)
            {
                *value = word + position + kind;
            }
        }
    }

    fn embed_backward(
        &self,
        gradient: &Buffer,
        tables: Tables<'_>,
        tokens: Tokens<'_>,
        width: usize,
        into: &mut Buffer,
    ) {
        let into = into.host_mut();
        let each = tokens.each();
        for (at, row) in gradient.host().chunks_exact(width).enumerate() {
            for (table, rows) in tables.iter().zip(each) {
                let target = table.start + rows[at] as usize * width;
                elementwise::add(self.level, &mut into[target..target + width], row);
            }
        }
    }

    fn attend(
        &self,
        attention: &Attention,
        queries: Option<&Buffer>,
        qkv: &Buffer,
        weights: &mut Buffer,
        context: &mut Buffer,
    ) {
        let hidden = attention.hidden();
        let work = Sequence::all(attention, self.level);
        let parts = split(weights.host_mut(), attention.sizes());
        let lengths = attention.sequences.iter().map(|span| span.queries * hidden);
        let contexts = split(context.host_mut(), lengths);
        let (queries, qkv) = (queries.map(Buffer::host), qkv.host());
        let tasks: Vec<_> = work.iter().zip(parts).zip(contexts).collect();
        tasks.into_par_iter().for_each_init(Vec::new, |scratch, ((work, weights), context)| {
            work.forward(work.sources(queries, qkv), weights, context, scratch);
        });
    }

    fn attend_backward(
        &self,
        attention: &Attention,
        AttentionTape { queries, qkv, weights }: AttentionTape<'_>,
        gradient: &Buffer,
        AttentionGradients { queries: into_queries, qkv: into_qkv }: AttentionGradients<'_>,
    ) {
        let hidden = attention.hidden();
        let work = Sequence::all(attention, self.level);
        let (queries, qkv) = (queries.map(Buffer::host), qkv.host());
        let width = if queries.is_some() { 2 * hidden } else { 3 * hidden };
        let lengths = attention.sequences.iter().map(|span| span.keys * width);
        let parts = split(into_qkv.host_mut(), lengths);
        let mut apart = into_queries.map(|into| into.host_mut().chunks_exact_mut(hidden));
        let mut weights = weights.host();
        let mut contexts = gradient.host();
        let mut tasks = Vec::with_capacity(work.len());
        for (((work, size), span), all) in
            work.iter().zip(attention.sizes()).zip(&attention.sequences).zip(parts)
        {
            let (own, rest) = weights.split_at(size);
            weights = rest;
            let (context, rest) = contexts.split_at(span.queries * hidden);
            contexts = rest;
            // Queries that lie apart are the first of each sequence.
            let queries = apart.as_mut().and_then(Iterator::next);
            tasks.push((work, own, context, attention::Into3 { queries, all, hidden }));
        }
        tasks.into_par_iter().for_each_init(
            attention::Scratch::default,
            |scratch, (work, weights, context, target)| {
                let sources = work.sources(queries, qkv);
                work.backward(sources, weights, context, target, scratch);
            },
        );
    }

    fn squares(&self, values: &Buffer, ranges: &[Range<usize>]) -> Result<f64, TrainError> {
        let level = self.level;
        // In f64 over runs of fixed length.
        let squares = |values: &[f32]| -> f64 {
            let parts: Vec<f32> =
                values.par_chunks(CHUNK).map(|part| elementwise::squares(level, part)).collect();
            parts.into_iter().map(f64::from).sum()
        };
        Ok(ranges.iter().map(|range| squares(&values.host()[range.clone()])).sum())
    }

    fn adam(
        &self,
        weights: &mut Buffer,
        gradient: &Buffer,
        moments: &mut Moments,
        range: &Range<usize>,
        step: AdamStep,
    ) {
        let Moments { mean, square } = moments;
        let level = self.level;
        let part = || range.clone();
        weights.host_mut()[part()]
            .par_chunks_mut(CHUNK)
            .zip(gradient.host()[part()].par_chunks(CHUNK))
            .zip(
                mean.host_mut()[part()]
                    .par_chunks_mut(CHUNK)
                    .zip(square.host_mut()[part()].par_chunks_mut(CHUNK)),
            )
            .for_each(|((weights, gradient), (mean, square))| {
                elementwise::adam(level, weights, gradient, mean, square, step);
            });
    }

    fn blend(&self, values: &mut Buffer, others: &Buffer, keep: f32) {
        let level = self.level;
        values
            .host_mut()
            .par_chunks_mut(CHUNK)
            .zip(others.host().par_chunks(CHUNK))
            .for_each(|(values, others)| elementwise::blend(level, values, others, keep));
    }
}

/// Elements of a task: whole rows.
fn chunk(width: usize) -> usize {
    (CHUNK / width).max(1) * width
}

/// Consecutive parts of `data` of these lengths.
fn split(mut data: &mut [f32], lengths: impl Iterator<Item = usize>) -> Vec<&mut [f32]> {
    let mut parts = Vec::new();
    for len in lengths {
        let (part, rest) = data.split_at_mut(len);
        parts.push(part);
        data = rest;
    }
    parts
}
