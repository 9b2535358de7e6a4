//! Causal attention with grouped queries over a preallocated cache, in blocks of keys with a running softmax.

use super::kernels::{
    gemm_accumulate, gemm_transposed, mix_few, parallel_chunks, score_few, soften,
};

/// Query positions per unit of work.
const QUERY_BLOCK: usize = 32;
/// Keys per block: scores of a unit stay in the second-level cache.
const KEY_BLOCK: usize = 256;
/// Up to this many query rows, reading each key once beats packing keys for a matrix product.
const FEW_ROWS: usize = 16;

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

/// Keys and values of one layer, `[n_kv, capacity, dim]`. Untouched pages of the zeroed allocation cost no memory.
pub(super) struct LayerCache {
    keys: Vec<f32>,
    values: Vec<f32>,
    capacity: usize,
    shape: HeadShape,
}

impl LayerCache {
    /// Room for `capacity` positions.
    pub(super) fn new(shape: HeadShape, capacity: usize) -> Self {
        let len = shape.n_kv * capacity * shape.dim;
        Self { keys: vec![0.0; len], values: vec![0.0; len], capacity, shape }
    }

    /// Stores keys and values `[n, n_kv * dim]` at positions `position..`.
    pub(super) fn store(&mut self, position: usize, keys: &[f32], values: &[f32]) {
        let HeadShape { n_kv, dim, .. } = self.shape;
        for (i, (key_row, value_row)) in
            keys.chunks_exact(n_kv * dim).zip(values.chunks_exact(n_kv * dim)).enumerate()
        {
            for head in 0..n_kv {
                let to = (head * self.capacity + position + i) * dim;
                self.keys[to..to + dim].copy_from_slice(&key_row[head * dim..][..dim]);
                self.values[to..to + dim].copy_from_slice(&value_row[head * dim..][..dim]);
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
    fn head(&self, head: usize, from: usize, to: usize) -> (&[f32], &[f32]) {
        let start = head * self.capacity;
        let range = (start + from) * self.shape.dim..(start + to) * self.shape.dim;
        (&self.keys[range.clone()], &self.values[range])
    }

    /// Attends with queries `[n, n_heads * dim]` of positions `position..position + n`, whose keys are stored
    /// already; returns `[n, n_heads * dim]`.
    pub(super) fn attend(&self, queries: &[f32], position: usize) -> Vec<f32> {
        let HeadShape { n_heads, n_kv, dim } = self.shape;
        let width = n_heads * dim;
        let n = queries.len() / width;
        let group_width = self.shape.group() * dim;
        let mut out = vec![0.0; queries.len()];
        if n == 1 {
            // One position: a unit is one key head, whose query heads are neighbours.
            parallel_chunks(&mut out, group_width, |head, out| {
                self.attend_rows(
                    &queries[head * group_width..][..group_width],
                    head,
                    position,
                    out,
                );
            });
            return out;
        }
        parallel_chunks(&mut out, QUERY_BLOCK * width, |block, out| {
            let first = block * QUERY_BLOCK;
            let rows = out.len() / width;
            let queries = &queries[first * width..][..rows * width];
            let mut gathered = vec![0.0; rows * group_width];
            let mut result = vec![0.0; rows * group_width];
            for head in 0..n_kv {
                let column = head * group_width;
                for (to, from) in
                    gathered.chunks_exact_mut(group_width).zip(queries.chunks_exact(width))
                {
                    to.copy_from_slice(&from[column..column + group_width]);
                }
                result.fill(0.0);
                self.attend_rows(&gathered, head, position + first, &mut result);
                for (from, to) in result.chunks_exact(group_width).zip(out.chunks_exact_mut(width))
                {
                    to[column..column + group_width].copy_from_slice(from);
                }
            }
        });
        out
    }

    /// Attention of the queries that share key head `head`: rows `[position, query head, dim]`, into zeroed `out`.
    fn attend_rows(&self, queries: &[f32], head: usize, position: usize, out: &mut [f32]) {
        let (dim, group) = (self.shape.dim, self.shape.group());
        let n_rows = queries.len() / dim;
        let scale = 1.0 / (dim as f32).sqrt();
        let end = position + n_rows / group;
        let mut scores = vec![0.0; n_rows * KEY_BLOCK];
        let mut running = vec![(f32::NEG_INFINITY, 0.0); n_rows];
        for from in (0..end).step_by(KEY_BLOCK) {
            let to = end.min(from + KEY_BLOCK);
            let (keys, values) = self.head(head, from, to);
            if n_rows <= FEW_ROWS {
                score_few(queries, keys, dim, &mut scores, KEY_BLOCK);
            } else {
                gemm_transposed(queries, keys, dim, &mut scores, KEY_BLOCK);
            }
            for (row, running) in running.iter_mut().enumerate() {
                let visible = (position + row / group + 1).saturating_sub(from).min(to - from);
                let row_scores = &mut scores[row * KEY_BLOCK..][..to - from];
                let shrink = soften(row_scores, visible, scale, running);
                if shrink < 1.0 {
                    for o in &mut out[row * dim..][..dim] {
                        *o *= shrink;
                    }
                }
            }
            if n_rows <= FEW_ROWS {
                mix_few(&scores, KEY_BLOCK, values, dim, out);
            } else {
                gemm_accumulate(&scores, KEY_BLOCK, values, dim, out);
            }
        }
        for (row, (_, sum)) in out.chunks_exact_mut(dim).zip(running) {
            let inverse = 1.0 / sum;
            for o in row {
                *o *= inverse;
            }
        }
    }
}
