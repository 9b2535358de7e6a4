//! The forward pass.

use super::attention::{LayerCache, Sight};
use super::error::GgufError;
use super::families::{Gate, Hyperparameters, Projections};
use super::file::GgufFile;
use super::kernels::{add, gelu, rms_norm, silu};
use super::pool::Pool;
use super::products::{Activations, Machine, Product, Target, multiply, multiply_gated};
use super::rope::Rope;
use super::weights::{Linear, Matrix, vector, vector_opt};
use crate::simd::SimdLevel;

struct Layer {
    attention_norm: Vec<f32>,
    query: Linear,
    key: Linear,
    value: Linear,
    /// Norms of each head of queries and keys, where the family has them.
    query_norm: Option<Vec<f32>>,
    key_norm: Option<Vec<f32>>,
    output: Linear,
    /// Norm of what attention adds.
    after_attention: Option<Vec<f32>>,
    feed_norm: Vec<f32>,
    gate: Linear,
    up: Linear,
    down: Linear,
    /// Norm of what the feed-forward part adds.
    after_feed: Option<Vec<f32>>,
    sight: Sight,
    local: bool,
}

impl Layer {
    fn load(file: &GgufFile, shape: &Hyperparameters, i: usize) -> Result<Self, GgufError> {
        let Hyperparameters { dim, n_hidden, heads, .. } = *shape;
        let (query_width, key_width) = (heads.n_heads * heads.dim, heads.n_kv * heads.dim);
        let name = |part: &str| format!("blk.{i}.{part}");
        let linear = |part: &str, n_out, n_in| Linear::load(file, &name(part), n_out, n_in);
        let ([query, key, value], [gate, up]) = match shape.projections {
            Projections::Apart => (
                [
                    linear("attn_q", query_width, dim)?,
                    linear("attn_k", key_width, dim)?,
                    linear("attn_v", key_width, dim)?,
                ],
                [linear("ffn_gate", n_hidden, dim)?, linear("ffn_up", n_hidden, dim)?],
            ),
            Projections::Fused => {
                let all = linear("attn_qkv", query_width + 2 * key_width, dim)?;
                let feed = linear("ffn_up", 2 * n_hidden, dim)?;
                (
                    [
                        all.outputs(0, query_width),
                        all.outputs(query_width, key_width),
                        all.outputs(query_width + key_width, key_width),
                    ],
                    [feed.outputs(0, n_hidden), feed.outputs(n_hidden, n_hidden)],
                )
            }
        };
        let norm = |part: &str, width| vector_opt(file, &name(part), width);
        Ok(Self {
            attention_norm: vector(file, &name("attn_norm.weight"), dim)?,
            query,
            key,
            value,
            query_norm: norm("attn_q_norm.weight", heads.dim)?,
            key_norm: norm("attn_k_norm.weight", heads.dim)?,
            output: linear("attn_output", dim, query_width)?,
            after_attention: norm("post_attention_norm.weight", dim)?,
            feed_norm: vector(file, &name("ffn_norm.weight"), dim)?,
            gate,
            up,
            down: linear("ffn_down", dim, n_hidden)?,
            after_feed: norm("post_ffw_norm.weight", dim)?,
            sight: shape.sight(i),
            local: shape.is_local(i),
        })
    }
}

/// What a token costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenWork {
    /// Products of a weight and an activation for each token of a prompt, beside attention.
    pub prompt_products: u64,
    /// Bytes of weights that are read for each token of a reply.
    pub reply_bytes: u64,
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
    embedding: Matrix,
    layers: Vec<Layer>,
    norm: Vec<f32>,
    output: Linear,
    ropes: [Rope; 2],
    positions: usize,
    machine: Machine,
}

/// Buffers of a pass, reused from layer to layer.
#[derive(Default)]
struct Buffers {
    normed: Vec<f32>,
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    attended: Vec<f32>,
    hidden: Vec<f32>,
    added: Vec<f32>,
    activations: Activations,
}

impl Model {
    /// Checks every tensor, for sequences of up to `positions` positions. Weights stay in the map: this is quick.
    pub(super) fn load(
        file: &GgufFile,
        shape: Hyperparameters,
        positions: usize,
        machine: Machine,
    ) -> Result<Self, GgufError> {
        let layers =
            (0..shape.n_layers).map(|i| Layer::load(file, &shape, i)).collect::<Result<_, _>>()?;
        let embeddings = file.tensors.get("token_embd.weight").map(|entry| entry.dims[0]);
        if let Some(embeddings) = embeddings.filter(|rows| *rows != shape.n_vocab) {
            let (path, tokens) = (file.path.clone(), shape.n_vocab);
            return Err(GgufError::VocabularySize { path, tokens, embeddings });
        }
        let output =
            if file.tensors.contains_key("output.weight") { "output" } else { "token_embd" };
        Ok(Self {
            embedding: Matrix::load(file, "token_embd.weight", shape.n_vocab, shape.dim)?,
            layers,
            norm: vector(file, "output_norm.weight", shape.dim)?,
            output: Linear::load(file, output, shape.n_vocab, shape.dim)?,
            ropes: shape.ropes(file, positions)?,
            positions,
            machine,
            shape,
        })
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
    pub(super) fn forward(&self, cache: &mut Cache, tokens: &[u32], position: usize) -> Vec<f32> {
        let x = self.read(cache, tokens, position);
        self.logits(&x[x.len() - self.shape.dim..])
    }

    /// As [`Model::forward`], with the logits after each of the tokens, `[tokens, n_vocab]`.
    pub(super) fn forward_all(
        &self,
        cache: &mut Cache,
        tokens: &[u32],
        position: usize,
    ) -> Vec<f32> {
        self.logits(&self.read(cache, tokens, position))
    }

    /// Numbers of a row of logits.
    pub(super) fn vocabulary(&self) -> usize {
        self.shape.n_vocab
    }

    /// What a token costs.
    pub(super) fn work(&self) -> TokenWork {
        let mut work = TokenWork { prompt_products: 0, reply_bytes: 0 };
        for layer in &self.layers {
            let Layer { query, key, value, output, gate, up, down, .. } = layer;
            for linear in [query, key, value, output, gate, up, down] {
                let blocks = linear.matrix.blocks();
                work.prompt_products += (blocks.outputs * blocks.inputs) as u64;
                work.reply_bytes += blocks.bytes.len() as u64;
            }
        }
        work.reply_bytes += self.output.matrix.blocks().bytes.len() as u64;
        work
    }

    /// Positions of a sequence.
    pub(super) fn positions(&self) -> usize {
        self.positions
    }

    fn logits(&self, x: &[f32]) -> Vec<f32> {
        let Hyperparameters { dim, epsilon, logit_cap, .. } = self.shape;
        let mut normed = x.to_vec();
        norm_rows(&self.machine.pool, &mut normed, &self.norm, epsilon);
        let mut activations = Activations::default();
        activations.take(&normed, dim, &[&self.output], &self.machine);
        let mut logits = vec![0.0; x.len() / dim * self.shape.n_vocab];
        let product = Product { layer: &self.output, out: &mut logits, target: Target::Store };
        multiply(&self.machine, &activations, &mut [product]);
        if let Some(cap) = logit_cap {
            for logit in &mut logits {
                *logit = cap * (*logit / cap).tanh();
            }
        }
        logits
    }

    /// As [`Model::forward_all`] without the logits: the states after the last layer, `[tokens, dim]`.
    pub(super) fn read(&self, cache: &mut Cache, tokens: &[u32], position: usize) -> Vec<f32> {
        let Hyperparameters { dim, heads, embedding_scale, .. } = self.shape;
        let mut x = vec![0.0; tokens.len() * dim];
        for (row, token) in x.chunks_exact_mut(dim).zip(tokens) {
            self.embedding.row(*token as usize, row);
        }
        if let Some(scale) = embedding_scale {
            x.iter_mut().for_each(|x| *x *= scale);
        }
        let angles = self.ropes.each_ref().map(|rope| rope.angles(position, tokens.len()));
        let (query_width, key_width) = (heads.n_heads * heads.dim, heads.n_kv * heads.dim);
        let mut buffers = Buffers::default();
        let pool = &self.machine.pool;
        for (layer, cache) in self.layers.iter().zip(&mut cache.layers) {
            self.project(layer, &x, &mut buffers);
            let angles = &angles[usize::from(layer.local)];
            angles.turn(&mut buffers.queries, query_width, heads.dim, pool);
            angles.turn(&mut buffers.keys, key_width, heads.dim, pool);
            cache.store(position, &buffers.keys, &buffers.values);
            let Buffers { queries, attended, activations, added, .. } = &mut buffers;
            attended.resize(queries.len(), 0.0);
            cache.attend(queries, position, layer.sight, pool, attended);
            activations.take(attended, query_width, &[&layer.output], &self.machine);
            self.add(&layer.output, layer.after_attention.as_deref(), activations, added, &mut x);
            self.feed(layer, &mut buffers, &mut x);
        }
        x
    }

    /// Queries, keys and values of one layer, before they are turned.
    fn project(&self, layer: &Layer, x: &[f32], buffers: &mut Buffers) {
        let Hyperparameters { dim, epsilon, .. } = self.shape;
        let Layer { query, key, value, .. } = layer;
        let Buffers { normed, queries, keys, values, activations, .. } = buffers;
        let rows = x.len() / dim;
        let pool = &self.machine.pool;
        normed.clear();
        normed.extend_from_slice(x);
        norm_rows(pool, normed, &layer.attention_norm, epsilon);
        activations.take(normed, dim, &[query, key, value], &self.machine);
        queries.resize(rows * query.width(), 0.0);
        keys.resize(rows * key.width(), 0.0);
        values.resize(rows * value.width(), 0.0);
        let products = [(query, &mut *queries), (key, &mut *keys), (value, values)];
        let mut products =
            products.map(|(layer, out)| Product { layer, out, target: Target::Store });
        multiply(&self.machine, activations, &mut products);
        for (rows, norm) in [(queries, &layer.query_norm), (keys, &layer.key_norm)] {
            if let Some(norm) = norm {
                norm_rows(pool, rows, norm, epsilon);
            }
        }
    }

    /// The feed-forward part of one layer.
    fn feed(&self, layer: &Layer, buffers: &mut Buffers, x: &mut [f32]) {
        let Hyperparameters { dim, n_hidden, epsilon, gate, .. } = self.shape;
        let Buffers { normed, hidden, activations, added, .. } = buffers;
        let level = SimdLevel::detect();
        normed.clear();
        normed.extend_from_slice(x);
        norm_rows(&self.machine.pool, normed, &layer.feed_norm, epsilon);
        activations.take(normed, dim, &[&layer.gate, &layer.up], &self.machine);
        hidden.resize(x.len() / dim * n_hidden, 0.0);
        let pair = (&layer.gate, &layer.up);
        match gate {
            Gate::Silu => {
                multiply_gated(&self.machine, activations, pair, &|g, u| silu(level, g, u), hidden);
            }
            Gate::Gelu => {
                multiply_gated(&self.machine, activations, pair, &|g, u| gelu(level, g, u), hidden);
            }
        }
        activations.take(hidden, n_hidden, &[&layer.down], &self.machine);
        self.add(&layer.down, layer.after_feed.as_deref(), activations, added, x);
    }

    /// `x += layer(activations)`, normed before it is added where the family does that.
    fn add(
        &self,
        layer: &Linear,
        norm: Option<&[f32]>,
        activations: &Activations,
        added: &mut Vec<f32>,
        x: &mut [f32],
    ) {
        let Some(norm) = norm else {
            let product = Product { layer, out: x, target: Target::Add };
            return multiply(&self.machine, activations, &mut [product]);
        };
        added.resize(x.len(), 0.0);
        let product = Product { layer, out: added, target: Target::Store };
        multiply(&self.machine, activations, &mut [product]);
        norm_rows(&self.machine.pool, added, norm, self.shape.epsilon);
        add(x, added);
    }
}

/// Norms rows of `weight.len()` numbers, on all threads where they are many.
fn norm_rows(pool: &Pool, x: &mut [f32], weight: &[f32], epsilon: f32) {
    const NUMBERS: usize = 32 << 10;
    let level = SimdLevel::detect();
    let chunk = (NUMBERS / weight.len()).max(1) * weight.len();
    pool.chunks(x, chunk, |_, rows| rms_norm(level, rows, weight, epsilon));
}
