//! One layer, forward and backward: attention over each sequence, then the second half over all rows at once.

use rayon::prelude::*;

use super::attention::{Attention, Into3, Source};
use super::layout::{LayerAt, Pair};
use super::parameters::Parameters;
use super::pass::Packed;
use crate::arithmetic::{Device, LinearGradient, Mask, Noise, fit};

/// Dropout masks of a layer: attention weights, first half, second half.
const SITES: usize = 3;

/// What a layer's forward pass leaves for the backward one.
#[derive(Default)]
pub(super) struct LayerTape {
    /// The first rows' states below, where only those are asked for.
    pub(super) first: Vec<f32>,
    /// Queries apart from the rest, in the same case.
    pub(super) queries: Vec<f32>,
    /// `[tokens, 3 * hidden]`, or `[tokens, 2 * hidden]` where queries are apart.
    pub(super) qkv: Vec<f32>,
    pub(super) weights: Vec<f32>,
    pub(super) context: Vec<f32>,
    pub(super) normal1: Vec<f32>,
    pub(super) inverse1: Vec<f32>,
    pub(super) middle: Vec<f32>,
    pub(super) before: Vec<f32>,
    pub(super) after: Vec<f32>,
    pub(super) normal2: Vec<f32>,
    pub(super) inverse2: Vec<f32>,
    /// The states above.
    pub(super) out: Vec<f32>,
}

/// Gradients under way.
#[derive(Default)]
pub(super) struct Flow {
    pub(super) states: Vec<f32>,
    pub(super) branch: Vec<f32>,
    pub(super) wide: Vec<f32>,
    pub(super) qkv: Vec<f32>,
    pub(super) queries: Vec<f32>,
}

/// One layer of one pass.
pub(super) struct Run<'a> {
    pub(super) net: &'a Parameters,
    pub(super) device: &'a Device,
    pub(super) batch: &'a Packed,
    pub(super) noise: Option<Noise>,
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
        self.noise.map(|noise| noise.site(1 + self.layer * SITES + site))
    }

    /// Rows that leave the layer.
    fn rows(&self) -> usize {
        if self.first { self.batch.len() } else { self.batch.tokens() }
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

    /// One attention for each sequence.
    fn sequences(&self) -> Vec<Attention> {
        let mask = self.mask(0);
        let mut first = 0_u32;
        let lengths = self.batch.lengths();
        lengths
            .map(|keys| {
                let queries = if self.first { 1 } else { keys };
                let attention = Attention {
                    level: self.device.level(),
                    queries,
                    keys,
                    heads: self.net.shape.heads,
                    width: self.net.shape.head_width(),
                    mask: mask.map(|mask| (mask, first)),
                };
                first = first.wrapping_add(attention.weights() as u32);
                attention
            })
            .collect()
    }

    /// Queries, keys and values of sequence `at`.
    fn sources<'a>(&self, tape: &'a LayerTape, at: usize) -> [Source<'a>; 3] {
        let (hidden, start) = (self.hidden(), self.batch.starts[at]);
        if self.first {
            let stride = 2 * hidden;
            let data = &tape.qkv[start * stride..];
            [
                Source { data: &tape.queries[at * hidden..], stride: hidden },
                Source { data, stride },
                Source { data: &data[hidden..], stride },
            ]
        } else {
            let stride = 3 * hidden;
            let data = &tape.qkv[start * stride..];
            [0, 1, 2].map(|part| Source { data: &data[part * hidden..], stride })
        }
    }

    pub(super) fn attend(&self, states: &[f32], tape: &mut LayerTape) {
        let (hidden, tokens) = (self.hidden(), self.batch.tokens());
        if self.first {
            let (queries, others) = self.apart();
            gather(states, &self.batch.starts, hidden, &mut tape.first);
            fit(&mut tape.queries, self.batch.len() * hidden);
            self.device.linear_bias(&tape.first, self.net.pair(&queries), &mut tape.queries);
            fit(&mut tape.qkv, tokens * 2 * hidden);
            self.device.linear_bias(states, self.net.pair(&others), &mut tape.qkv);
        } else {
            fit(&mut tape.qkv, tokens * 3 * hidden);
            self.device.linear_bias(states, self.net.pair(&self.at.qkv), &mut tape.qkv);
        }
        let work = self.sequences();
        fit(&mut tape.weights, work.iter().map(Attention::weights).sum());
        fit(&mut tape.context, self.rows() * hidden);
        let mut weights = std::mem::take(&mut tape.weights);
        let mut context = std::mem::take(&mut tape.context);
        let parts = split(&mut weights, work.iter().map(Attention::weights));
        let contexts = split(&mut context, work.iter().map(|work| work.queries * hidden));
        let tasks: Vec<_> = work.iter().zip(parts).zip(contexts).enumerate().collect();
        let from = &*tape;
        tasks.into_par_iter().for_each_init(
            Vec::new,
            |scratch, (at, ((work, weights), context))| {
                work.forward(self.sources(from, at), weights, context, scratch);
            },
        );
        tape.weights = weights;
        tape.context = context;
    }

    /// What follows the attention: its output layer, and the second half.
    pub(super) fn think(&self, states: &[f32], tape: &mut LayerTape) {
        let (device, rows) = (self.device, self.rows());
        let (hidden, wide) = (self.hidden(), self.net.shape.intermediate);
        let residual = if self.first { &tape.first[..] } else { states };
        let norm = |at: &Pair| {
            (
                &self.net.values[at.weight.clone()],
                &self.net.values[at.bias.clone()],
                self.net.shape.epsilon,
            )
        };
        for buffer in [&mut tape.normal1, &mut tape.middle, &mut tape.normal2, &mut tape.out] {
            fit(buffer, rows * hidden);
        }
        fit(&mut tape.inverse1, rows);
        fit(&mut tape.inverse2, rows);
        fit(&mut tape.before, rows * wide);
        fit(&mut tape.after, rows * wide);
        device.linear_bias(&tape.context, self.net.pair(&self.at.out), &mut tape.normal1);
        if let Some(mask) = self.mask(1) {
            device.drop_out(&mut tape.normal1, mask);
        }
        device.add(&mut tape.normal1, residual);
        device.layer_norm(
            &mut tape.normal1,
            &mut tape.inverse1,
            norm(&self.at.norm1),
            &mut tape.middle,
        );
        let (weight, bias) = self.net.pair(&self.at.up);
        device.linear(&tape.middle, weight, hidden, &mut tape.before);
        device.bias_gelu(&mut tape.before, bias, &mut tape.after);
        device.linear_bias(&tape.after, self.net.pair(&self.at.down), &mut tape.normal2);
        if let Some(mask) = self.mask(2) {
            device.drop_out(&mut tape.normal2, mask);
        }
        device.add(&mut tape.normal2, &tape.middle);
        device.layer_norm(
            &mut tape.normal2,
            &mut tape.inverse2,
            norm(&self.at.norm2),
            &mut tape.out,
        );
    }

    /// From the gradient of what leaves the layer, in `flow.states`, to that of the attention's context, in
    /// `flow.branch`, and of what was added to it, in `flow.states`.
    pub(super) fn think_back(&self, tape: &LayerTape, flow: &mut Flow, into: &mut [f32]) {
        let (device, at, values) = (self.device, self.at, &self.net.values);
        let (hidden, wide) = (self.hidden(), self.net.shape.intermediate);
        let rows = self.rows();
        let normal = (&tape.normal2[..], &tape.inverse2[..]);
        let scale = &values[at.norm2.weight.clone()];
        device.layer_norm_backward(
            &mut flow.states,
            normal,
            scale,
            Some(gradient(into, &at.norm2)),
        );
        self.branch(flow, 2);
        fit(&mut flow.wide, rows * wide);
        device.linear_weight(&flow.branch, &tape.after, hidden, &mut gradient(into, &at.down));
        let weight = &values[at.down.weight.clone()];
        device.linear_input(&flow.branch, weight, hidden, &mut flow.wide, false);
        device.gelu_backward(&mut flow.wide, &tape.before);
        device.linear_weight(&flow.wide, &tape.middle, wide, &mut gradient(into, &at.up));
        let weight = &values[at.up.weight.clone()];
        device.linear_input(&flow.wide, weight, wide, &mut flow.states, true);
        let normal = (&tape.normal1[..], &tape.inverse1[..]);
        let scale = &values[at.norm1.weight.clone()];
        device.layer_norm_backward(
            &mut flow.states,
            normal,
            scale,
            Some(gradient(into, &at.norm1)),
        );
        self.branch(flow, 1);
        device.linear_weight(&flow.branch, &tape.context, hidden, &mut gradient(into, &at.out));
        let weight = &values[at.out.weight.clone()];
        // The branch is not needed any more once it is multiplied, but a product cannot write where it reads.
        fit(&mut flow.wide, rows * hidden);
        device.linear_input(&flow.branch, weight, hidden, &mut flow.wide, false);
        std::mem::swap(&mut flow.branch, &mut flow.wide);
    }

    /// The gradient that enters the branch beside a residual connection.
    fn branch(&self, flow: &mut Flow, site: usize) {
        flow.branch.clear();
        flow.branch.extend_from_slice(&flow.states);
        if let Some(mask) = self.mask(site) {
            self.device.drop_out(&mut flow.branch, mask);
        }
    }

    /// From the gradient of the context to that of the states below, which is computed where something `deeper` learns.
    pub(super) fn attend_back(
        &self,
        states: &[f32],
        tape: &LayerTape,
        flow: &mut Flow,
        deeper: bool,
        into: &mut [f32],
    ) {
        let (device, hidden, tokens) = (self.device, self.hidden(), self.batch.tokens());
        let width = if self.first { 2 * hidden } else { 3 * hidden };
        fit(&mut flow.qkv, tokens * width);
        fit(&mut flow.queries, self.batch.len() * hidden);
        self.slopes(tape, flow);
        let values = &self.net.values;
        if !self.first {
            device.linear_weight(&flow.qkv, states, width, &mut gradient(into, &self.at.qkv));
            if deeper {
                let weight = &values[self.at.qkv.weight.clone()];
                device.linear_input(&flow.qkv, weight, width, &mut flow.states, true);
            }
            return;
        }
        let (queries, others) = self.apart();
        device.linear_weight(&flow.qkv, states, width, &mut gradient(into, &others));
        device.linear_weight(&flow.queries, &tape.first, hidden, &mut gradient(into, &queries));
        if !deeper {
            return;
        }
        let weight = &values[queries.weight];
        device.linear_input(&flow.queries, weight, hidden, &mut flow.states, true);
        fit(&mut flow.branch, tokens * hidden);
        device.linear_input(&flow.qkv, &values[others.weight], width, &mut flow.branch, false);
        for (start, row) in self.batch.starts.iter().zip(flow.states.chunks_exact(hidden)) {
            for (sum, value) in flow.branch[start * hidden..][..hidden].iter_mut().zip(row) {
                *sum += value;
            }
        }
        std::mem::swap(&mut flow.states, &mut flow.branch);
    }

    /// The gradients of queries, keys and values of all sequences.
    fn slopes(&self, tape: &LayerTape, flow: &mut Flow) {
        let hidden = self.hidden();
        let width = if self.first { 2 * hidden } else { 3 * hidden };
        let work = self.sequences();
        let parts = split(&mut flow.qkv, work.iter().map(|work| work.keys * width));
        let apart = flow.queries.chunks_exact_mut(hidden);
        let mut weights = &tape.weights[..];
        let mut contexts = &flow.branch[..];
        let mut tasks = Vec::with_capacity(work.len());
        for (at, ((work, all), queries)) in work.iter().zip(parts).zip(apart).enumerate() {
            let (own, rest) = weights.split_at(work.weights());
            weights = rest;
            let (context, rest) = contexts.split_at(work.queries * hidden);
            contexts = rest;
            let target = if self.first {
                Into3::Apart { queries, others: all, hidden }
            } else {
                Into3::Together { all, hidden }
            };
            tasks.push((at, work, own, context, target));
        }
        tasks.into_par_iter().for_each_init(
            || (Vec::new(), Vec::new()),
            |(scratch, slopes), (at, work, weights, context, target)| {
                let sources = self.sources(tape, at);
                work.backward(sources, weights, context, target, (scratch, slopes));
            },
        );
    }
}

/// The rows at `starts` without the last of those, which is the end.
fn gather(states: &[f32], starts: &[usize], hidden: usize, out: &mut Vec<f32>) {
    out.clear();
    for start in &starts[..starts.len() - 1] {
        out.extend_from_slice(&states[start * hidden..][..hidden]);
    }
}

/// Consecutive parts of `data` of these lengths.
fn split(mut data: &mut [f32], lengths: impl Iterator<Item = usize>) -> Vec<&mut [f32]> {
    let mut parts = Vec::new();
    for len in lengths {
        let (part, rest) = data.split_at_mut(len);
        parts.push(part);
        data = rest;
    }
    parts
}

/// Where a layer's weight and bias lie among all gradients.
pub(super) fn gradient<'a>(all: &'a mut [f32], at: &Pair) -> LinearGradient<'a> {
    LinearGradient { all, weight: at.weight.clone(), bias: at.bias.clone() }
}
