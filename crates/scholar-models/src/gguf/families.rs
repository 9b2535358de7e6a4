//! The families of models that are read, and how they differ.
//!
//! All are one decoder: embedding, then per layer norm, attention with grouped queries and rotary positions, norm, gated
//! feed-forward. A family says what of the rest it has.

use super::attention::{HeadShape, Sight};
use super::error::GgufError;
use super::file::GgufFile;
use super::kernels::{MAX_HEAD, Softmax};
use super::rope::{Pairing, Rope, RopeShape};

/// Architectures with a forward pass here.
pub(super) const ARCHITECTURES: &[&str] = &["llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi3"];

/// Upper limits of what a header may claim: beyond any published model, small enough that no product overflows.
const MAX_LAYERS: usize = 1024;
const MAX_WIDTH: usize = 1 << 20;
const MAX_CONTEXT: usize = 1 << 24;
/// Layers of the models of the Gemma family whose scores have the scale of `width / heads`.
const LARGE_GEMMA2: usize = 46;
const LARGE_GEMMA3: usize = 62;
/// Rotary base of Gemma 3's layers with a window.
const LOCAL_BASE: f32 = 10_000.0;

/// The function of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    Silu,
    Gelu,
}

/// How query, key and value, and gate and up, are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Projections {
    /// Each in a matrix of its own.
    Apart,
    /// `attn_qkv`, and gate and up in `ffn_up`.
    Fused,
}

/// Which layers see a window only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Windows {
    /// All.
    All,
    /// All but each of this number.
    AllButEach(usize),
}

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
    pub(super) pairing: Pairing,
    pub(super) architecture: &'static str,
    pub(super) projections: Projections,
    pub(super) gate: Gate,
    /// Factor of the embeddings, where the family has one.
    pub(super) embedding_scale: Option<f32>,
    pub(super) softmax: Softmax,
    /// Logits are bent to stay within this.
    pub(super) logit_cap: Option<f32>,
    window: Option<(usize, Windows)>,
    /// Rotary base of layers with a window, where it is their own.
    local_base: Option<f32>,
}

impl Hyperparameters {
    /// Reads and checks them.
    pub(super) fn read(file: &GgufFile) -> Result<Self, GgufError> {
        let name = file.text("general.architecture")?;
        let Some(architecture) = ARCHITECTURES.iter().find(|known| **known == name) else {
            return Err(GgufError::UnsupportedArchitecture {
                path: file.path.clone(),
                found: name.to_owned(),
                supported: ARCHITECTURES,
            });
        };
        let gemma = matches!(*architecture, "gemma2" | "gemma3");
        let key = |name: &str| format!("{architecture}.{name}");
        if file.count_opt(&key("expert_count"), MAX_WIDTH).is_ok_and(|n| n.is_some()) {
            let what = "a mixture of experts".to_owned();
            return Err(GgufError::Unsupported { path: file.path.clone(), what });
        }
        let n_layers = file.count(&key("block_count"), MAX_LAYERS)?;
        let dim = file.count(&key("embedding_length"), MAX_WIDTH)?;
        let heads = Self::heads(file, architecture, dim)?;
        let large_gemma = (*architecture == "gemma2" && n_layers == LARGE_GEMMA2)
            || (*architecture == "gemma3" && n_layers == LARGE_GEMMA3);
        let scale_width = if large_gemma { dim / heads.n_heads } else { heads.dim };
        let scale = file
            .float_opt(&key("attention.scale"))?
            .unwrap_or_else(|| 1.0 / (scale_width as f32).sqrt());
        let cap = file.float_opt(&key("attn_logit_softcapping"))?;
        Ok(Self {
            n_layers,
            dim,
            n_hidden: file.count(&key("feed_forward_length"), MAX_WIDTH)?,
            n_vocab: file.n_texts("tokenizer.ggml.tokens")?,
            heads,
            context: file.count(&key("context_length"), MAX_CONTEXT)?,
            epsilon: file.float_opt(&key("attention.layer_norm_rms_epsilon"))?.unwrap_or(1e-5),
            pairing: if *architecture == "llama" { Pairing::Neighbours } else { Pairing::Halves },
            architecture,
            projections: match *architecture {
                "phi3" => Projections::Fused,
                _ => Projections::Apart,
            },
            gate: if gemma { Gate::Gelu } else { Gate::Silu },
            embedding_scale: gemma.then(|| (dim as f32).sqrt()),
            softmax: Softmax { scale, cap },
            logit_cap: file.float_opt(&key("final_logit_softcapping"))?,
            window: Self::window(file, architecture)?,
            local_base: match *architecture {
                "gemma3" => Some(file.float_opt(&key("rope.freq_base_swa"))?.unwrap_or(LOCAL_BASE)),
                _ => None,
            },
        })
    }

    fn heads(file: &GgufFile, architecture: &str, dim: usize) -> Result<HeadShape, GgufError> {
        let key = |name: &str| format!("{architecture}.attention.{name}");
        let unsupported = |what: String| GgufError::Unsupported { path: file.path.clone(), what };
        let n_heads = file.count(&key("head_count"), MAX_WIDTH)?;
        let n_kv = file.count_opt(&key("head_count_kv"), MAX_WIDTH)?.unwrap_or(n_heads);
        let head_dim = match file.count_opt(&key("key_length"), MAX_WIDTH)? {
            Some(length) => length,
            None => dim / n_heads,
        };
        if !n_heads.is_multiple_of(n_kv)
            || !(1..=MAX_HEAD).contains(&head_dim)
            || !head_dim.is_multiple_of(2)
        {
            return Err(unsupported(format!(
                "{n_heads} query heads and {n_kv} key heads of width {head_dim}"
            )));
        }
        let values = file.count_opt(&key("value_length"), MAX_WIDTH)?;
        if values.is_some_and(|found| found != head_dim) {
            return Err(unsupported("values of another width than keys".to_owned()));
        }
        Ok(HeadShape { n_heads, n_kv, dim: head_dim })
    }

    fn window(file: &GgufFile, architecture: &str) -> Result<Option<(usize, Windows)>, GgufError> {
        let key = |name: &str| format!("{architecture}.attention.{name}");
        let Some(window) = file.count_opt(&key("sliding_window"), MAX_CONTEXT)? else {
            return Ok(None);
        };
        let pattern = file.count_opt(&key("sliding_window_pattern"), MAX_LAYERS).ok().flatten();
        let windows = match (pattern, architecture) {
            (Some(each), _) => Windows::AllButEach(each),
            (None, "gemma2") => Windows::AllButEach(2),
            (None, "gemma3") => Windows::AllButEach(6),
            (None, _) => Windows::All,
        };
        Ok(Some((window, windows)))
    }

    /// Whether layer `i` sees a window only.
    pub(super) fn is_local(&self, i: usize) -> bool {
        match self.window {
            None => false,
            Some((_, Windows::All)) => true,
            Some((_, Windows::AllButEach(each))) => !(i + 1).is_multiple_of(each),
        }
    }

    /// What layer `i` sees.
    pub(super) fn sight(&self, i: usize) -> Sight {
        let window = self.window.filter(|_| self.is_local(i)).map(|(window, _)| window);
        Sight { softmax: self.softmax, window }
    }

    /// Rotary positions of the layers that see all, and of those with a window, for `positions` positions.
    pub(super) fn ropes(&self, file: &GgufFile, positions: usize) -> Result<[Rope; 2], GgufError> {
        let shape = RopeShape {
            architecture: self.architecture,
            pairing: self.pairing,
            head: self.heads.dim,
            positions,
        };
        let rope = Rope::read(file, &shape)?;
        let local = match self.local_base {
            Some(base) => Rope::plain(self.pairing, self.heads.dim, base),
            None => rope.clone(),
        };
        Ok([rope, local])
    }

    /// Bytes of keys and values of one position.
    pub(super) fn position_bytes(&self) -> usize {
        2 * size_of::<u16>() * self.n_layers * self.heads.n_kv * self.heads.dim
    }
}

#[cfg(test)]
mod tests;
