//! Bi-encoders that run in this process.

pub(crate) mod config;
pub(crate) mod network;
pub(crate) mod open;
mod pooling;
mod preparation;
pub(crate) mod schedule;

use std::path::Path;

use scholar_core::text::hex;
use scholar_core::{
    Embeddings, Encoder, EncoderInfo, PortError, Side, Similarity, TextPreparation,
};
use sha2::{Digest as _, Sha256};

use self::config::{Architecture, NetworkConfig, SentenceConfig};
use self::network::{Network, Wanted};
use self::preparation::prepared;
use crate::error::ModelError;
use crate::tokens::{TokenReader, Tokens};
use crate::weights::{Weights, sampled_digest};

pub use self::pooling::Pooling;

/// Longest input unless a setting says otherwise.
///
/// The reference cuts at 256 although a block of 256 words is 330 to 420 word pieces, so that it never sees the last
/// third of a passage; see [`EncoderOptions::upstream`].
pub const MAX_TOKENS: usize = 512;

/// The reference's limit for passages (`passage_maxlength`).
pub const UPSTREAM_MAX_TOKENS: usize = 256;

/// In which numbers products are computed; everything else is f32 in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// bf16 where the CPU has instructions for it (AMX, AVX-512-BF16), else f32. Measured on `MiniLM` and `MPNet`:
    /// about twice as fast as f32, cosine to f32 above 0.9999.
    Auto,
    /// int8 where the CPU has instructions for it and no AMX tiles, which are as fast with bf16; else as [`Precision::Auto`].
    /// For readings that are used once and not stored.
    Fastest,
    /// f32: cosine to `PyTorch` above 0.9999.
    F32,
    /// Inputs rounded to bf16, sums in f32: cosine to f32 above 0.999 in any case. Needs AVX-512-BF16 or AMX.
    Bf16,
    /// Linear layers from inputs rounded to 8 bits, attention as in bf16. Needs AVX-512-VNNI and AVX-512-BF16.
    Int8,
}

/// Which instructions compute products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// The best the machine has for the precision.
    Auto,
    /// AMX tiles (bf16).
    Amx,
    /// AVX-512, with AVX-512-BF16 for bf16.
    Avx512,
    /// The `gemm` crate (f32): AVX2, NEON, anything.
    Portable,
}

/// How an encoder is run.
#[derive(Debug, Clone, PartialEq)]
pub struct EncoderOptions {
    /// Longest input in tokens with special tokens; `None` is the model's limit up to [`MAX_TOKENS`], for `MPNet` what its
    /// `sentence_bert_config.json` says (it was trained with 384).
    pub max_tokens: Option<usize>,
    /// Numbers of the products.
    pub precision: Precision,
    /// Instructions of the products.
    pub backend: Backend,
    /// Threads of a call, at least 1.
    pub threads: usize,
    /// Overrides what the model's files say; without either, the mean.
    pub pooling: Option<Pooling>,
    /// Overrides what the model's files say; without either, the raw dot product (Contriever).
    pub similarity: Option<Similarity>,
    /// What is done to a text first. Source: `lowercase` and `normalize_text` of the reference, both off by default.
    pub preparation: TextPreparation,
}

impl EncoderOptions {
    /// All tokens up to 512, precision and back-end by machine, pooling and norm from the model's files.
    pub fn project(threads: usize) -> Self {
        Self {
            max_tokens: None,
            precision: Precision::Auto,
            backend: Backend::Auto,
            threads,
            pooling: None,
            similarity: None,
            preparation: TextPreparation::NONE,
        }
    }

    /// What the reference does: passages cut at 256 tokens.
    pub fn upstream(threads: usize) -> Self {
        Self { max_tokens: Some(UPSTREAM_MAX_TOKENS), ..Self::project(threads) }
    }
}

/// A text as late interaction sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenStates {
    /// Vocabulary ids of the tokens, special ones left out.
    pub ids: Vec<u32>,
    /// `[tokens, dim]`, each of length 1.
    pub values: Vec<f32>,
    /// `[dim]`, of length 1.
    pub pooled: Vec<f32>,
}

/// A BERT-like bi-encoder in this process.
pub struct LocalEncoder {
    info: EncoderInfo,
    network: Box<dyn Network>,
    reader: TokenReader,
    pooling: Pooling,
    threads: usize,
    query_prompt: String,
    passage_prompt: String,
    running: open::Running,
}

impl LocalEncoder {
    /// Opens the model in folder `dir`: `config.json`, a weight file, a tokenizer file and, where present, the
    /// sentence-transformers files. `name` is the catalog name it goes by.
    ///
    /// # Errors
    /// When a file is absent, damaged or asks for something unsupported, or `options` cannot be met.
    pub fn open(dir: &Path, name: &str, options: EncoderOptions) -> Result<Self, ModelError> {
        let EncoderOptions {
            max_tokens,
            precision,
            backend,
            threads,
            pooling,
            similarity,
            preparation,
        } = options;
        let config = NetworkConfig::read(dir)?;
        let sentence = SentenceConfig::read(dir)?;
        let limit = match (max_tokens, config.architecture) {
            (Some(asked), _) => open::checked_limit(asked, &config, name)?,
            (None, Architecture::Mpnet) => {
                sentence.max_tokens.unwrap_or(MAX_TOKENS).min(config.token_limit())
            }
            (None, Architecture::Bert | Architecture::Roberta) => {
                MAX_TOKENS.min(config.token_limit())
            }
        };
        let reader = TokenReader::open(dir, name, limit)?;
        let weights = open::weights(dir, &config)?;
        let pooling = pooling.or(sentence.pooling).unwrap_or(Pooling::Mean);
        let similarity = similarity.or(sentence.similarity).unwrap_or(Similarity::Dot);
        let running = open::choose(precision, backend, name, &config)?;
        let info = EncoderInfo {
            name: name.to_owned(),
            fingerprint: fingerprint(
                dir,
                &weights,
                &reader,
                &sentence,
                (pooling, similarity, limit, preparation),
            )?,
            dim: config.hidden,
            max_tokens: limit,
            similarity,
            preparation,
        };
        open::check_vocabulary(&reader, &config)?;
        let network = open::network(running, &weights, config)?;
        let SentenceConfig { query_prompt, passage_prompt, .. } = sentence;
        let threads = threads.max(1);
        let encoder =
            Self { info, network, reader, pooling, threads, query_prompt, passage_prompt, running };
        tracing::debug!(model = name, engine = encoder.engine(), "opened an encoder");
        Ok(encoder)
    }

    /// Which instructions and numbers compute the products, for example `avx512 f32`.
    pub fn engine(&self) -> &'static str {
        self.running.name()
    }

    /// Tokens of `text` as a passage, special tokens included, before truncation is applied at the limit.
    ///
    /// # Errors
    /// When the tokenizer refuses the text.
    pub fn count_tokens(&self, text: &str) -> Result<usize, ModelError> {
        Ok(self.reader.single(&prepared(text, self.info.preparation))?.ids.len())
    }

    /// Token states and pooled vectors at once, for late interaction: both of length 1, special tokens dropped from the
    /// states, truncation as in [`Encoder::encode`].
    ///
    /// # Errors
    /// When the tokenizer refuses a text.
    pub fn late_states(&self, side: Side, texts: &[&str]) -> Result<Vec<TokenStates>, ModelError> {
        let tokens = self.tokens(side, texts)?;
        let dim = self.info.dim;
        Ok(schedule::run(&*self.network, &tokens, self.threads, Wanted::All, |at, states| {
            let Tokens { ids, special, .. } = &tokens[at];
            let mut kept = TokenStates {
                ids: Vec::with_capacity(ids.len()),
                values: Vec::with_capacity(states.len()),
                pooled: self.pooling.pool(states, dim, true),
            };
            for ((state, special), id) in states.chunks_exact(dim).zip(special).zip(ids) {
                if !special {
                    kept.ids.push(*id);
                    kept.values.extend(pooling::unit(state));
                }
            }
            kept
        }))
    }

    fn tokens(&self, side: Side, texts: &[&str]) -> Result<Vec<Tokens>, ModelError> {
        let prompt = match side {
            Side::Query => &self.query_prompt,
            Side::Passage => &self.passage_prompt,
        };
        schedule::tokenize(texts.len(), self.threads, |at| {
            let text = prepared(texts[at], self.info.preparation);
            if prompt.is_empty() {
                self.reader.single(&text)
            } else {
                self.reader.single(&format!("{prompt}{text}"))
            }
        })
    }
}

impl Encoder for LocalEncoder {
    fn info(&self) -> &EncoderInfo {
        &self.info
    }

    fn encode(&self, side: Side, texts: &[&str]) -> Result<Embeddings, PortError> {
        let tokens = self.tokens(side, texts)?;
        let dim = self.info.dim;
        let unit = self.info.similarity == Similarity::Cosine;
        let wanted = match self.pooling {
            Pooling::Mean => Wanted::All,
            Pooling::Cls => Wanted::First,
        };
        let rows = schedule::run(&*self.network, &tokens, self.threads, wanted, |_, states| {
            self.pooling.pool(states, dim, unit)
        });
        Ok(Embeddings {
            values: rows.concat(),
            dim,
            truncated: tokens.iter().filter(|tokens| tokens.truncated).count(),
        })
    }

    fn token_states(
        &self,
        side: Side,
        texts: &[&str],
    ) -> Result<Option<Vec<Embeddings>>, PortError> {
        let tokens = self.tokens(side, texts)?;
        let dim = self.info.dim;
        let states =
            schedule::run(&*self.network, &tokens, self.threads, Wanted::All, |at, states| {
                let mut values = Vec::with_capacity(states.len());
                for (state, special) in states.chunks_exact(dim).zip(&tokens[at].special) {
                    if !special {
                        values.extend(pooling::unit(state));
                    }
                }
                Embeddings { values, dim, truncated: usize::from(tokens[at].truncated) }
            });
        Ok(Some(states))
    }
}

/// A digest of all that decides a vector: weights, tokenizer, configuration, prompts, pooling, norm, token limit,
/// preparation of texts.
///
/// Not of precision, back-end or threads: they move a vector by less than the index's own rounding, and a datastore may be
/// built on one machine and served on another. The weights go in by [`sampled_digest`], the other files whole.
fn fingerprint(
    dir: &Path,
    weights: &Weights,
    reader: &TokenReader,
    sentence: &SentenceConfig,
    settings: (Pooling, Similarity, usize, TextPreparation),
) -> Result<String, ModelError> {
    let mut hash = Sha256::new();
    hash.update(b"openscholar encoder 1\0");
    for file in weights.files() {
        sampled_digest(file, &mut hash)?;
    }
    let config = dir.join("config.json");
    for file in reader.files().iter().chain([&config]) {
        let bytes = fs_err::read(file).map_err(|e| ModelError::read(file, e))?;
        hash.update(bytes.len().to_le_bytes());
        hash.update(&bytes);
    }
    let (pooling, similarity, limit, preparation) = settings;
    let settings = format!(
        "{pooling:?}\0{similarity:?}\0{limit}\0{}\0{}",
        sentence.query_prompt, sentence.passage_prompt
    );
    hash.update(settings);
    // Only where there is any: digests of datastores without stay true.
    if !preparation.is_none() {
        hash.update(format!("\0{preparation:?}"));
    }
    Ok(hex(&hash.finalize()))
}
