//! A GPU as a device: kernels in one language, which CUDA, Vulkan, Metal and `DirectX` run.
//!
//! Kernels are compiled when they are first used, so building this program needs no toolkit. Numbers stay on the GPU from the
//! tokens of a batch to the step of the optimiser; what is compared on the CPU, states of texts that are read apart and
//! logits, goes back and forth. Products are of f32. No sum is left to chance: each number has one writer.
#![expect(
    unsafe_code,
    reason = "one stream for all threads, and products without checks of bounds"
)]

mod kernels;
mod memory;
mod open;
mod plan;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use cubecl::prelude::*;
use cubecl::stream_id::StreamId;

pub(crate) use self::memory::Memory;
#[cfg(feature = "cuda")]
pub(crate) use self::open::cuda;
#[cfg(feature = "wgpu")]
pub(crate) use self::open::wgpu;
use self::plan::{Product, Rows, members};
use super::dropout::SPREAD;
use super::{
    AdamStep, Attention, AttentionGradients, AttentionTape, Backend, Buffer, LinearMut, LinearRef,
    Mask, Moments, NormTape, Tables, Tokens, WeightRef,
};
use crate::error::TrainError;

/// Numbers that one cube sums for [`Backend::squares`].
const SQUARES: usize = 1 << 16;
/// Problems of one launch: the grid's third side is bounded.
const PROBLEMS: usize = 1 << 15;
/// Cubes along the grid's first side, for launches that have one number or row for each unit or cube.
const SIDE: usize = 1 << 15;

/// Characters of an error.
const MOST_SAID: usize = 600;

/// A GPU.
pub(crate) struct GpuBackend<R: Runtime> {
    client: ComputeClient<R>,
    /// What it is, in words.
    described: String,
    /// What went wrong before anything could be asked of the GPU.
    failed: OnceLock<String>,
}

impl<R: Runtime> GpuBackend<R> {
    fn new(mut client: ComputeClient<R>, described: String) -> Self {
        // SAFETY: whichever thread asks, what is asked goes through one channel in order; so all may share a stream.
        unsafe { client.set_stream(StreamId { value: 0 }) };
        Self { client, described, failed: OnceLock::new() }
    }

    /// Runtimes put whole kernels into what they say: its beginning is enough.
    fn error(&self, problem: impl ToString) -> TrainError {
        let all = problem.to_string();
        let words: Vec<&str> = all.split_whitespace().collect();
        let problem: String = words.join(" ").chars().take(MOST_SAID).collect();
        TrainError::Device { device: self.described.clone(), problem }
    }

    /// Room for `len` numbers.
    fn room(&self, len: usize) -> Memory {
        self.note_if_too_many(len);
        Memory::new(self.client.empty(len.max(1) * size_of::<f32>()), len)
    }

    /// Kernels count in 32 bits, and no driver takes buffers of any size: what is read next is an error then.
    fn note_if_too_many(&self, len: usize) {
        let most = self.client.properties().memory.max_page_size / size_of::<f32>() as u64;
        if len as u64 > most.min(u64::from(u32::MAX)) {
            let problem = format!("it takes {most} numbers in one piece, and {len} are needed");
            let _the_first_counts = self.failed.set(problem);
        }
    }

    fn indices(&self, values: &[u32]) -> ArrayArg<R> {
        let handle = self.client.create_from_slice(bytemuck::cast_slice(values));
        // SAFETY: there are as many values behind the handle.
        unsafe { ArrayArg::from_raw_parts(handle, values.len()) }
    }

    /// Numbers of rows, for kernels.
    fn rows(&self, rows: &[usize]) -> ArrayArg<R> {
        let rows: Vec<u32> = rows.iter().map(|row| *row as u32).collect();
        self.indices(&rows)
    }

    /// `sums (+)= left * right` for every product of `plan`.
    fn products(
        &self,
        plan: &[Product],
        left: &Memory,
        right: &Memory,
        out: &Memory,
        accumulate: bool,
    ) {
        for part in plan.chunks(PROBLEMS) {
            let tiles = |side: fn(&Product) -> usize| {
                part.iter().map(side).max().unwrap_or(0).div_ceil(kernels::TILE)
            };
            let (across, down) = (tiles(|product| product.n), tiles(|product| product.m));
            if across == 0 || down == 0 {
                continue;
            }
            let words: Vec<u32> = part.iter().flat_map(Product::words).collect();
            let words = self.indices(&words);
            // SAFETY: the kernel reads and writes inside the matrices that the plan names, and those lie inside the memories,
            // which hold what the callers' shapes say.
            unsafe {
                kernels::product::launch_unchecked::<R>(
                    &self.client,
                    CubeCount::Static(across as u32, down as u32, part.len() as u32),
                    CubeDim::new_1d(kernels::PRODUCT_UNITS as u32),
                    left.argument(),
                    right.argument(),
                    out.argument(),
                    words,
                    u32::from(accumulate),
                );
            }
        }
    }

    /// Runs `launch` over the rows of `plan`, a grid and its problems at a time.
    fn over_rows(&self, plan: &[Rows], launch: impl Fn(CubeCount, CubeDim, ArrayArg<R>)) {
        for part in plan.chunks(PROBLEMS) {
            let most = part.iter().map(|rows| rows.rows).max().unwrap_or(0);
            if most == 0 {
                continue;
            }
            let words: Vec<u32> = part.iter().flat_map(Rows::words).collect();
            let words = self.indices(&words);
            let grid = CubeCount::Static(most as u32, 1, part.len() as u32);
            launch(grid, CubeDim::new_1d(kernels::UNITS as u32), words);
        }
    }

    /// Adds the rows of `left`, multiplied with those of `right` where there are any, to `into` from `at` on.
    fn add_columns(
        &self,
        left: &Memory,
        right: Option<&Memory>,
        width: usize,
        into: &Memory,
        at: usize,
    ) {
        let rows = left.len() / width;
        let runs = rows.div_ceil(kernels::SUMMED_ROWS);
        let parts = self.room(runs * width);
        let (grid, units) = each(runs * width);
        let shape = (width as u32, rows as u32);
        kernels::sum_runs::launch::<R>(
            &self.client,
            grid,
            units,
            left.argument(),
            right.unwrap_or(left).argument(),
            parts.argument(),
            shape.0,
            shape.1,
            u32::from(right.is_some()),
        );
        let (grid, units) = each(width);
        kernels::add_runs::launch::<R>(
            &self.client,
            grid,
            units,
            parts.argument(),
            into.argument(),
            shape.0,
            runs as u32,
            at as u32,
        );
    }

    fn drop(&self, values: &Memory, mask: Mask) {
        let (grid, units) = each(values.len());
        kernels::drop_out::launch::<R>(
            &self.client,
            grid,
            units,
            values.argument(),
            values.len() as u32,
            SPREAD,
            mask.key,
            mask.threshold,
            mask.scale,
        );
    }

    fn copy_into(&self, from: &Memory, to: &Memory) {
        let (grid, units) = each(from.len());
        kernels::copy::launch::<R>(
            &self.client,
            grid,
            units,
            from.argument(),
            to.argument(),
            from.len() as u32,
        );
    }

    /// The weights after dropout.
    fn dropped(&self, weights: &Memory, mask: Option<Mask>) -> Option<Memory> {
        mask.map(|mask| {
            let dropped = self.room(weights.len());
            self.copy_into(weights, &dropped);
            self.drop(&dropped, mask);
            dropped
        })
    }

    fn download(&self, memory: &Memory) -> Result<Vec<f32>, TrainError> {
        if let Some(problem) = self.failed.get() {
            return Err(self.error(problem));
        }
        let bytes = self.client.read_one(memory.handle()).map_err(|e| self.error(e))?;
        Ok(f32::from_bytes(&bytes)[..memory.len()].to_vec())
    }
}

/// A grid with a unit for each of `len` numbers, and the shape of a cube.
fn each(len: usize) -> (CubeCount, CubeDim) {
    (grid(len.div_ceil(kernels::EACH_UNITS)), CubeDim::new_1d(kernels::EACH_UNITS as u32))
}

/// A grid with at least one cube for each of `count` rows.
fn grid(count: usize) -> CubeCount {
    let across = count.clamp(1, SIDE);
    CubeCount::Static(across as u32, count.div_ceil(across).max(1) as u32, 1)
}

impl<R: Runtime> Backend for GpuBackend<R> {
    fn describe(&self) -> String {
        self.described.clone()
    }

    fn fit(&self, buffer: &mut Buffer, len: usize) {
        match buffer {
            Buffer::Gpu(memory) if memory.holds(len) => memory.resize(len),
            other => *other = Buffer::Gpu(self.room(len)),
        }
    }

    fn put(&self, values: Vec<f32>) -> Buffer {
        let len = values.len();
        self.note_if_too_many(len);
        let filled = if values.is_empty() { vec![0.0] } else { values };
        let handle = self.client.create_from_slice(bytemuck::cast_slice(&filled));
        Buffer::Gpu(Memory::new(handle, len))
    }

    fn read<'a>(&self, buffer: &'a Buffer) -> Result<Cow<'a, [f32]>, TrainError> {
        self.download(buffer.gpu()).map(Cow::Owned)
    }

    fn copy(&self, from: &Buffer, to: &mut Buffer) {
        self.fit(to, from.len());
        self.copy_into(from.gpu(), to.gpu());
    }

    fn clear(&self, buffer: &mut Buffer, range: Range<usize>) {
        let (grid, units) = each(range.len());
        kernels::clear::launch::<R>(
            &self.client,
            grid,
            units,
            buffer.gpu().argument(),
            range.start as u32,
            range.len() as u32,
        );
    }

    fn linear(
        &self,
        input: &Buffer,
        WeightRef { buffer: weights, range: at }: WeightRef<'_>,
        k: usize,
        out: &mut Buffer,
    ) {
        let (rows, n) = (input.len() / k, at.len() / k);
        let plan = Product { m: rows, n, k, left: (0, k, 1), right: (at.start, 1, k), out: (0, n) };
        self.products(&[plan], input.gpu(), weights.gpu(), out.gpu(), false);
    }

    fn linear_bias(
        &self,
        input: &Buffer,
        LinearRef { weights, at }: LinearRef<'_>,
        out: &mut Buffer,
    ) {
        let width = at.bias.len();
        self.linear(input, WeightRef::new(weights, &at.weight), at.weight.len() / width, out);
        let (grid, units) = each(out.len());
        kernels::add_bias::launch::<R>(
            &self.client,
            grid,
            units,
            out.gpu().argument(),
            weights.gpu().argument(),
            at.bias.start as u32,
            width as u32,
            out.len() as u32,
        );
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
        let plan =
            Product { m: rows, n: k, k: n, left: (0, n, 1), right: (at.start, k, 1), out: (0, k) };
        self.products(&[plan], gradient.gpu(), weights.gpu(), out.gpu(), accumulate);
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
        let plan = Product {
            m: n,
            n: k,
            k: rows,
            left: (0, 1, n),
            right: (0, k, 1),
            out: (at.weight.start, k),
        };
        self.products(&[plan], gradient.gpu(), input.gpu(), into.gpu(), true);
        self.add_columns(gradient.gpu(), None, n, into.gpu(), at.bias.start);
    }

    fn bias_gelu(
        &self,
        values: &mut Buffer,
        WeightRef { buffer: weights, range: at }: WeightRef<'_>,
        out: &mut Buffer,
    ) {
        let (grid, units) = each(values.len());
        kernels::bias_gelu::launch::<R>(
            &self.client,
            grid,
            units,
            values.gpu().argument(),
            weights.gpu().argument(),
            out.gpu().argument(),
            at.start as u32,
            at.len() as u32,
            values.len() as u32,
        );
    }

    fn gelu_backward(&self, gradient: &mut Buffer, input: &Buffer) {
        let (grid, units) = each(gradient.len());
        kernels::gelu_backward::launch::<R>(
            &self.client,
            grid,
            units,
            gradient.gpu().argument(),
            input.gpu().argument(),
            gradient.len() as u32,
        );
    }

    fn tanh(&self, values: &mut Buffer) {
        let (grid, units) = each(values.len());
        kernels::tangent::launch::<R>(
            &self.client,
            grid,
            units,
            values.gpu().argument(),
            values.len() as u32,
        );
    }

    fn tanh_backward(&self, gradient: &mut Buffer, values: &Buffer) {
        let (grid, units) = each(gradient.len());
        kernels::tangent_backward::launch::<R>(
            &self.client,
            grid,
            units,
            gradient.gpu().argument(),
            values.gpu().argument(),
            gradient.len() as u32,
        );
    }

    fn layer_norm(
        &self,
        values: &mut Buffer,
        inverse: &mut Buffer,
        LinearRef { weights, at }: LinearRef<'_>,
        epsilon: f32,
        out: &mut Buffer,
    ) {
        let width = at.weight.len();
        let rows = values.len() / width;
        kernels::layer_norm::launch::<R>(
            &self.client,
            grid(rows),
            CubeDim::new_1d(kernels::UNITS as u32),
            values.gpu().argument(),
            inverse.gpu().argument(),
            weights.gpu().argument(),
            out.gpu().argument(),
            at.weight.start as u32,
            at.bias.start as u32,
            width as u32,
            rows as u32,
            epsilon,
        );
    }

    fn layer_norm_backward(
        &self,
        gradient: &mut Buffer,
        NormTape { normal, inverse }: NormTape<'_>,
        LinearRef { weights, at }: LinearRef<'_>,
        into: &mut Buffer,
    ) {
        let width = at.weight.len();
        let rows = gradient.len() / width;
        self.add_columns(gradient.gpu(), Some(normal.gpu()), width, into.gpu(), at.weight.start);
        self.add_columns(gradient.gpu(), None, width, into.gpu(), at.bias.start);
        kernels::layer_norm_backward::launch::<R>(
            &self.client,
            grid(rows),
            CubeDim::new_1d(kernels::UNITS as u32),
            gradient.gpu().argument(),
            normal.gpu().argument(),
            inverse.gpu().argument(),
            weights.gpu().argument(),
            at.weight.start as u32,
            width as u32,
            rows as u32,
        );
    }

    fn add(&self, sums: &mut Buffer, values: &Buffer) {
        let (grid, units) = each(sums.len());
        kernels::add::launch::<R>(
            &self.client,
            grid,
            units,
            sums.gpu().argument(),
            values.gpu().argument(),
            sums.len() as u32,
        );
    }

    fn drop_out(&self, values: &mut Buffer, mask: Mask) {
        self.drop(values.gpu(), mask);
    }

    fn gather(&self, from: &Buffer, rows: &[usize], width: usize, out: &mut Buffer) {
        self.fit(out, rows.len() * width);
        let (grid, units) = each(out.len());
        kernels::gather::launch::<R>(
            &self.client,
            grid,
            units,
            from.gpu().argument(),
            self.rows(rows),
            out.gpu().argument(),
            width as u32,
            out.len() as u32,
        );
    }

    fn scatter(&self, from: &Buffer, rows: &[usize], width: usize, into: &mut Buffer) {
        let (grid, units) = each(from.len());
        kernels::scatter::launch::<R>(
            &self.client,
            grid,
            units,
            from.gpu().argument(),
            self.rows(rows),
            into.gpu().argument(),
            width as u32,
            from.len() as u32,
        );
    }

    fn embed(
        &self,
        weights: &Buffer,
        tables: Tables<'_>,
        tokens: Tokens<'_>,
        width: usize,
        out: &mut Buffer,
    ) {
        let each_row = tokens.each();
        let places: Vec<u32> = (0..tokens.words.len())
            .flat_map(|at| {
                [0, 1, 2].map(|table| {
                    (tables[table].start + each_row[table][at] as usize * width) as u32
                })
            })
            .collect();
        let places = self.indices(&places);
        let (grid, units) = each(out.len());
        kernels::embed::launch::<R>(
            &self.client,
            grid,
            units,
            weights.gpu().argument(),
            places,
            out.gpu().argument(),
            width as u32,
            out.len() as u32,
        );
    }

    fn embed_backward(
        &self,
        gradient: &Buffer,
        tables: Tables<'_>,
        tokens: Tokens<'_>,
        width: usize,
        into: &mut Buffer,
    ) {
        for (table, rows) in tables.into_iter().zip(tokens.each()) {
            let found = members(rows, table.start, width);
            let groups = found.targets.len();
            let [targets, starts, tokens] =
                [&found.targets, &found.starts, &found.tokens].map(|words| self.indices(words));
            let (grid, units) = each(groups * width);
            kernels::embed_backward::launch::<R>(
                &self.client,
                grid,
                units,
                gradient.gpu().argument(),
                targets,
                starts,
                tokens,
                into.gpu().argument(),
                width as u32,
                (groups * width) as u32,
            );
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
        let plan = plan::Heads::new(attention, queries.is_some());
        let asking = queries.unwrap_or(qkv).gpu();
        self.products(&plan.scores(), asking, qkv.gpu(), weights.gpu(), false);
        self.over_rows(&plan.rows(), |grid, units, words| {
            kernels::softmax::launch::<R>(
                &self.client,
                grid,
                units,
                weights.gpu().argument(),
                words,
                attention.scale(),
            );
        });
        let dropped = self.dropped(weights.gpu(), attention.mask);
        let used = dropped.as_ref().unwrap_or(weights.gpu());
        self.products(&plan.context(), used, qkv.gpu(), context.gpu(), false);
    }

    fn attend_backward(
        &self,
        attention: &Attention,
        AttentionTape { queries, qkv, weights }: AttentionTape<'_>,
        gradient: &Buffer,
        AttentionGradients { queries: into_queries, qkv: into_qkv }: AttentionGradients<'_>,
    ) {
        let plan = plan::Heads::new(attention, queries.is_some());
        let (weights, gradient) = (weights.gpu(), gradient.gpu());
        let dropped = self.dropped(weights, attention.mask);
        let used = dropped.as_ref().unwrap_or(weights);
        self.products(&plan.values_back(), used, gradient, into_qkv.gpu(), false);
        let grad_scores = self.room(weights.len());
        self.products(&plan.weights_back(), gradient, qkv.gpu(), &grad_scores, false);
        if let Some(mask) = attention.mask {
            self.drop(&grad_scores, mask);
        }
        self.over_rows(&plan.rows(), |grid, units, words| {
            kernels::softmax_backward::launch::<R>(
                &self.client,
                grid,
                units,
                grad_scores.argument(),
                weights.argument(),
                words,
                attention.scale(),
            );
        });
        let asking = queries.unwrap_or(qkv).gpu();
        self.products(&plan.keys_back(), &grad_scores, asking, into_qkv.gpu(), false);
        let into = into_queries.map_or(into_qkv.gpu(), |into| into.gpu());
        self.products(&plan.queries_back(), &grad_scores, qkv.gpu(), into, false);
    }

    fn squares(&self, values: &Buffer, ranges: &[Range<usize>]) -> Result<f64, TrainError> {
        let chunks: Vec<u32> = ranges
            .iter()
            .flat_map(|range| range.clone().step_by(SQUARES).map(|at| (at, range.end)))
            .flat_map(|(at, end)| [at as u32, SQUARES.min(end - at) as u32])
            .collect();
        let count = chunks.len() / 2;
        if count == 0 {
            return Ok(0.0);
        }
        let chunks = self.indices(&chunks);
        let parts = self.room(count);
        kernels::squares::launch::<R>(
            &self.client,
            grid(count),
            CubeDim::new_1d(kernels::UNITS as u32),
            values.gpu().argument(),
            chunks,
            parts.argument(),
            count as u32,
        );
        Ok(self.download(&parts)?.into_iter().map(f64::from).sum())
    }

    fn adam(
        &self,
        weights: &mut Buffer,
        gradient: &Buffer,
        moments: &mut Moments,
        range: &Range<usize>,
        step: AdamStep,
    ) {
        let (grid, units) = each(range.len());
        kernels::adam::launch::<R>(
            &self.client,
            grid,
            units,
            weights.gpu().argument(),
            gradient.gpu().argument(),
            moments.mean.gpu().argument(),
            moments.square.gpu().argument(),
            range.start as u32,
            range.len() as u32,
            step.gradient_scale,
            step.beta1,
            step.beta2,
            step.rate,
            step.square_scale,
            step.epsilon,
            step.shrink,
        );
    }

    fn blend(&self, values: &mut Buffer, others: &Buffer, keep: f32) {
        let (grid, units) = each(values.len());
        kernels::blend::launch::<R>(
            &self.client,
            grid,
            units,
            values.gpu().argument(),
            others.gpu().argument(),
            values.len() as u32,
            keep,
        );
    }
}
