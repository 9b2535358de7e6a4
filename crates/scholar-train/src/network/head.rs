//! What is read from an encoder's states: logits of a classifier, or a vector for each text.

use super::parameters::Parameters;
use super::pass::Packed;
use crate::backend::{Backend, Buffer, Mask, Pair};

/// What the classifier's forward pass leaves for the backward one.
#[derive(Default)]
pub(crate) struct HeadTape {
    pooled: Buffer,
    dropped: Buffer,
    mask: Option<Mask>,
    /// `[sequences, labels]`.
    pub(crate) logits: Buffer,
    flow: Buffer,
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
        backend.linear_bias(states, (&self.values, pooler), &mut tape.pooled);
        backend.tanh(&mut tape.pooled);
        tape.mask = mask;
        backend.copy(&tape.pooled, &mut tape.dropped);
        if let Some(mask) = mask {
            backend.drop_out(&mut tape.dropped, mask);
        }
        backend.fit(&mut tape.logits, rows * self.labels);
        backend.linear_bias(&tape.dropped, (&self.values, classifier), &mut tape.logits);
    }

    /// From the gradient of the logits to that of the states, which is put into `out`.
    pub(crate) fn classify_back(
        &self,
        backend: &dyn Backend,
        (states, gradient): (&Buffer, &Buffer),
        tape: &mut HeadTape,
        out: &mut Buffer,
        into: &mut Buffer,
    ) {
        let (pooler, classifier) = self.head();
        let (hidden, values) = (self.shape.hidden, &self.values);
        let flow = &mut tape.flow;
        backend.fit(flow, states.len());
        backend.linear_weight(gradient, &tape.dropped, self.labels, (into, classifier));
        backend.linear_input(gradient, (values, &classifier.weight), self.labels, flow, false);
        if let Some(mask) = tape.mask {
            backend.drop_out(flow, mask);
        }
        backend.tanh_backward(flow, &tape.pooled);
        backend.linear_weight(flow, states, hidden, (into, pooler));
        backend.fit(out, states.len());
        backend.linear_input(flow, (values, &pooler.weight), hidden, out, false);
    }
}

/// The mean of each sequence's states, `[sequences, hidden]`, of length 1 where `normalise`; and the lengths before that.
pub(crate) fn pool_mean(
    states: &[f32],
    batch: &Packed,
    hidden: usize,
    normalise: bool,
) -> (Vec<f32>, Vec<f32>) {
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
    (pooled, lengths)
}

/// From the gradient of pooled vectors to that of the states.
pub(crate) fn pool_mean_back(
    gradient: &[f32],
    (pooled, lengths): (&[f32], &[f32]),
    batch: &Packed,
    normalise: bool,
) -> Vec<f32> {
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
