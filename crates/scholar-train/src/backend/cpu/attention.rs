//! Attention of one sequence, all heads, forward and backward.

use scholar_models::simd::SimdLevel;
use scholar_models::{MatMulShape, MatMut, MatRef, matmul};

use super::elementwise;
use crate::backend::{Attention, Mask};

/// One sequence of an [`Attention`].
pub(super) struct Sequence {
    level: SimdLevel,
    queries: usize,
    first_query: usize,
    keys: usize,
    first_key: usize,
    heads: usize,
    width: usize,
    scale: f32,
    /// Dropout of the weights, and the index of this sequence's first weight in the tensor of all.
    mask: Option<(Mask, u32)>,
}

/// Queries, keys or values of one sequence: rows of `stride` numbers.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    data: &'a [f32],
    stride: usize,
}

impl Sequence {
    /// Those of a batch in order.
    pub(super) fn all(attention: &Attention, level: SimdLevel) -> Vec<Self> {
        let mut first = 0_u32;
        let sequences = attention.sequences.iter().zip(attention.sizes());
        sequences
            .map(|(span, size)| {
                let mask = attention.mask.map(|mask| (mask, first));
                first = first.wrapping_add(size as u32);
                Self {
                    level,
                    queries: span.queries,
                    first_query: span.first_query,
                    keys: span.keys,
                    first_key: span.first_key,
                    heads: attention.heads,
                    width: attention.width,
                    scale: attention.scale(),
                    mask,
                }
            })
            .collect()
    }

    /// Its queries, keys and values in the rows of all sequences.
    pub(super) fn sources<'a>(
        &self,
        queries: Option<&'a [f32]>,
        qkv: &'a [f32],
    ) -> [Source<'a>; 3] {
        let hidden = self.heads * self.width;
        match queries {
            Some(queries) => {
                let stride = 2 * hidden;
                let data = &qkv[self.first_key * stride..];
                [
                    Source { data: &queries[self.first_query * hidden..], stride: hidden },
                    Source { data, stride },
                    Source { data: &data[hidden..], stride },
                ]
            }
            None => {
                let stride = 3 * hidden;
                let data = &qkv[self.first_key * stride..];
                [0, 1, 2].map(|part| Source { data: &data[part * hidden..], stride })
            }
        }
    }

    /// Puts each head's weights into `weights`, `[heads, queries, keys]`, before dropout, and the weighted values into
    /// `context`, `[queries, heads * width]`.
    ///
    /// `queries`, `keys` and `values` start at the sequence's first row and the first head's first number.
    pub(super) fn forward(
        &self,
        [queries, keys, values]: [Source<'_>; 3],
        weights: &mut [f32],
        context: &mut [f32],
        scratch: &mut Vec<f32>,
    ) {
        let (m, n) = (self.queries, self.keys);
        let hidden = self.heads * self.width;
        for (head, weights) in weights.chunks_exact_mut(m * n).enumerate() {
            let at = head * self.width;
            let scores = &mut MatMut { data: weights, row: n };
            let turned = view(keys, at).transposed();
            matmul(
                MatMulShape { m, n, k: self.width },
                view(queries, at),
                turned,
                scores,
                false,
                1,
            );
            for row in weights.chunks_exact_mut(n) {
                elementwise::softmax(self.level, row, self.scale);
            }
            let used = self.dropped(head, weights, scratch);
            let out = &mut MatMut { data: &mut context[at..], row: hidden };
            matmul(
                MatMulShape { m, n: self.width, k: n },
                MatRef::rows(used, n),
                view(values, at),
                out,
                false,
                1,
            );
        }
    }

    /// The weights after dropout.
    fn dropped<'a>(&self, head: usize, weights: &'a [f32], scratch: &'a mut Vec<f32>) -> &'a [f32] {
        let Some((mask, first)) = self.mask else { return weights };
        scratch.clear();
        scratch.extend_from_slice(weights);
        let first = first.wrapping_add((head * weights.len()) as u32);
        elementwise::drop_out(self.level, scratch, first, mask);
        scratch
    }

    /// The way back: from `gradient` of the context to those of queries, keys and values.
    ///
    /// The three gradients have the strides of their sources and are overwritten.
    pub(super) fn backward(
        &self,
        [queries, keys, values]: [Source<'_>; 3],
        weights: &[f32],
        gradient: &[f32],
        mut into: Into3<'_>,
        scratch: &mut Scratch,
    ) {
        let Scratch { dropped, grad_scores } = scratch;
        let (m, n, width) = (self.queries, self.keys, self.width);
        let hidden = self.heads * width;
        grad_scores.resize(m * n, 0.0);
        for (head, weights) in weights.chunks_exact(m * n).enumerate() {
            let at = head * width;
            let gradient = MatRef { data: &gradient[at..], row: hidden, column: 1 };
            let used = self.dropped(head, weights, dropped);
            let turned = MatRef::rows(used, n).transposed();
            matmul(
                MatMulShape { m: n, n: width, k: m },
                turned,
                gradient,
                &mut into.values(at),
                false,
                1,
            );
            let target = &mut MatMut { data: grad_scores, row: n };
            matmul(
                MatMulShape { m, n, k: width },
                gradient,
                view(values, at).transposed(),
                target,
                false,
                1,
            );
            if let Some((mask, first)) = self.mask {
                let first = first.wrapping_add((head * m * n) as u32);
                elementwise::drop_out(self.level, grad_scores, first, mask);
            }
            for (grad_scores, weights) in
                grad_scores.chunks_exact_mut(n).zip(weights.chunks_exact(n))
            {
                elementwise::softmax_backward(self.level, grad_scores, weights, self.scale);
            }
            let grad_scores = MatRef::rows(grad_scores, n);
            matmul(
                MatMulShape { m, n: width, k: n },
                grad_scores,
                view(keys, at),
                &mut into.queries(at),
                false,
                1,
            );
            let turned = grad_scores.transposed();
            matmul(
                MatMulShape { m: n, n: width, k: m },
                turned,
                view(queries, at),
                &mut into.keys(at),
                false,
                1,
            );
        }
    }
}

/// Buffers that the backward passes of a thread reuse.
#[derive(Default)]
pub(super) struct Scratch {
    dropped: Vec<f32>,
    grad_scores: Vec<f32>,
}

/// Where the gradients of queries, keys and values go: side by side in the rows of `all`, but for queries that lie apart.
pub(super) struct Into3<'a> {
    pub(super) queries: Option<&'a mut [f32]>,
    pub(super) all: &'a mut [f32],
    pub(super) hidden: usize,
}

impl Into3<'_> {
    fn queries(&mut self, at: usize) -> MatMut<'_> {
        let hidden = self.hidden;
        match &mut self.queries {
            Some(queries) => MatMut { data: &mut queries[at..], row: hidden },
            None => MatMut { data: &mut self.all[at..], row: 3 * hidden },
        }
    }

    fn keys(&mut self, at: usize) -> MatMut<'_> {
        self.other(0, at)
    }

    fn values(&mut self, at: usize) -> MatMut<'_> {
        self.other(1, at)
    }

    fn other(&mut self, which: usize, at: usize) -> MatMut<'_> {
        let before = if self.queries.is_some() { which } else { 1 + which };
        let row = if self.queries.is_some() { 2 * self.hidden } else { 3 * self.hidden };
        MatMut { data: &mut self.all[before * self.hidden + at..], row }
    }
}

fn view(source: Source<'_>, at: usize) -> MatRef<'_> {
    MatRef { data: &source.data[at..], row: source.stride, column: 1 }
}
