//! Cross-encoders that run in this process: query and passage read together, one logit.

mod head;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{PortError, Query, RerankScore, Reranker, RerankerInfo, Retrieved};

use self::head::Head;
use crate::batcher::{Batcher, QUEUE_TOKENS};
use crate::encoder::config::NetworkConfig;
use crate::encoder::network::Network;
use crate::encoder::{Backend, MAX_TOKENS, Precision, open, schedule};
use crate::error::ModelError;
use crate::tokens::{TokenReader, Tokens};

/// How a cross-encoder is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrossEncoderOptions {
    /// Longest pair in tokens with special tokens; `None` is the model's limit up to [`MAX_TOKENS`].
    pub max_tokens: Option<usize>,
    /// Numbers of the products.
    pub precision: Precision,
    /// Instructions of the products.
    pub backend: Backend,
    /// Threads of a call, at least 1.
    pub threads: usize,
}

impl CrossEncoderOptions {
    /// The paper's: pairs of up to 512 tokens, the longer text cut first.
    pub fn paper(threads: usize) -> Self {
        Self { max_tokens: None, precision: Precision::Auto, backend: Backend::Auto, threads }
    }
}

/// An XLM-RoBERTa (`bge-reranker`, OpenScholar's reranker), BERT or `MPNet` sequence classifier with one logit.
///
/// Source: Nature article, methods, reranking; reference `src/open_scholar.py::rerank_paragraphs_bge`.
pub struct LocalCrossEncoder {
    info: RerankerInfo,
    model: Arc<Model>,
    batcher: Batcher,
}

struct Model {
    network: Box<dyn Network>,
    head: Head,
    reader: TokenReader,
    hidden: usize,
    limit: usize,
    threads: usize,
}

impl LocalCrossEncoder {
    /// Opens the model in folder `dir`: `config.json`, a weight file and a tokenizer file. `name` is its catalog name.
    ///
    /// # Errors
    /// When a file is absent, damaged or unsupported, the model has another number of logits than one, or `options`
    /// cannot be met.
    pub fn open(dir: &Path, name: &str, options: CrossEncoderOptions) -> Result<Self, ModelError> {
        let CrossEncoderOptions { max_tokens, precision, backend, threads } = options;
        let config = NetworkConfig::read(dir)?;
        if config.labels != 1 {
            return Err(ModelError::Unsupported {
                path: dir.join("config.json"),
                what: format!("a classifier of {} logits as a reranker (1 is)", config.labels),
            });
        }
        let limit = match max_tokens {
            Some(asked) => open::checked_limit(asked, &config, name)?,
            None => MAX_TOKENS.min(config.token_limit()),
        };
        let reader = TokenReader::open(dir, name, limit)?;
        open::check_vocabulary(&reader, &config)?;
        let weights = open::weights(dir, &config)?;
        let head = Head::load(&weights, &config)?;
        let running = open::choose(precision, backend, name, &config)?;
        let (hidden, threads) = (config.hidden, threads.max(1));
        let network = open::network(running, &weights, config)?;
        tracing::debug!(model = name, engine = running.name(), "opened a cross-encoder");
        Ok(Self {
            info: RerankerInfo { name: format!("cross-encoder {name}"), cross_encoder: true },
            model: Arc::new(Model { network, head, reader, hidden, limit, threads }),
            batcher: Batcher::start("scholar-reranker-0", name, QUEUE_TOKENS)?,
        })
    }

    /// One raw logit per text, in order, on the caller's threads.
    ///
    /// # Errors
    /// When the tokenizer refuses a text.
    pub fn logits(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, ModelError> {
        self.model.logits(query, texts)
    }
}

impl Model {
    fn logits(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, ModelError> {
        let tokens: Vec<Tokens> =
            schedule::tokenize(texts.len(), self.threads, |at| self.reader.pair(query, texts[at]))?;
        Ok(schedule::run(&*self.network, &tokens, self.threads, |_, states| {
            self.head.logit(&states[..self.hidden])
        }))
    }
}

#[async_trait]
impl Reranker for LocalCrossEncoder {
    fn info(&self) -> &RerankerInfo {
        &self.info
    }

    async fn rerank(
        &self,
        query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<RerankScore>, PortError> {
        let model = Arc::clone(&self.model);
        let query = query.as_str().to_owned();
        let texts: Vec<String> = passages.iter().map(|r| r.passage.encoded_text()).collect();
        let cost = texts.len() * self.model.limit;
        let logits = self
            .batcher
            .run(cost, move || {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                model.logits(&query, &texts)
            })
            .await??;
        finite(&self.info.name, logits)
    }
}

/// Scores from numbers a model computed.
///
/// # Errors
/// `Corrupt` for a number that is not finite: the weights are broken.
pub(crate) fn finite(name: &str, values: Vec<f32>) -> Result<Vec<RerankScore>, PortError> {
    values
        .into_iter()
        .map(|value| {
            RerankScore::new(value).map_err(|error| {
                let message = format!("{name} computed a score that is not a number");
                PortError::new(scholar_core::PortErrorKind::Corrupt, message)
                    .with_hint("check the model with `openscholar models verify NAME`")
                    .with_source(error)
            })
        })
        .collect()
}
