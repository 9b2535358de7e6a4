//! Attention of one sequence, all heads, forward and backward.

use crate::arithmetic::Mask;
use crate::arithmetic::elementwise::{self, Level};
use crate::arithmetic::{View, ViewMut, fit, multiply};

/// Sizes and dropout of the attention of one sequence.
#[derive(Clone, Copy)]
pub(super) struct Attention {
    pub(super) level: Level,
    /// Tokens whose states are asked for.
    pub(super) queries: usize,
    /// Tokens of the sequence.
    pub(super) keys: usize,
    pub(super) heads: usize,
    pub(super) width: usize,
    /// Dropout of the weights, and the index of this sequence's first weight in the tensor of all.
    pub(super) mask: Option<(Mask, u32)>,
}

/// Queries, and keys and values of one sequence: rows of `stride` numbers.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) data: &'a [f32],
    pub(super) stride: usize,
}

impl Attention {
    /// Numbers of all weights.
    pub(super) fn weights(&self) -> usize {
        self.heads * self.queries * self.keys
    }

    fn scale(&self) -> f32 {
        1.0 / (self.width as f32).sqrt()
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
            let scores = &mut ViewMut { data: weights, row: n };
            let turned = view(keys, at).transposed();
            multiply((m, n, self.width), view(queries, at), turned, scores, false, 1);
            for row in weights.chunks_exact_mut(n) {
                elementwise::softmax(self.level, row, self.scale());
            }
            let used = self.dropped(head, weights, scratch);
            let out = &mut ViewMut { data: &mut context[at..], row: hidden };
            multiply((m, self.width, n), View::rows(used, n), view(values, at), out, false, 1);
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
        (scratch, slopes): (&mut Vec<f32>, &mut Vec<f32>),
    ) {
        let (m, n, width) = (self.queries, self.keys, self.width);
        let hidden = self.heads * width;
        fit(slopes, m * n);
        for (head, weights) in weights.chunks_exact(m * n).enumerate() {
            let at = head * width;
            let gradient = View { data: &gradient[at..], row: hidden, column: 1 };
            let used = self.dropped(head, weights, scratch);
            let turned = View::rows(used, n).transposed();
            multiply((n, width, m), turned, gradient, &mut into.values(at), false, 1);
            let target = &mut ViewMut { data: slopes, row: n };
            multiply((m, n, width), gradient, view(values, at).transposed(), target, false, 1);
            if let Some((mask, first)) = self.mask {
                let first = first.wrapping_add((head * m * n) as u32);
                elementwise::drop_out(self.level, slopes, first, mask);
            }
            for (slopes, weights) in slopes.chunks_exact_mut(n).zip(weights.chunks_exact(n)) {
                elementwise::softmax_backward(self.level, slopes, weights, self.scale());
            }
            let slopes = View::rows(slopes, n);
            multiply((m, width, n), slopes, view(keys, at), &mut into.queries(at), false, 1);
            let turned = slopes.transposed();
            multiply((n, width, m), turned, view(queries, at), &mut into.keys(at), false, 1);
        }
    }
}

/// Where the gradients of queries, keys and values go.
pub(super) enum Into3<'a> {
    /// Side by side in rows of `3 * hidden`.
    Together { all: &'a mut [f32], hidden: usize },
    /// Queries in rows of `hidden`, keys and values side by side in rows of `2 * hidden`.
    Apart { queries: &'a mut [f32], others: &'a mut [f32], hidden: usize },
}

impl Into3<'_> {
    fn queries(&mut self, at: usize) -> ViewMut<'_> {
        match self {
            Self::Together { all, hidden } => ViewMut { data: &mut all[at..], row: 3 * *hidden },
            Self::Apart { queries, hidden, .. } => {
                ViewMut { data: &mut queries[at..], row: *hidden }
            }
        }
    }

    fn keys(&mut self, at: usize) -> ViewMut<'_> {
        self.other(0, at)
    }

    fn values(&mut self, at: usize) -> ViewMut<'_> {
        self.other(1, at)
    }

    fn other(&mut self, which: usize, at: usize) -> ViewMut<'_> {
        match self {
            Self::Together { all, hidden } => {
                ViewMut { data: &mut all[(1 + which) * *hidden + at..], row: 3 * *hidden }
            }
            Self::Apart { others, hidden, .. } => {
                ViewMut { data: &mut others[which * *hidden + at..], row: 2 * *hidden }
            }
        }
    }
}

fn view(source: Source<'_>, at: usize) -> View<'_> {
    View { data: &source.data[at..], row: source.stride, column: 1 }
}
