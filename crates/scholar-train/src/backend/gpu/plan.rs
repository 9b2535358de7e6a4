//! What kernels are told about matrices: pure arithmetic of places.

use std::collections::BTreeMap;

use crate::backend::{Attention, SequenceSpan};

/// One product, `out[m, n] (+)= left[m, k] * right[k, n]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Product {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
    /// First number, and steps from row to row and from column to column.
    pub(super) left: (usize, usize, usize),
    pub(super) right: (usize, usize, usize),
    /// First number, and step from row to row.
    pub(super) out: (usize, usize),
}

impl Product {
    /// What the kernel reads.
    pub(super) fn words(&self) -> [u32; super::kernels::PRODUCT_WORDS] {
        let Self { m, n, k, left, right, out } = *self;
        let words = [m, n, k, left.0, left.1, left.2, right.0, right.1, right.2, out.0, out.1];
        words.map(|word| word as u32)
    }
}

/// Rows of one matrix without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) first: usize,
    pub(super) rows: usize,
    pub(super) width: usize,
}

impl Rows {
    pub(super) fn words(&self) -> [u32; super::kernels::ROWS_WORDS] {
        [self.first, self.rows, self.width].map(|word| word as u32)
    }
}

/// The heads of all sequences of an attention.
pub(super) struct Heads<'a> {
    attention: &'a Attention,
    /// Whether queries lie apart from keys and values.
    apart: bool,
}

/// Where a head of a sequence begins in every matrix.
struct Head {
    span: SequenceSpan,
    weights: usize,
    queries: usize,
    keys: usize,
    values: usize,
    context: usize,
}

impl<'a> Heads<'a> {
    pub(super) fn new(attention: &'a Attention, apart: bool) -> Self {
        Self { attention, apart }
    }

    /// Numbers of a row of queries, and of a row of keys and values.
    fn strides(&self) -> (usize, usize) {
        let hidden = self.attention.hidden();
        if self.apart { (hidden, 2 * hidden) } else { (3 * hidden, 3 * hidden) }
    }

    fn each<T>(&self, make: impl Fn(&Head) -> T) -> Vec<T> {
        let (hidden, (asking, stride)) = (self.attention.hidden(), self.strides());
        let before = if self.apart { 0 } else { hidden };
        let mut all = Vec::with_capacity(self.attention.sequences.len() * self.attention.heads);
        let mut weights = 0;
        for span in &self.attention.sequences {
            for head in 0..self.attention.heads {
                let at = head * self.attention.width;
                let keys = span.first_key * stride + before + at;
                all.push(make(&Head {
                    span: *span,
                    weights,
                    queries: span.first_query * asking + at,
                    keys,
                    values: keys + hidden,
                    context: span.first_query * hidden + at,
                }));
                weights += span.queries * span.keys;
            }
        }
        all
    }

    /// The weights of each head.
    pub(super) fn rows(&self) -> Vec<Rows> {
        self.each(|head| Rows {
            first: head.weights,
            rows: head.span.queries,
            width: head.span.keys,
        })
    }

    /// Queries times keys.
    pub(super) fn scores(&self) -> Vec<Product> {
        let (asking, stride) = self.strides();
        self.each(|head| Product {
            m: head.span.queries,
            n: head.span.keys,
            k: self.attention.width,
            left: (head.queries, asking, 1),
            right: (head.keys, 1, stride),
            out: (head.weights, head.span.keys),
        })
    }

    /// Weights times values.
    pub(super) fn context(&self) -> Vec<Product> {
        let (_, stride) = self.strides();
        self.each(|head| Product {
            m: head.span.queries,
            n: self.attention.width,
            k: head.span.keys,
            left: (head.weights, head.span.keys, 1),
            right: (head.values, stride, 1),
            out: (head.context, self.attention.hidden()),
        })
    }

    /// Gradient of the values: weights, turned, times the gradient of the context.
    pub(super) fn values_back(&self) -> Vec<Product> {
        let (_, stride) = self.strides();
        self.each(|head| Product {
            m: head.span.keys,
            n: self.attention.width,
            k: head.span.queries,
            left: (head.weights, 1, head.span.keys),
            right: (head.context, self.attention.hidden(), 1),
            out: (head.values, stride),
        })
    }

    /// Gradient of the weights: that of the context times the values, turned.
    pub(super) fn weights_back(&self) -> Vec<Product> {
        let (_, stride) = self.strides();
        self.each(|head| Product {
            m: head.span.queries,
            n: head.span.keys,
            k: self.attention.width,
            left: (head.context, self.attention.hidden(), 1),
            right: (head.values, 1, stride),
            out: (head.weights, head.span.keys),
        })
    }

    /// Gradient of the queries: that of the scores times the keys.
    pub(super) fn queries_back(&self) -> Vec<Product> {
        let (asking, stride) = self.strides();
        self.each(|head| Product {
            m: head.span.queries,
            n: self.attention.width,
            k: head.span.keys,
            left: (head.weights, head.span.keys, 1),
            right: (head.keys, stride, 1),
            out: (head.queries, asking),
        })
    }

    /// Gradient of the keys: that of the scores, turned, times the queries.
    pub(super) fn keys_back(&self) -> Vec<Product> {
        let (asking, stride) = self.strides();
        self.each(|head| Product {
            m: head.span.keys,
            n: self.attention.width,
            k: head.span.queries,
            left: (head.weights, 1, head.span.keys),
            right: (head.queries, asking, 1),
            out: (head.keys, stride),
        })
    }
}

/// Which tokens each used row of a table went into.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Members {
    /// First number of each row among all weights.
    pub(super) targets: Vec<u32>,
    /// First of each row's tokens in `tokens`, and their number at the end.
    pub(super) starts: Vec<u32>,
    pub(super) tokens: Vec<u32>,
}

/// Of a table that begins at `start`, the row of each token.
pub(super) fn members(rows: &[u32], start: usize, width: usize) -> Members {
    let mut by_row: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (token, row) in (0_u32..).zip(rows) {
        by_row.entry(*row).or_default().push(token);
    }
    let mut found = Members { targets: Vec::new(), starts: vec![0], tokens: Vec::new() };
    for (row, tokens) in by_row {
        found.targets.push((start + row as usize * width) as u32);
        found.tokens.extend(tokens);
        found.starts.push(found.tokens.len() as u32);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_grouped_by_their_row_in_order() {
        let found = members(&[4, 2, 4, 9], 100, 10);
        let expect = Members {
            targets: vec![120, 140, 190],
            starts: vec![0, 1, 3, 4],
            tokens: vec![1, 0, 2, 3],
        };
        assert_eq!(found, expect);
    }

    #[test]
    fn heads_lie_behind_each_other_in_weights_and_side_by_side_elsewhere() {
        let attention = Attention {
            sequences: vec![
                SequenceSpan { queries: 2, first_query: 0, keys: 2, first_key: 0 },
                SequenceSpan { queries: 3, first_query: 2, keys: 3, first_key: 2 },
            ],
            heads: 2,
            width: 4,
            mask: None,
        };
        let scores = Heads::new(&attention, false).scores();
        let outs: Vec<usize> = scores.iter().map(|product| product.out.0).collect();
        assert_eq!(outs, [0, 4, 8, 17]);
        // The second sequence's second head: rows of 24, keys behind 8 numbers of queries.
        assert_eq!((scores[3].left, scores[3].right), ((52, 24, 1), (60, 1, 24)));
        let apart = Heads::new(&attention, true).scores();
        assert_eq!((apart[3].left, apart[3].right), ((20, 8, 1), (36, 1, 16)));
    }
}
