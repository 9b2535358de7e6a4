//! One fused forward pass over sequences of different lengths, without padding.
//!
//! The tokens of all sequences of a batch lie behind each other as rows of one matrix; only attention looks at where one
//! ends and the next begins. Padding would cost a third of the work on real passages.

use parking_lot::Mutex;

use super::config::{Architecture, NetworkConfig};
use crate::error::ModelError;
use crate::kernels::{
    Aligned, Attention, AttentionScratch, DistanceBias, Engine, LayerNorm, Linear, Target,
};
use crate::tokens::Tokens;
use crate::weights::Weights;

/// Which of a sequence's last hidden states are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Those of all tokens.
    All,
    /// That of the first, as of classifiers: the last layer then computes one row of each sequence behind its attention,
    /// which saves an eighth of the products of six layers.
    First,
}

/// A loaded encoder, whatever back-end runs it.
pub(crate) trait Network: Send + Sync {
    /// Computes the last hidden states of `batch` and hands them to `sink` sequence by sequence: position in `batch`,
    /// `[tokens, hidden]`, or `[1, hidden]` where the first is `wanted`.
    fn states(&self, batch: &[&Tokens], wanted: Wanted, sink: &mut dyn FnMut(usize, &[f32]));

    /// Does whatever a thread needs before [`Network::states`]; undone on drop.
    fn enter(&self) -> crate::kernels::ThreadGuard;
}

/// The weights of an encoder, packed for one engine.
pub(crate) struct Transformer<E: Engine> {
    engine: E,
    config: NetworkConfig,
    words: Vec<f32>,
    positions: Vec<f32>,
    segments: Vec<f32>,
    norm: LayerNorm,
    layers: Vec<Layer<E::Weight>>,
    /// `[heads, 2 * reach + 1]` with reach = token limit - 1, empty where attention has no bias.
    distance_bias: Vec<f32>,
    workspaces: Mutex<Vec<Workspace<E::Activation>>>,
}

struct Layer<W> {
    query_key_value: Linear<W>,
    attention_output: Linear<W>,
    attention_norm: LayerNorm,
    intermediate: Linear<W>,
    output: Linear<W>,
    output_norm: LayerNorm,
}

/// Buffers of one pass, kept between passes.
struct Workspace<A> {
    states: Aligned<f32>,
    sums: Aligned<f32>,
    activations: Aligned<A>,
    query_key_value: Aligned<A>,
    context: Aligned<A>,
    intermediate: Aligned<A>,
    attention: AttentionScratch<A>,
}

/// What the three families call their tensors.
struct Names {
    attention_query: &'static str,
    attention_key: &'static str,
    attention_value: &'static str,
    attention_output: &'static str,
    attention_norm: &'static str,
}

const BERT_NAMES: Names = Names {
    attention_query: "attention.self.query",
    attention_key: "attention.self.key",
    attention_value: "attention.self.value",
    attention_output: "attention.output.dense",
    attention_norm: "attention.output.LayerNorm",
};

const MPNET_NAMES: Names = Names {
    attention_query: "attention.attn.q",
    attention_key: "attention.attn.k",
    attention_value: "attention.attn.v",
    attention_output: "attention.attn.o",
    attention_norm: "attention.LayerNorm",
};

impl<E: Engine> Transformer<E>
where
    Aligned<E::Activation>: Buffer<E::Activation>,
{
    /// Reads and packs all weights.
    ///
    /// # Errors
    /// When a tensor is absent or has another shape than `config` asks for.
    pub(crate) fn load(
        engine: E,
        weights: &Weights,
        config: NetworkConfig,
    ) -> Result<Self, ModelError> {
        let hidden = config.hidden;
        let names = match config.architecture {
            Architecture::Bert | Architecture::Roberta => &BERT_NAMES,
            Architecture::Mpnet => &MPNET_NAMES,
        };
        let table = |name: &str, rows: usize| {
            weights.get(&format!("embeddings.{name}.weight"), &[rows, hidden])
        };
        let segments = if config.segments == 0 {
            Vec::new()
        } else {
            table("token_type_embeddings", config.segments)?
        };
        let layers = (0..config.layers)
            .map(|layer| load_layer(&engine, weights, &config, names, layer))
            .collect::<Result<_, _>>()?;
        let distance_bias = if config.buckets == 0 {
            Vec::new()
        } else {
            let shape = [config.buckets, config.heads];
            let table = weights.get("encoder.relative_attention_bias.weight", &shape)?;
            distance_bias(&table, &config)
        };
        Ok(Self {
            words: table("word_embeddings", config.vocabulary)?,
            positions: table("position_embeddings", config.positions)?,
            segments,
            norm: load_norm(weights, "embeddings.LayerNorm", &config)?,
            layers,
            distance_bias,
            workspaces: Mutex::new(Vec::new()),
            engine,
            config,
        })
    }

    /// Word + segment + position, row after row.
    fn embed(&self, batch: &[&Tokens], out: &mut [f32]) {
        let hidden = self.config.hidden;
        let first = self.config.first_position();
        let row_of = |table: &'_ [f32], row: usize| -> std::ops::Range<usize> {
            debug_assert!((row + 1) * hidden <= table.len(), "ids are checked when texts are read");
            row * hidden..(row + 1) * hidden
        };
        let mut rows = out.chunks_exact_mut(hidden);
        for tokens in batch {
            for (position, id) in tokens.ids.iter().enumerate() {
                let Some(row) = rows.next() else { return };
                let word = &self.words[row_of(&self.words, *id as usize)];
                let place = &self.positions[row_of(&self.positions, first + position)];
                if self.segments.is_empty() {
                    for ((out, word), place) in row.iter_mut().zip(word).zip(place) {
                        *out = word + place;
                    }
                } else {
                    let known = self.segments.len() / hidden;
                    let segment = (tokens.types[position] as usize).min(known - 1);
                    let segment = &self.segments[row_of(&self.segments, segment)];
                    for (((out, word), place), segment) in
                        row.iter_mut().zip(word).zip(place).zip(segment)
                    {
                        *out = word + segment + place;
                    }
                }
            }
        }
    }

    fn pass(&self, batch: &[&Tokens], wanted: Wanted, space: &mut Workspace<E::Activation>) {
        let NetworkConfig { hidden, heads, intermediate, layers, .. } = self.config;
        let mut rows: usize = batch.iter().map(|tokens| tokens.ids.len()).sum();
        let padded = E::padded_rows(rows);
        space.states.need(padded * hidden);
        space.sums.need(padded * hidden);
        space.query_key_value.need(padded * 3 * hidden);
        space.context.need(padded * hidden);
        space.intermediate.need(padded * intermediate);
        if E::SEPARATE {
            space.activations.need(padded * hidden);
        }
        let Workspace {
            states,
            sums,
            activations,
            query_key_value,
            context,
            intermediate: middle,
            attention,
        } = space;
        let engine = &self.engine;
        self.embed(batch, &mut sums[..rows * hidden]);
        engine.layer_norm(sums, rows, &self.norm, states, activations.all_mut());
        let reach = self.config.token_limit() - 1;
        let bias = (!self.distance_bias.is_empty())
            .then_some(DistanceBias { table: &self.distance_bias, reach });
        for (at, layer) in self.layers.iter().enumerate() {
            let input = E::activations(states, activations.all());
            engine.product(
                input,
                rows,
                &layer.query_key_value,
                Target::Store(query_key_value.all_mut()),
            );
            let mut row = 0;
            for tokens in batch {
                let len = tokens.ids.len();
                let work = Attention {
                    qkv: &query_key_value.all()[row * 3 * hidden..],
                    context: &mut context.all_mut()[row * hidden..],
                    len,
                    heads,
                    head_dim: hidden / heads,
                    bias,
                };
                engine.attention(work, attention);
                row += len;
            }
            if wanted == Wanted::First && at + 1 == layers {
                rows = firsts_to_the_front(batch, hidden, states, context.all_mut());
            }
            let target = Target::AddTo { residual: states, out: sums };
            engine.product(context.all(), rows, &layer.attention_output, target);
            engine.layer_norm(sums, rows, &layer.attention_norm, states, activations.all_mut());
            let input = E::activations(states, activations.all());
            engine.product(input, rows, &layer.intermediate, Target::Gelu(middle.all_mut()));
            let target = Target::AddTo { residual: states, out: sums };
            engine.product(middle.all(), rows, &layer.output, target);
            engine.layer_norm(sums, rows, &layer.output_norm, states, activations.all_mut());
        }
    }
}

/// Moves the rows of first tokens to the front of both buffers, in order; returns how many there are.
fn firsts_to_the_front<A: Copy>(
    batch: &[&Tokens],
    hidden: usize,
    states: &mut [f32],
    context: &mut [A],
) -> usize {
    let mut start = 0;
    for (at, tokens) in batch.iter().enumerate() {
        let (from, to) = (start * hidden..(start + 1) * hidden, at * hidden);
        states.copy_within(from.clone(), to);
        context.copy_within(from, to);
        start += tokens.ids.len();
    }
    batch.len()
}

/// A buffer seen whole; lets generic code use [`Aligned`] of either number type.
pub(crate) trait Buffer<A> {
    fn all(&self) -> &[A];
    fn all_mut(&mut self) -> &mut [A];
}

impl Buffer<f32> for Aligned<f32> {
    fn all(&self) -> &[f32] {
        self
    }

    fn all_mut(&mut self) -> &mut [f32] {
        self
    }
}

impl Buffer<u16> for Aligned<u16> {
    fn all(&self) -> &[u16] {
        self
    }

    fn all_mut(&mut self) -> &mut [u16] {
        self
    }
}

impl<E: Engine> Network for Transformer<E>
where
    Aligned<E::Activation>: Buffer<E::Activation>,
{
    fn states(&self, batch: &[&Tokens], wanted: Wanted, sink: &mut dyn FnMut(usize, &[f32])) {
        let reused = self.workspaces.lock().pop();
        let mut space = reused.unwrap_or_else(|| Workspace {
            states: Aligned::default(),
            sums: Aligned::default(),
            activations: Aligned::default(),
            query_key_value: Aligned::default(),
            context: Aligned::default(),
            intermediate: Aligned::default(),
            attention: AttentionScratch::default(),
        });
        self.pass(batch, wanted, &mut space);
        let mut start = 0;
        for (at, tokens) in batch.iter().enumerate() {
            let rows = if wanted == Wanted::First { 1 } else { tokens.ids.len() };
            let end = start + rows * self.config.hidden;
            sink(at, &space.states[start..end]);
            start = end;
        }
        self.workspaces.lock().push(space);
    }

    fn enter(&self) -> crate::kernels::ThreadGuard {
        self.engine.enter()
    }
}

fn load_layer<E: Engine>(
    engine: &E,
    weights: &Weights,
    config: &NetworkConfig,
    names: &Names,
    layer: usize,
) -> Result<Layer<E::Weight>, ModelError> {
    let (hidden, intermediate) = (config.hidden, config.intermediate);
    let linear = |parts: &[&str], n: usize, k: usize| -> Result<Linear<E::Weight>, ModelError> {
        let (mut weight, mut bias) = (Vec::with_capacity(n * k), Vec::with_capacity(n));
        let each = n / parts.len();
        for part in parts {
            let name = format!("encoder.layer.{layer}.{part}");
            weight.extend(weights.get(&format!("{name}.weight"), &[each, k])?);
            bias.extend(weights.get(&format!("{name}.bias"), &[each])?);
        }
        Ok(Linear { weight: engine.pack(&weight, n, k), bias, n, k })
    };
    let norm = |part: &str| load_norm(weights, &format!("encoder.layer.{layer}.{part}"), config);
    let attention = [names.attention_query, names.attention_key, names.attention_value];
    Ok(Layer {
        query_key_value: linear(&attention, 3 * hidden, hidden)?,
        attention_output: linear(&[names.attention_output], hidden, hidden)?,
        attention_norm: norm(names.attention_norm)?,
        intermediate: linear(&["intermediate.dense"], intermediate, hidden)?,
        output: linear(&["output.dense"], hidden, intermediate)?,
        output_norm: norm("output.LayerNorm")?,
    })
}

/// Reads a normalisation; checkpoints from before 2019 call scale and shift `gamma` and `beta`.
fn load_norm(
    weights: &Weights,
    name: &str,
    config: &NetworkConfig,
) -> Result<LayerNorm, ModelError> {
    let get = |new: &str, old: &str| {
        let new = format!("{name}.{new}");
        let old = format!("{name}.{old}");
        let name = if weights.has(&new) || !weights.has(&old) { new } else { old };
        weights.get(&name, &[config.hidden])
    };
    Ok(LayerNorm {
        scale: get("weight", "gamma")?,
        shift: get("bias", "beta")?,
        epsilon: config.epsilon,
    })
}

/// Spreads `[buckets, heads]` to one bias per head and distance `key - query`.
///
/// Source: T5's bidirectional buckets as `MPNet` uses them: half of the buckets for each direction; of these half for the
/// exact small distances, the rest logarithmic up to 128.
fn distance_bias(table: &[f32], config: &NetworkConfig) -> Vec<f32> {
    const FARTHEST: f32 = 128.0;
    let half = config.buckets / 2;
    let exact = half / 2;
    let bucket = |distance: isize| -> usize {
        let away = distance.unsigned_abs();
        let side = if distance > 0 { half } else { 0 };
        let within = if away < exact {
            away
        } else {
            let ratio = (away as f32 / exact as f32).ln() / (FARTHEST / exact as f32).ln();
            (exact + (ratio * (half - exact) as f32) as usize).min(half - 1)
        };
        side + within
    };
    let reach = (config.token_limit() - 1).cast_signed();
    (0..config.heads)
        .flat_map(|head| (-reach..=reach).map(move |distance| (head, distance)))
        .map(|(head, distance)| table[bucket(distance) * config.heads + head])
        .collect()
}
