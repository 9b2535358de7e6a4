//! What is read from an encoder's states: logits of a classifier, or a vector for each text.

use super::packed::Packed;
use super::parameters::Parameters;
use crate::backend::{Backend, Buffer, Mask, Pair, WeightRef};

/// What the classifier's forward pass leaves for the backward one.
#[derive(Default)]
pub(crate) struct HeadTape {
    pooled: Buffer,
    dropped: Buffer,
    mask: Option<Mask>,
    /// `[sequences, labels]`.
    pub(crate) logits: Buffer,
    flow: Buffer,
    /// Gradient of the states, `[sequences, hidden]`.
    pub(crate) grad_states: Buffer,
}

impl Parameters {
    fn head(&self) -> (&Pair, &Pair) {
        let (pooler, classifier) =
            self.layout.at.head.as_ref().expect("networks with labels have a head");
        (pooler, classifier)
    }

    /// `classifier(dropout(tanh(pooler(state))))` of each first state, `[sequences, hidden]`.
    pub(crate) fn classify(
        &self,
        backend: &dyn Backend,
        states: &Buffer,
        mask: Option<Mask>,
        tape: &mut HeadTape,
    ) {
        let (pooler, classifier) = self.head();
        let rows = states.len() / self.shape.hidden;
        backend.fit(&mut tape.pooled, states.len());
        backend.linear_bias(states, pooler.of(&self.values), &mut tape.pooled);
        backend.tanh(&mut tape.pooled);
        tape.mask = mask;
        backend.copy(&tape.pooled, &mut tape.dropped);
        if let Some(mask) = mask {
            backend.drop_out(&mut tape.dropped, mask);
        }
        backend.fit(&mut tape.logits, rows * self.labels);
        backend.linear_bias(&tape.dropped, classifier.of(&self.values), &mut tape.logits);
    }

    /// From the `gradient` of the logits to that of the states, in [`HeadTape::grad_states`].
    pub(crate) fn classify_back(
        &self,
        backend: &dyn Backend,
        states: &Buffer,
        gradient: &Buffer,
        tape: &mut HeadTape,
        into: &mut Buffer,
    ) {
        let (pooler, classifier) = self.head();
        let (hidden, values) = (self.shape.hidden, &self.values);
        let flow = &mut tape.flow;
        backend.fit(flow, states.len());
        backend.linear_weight(gradient, &tape.dropped, self.labels, classifier.of_mut(into));
        backend.linear_input(
            gradient,
            WeightRef::new(values, &classifier.weight),
            self.labels,
            flow,
            false,
        );
        if let Some(mask) = tape.mask {
            backend.drop_out(flow, mask);
        }
        backend.tanh_backward(flow, &tape.pooled);
        backend.linear_weight(flow, states, hidden, pooler.of_mut(into));
        let out = &mut tape.grad_states;
        backend.fit(out, states.len());
        backend.linear_input(flow, WeightRef::new(values, &pooler.weight), hidden, out, false);
    }
}

/// Mean-pooled states.
#[derive(Default)]
pub(crate) struct Pooled {
    /// `[sequences, hidden]`, of unit length where they were normalised.
    pub(crate) vectors: Vec<f32>,
    /// Length of each before that; 1 where they were not normalised.
    pub(crate) lengths: Vec<f32>,
}

/// The mean of each sequence's states, of unit length where `normalise`.
pub(crate) fn pool_mean(states: &[f32], batch: &Packed, hidden: usize, normalise: bool) -> Pooled {
    let mut pooled = vec![0.0; batch.len() * hidden];
    let mut lengths = Vec::with_capacity(batch.len());
    for (bounds, mean) in batch.starts.windows(2).zip(pooled.chunks_exact_mut(hidden)) {
        let rows = &states[bounds[0] * hidden..bounds[1] * hidden];
        for row in rows.chunks_exact(hidden) {
            for (sum, value) in mean.iter_mut().zip(row) {
                *sum += value;
            }
        }
        let count = (bounds[1] - bounds[0]) as f32;
        let mut squares = 0.0;
        for value in mean.iter_mut() {
            *value /= count;
            squares += *value * *value;
        }
        let length = if normalise { squares.sqrt().max(f32::MIN_POSITIVE) } else { 1.0 };
        for value in mean.iter_mut() {
            *value /= length;
        }
        lengths.push(length);
    }
    Pooled { vectors: pooled, lengths }
}

/// From the gradient of pooled vectors to that of the states.
pub(crate) fn pool_mean_back(
    gradient: &[f32],
    forward: &Pooled,
    batch: &Packed,
    normalise: bool,
) -> Vec<f32> {
    let Pooled { vectors: pooled, lengths } = forward;
    let hidden = pooled.len() / batch.len().max(1);
    let mut out = vec![0.0; batch.tokens() * hidden];
    let rows = gradient.chunks_exact(hidden).zip(pooled.chunks_exact(hidden)).zip(lengths);
    for (bounds, ((gradient, pooled), length)) in batch.starts.windows(2).zip(rows) {
        let along: f32 = if normalise {
            gradient.iter().zip(pooled).map(|(gradient, pooled)| gradient * pooled).sum()
        } else {
            0.0
        };
        let scale = 1.0 / (length * (bounds[1] - bounds[0]) as f32);
        for row in out[bounds[0] * hidden..bounds[1] * hidden].chunks_exact_mut(hidden) {
            for ((out, gradient), pooled) in row.iter_mut().zip(gradient).zip(pooled) {
                *out = (gradient - along * pooled) * scale;
            }
        }
    }
    out
}
