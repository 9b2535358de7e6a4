//! Causal attention with grouped queries over a preallocated cache, in blocks of keys with a running softmax.
#![expect(unsafe_code, reason = "threads write columns of their own")]

use super::activations::MAX_ROWS;
use super::kernels::{
    Softmax, from_halves, gemm_accumulate, gemm_transposed, mix_few, score_few, soften, to_halves,
};
use super::pool::{Disjoint, Pool};
use crate::simd::SimdLevel;

/// Query positions per unit of work.
const QUERY_BLOCK: usize = 32;
/// Keys per block: scores of a unit stay in the second-level cache.
const KEY_BLOCK: usize = 256;

/// Sizes of an attention layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HeadShape {
    /// Query heads; a multiple of `n_kv`.
    pub(super) n_heads: usize,
    /// Key and value heads.
    pub(super) n_kv: usize,
    /// Numbers per head.
    pub(super) dim: usize,
}

impl HeadShape {
    /// Query heads that share a key head.
    pub(super) fn group(self) -> usize {
        self.n_heads / self.n_kv
    }
}

/// What a layer's attention sees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sight {
    pub(super) softmax: Softmax,
    /// Positions that are seen, the own one included, where not all are.
    pub(super) window: Option<usize>,
}

impl Sight {
    /// The first position that one at `position` sees.
    fn first(self, position: usize) -> usize {
        self.window.map_or(0, |window| (position + 1).saturating_sub(window))
    }
}

/// Keys and values of one layer in half precision, `[n_kv, capacity, dim]`. Untouched pages of the zeroed allocation cost no
/// memory.
pub(super) struct LayerCache {
    keys: Vec<u16>,
    values: Vec<u16>,
    capacity: usize,
    shape: HeadShape,
}

/// Queries of one key head while they attend.
struct Rows<'a> {
    /// `[position, query head, dim]`.
    queries: &'a [f32],
    /// Query heads.
    group: usize,
    /// Key head.
    head: usize,
    /// Position of the first row.
    position: usize,
}

impl LayerCache {
    /// Room for `capacity` positions.
    pub(super) fn new(shape: HeadShape, capacity: usize) -> Self {
        let len = shape.n_kv * capacity * shape.dim;
        Self { keys: vec![0; len], values: vec![0; len], capacity, shape }
    }

    /// Stores keys and values `[n, n_kv * dim]` at positions `position..`.
    pub(super) fn store(&mut self, position: usize, keys: &[f32], values: &[f32]) {
        let level = SimdLevel::detect();
        let HeadShape { n_kv, dim, .. } = self.shape;
        for (i, (key_row, value_row)) in
            keys.chunks_exact(n_kv * dim).zip(values.chunks_exact(n_kv * dim)).enumerate()
        {
            for head in 0..n_kv {
                let to = (head * self.capacity + position + i) * dim;
                to_halves(level, &key_row[head * dim..][..dim], &mut self.keys[to..to + dim]);
                to_halves(level, &value_row[head * dim..][..dim], &mut self.values[to..to + dim]);
            }
        }
    }

    /// Takes the first `n` positions of `other`.
    pub(super) fn copy_prefix(&mut self, other: &Self, n: usize) {
        let HeadShape { n_kv, dim, .. } = self.shape;
        for head in 0..n_kv {
            let (to, from) = (head * self.capacity * dim, head * other.capacity * dim);
            self.keys[to..to + n * dim].copy_from_slice(&other.keys[from..from + n * dim]);
            self.values[to..to + n * dim].copy_from_slice(&other.values[from..from + n * dim]);
        }
    }

    /// Keys and values of one head at positions `from..to`.
    fn head(&self, head: usize, from: usize, to: usize) -> (&[u16], &[u16]) {
        let start = head * self.capacity;
        let range = (start + from) * self.shape.dim..(start + to) * self.shape.dim;
        (&self.keys[range.clone()], &self.values[range])
    }

    /// Attends with queries `[n, n_heads * dim]` of positions `position..position + n`, whose keys are stored
    /// already, into `out` of the same shape.
    ///
    /// Up to [`MAX_ROWS`] positions, what one gets does not depend on the others.
    pub(super) fn attend(
        &self,
        queries: &[f32],
        position: usize,
        sight: Sight,
        pool: &Pool,
        out: &mut [f32],
    ) {
        let HeadShape { n_heads, n_kv, dim } = self.shape;
        let width = n_heads * dim;
        let n = queries.len() / width;
        out.fill(0.0);
        if n <= MAX_ROWS {
            // The query heads of a key head are neighbours; where there are threads for more parts, each is one.
            let group = if n * n_kv >= pool.threads() { self.shape.group() } else { 1 };
            pool.chunks(out, group * dim, |part, out| {
                let (row, head) = (part * group / n_heads, part * group % n_heads);
                let rows = Rows {
                    queries: &queries[part * group * dim..][..group * dim],
                    group,
                    head: head / self.shape.group(),
                    position: position + row,
                };
                self.attend_few(&rows, sight, out);
            });
            return;
        }
        let blocks = n.div_ceil(QUERY_BLOCK);
        let out = Disjoint::new(out);
        // The last blocks see most: they come first.
        pool.run(blocks * n_kv, &|part| {
            let (block, head) = (blocks - 1 - part / n_kv, part % n_kv);
            let first = block * QUERY_BLOCK;
            let rows = QUERY_BLOCK.min(n - first);
            let (column, group_width) = (head * self.shape.group() * dim, self.shape.group() * dim);
            let mut gathered = Vec::with_capacity(rows * group_width);
            for row in queries[first * width..].chunks_exact(width).take(rows) {
                gathered.extend_from_slice(&row[column..column + group_width]);
            }
            let mut result = vec![0.0; rows * group_width];
            let group = self.shape.group();
            let rows = Rows { queries: &gathered, group, head, position: position + first };
            self.attend_many(&rows, sight, &mut result);
            for (i, from) in result.chunks_exact(group_width).enumerate() {
                // SAFETY: a part has the columns of its head in the rows of its block, and no other part has them.
                let to = unsafe { out.range((first + i) * width + column, group_width) };
                to.copy_from_slice(from);
            }
        });
    }

    /// Attention of the queries of one position, into zeroed `out`.
    fn attend_few(&self, rows: &Rows<'_>, sight: Sight, out: &mut [f32]) {
        let level = SimdLevel::detect();
        let dim = self.shape.dim;
        let end = rows.position + 1;
        let start = sight.first(rows.position);
        let mut scores = vec![0.0; rows.group * KEY_BLOCK];
        let mut running = vec![(f32::NEG_INFINITY, 0.0); rows.group];
        for from in (start..end).step_by(KEY_BLOCK) {
            let to = end.min(from + KEY_BLOCK);
            let (keys, values) = self.head(rows.head, from, to);
            score_few(level, rows.queries, keys, dim, (&mut scores, KEY_BLOCK));
            for (row, running) in running.iter_mut().enumerate() {
                let scores = &mut scores[row * KEY_BLOCK..][..to - from];
                let shrink = soften(level, scores, (0, to - from), sight.softmax, running);
                shrink_by(&mut out[row * dim..][..dim], shrink);
            }
            mix_few(level, (&scores, KEY_BLOCK), values, dim, out);
        }
        normalise(out, dim, &running);
    }

    /// Attention of the queries of several positions, into zeroed `out`.
    fn attend_many(&self, rows: &Rows<'_>, sight: Sight, out: &mut [f32]) {
        let level = SimdLevel::detect();
        let dim = self.shape.dim;
        let n_rows = rows.queries.len() / dim;
        let end = rows.position + n_rows / rows.group;
        let start = sight.first(rows.position);
        let mut scores = vec![0.0; n_rows * KEY_BLOCK];
        let mut running = vec![(f32::NEG_INFINITY, 0.0); n_rows];
        let mut wide = [vec![0.0; KEY_BLOCK * dim], vec![0.0; KEY_BLOCK * dim]];
        for from in (start..end).step_by(KEY_BLOCK) {
            let to = end.min(from + KEY_BLOCK);
            let (keys, values) = self.head(rows.head, from, to);
            let [wide_keys, wide_values] = &mut wide;
            let (wide_keys, wide_values) =
                (&mut wide_keys[..keys.len()], &mut wide_values[..values.len()]);
            from_halves(level, keys, wide_keys);
            from_halves(level, values, wide_values);
            gemm_transposed(rows.queries, wide_keys, dim, &mut scores, KEY_BLOCK);
            for (row, running) in running.iter_mut().enumerate() {
                let position = rows.position + row / rows.group;
                let visible = (position + 1).saturating_sub(from).min(to - from);
                let hidden = sight.first(position).saturating_sub(from).min(visible);
                let scores = &mut scores[row * KEY_BLOCK..][..to - from];
                let shrink = soften(level, scores, (hidden, visible), sight.softmax, running);
                shrink_by(&mut out[row * dim..][..dim], shrink);
            }
            gemm_accumulate(&scores, KEY_BLOCK, wide_values, dim, out);
        }
        normalise(out, dim, &running);
    }
}

fn shrink_by(out: &mut [f32], factor: f32) {
    if factor < 1.0 {
        for o in out {
            *o *= factor;
        }
    }
}

fn normalise(out: &mut [f32], dim: usize, running: &[(f32, f32)]) {
    for (row, (_, sum)) in out.chunks_exact_mut(dim).zip(running) {
        let inverse = 1.0 / sum;
        for o in row {
            *o *= inverse;
        }
    }
}
