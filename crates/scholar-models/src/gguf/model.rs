//! The forward pass of `llama` and `qwen2` files.
//!
//! Both are the same decoder: embedding, then per layer norm, attention with grouped queries and rotary positions,
//! norm, gated feed-forward. They differ in the pairing of rotary positions and in the biases of `qwen2`'s query, key
//! and value.

use candle_core::CpuStorage;

use super::attention::{HeadShape, LayerCache};
use super::error::GgufError;
use super::file::GgufFile;
use super::kernels::{add, gate, rms_norm};
use super::rope::{Pairing, Rope};
use super::weights::{EmbeddingTable, Linear, vector};

/// Architectures with a forward pass here.
pub(super) const ARCHITECTURES: &[&str] = &["llama", "qwen2"];

/// Upper limits of what a header may claim: beyond any published model, small enough that no product overflows.
const MAX_LAYERS: usize = 1024;
const MAX_WIDTH: usize = 1 << 20;
const MAX_CONTEXT: usize = 1 << 24;

/// Sizes and constants of a model, read from metadata.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hyperparameters {
    pub(super) n_layers: usize,
    pub(super) dim: usize,
    pub(super) n_hidden: usize,
    pub(super) n_vocab: usize,
    pub(super) heads: HeadShape,
    /// Longest sequence the model was made for.
    pub(super) context: usize,
    pub(super) epsilon: f32,
    pub(super) rope_base: f32,
    pub(super) rope_scale: f32,
    pub(super) pairing: Pairing,
    /// Query, key and value have biases.
    pub(super) biased: bool,
}

impl Hyperparameters {
    /// Reads and checks them.
    pub(super) fn read(file: &GgufFile) -> Result<Self, GgufError> {
        let architecture = file.text("general.architecture")?;
        let (pairing, biased) = match architecture {
            "llama" => (Pairing::Neighbours, false),
            "qwen2" => (Pairing::Halves, true),
            other => {
                return Err(GgufError::UnsupportedArchitecture {
                    path: file.path.clone(),
                    found: other.to_owned(),
                    supported: ARCHITECTURES,
                });
            }
        };
        let unsupported = |what: String| GgufError::Unsupported { path: file.path.clone(), what };
        let key = |name: &str| format!("{architecture}.{name}");
        let dim = file.count(&key("embedding_length"), MAX_WIDTH)?;
        let n_heads = file.count(&key("attention.head_count"), MAX_WIDTH)?;
        let n_kv = file.count_opt(&key("attention.head_count_kv"), MAX_WIDTH)?.unwrap_or(n_heads);
        let head_dim = match file.count_opt(&key("attention.key_length"), MAX_WIDTH)? {
            Some(length) => length,
            None => dim / n_heads,
        };
        if !n_heads.is_multiple_of(n_kv) || head_dim == 0 || !head_dim.is_multiple_of(2) {
            return Err(unsupported(format!(
                "{n_heads} query heads and {n_kv} key heads of width {head_dim}"
            )));
        }
        for (name, expected) in
            [("attention.value_length", head_dim), ("rope.dimension_count", head_dim)]
        {
            if file.count_opt(&key(name), MAX_WIDTH)?.is_some_and(|found| found != expected) {
                return Err(unsupported(format!("{name} other than the width of a head")));
            }
        }
        if file.count_opt(&key("expert_count"), MAX_WIDTH).is_ok_and(|n| n.is_some()) {
            return Err(unsupported("a mixture of experts".to_owned()));
        }
        let rope_scale = match file.text_opt(&key("rope.scaling.type")) {
            None | Some("none") => 1.0,
            Some("linear") => file.float_opt(&key("rope.scaling.factor"))?.unwrap_or(1.0),
            Some(other) => return Err(unsupported(format!("rope scaling `{other}`"))),
        };
        Ok(Self {
            n_layers: file.count(&key("block_count"), MAX_LAYERS)?,
            dim,
            n_hidden: file.count(&key("feed_forward_length"), MAX_WIDTH)?,
            n_vocab: file.texts("tokenizer.ggml.tokens")?.len(),
            heads: HeadShape { n_heads, n_kv, dim: head_dim },
            context: file.count(&key("context_length"), MAX_CONTEXT)?,
            epsilon: file.float_opt(&key("attention.layer_norm_rms_epsilon"))?.unwrap_or(1e-5),
            rope_base: file.float_opt(&key("rope.freq_base"))?.unwrap_or(10_000.0),
            rope_scale,
            pairing,
            biased,
        })
    }
}

struct Layer {
    attention_norm: Vec<f32>,
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    feed_norm: Vec<f32>,
    gate: Linear,
    up: Linear,
    down: Linear,
}

impl Layer {
    fn load(file: &GgufFile, shape: &Hyperparameters, i: usize) -> Result<Self, GgufError> {
        let Hyperparameters { dim, n_hidden, heads, biased, .. } = *shape;
        let (query_width, key_width) = (heads.n_heads * heads.dim, heads.n_kv * heads.dim);
        let name = |part: &str| format!("blk.{i}.{part}");
        let projection = if biased { Linear::load_biased } else { Linear::load };
        Ok(Self {
            attention_norm: vector(file, &name("attn_norm.weight"), dim)?,
            query: projection(file, &name("attn_q"), query_width, dim)?,
            key: projection(file, &name("attn_k"), key_width, dim)?,
            value: projection(file, &name("attn_v"), key_width, dim)?,
            output: Linear::load(file, &name("attn_output"), dim, query_width)?,
            feed_norm: vector(file, &name("ffn_norm.weight"), dim)?,
            gate: Linear::load(file, &name("ffn_gate"), n_hidden, dim)?,
            up: Linear::load(file, &name("ffn_up"), n_hidden, dim)?,
            down: Linear::load(file, &name("ffn_down"), dim, n_hidden)?,
        })
    }

    fn linears(&self) -> [&Linear; 7] {
        [&self.query, &self.key, &self.value, &self.output, &self.gate, &self.up, &self.down]
    }
}

/// Keys and values of one sequence in all layers.
pub(super) struct Cache {
    layers: Vec<LayerCache>,
    capacity: usize,
}

impl Cache {
    /// Positions it has room for.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Takes the first `n` positions of `other`.
    pub(super) fn copy_prefix(&mut self, other: &Self, n: usize) {
        for (to, from) in self.layers.iter_mut().zip(&other.layers) {
            to.copy_prefix(from, n);
        }
    }
}

/// A loaded model. Sequences live in [`Cache`]s beside it.
pub(super) struct Model {
    shape: Hyperparameters,
    embedding: EmbeddingTable,
    layers: Vec<Layer>,
    norm: Vec<f32>,
    output: Linear,
    rope: Rope,
    positions: usize,
}

impl Model {
    /// Checks every tensor and builds the tables for `positions` positions. Weights stay in the map: this is quick.
    pub(super) fn load(
        file: &GgufFile,
        shape: Hyperparameters,
        positions: usize,
    ) -> Result<Self, GgufError> {
        let layers =
            (0..shape.n_layers).map(|i| Layer::load(file, &shape, i)).collect::<Result<_, _>>()?;
        let output =
            if file.tensors.contains_key("output.weight") { "output" } else { "token_embd" };
        let factors = file
            .tensors
            .contains_key("rope_freqs.weight")
            .then(|| vector(file, "rope_freqs.weight", shape.heads.dim / 2))
            .transpose()?;
        let rope = Rope::new(
            shape.pairing,
            shape.heads.dim,
            positions,
            shape.rope_base,
            shape.rope_scale,
            factors.as_deref(),
        );
        Ok(Self {
            embedding: EmbeddingTable::load(file, "token_embd.weight", shape.n_vocab, shape.dim)?,
            layers,
            norm: vector(file, "output_norm.weight", shape.dim)?,
            output: Linear::load(file, output, shape.n_vocab, shape.dim)?,
            rope,
            positions,
            shape,
        })
    }

    /// Lets the kernels pack the weights of layer `i` (or, at `n_layers`, the output matrix).
    pub(super) fn pack(&self, i: usize) -> candle_core::Result<()> {
        // One row is how replies are decoded, two and thirty-two how prompts are read: candle packs differently.
        match self.layers.get(i) {
            Some(layer) => {
                layer.linears().into_iter().try_for_each(|linear| linear.pack(&[1, 2, 32]))
            }
            None => self.output.pack(&[1]),
        }
    }

    /// Number of [`Model::pack`] steps.
    pub(super) fn pack_steps(&self) -> usize {
        self.layers.len() + 1
    }

    /// An empty sequence.
    pub(super) fn cache(&self) -> Cache {
        let layers =
            self.layers.iter().map(|_| LayerCache::new(self.shape.heads, self.positions)).collect();
        Cache { layers, capacity: self.positions }
    }

    /// Reads `tokens` at `position..` of the sequence in `cache`, whose earlier positions are filled, and returns the
    /// logits of the token after the last one, `[n_vocab]`.
    ///
    /// The caller keeps `position + tokens.len()` within the capacity and token numbers within the vocabulary.
    pub(super) fn forward(
        &self,
        cache: &mut Cache,
        tokens: &[u32],
        position: usize,
    ) -> candle_core::Result<Vec<f32>> {
        let x = self.read(cache, tokens, position)?;
        let last = &x[x.len() - self.shape.dim..];
        let last = rms_norm(last, &self.norm, self.shape.epsilon);
        self.output.forward(&CpuStorage::F32(last))
    }

    /// As [`Model::forward`] without the logits, for all but the last part of a prompt.
    pub(super) fn read(
        &self,
        cache: &mut Cache,
        tokens: &[u32],
        position: usize,
    ) -> candle_core::Result<Vec<f32>> {
        let Hyperparameters { heads, epsilon, .. } = self.shape;
        let (query_width, key_width) = (heads.n_heads * heads.dim, heads.n_kv * heads.dim);
        let mut x = self.embedding.rows(tokens)?;
        for (layer, cache) in self.layers.iter().zip(&mut cache.layers) {
            let normed = CpuStorage::F32(rms_norm(&x, &layer.attention_norm, epsilon));
            let mut queries = layer.query.forward(&normed)?;
            let mut keys = layer.key.forward(&normed)?;
            let values = layer.value.forward(&normed)?;
            self.rope.turn(&mut queries, query_width, position);
            self.rope.turn(&mut keys, key_width, position);
            cache.store(position, &keys, &values);
            let attended = CpuStorage::F32(cache.attend(&queries, position));
            add(&mut x, &layer.output.forward(&attended)?);

            let normed = CpuStorage::F32(rms_norm(&x, &layer.feed_norm, epsilon));
            let mut hidden = layer.gate.forward(&normed)?;
            let up = layer.up.forward(&normed)?;
            gate(&mut hidden, &up);
            add(&mut x, &layer.down.forward(&CpuStorage::F32(hidden))?);
        }
        Ok(x)
    }
}
