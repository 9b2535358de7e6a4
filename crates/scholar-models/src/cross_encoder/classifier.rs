//! Two texts read together, one logit per label.

use std::path::Path;

use scholar_core::text::hex;
use sha2::{Digest as _, Sha256};

use super::CrossEncoderOptions;
use super::head::Head;
use crate::encoder::config::{Architecture, NetworkConfig};
use crate::encoder::network::{Network, Wanted};
use crate::encoder::{MAX_TOKENS, open, schedule};
use crate::error::ModelError;
use crate::tokens::{PairTruncation, TokenReader, Tokens};
use crate::weights::sampled_digest;

/// A sequence classifier.
pub(crate) struct Classifier {
    network: Box<dyn Network>,
    head: Head,
    reader: TokenReader,
    hidden: usize,
    threads: usize,
    running: open::Running,
    /// Longest pair in tokens.
    pub(crate) limit: usize,
    /// First eight hexadecimal digits of a digest of weights, configuration and tokenizer.
    pub(crate) digest: String,
}

impl Classifier {
    /// Opens the classifier in folder `dir`, which must have `labels` logits; `purpose` says for what.
    ///
    /// # Errors
    /// When a file is absent, damaged or unsupported, the model has another number of logits, or `options` cannot be
    /// met.
    pub(crate) fn open(
        dir: &Path,
        name: &str,
        options: &CrossEncoderOptions,
        labels: usize,
        purpose: &str,
    ) -> Result<Self, ModelError> {
        let CrossEncoderOptions { max_tokens, truncation, precision, backend, threads } = *options;
        let config = NetworkConfig::read(dir)?;
        if config.labels != labels {
            return Err(ModelError::Unsupported {
                path: dir.join("config.json"),
                what: format!(
                    "a classifier of {} logits as {purpose} ({labels} is)",
                    config.labels
                ),
            });
        }
        let limit = match max_tokens {
            Some(asked) => open::checked_limit(asked, &config, name)?,
            None => MAX_TOKENS.min(config.token_limit()).min(stated_limit(dir)?),
        };
        let truncation = truncation.unwrap_or(match config.architecture {
            Architecture::Bert => PairTruncation::SecondOnly,
            Architecture::Mpnet | Architecture::Roberta => PairTruncation::LongestFirst,
        });
        let reader = TokenReader::open(dir, name, limit)?.cutting(truncation)?;
        open::check_vocabulary(&reader, &config)?;
        let weights = open::weights(dir, &config)?;
        let head = Head::load(&weights, &config)?;
        let running = open::choose(precision, backend, name, &config)?;
        let mut hash = Sha256::new();
        for file in weights.files() {
            sampled_digest(file, &mut hash)?;
        }
        for file in reader.files().iter().chain([&dir.join("config.json")]) {
            hash.update(fs_err::read(file).map_err(|e| ModelError::read(file, e))?);
        }
        let digest = hex(&hash.finalize()[..4]);
        let (hidden, threads) = (config.hidden, threads.max(1));
        let network = open::network(running, &weights, config)?;
        tracing::debug!(model = name, engine = running.name(), "opened {purpose}");
        Ok(Self { network, head, reader, hidden, threads, running, limit, digest })
    }

    /// Which instructions and numbers compute the products, for example `avx512 bf16`.
    pub(crate) fn engine(&self) -> &'static str {
        self.running.name()
    }

    /// `[pairs, labels]` raw logits, in order. Pairs of like length are computed together; that changes no logit by
    /// more than rounding.
    ///
    /// # Errors
    /// When the tokenizer refuses a text.
    pub(crate) fn logits(&self, pairs: &[(&str, &str)]) -> Result<Vec<Vec<f32>>, ModelError> {
        let tokens: Vec<Tokens> = schedule::tokenize(pairs.len(), self.threads, |at| {
            let (first, second) = pairs[at];
            self.reader.pair(first, second)
        })?;
        if tokens.iter().any(|tokens| tokens.ids.is_empty()) {
            let file = &self.reader.files()[0];
            return Err(ModelError::damaged(file, "it adds no special tokens to a pair"));
        }
        Ok(schedule::run(&*self.network, &tokens, self.threads, Wanted::First, |_, state| {
            self.head.logits(&state[..self.hidden])
        }))
    }

    /// Tokens of a pair as it is read, cut at the limit.
    ///
    /// # Errors
    /// When the tokenizer refuses a text.
    pub(crate) fn count_tokens(&self, first: &str, second: &str) -> Result<usize, ModelError> {
        Ok(self.reader.pair(first, second)?.ids.len())
    }
}

/// What `tokenizer_config.json` says a model was trained with; transformers writes astronomic numbers for "no limit".
fn stated_limit(dir: &Path) -> Result<usize, ModelError> {
    #[derive(serde::Deserialize)]
    struct Settings {
        model_max_length: Option<f64>,
    }
    let path = dir.join("tokenizer_config.json");
    if !path.is_file() {
        return Ok(MAX_TOKENS);
    }
    let text = fs_err::read_to_string(&path).map_err(|e| ModelError::read(&path, e))?;
    let settings: Settings =
        serde_json::from_str(&text).map_err(|e| ModelError::damaged(&path, e))?;
    let stated = settings.model_max_length.unwrap_or(f64::INFINITY);
    if stated < open::FEWEST_TOKENS as f64 {
        return Err(ModelError::damaged(&path, format!("model_max_length is {stated}")));
    }
    Ok(stated.min(MAX_TOKENS as f64) as usize)
}
