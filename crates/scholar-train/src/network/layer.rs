//! One layer, forward and backward: attention over each sequence, then the second half over all rows at once.

use super::layout::LayerAt;
use super::packed::Packed;
use super::parameters::Parameters;
use crate::backend::{
    Attention, AttentionGradients, AttentionTape, Backend, Buffer, Dropout, Mask, NormTape, Pair,
    SequenceSpan, WeightRef,
};

/// Dropout masks of a layer: attention weights, first half, second half.
const SITES: usize = 3;

/// What a layer's forward pass leaves for the backward one.
#[derive(Default)]
pub(super) struct LayerTape {
    /// The first rows' states below, where only those are asked for.
    first: Buffer,
    /// Queries apart from the rest, in the same case.
    queries: Buffer,
    /// `[tokens, 3 * hidden]`, or `[tokens, 2 * hidden]` where queries are apart.
    qkv: Buffer,
    weights: Buffer,
    context: Buffer,
    normal1: Buffer,
    inverse1: Buffer,
    middle: Buffer,
    before: Buffer,
    after: Buffer,
    normal2: Buffer,
    inverse2: Buffer,
    /// The states above.
    pub(super) out: Buffer,
}

/// Gradients under way.
#[derive(Default)]
pub(super) struct Flow {
    pub(super) states: Buffer,
    branch: Buffer,
    wide: Buffer,
    qkv: Buffer,
    queries: Buffer,
}

/// One layer of one pass.
pub(super) struct Run<'a> {
    pub(super) net: &'a Parameters,
    pub(super) backend: &'a dyn Backend,
    pub(super) batch: &'a Packed,
    pub(super) dropout: Option<Dropout>,
    pub(super) layer: usize,
    pub(super) at: &'a LayerAt,
    /// Whether only the first state of each sequence is asked for.
    pub(super) first: bool,
}

impl Run<'_> {
    fn hidden(&self) -> usize {
        self.net.shape.hidden
    }

    fn mask(&self, site: usize) -> Option<Mask> {
        self.dropout.map(|dropout| dropout.site(1 + self.layer * SITES + site))
    }

    /// Rows that leave the layer.
    fn rows(&self) -> usize {
        if self.first { self.batch.len() } else { self.batch.tokens() }
    }

    /// The first token of each sequence.
    fn starts(&self) -> &[usize] {
        &self.batch.starts[..self.batch.len()]
    }

    /// Weight and bias of the queries, and those of keys and values.
    fn apart(&self) -> (Pair, Pair) {
        let (hidden, Pair { weight, bias }) = (self.hidden(), &self.at.qkv);
        let (middle, break_at) = (weight.start + hidden * hidden, bias.start + hidden);
        (
            Pair { weight: weight.start..middle, bias: bias.start..break_at },
            Pair { weight: middle..weight.end, bias: break_at..bias.end },
        )
    }

    fn attention(&self) -> Attention {
        let bounds = self.batch.starts.windows(2).enumerate();
        let sequences = bounds.map(|(at, bounds)| {
            let (first_key, keys) = (bounds[0], bounds[1] - bounds[0]);
            if self.first {
                SequenceSpan { queries: 1, first_query: at, keys, first_key }
            } else {
                SequenceSpan { queries: keys, first_query: first_key, keys, first_key }
            }
        });
        Attention {
            sequences: sequences.collect(),
            heads: self.net.shape.heads,
            width: self.net.shape.head_width(),
            mask: self.mask(0),
        }
    }

    pub(super) fn attend(&self, states: &Buffer, tape: &mut LayerTape) {
        let (backend, values) = (self.backend, &self.net.values);
        let (hidden, tokens) = (self.hidden(), self.batch.tokens());
        if self.first {
            let (queries, others) = self.apart();
            backend.gather(states, self.starts(), hidden, &mut tape.first);
            backend.fit(&mut tape.queries, self.batch.len() * hidden);
            backend.linear_bias(&tape.first, queries.of(values), &mut tape.queries);
            backend.fit(&mut tape.qkv, tokens * 2 * hidden);
            backend.linear_bias(states, others.of(values), &mut tape.qkv);
        } else {
            backend.fit(&mut tape.qkv, tokens * 3 * hidden);
            backend.linear_bias(states, self.at.qkv.of(values), &mut tape.qkv);
        }
        let attention = self.attention();
        backend.fit(&mut tape.weights, attention.sizes().sum());
        backend.fit(&mut tape.context, self.rows() * hidden);
        let LayerTape { queries, qkv, weights, context, .. } = tape;
        backend.attend(&attention, self.first.then_some(queries), qkv, weights, context);
    }

    /// What follows the attention: its output layer, and the second half.
    pub(super) fn think(&self, states: &Buffer, tape: &mut LayerTape) {
        let (backend, rows, at) = (self.backend, self.rows(), self.at);
        let (hidden, wide) = (self.hidden(), self.net.shape.intermediate);
        let values = &self.net.values;
        let epsilon = self.net.shape.epsilon;
        for buffer in [&mut tape.normal1, &mut tape.middle, &mut tape.normal2, &mut tape.out] {
            backend.fit(buffer, rows * hidden);
        }
        backend.fit(&mut tape.inverse1, rows);
        backend.fit(&mut tape.inverse2, rows);
        backend.fit(&mut tape.before, rows * wide);
        backend.fit(&mut tape.after, rows * wide);
        backend.linear_bias(&tape.context, at.out.of(values), &mut tape.normal1);
        if let Some(mask) = self.mask(1) {
            backend.drop_out(&mut tape.normal1, mask);
        }
        let residual = if self.first { &tape.first } else { states };
        backend.add(&mut tape.normal1, residual);
        let norm = at.norm1.of(values);
        backend.layer_norm(&mut tape.normal1, &mut tape.inverse1, norm, epsilon, &mut tape.middle);
        backend.linear(
            &tape.middle,
            WeightRef::new(values, &at.up.weight),
            hidden,
            &mut tape.before,
        );
        backend.bias_gelu(&mut tape.before, WeightRef::new(values, &at.up.bias), &mut tape.after);
        backend.linear_bias(&tape.after, at.down.of(values), &mut tape.normal2);
        if let Some(mask) = self.mask(2) {
            backend.drop_out(&mut tape.normal2, mask);
        }
        backend.add(&mut tape.normal2, &tape.middle);
        let norm = at.norm2.of(values);
        backend.layer_norm(&mut tape.normal2, &mut tape.inverse2, norm, epsilon, &mut tape.out);
    }

    /// From the gradient of what leaves the layer, in `flow.states`, to that of the attention's context, in
    /// `flow.branch`, and of what was added to it, in `flow.states`.
    pub(super) fn think_back(&self, tape: &LayerTape, flow: &mut Flow, into: &mut Buffer) {
        let (backend, at, values) = (self.backend, self.at, &self.net.values);
        let (hidden, wide) = (self.hidden(), self.net.shape.intermediate);
        let rows = self.rows();
        let normed = NormTape { normal: &tape.normal2, inverse: &tape.inverse2 };
        backend.layer_norm_backward(&mut flow.states, normed, at.norm2.of(values), into);
        self.branch(flow, 2);
        backend.fit(&mut flow.wide, rows * wide);
        backend.linear_weight(&flow.branch, &tape.after, hidden, at.down.of_mut(into));
        let down = WeightRef::new(values, &at.down.weight);
        backend.linear_input(&flow.branch, down, hidden, &mut flow.wide, false);
        backend.gelu_backward(&mut flow.wide, &tape.before);
        backend.linear_weight(&flow.wide, &tape.middle, wide, at.up.of_mut(into));
        backend.linear_input(
            &flow.wide,
            WeightRef::new(values, &at.up.weight),
            wide,
            &mut flow.states,
            true,
        );
        let normed = NormTape { normal: &tape.normal1, inverse: &tape.inverse1 };
        backend.layer_norm_backward(&mut flow.states, normed, at.norm1.of(values), into);
        self.branch(flow, 1);
        backend.linear_weight(&flow.branch, &tape.context, hidden, at.out.of_mut(into));
        // The branch is not needed any more once it is multiplied, but a product cannot write where it reads.
        backend.fit(&mut flow.wide, rows * hidden);
        let out = WeightRef::new(values, &at.out.weight);
        backend.linear_input(&flow.branch, out, hidden, &mut flow.wide, false);
        std::mem::swap(&mut flow.branch, &mut flow.wide);
    }

    /// The gradient that enters the branch beside a residual connection.
    fn branch(&self, flow: &mut Flow, site: usize) {
        self.backend.copy(&flow.states, &mut flow.branch);
        if let Some(mask) = self.mask(site) {
            self.backend.drop_out(&mut flow.branch, mask);
        }
    }

    /// From the gradient of the context to that of the states below, which is computed where something `deeper` learns.
    pub(super) fn attend_back(
        &self,
        states: &Buffer,
        tape: &LayerTape,
        flow: &mut Flow,
        deeper: bool,
        into: &mut Buffer,
    ) {
        let (backend, values) = (self.backend, &self.net.values);
        let (hidden, tokens) = (self.hidden(), self.batch.tokens());
        let width = if self.first { 2 * hidden } else { 3 * hidden };
        backend.fit(&mut flow.qkv, tokens * width);
        backend.fit(&mut flow.queries, self.batch.len() * hidden);
        let forward = AttentionTape {
            queries: self.first.then_some(&tape.queries),
            qkv: &tape.qkv,
            weights: &tape.weights,
        };
        let gradients = AttentionGradients {
            queries: self.first.then_some(&mut flow.queries),
            qkv: &mut flow.qkv,
        };
        backend.attend_backward(&self.attention(), forward, &flow.branch, gradients);
        if !self.first {
            backend.linear_weight(&flow.qkv, states, width, self.at.qkv.of_mut(into));
            if deeper {
                let weight = WeightRef::new(values, &self.at.qkv.weight);
                backend.linear_input(&flow.qkv, weight, width, &mut flow.states, true);
            }
            return;
        }
        let (queries, others) = self.apart();
        backend.linear_weight(&flow.qkv, states, width, others.of_mut(into));
        backend.linear_weight(&flow.queries, &tape.first, hidden, queries.of_mut(into));
        if !deeper {
            return;
        }
        let weight = WeightRef::new(values, &queries.weight);
        backend.linear_input(&flow.queries, weight, hidden, &mut flow.states, true);
        backend.fit(&mut flow.branch, tokens * hidden);
        let weight = WeightRef::new(values, &others.weight);
        backend.linear_input(&flow.qkv, weight, width, &mut flow.branch, false);
        backend.scatter(&flow.states, self.starts(), hidden, &mut flow.branch);
        std::mem::swap(&mut flow.states, &mut flow.branch);
    }
}
