//! The forward pass of a T5, one text at a time.
//!
//! Sizes below: `n` rows of text, `width` of the model, `inner` = heads × head size, which need not be the width. T5 differs
//! from BERT in that it normalises before each half of a block and by the root mean square alone, has no biases, does
//! not scale attention scores, and adds to them a bias by distance that all layers of a stack share.
//!
//! The decoder keeps no keys and values between steps: a reply has at most ten tokens, and what a step costs is to read
//! the weights, which it has to do in any case.

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{D, Device, Module as _, Tensor};

use super::config::{Config, FeedForward};
use crate::error::ModelError;
use crate::weights::Weights;

/// Widths of quantised products are multiples of this.
const QUANTISED_BLOCK: usize = 32;
/// Most scores of attention computed at once, in numbers: 64 MiB.
const SCORES: usize = 16 << 20;

/// A loaded T5.
pub(super) struct Network {
    config: Config,
    words: Tensor,
    encoder: Stack,
    decoder: Stack,
    output: QMatMul,
}

/// Encoder or decoder.
struct Stack {
    blocks: Vec<Block>,
    norm: Tensor,
    /// `[buckets, heads]`, row after row.
    bias: Vec<f32>,
}

struct Block {
    attention: Attention,
    attention_norm: Tensor,
    /// Attention over the encoder's states, and its norm: decoders only.
    cross: Option<(Attention, Tensor)>,
    feed_forward: Gate,
    feed_forward_norm: Tensor,
}

struct Attention {
    query: QMatMul,
    key: QMatMul,
    value: QMatMul,
    output: QMatMul,
}

struct Gate {
    first: QMatMul,
    /// What the first is multiplied by, in gated forms.
    second: Option<QMatMul>,
    output: QMatMul,
}

/// What attention looks at, `[heads, n, head_dim]` each.
struct KeysValues {
    keys: Tensor,
    values: Tensor,
}

/// Keys and values of one text for the cross-attention of every decoder layer.
type Memory = Vec<KeysValues>;

type Result<T> = candle_core::Result<T>;

impl Network {
    /// Reads all weights, in eight bits where `quantised` and the widths allow it.
    ///
    /// # Errors
    /// When a tensor is absent or has another shape than `config` asks for.
    pub(super) fn load(
        weights: &Weights,
        config: Config,
        quantised: bool,
    ) -> std::result::Result<Self, ModelError> {
        let (vocabulary, width) = (config.vocabulary, config.width);
        let loader = Loader { weights, config: &config, quantised };
        let encoder = loader.stack("encoder", config.encoder_layers, false)?;
        let decoder = loader.stack("decoder", config.decoder_layers, true)?;
        let output = if config.tied { "shared" } else { "lm_head" };
        let output = loader.linear(output, vocabulary, width)?;
        let words = weights.get("shared.weight", &[vocabulary, width])?;
        let words = Tensor::from_vec(words, (vocabulary, width), &Device::Cpu)
            .map_err(|e| loader.failed("shared", &e))?;
        Ok(Self { config, words, encoder, decoder, output })
    }

    /// The likeliest tokens after the start token, at most `most` and without the end token, and the logits of the first.
    ///
    /// # Errors
    /// When the model cannot compute, which shapes checked at loading leave to memory alone.
    pub(super) fn greedy(
        &self,
        prompt: &[u32],
        most: usize,
    ) -> std::result::Result<(Vec<u32>, Vec<f32>), ModelError> {
        let compute = || -> Result<(Vec<u32>, Vec<f32>)> {
            let memory = self.memory(prompt)?;
            let mut ids = vec![self.config.start];
            let mut first = Vec::new();
            for _ in 0..most {
                let logits = self.next(&ids, &memory)?;
                let best = highest(&logits);
                if first.is_empty() {
                    first = logits;
                }
                if best == self.config.end {
                    break;
                }
                ids.push(best);
            }
            Ok((ids.split_off(1), first))
        };
        compute().map_err(|error| ModelError::Compute { problem: error.to_string() })
    }

    /// Reads the text; what the decoder looks at.
    fn memory(&self, prompt: &[u32]) -> Result<Memory> {
        let mut states = self.embed(prompt)?;
        let n = prompt.len();
        let bias = self.distances(&self.encoder.bias, n, n, true);
        for block in &self.encoder.blocks {
            let Block { attention, attention_norm, cross: _, feed_forward, feed_forward_norm } =
                block;
            let normed = self.norm(&states, attention_norm)?;
            let own = self.keys_values(attention, &normed)?;
            let seen = self.attend(attention, &normed, &own, Some(&bias))?;
            states = (states + seen)?;
            let normed = self.norm(&states, feed_forward_norm)?;
            states = (states + self.feed_forward(feed_forward, &normed)?)?;
        }
        let states = self.norm(&states, &self.encoder.norm)?;
        let cross = self.decoder.blocks.iter().filter_map(|block| block.cross.as_ref());
        cross.map(|(attention, _)| self.keys_values(attention, &states)).collect()
    }

    /// Logits of the token after `ids`.
    fn next(&self, ids: &[u32], memory: &Memory) -> Result<Vec<f32>> {
        let mut states = self.embed(ids)?;
        let n = ids.len();
        let bias = self.distances(&self.decoder.bias, n, n, false);
        for (block, memory) in self.decoder.blocks.iter().zip(memory) {
            let Block { attention, attention_norm, cross, feed_forward, feed_forward_norm } = block;
            let normed = self.norm(&states, attention_norm)?;
            let own = self.keys_values(attention, &normed)?;
            let seen = self.attend(attention, &normed, &own, Some(&bias))?;
            states = (states + seen)?;
            if let Some((attention, norm)) = cross {
                let normed = self.norm(&states, norm)?;
                states = (states + self.attend(attention, &normed, memory, None)?)?;
            }
            let normed = self.norm(&states, feed_forward_norm)?;
            states = (states + self.feed_forward(feed_forward, &normed)?)?;
        }
        let last = self.norm(&states.narrow(0, n - 1, 1)?, &self.decoder.norm)?;
        // Tied embeddings are not scaled for being looked up, so their output is.
        let last =
            if self.config.tied { (last * (self.config.width as f64).powf(-0.5))? } else { last };
        self.output.forward(&last)?.flatten_all()?.to_vec1()
    }

    fn embed(&self, ids: &[u32]) -> Result<Tensor> {
        self.words.index_select(&Tensor::new(ids, &Device::Cpu)?, 0)
    }

    /// `x / sqrt(mean(x^2) + epsilon) * scale`, row by row.
    fn norm(&self, states: &Tensor, scale: &Tensor) -> Result<Tensor> {
        let mean = states.sqr()?.mean_keepdim(D::Minus1)?;
        let root = (mean + self.config.epsilon)?.sqrt()?;
        states.broadcast_div(&root)?.broadcast_mul(scale)
    }

    /// `[n, inner]` as `[heads, n, head_dim]`.
    fn by_head(&self, rows: &Tensor) -> Result<Tensor> {
        let n = rows.dim(0)?;
        let Config { heads, head_dim, .. } = self.config;
        rows.reshape((n, heads, head_dim))?.transpose(0, 1)?.contiguous()
    }

    fn keys_values(&self, attention: &Attention, states: &Tensor) -> Result<KeysValues> {
        let keys = self.by_head(&attention.key.forward(states)?)?;
        Ok(KeysValues { keys, values: self.by_head(&attention.value.forward(states)?)? })
    }

    /// Attention of all rows over keys and values, a few heads at a time so that the scores of a long text fit.
    fn attend(
        &self,
        attention: &Attention,
        states: &Tensor,
        KeysValues { keys, values }: &KeysValues,
        bias: Option<&Distances>,
    ) -> Result<Tensor> {
        let queries = self.by_head(&attention.query.forward(states)?)?;
        let (n, seen) = (queries.dim(1)?, keys.dim(1)?);
        let heads = self.config.heads;
        let at_once = (SCORES / (n * seen).max(1)).clamp(1, heads);
        let mut parts = Vec::new();
        for first in (0..heads).step_by(at_once) {
            let count = at_once.min(heads - first);
            let keys = keys.narrow(0, first, count)?.transpose(1, 2)?;
            let scores =
                queries.narrow(0, first, count)?.contiguous()?.matmul(&keys.contiguous()?)?;
            let scores = match bias {
                Some(bias) => (scores + bias.of_heads(first, count)?)?,
                None => scores,
            };
            let weights = softmax(&scores)?;
            parts.push(weights.matmul(&values.narrow(0, first, count)?.contiguous()?)?);
        }
        let context = Tensor::cat(&parts, 0)?.transpose(0, 1)?.contiguous()?;
        let inner = heads * self.config.head_dim;
        attention.output.forward(&context.reshape((n, inner))?)
    }

    fn feed_forward(&self, gate: &Gate, states: &Tensor) -> Result<Tensor> {
        let first = gate.first.forward(states)?;
        let middle = match (self.config.feed_forward, &gate.second) {
            (FeedForward::GatedGelu, Some(second)) => (first.gelu()? * second.forward(states)?)?,
            _ => first.relu()?,
        };
        gate.output.forward(&middle)
    }

    /// The biases of `[rows, columns]` scores.
    fn distances(&self, table: &[f32], rows: usize, columns: usize, both_ways: bool) -> Distances {
        let heads = self.config.heads;
        let reach = rows.max(columns);
        let one_head = |head: usize| -> Vec<f32> {
            let distances = (1..2 * reach).map(|at| at.cast_signed() - reach.cast_signed());
            let bias = distances.map(|distance| {
                if !both_ways && distance > 0 {
                    return f32::NEG_INFINITY;
                }
                table[self.bucket(distance, both_ways) * heads + head]
            });
            bias.collect()
        };
        Distances { by_head: (0..heads).map(one_head).collect(), reach, rows, columns }
    }

    /// The bucket of the distance `key - query`.
    ///
    /// Source: T5. Half of the buckets (of each direction where both are seen) are for the exact small distances, the rest
    /// logarithmic up to the farthest.
    fn bucket(&self, distance: isize, both_ways: bool) -> usize {
        let buckets = if both_ways { self.config.buckets / 2 } else { self.config.buckets };
        let side = if both_ways && distance > 0 { buckets } else { 0 };
        let away = if both_ways { distance.unsigned_abs() } else { distance.min(0).unsigned_abs() };
        let exact = buckets / 2;
        let within = if away < exact {
            away
        } else {
            let span = (self.config.farthest as f32 / exact as f32).ln();
            let ratio = (away as f32 / exact as f32).ln() / span;
            (exact + (ratio * (buckets - exact) as f32) as usize).min(buckets - 1)
        };
        side + within
    }
}

/// Biases by distance, from `-(reach - 1)` to `reach - 1`, for each head.
struct Distances {
    by_head: Vec<Vec<f32>>,
    reach: usize,
    rows: usize,
    columns: usize,
}

impl Distances {
    /// `[count, rows, columns]`.
    fn of_heads(&self, first: usize, count: usize) -> Result<Tensor> {
        let Self { by_head, reach, rows, columns } = self;
        let mut values = Vec::with_capacity(count * rows * columns);
        for bias in &by_head[first..first + count] {
            for row in 0..*rows {
                // Column 0 lies `row` behind.
                let start = reach - 1 - row;
                values.extend_from_slice(&bias[start..start + columns]);
            }
        }
        Tensor::from_vec(values, (count, *rows, *columns), &Device::Cpu)
    }
}

fn softmax(scores: &Tensor) -> Result<Tensor> {
    let most = scores.max_keepdim(D::Minus1)?;
    let weights = scores.broadcast_sub(&most)?.exp()?;
    weights.broadcast_div(&weights.sum_keepdim(D::Minus1)?)
}

/// Position of the highest logit, the first of equals.
fn highest(logits: &[f32]) -> u32 {
    let mut best = 0;
    for (at, logit) in (0..).zip(logits) {
        if *logit > logits[best as usize] {
            best = at;
        }
    }
    best
}

/// Reads tensors by the names of transformers' checkpoints.
struct Loader<'a> {
    weights: &'a Weights,
    config: &'a Config,
    quantised: bool,
}

impl Loader<'_> {
    fn stack(
        &self,
        stack: &str,
        layers: usize,
        crossed: bool,
    ) -> std::result::Result<Stack, ModelError> {
        let blocks =
            (0..layers).map(|at| self.block(&format!("{stack}.block.{at}.layer"), crossed));
        let bias = format!("{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight");
        Ok(Stack {
            blocks: blocks.collect::<std::result::Result<_, _>>()?,
            norm: self.scale(&format!("{stack}.final_layer_norm"))?,
            bias: self.weights.get(&bias, &[self.config.buckets, self.config.heads])?,
        })
    }

    fn block(&self, layer: &str, crossed: bool) -> std::result::Result<Block, ModelError> {
        let cross = if crossed {
            let attention = self.attention(&format!("{layer}.1.EncDecAttention"))?;
            Some((attention, self.scale(&format!("{layer}.1.layer_norm"))?))
        } else {
            None
        };
        let last = if crossed { 2 } else { 1 };
        Ok(Block {
            attention: self.attention(&format!("{layer}.0.SelfAttention"))?,
            attention_norm: self.scale(&format!("{layer}.0.layer_norm"))?,
            cross,
            feed_forward: self.gate(&format!("{layer}.{last}.DenseReluDense"))?,
            feed_forward_norm: self.scale(&format!("{layer}.{last}.layer_norm"))?,
        })
    }

    fn attention(&self, name: &str) -> std::result::Result<Attention, ModelError> {
        let width = self.config.width;
        let inner = self.config.heads * self.config.head_dim;
        Ok(Attention {
            query: self.linear(&format!("{name}.q"), inner, width)?,
            key: self.linear(&format!("{name}.k"), inner, width)?,
            value: self.linear(&format!("{name}.v"), inner, width)?,
            output: self.linear(&format!("{name}.o"), width, inner)?,
        })
    }

    fn gate(&self, name: &str) -> std::result::Result<Gate, ModelError> {
        let Config { width, hidden, feed_forward, .. } = *self.config;
        let (first, second) = match feed_forward {
            FeedForward::Relu => ("wi", None),
            FeedForward::GatedGelu => ("wi_0", Some("wi_1")),
        };
        let second = second.map(|part| self.linear(&format!("{name}.{part}"), hidden, width));
        Ok(Gate {
            first: self.linear(&format!("{name}.{first}"), hidden, width)?,
            second: second.transpose()?,
            output: self.linear(&format!("{name}.wo"), width, hidden)?,
        })
    }

    fn linear(&self, name: &str, n: usize, k: usize) -> std::result::Result<QMatMul, ModelError> {
        let values = self.weights.get(&format!("{name}.weight"), &[n, k])?;
        let quantised = self.quantised && k.is_multiple_of(QUANTISED_BLOCK);
        let build = || -> Result<QMatMul> {
            let weight = Tensor::from_vec(values, (n, k), &Device::Cpu)?;
            if quantised {
                return QMatMul::from_qtensor(QTensor::quantize(&weight, GgmlDType::Q8_0)?);
            }
            Ok(QMatMul::Tensor(weight))
        };
        build().map_err(|e| self.failed(name, &e))
    }

    fn scale(&self, name: &str) -> std::result::Result<Tensor, ModelError> {
        let width = self.config.width;
        let values = self.weights.get(&format!("{name}.weight"), &[width])?;
        Tensor::from_vec(values, width, &Device::Cpu).map_err(|e| self.failed(name, &e))
    }

    fn failed(&self, tensor: &str, error: &candle_core::Error) -> ModelError {
        self.weights.problem(tensor, format!("cannot be used: {error}"))
    }
}
