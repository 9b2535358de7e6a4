//! What is read from an encoder's states: logits of a classifier, or a vector for each text.

use super::layout::Pair;
use super::parameters::Parameters;
use super::pass::Packed;
use crate::arithmetic::{Device, LinearGradient, Mask};

/// What the classifier's forward pass leaves for the backward one.
#[derive(Default)]
pub(crate) struct HeadTape {
    pooled: Vec<f32>,
    dropped: Vec<f32>,
    mask: Option<Mask>,
    /// `[sequences, labels]`.
    pub(crate) logits: Vec<f32>,
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
        device: &Device,
        states: &[f32],
        mask: Option<Mask>,
        tape: &mut HeadTape,
    ) {
        let (pooler, classifier) = self.head();
        let rows = states.len() / self.shape.hidden;
        tape.pooled.resize(states.len(), 0.0);
        device.linear_bias(states, self.pair(pooler), &mut tape.pooled);
        for value in &mut tape.pooled {
            *value = value.tanh();
        }
        tape.mask = mask;
        tape.dropped.clone_from(&tape.pooled);
        if let Some(mask) = mask {
            device.drop_out(&mut tape.dropped, mask);
        }
        tape.logits.resize(rows * self.labels, 0.0);
        device.linear_bias(&tape.dropped, self.pair(classifier), &mut tape.logits);
    }

    /// From the gradient of the logits to that of the states, which is put into `out`.
    pub(crate) fn classify_back(
        &self,
        device: &Device,
        (states, gradient): (&[f32], &[f32]),
        tape: &HeadTape,
        out: &mut Vec<f32>,
        into: &mut [f32],
    ) {
        let (pooler, classifier) = self.head();
        let hidden = self.shape.hidden;
        let place = |at: &Pair| (at.weight.clone(), at.bias.clone());
        let mut pooled = vec![0.0; states.len()];
        let (weight, bias) = place(classifier);
        let mut target = LinearGradient { all: into, weight: weight.clone(), bias };
        device.linear_weight(gradient, &tape.dropped, self.labels, &mut target);
        device.linear_input(gradient, &self.values[weight], self.labels, &mut pooled, false);
        if let Some(mask) = tape.mask {
            device.drop_out(&mut pooled, mask);
        }
        for (gradient, value) in pooled.iter_mut().zip(&tape.pooled) {
            *gradient *= 1.0 - value * value;
        }
        let (weight, bias) = place(pooler);
        let mut target = LinearGradient { all: into, weight: weight.clone(), bias };
        device.linear_weight(&pooled, states, hidden, &mut target);
        out.resize(states.len(), 0.0);
        device.linear_input(&pooled, &self.values[weight], hidden, out, false);
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

/// From the gradient of pooled vectors to that of the states, which is put into `out`.
pub(crate) fn pool_mean_back(
    gradient: &[f32],
    (pooled, lengths): (&[f32], &[f32]),
    batch: &Packed,
    normalise: bool,
    out: &mut Vec<f32>,
) {
    let hidden = pooled.len() / batch.len().max(1);
    out.resize(batch.tokens() * hidden, 0.0);
    let rows = gradient.chunks_exact(hidden).zip(pooled.chunks_exact(hidden)).zip(lengths);
    for (bounds, ((gradient, pooled), length)) in batch.starts.windows(2).zip(rows) {
        let along: f32 = if normalise {
            gradient.iter().zip(pooled).map(|(gradient, pooled)| gradient * pooled).sum()
        } else {
            0.0
        };
        let share = 1.0 / (length * (bounds[1] - bounds[0]) as f32);
        for row in out[bounds[0] * hidden..bounds[1] * hidden].chunks_exact_mut(hidden) {
            for ((out, gradient), pooled) in row.iter_mut().zip(gradient).zip(pooled) {
                *out = (gradient - along * pooled) * share;
            }
        }
    }
}
