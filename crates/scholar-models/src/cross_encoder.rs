//! Cross-encoders that run in this process: query and passage read together, one logit.

pub(crate) mod classifier;
mod head;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{PortError, Query, RerankScore, Reranker, RerankerInfo, Retrieved};

use self::classifier::Classifier;
use crate::batcher::{Batcher, QUEUE_TOKENS};
use crate::encoder::{Backend, Precision};
use crate::error::ModelError;
use crate::tokens::PairTruncation;

/// How a cross-encoder is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrossEncoderOptions {
    /// Longest pair in tokens with special tokens; `None` is the model's limit up to
    /// [`MAX_TOKENS`](crate::encoder::MAX_TOKENS).
    pub max_tokens: Option<usize>,
    /// What is cut off longer pairs; `None`: of BERT shapes, which ours are, the second text only, of others the longer
    /// first.
    pub truncation: Option<PairTruncation>,
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
        Self { truncation: Some(PairTruncation::LongestFirst), ..Self::project(threads) }
    }

    /// Pairs of up to 512 tokens, cut as the model's family is.
    pub fn project(threads: usize) -> Self {
        Self {
            max_tokens: None,
            truncation: None,
            precision: Precision::Auto,
            backend: Backend::Auto,
            threads,
        }
    }
}

/// An XLM-RoBERTa (`bge-reranker`, OpenScholar's reranker), BERT (`MiniLM`) or `MPNet` sequence classifier with one logit.
///
/// Source: Nature article, methods, reranking; reference `src/open_scholar.py::rerank_paragraphs_bge`.
pub struct LocalCrossEncoder {
    info: RerankerInfo,
    model: Arc<Classifier>,
    batcher: Batcher,
}

impl LocalCrossEncoder {
    /// Opens the model in folder `dir`: `config.json`, a weight file and a tokenizer file. `name` is its catalog name.
    ///
    /// # Errors
    /// When a file is absent, damaged or unsupported, the model has another number of logits than one, or `options`
    /// cannot be met.
    pub fn open(dir: &Path, name: &str, options: CrossEncoderOptions) -> Result<Self, ModelError> {
        Ok(Self {
            info: RerankerInfo { name: format!("cross-encoder {name}"), cross_encoder: true },
            model: Arc::new(Classifier::open(dir, name, &options, 1, "a reranker")?),
            batcher: Batcher::start("scholar-reranker-0", name, QUEUE_TOKENS)?,
        })
    }

    /// Longest pair it reads, in tokens.
    pub fn max_tokens(&self) -> usize {
        self.model.limit
    }

    /// Which instructions and numbers compute the products, for example `avx512 bf16`.
    pub fn engine(&self) -> &'static str {
        self.model.engine()
    }

    /// Tokens of a pair as it is read, cut at the limit.
    ///
    /// # Errors
    /// When the tokenizer refuses a text.
    pub fn count_tokens(&self, query: &str, text: &str) -> Result<usize, ModelError> {
        self.model.count_tokens(query, text)
    }

    /// One raw logit per text, in order, on the caller's threads.
    ///
    /// # Errors
    /// When the tokenizer refuses a text.
    pub fn logits(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, ModelError> {
        logits(&self.model, query, texts)
    }
}

fn logits(model: &Classifier, query: &str, texts: &[&str]) -> Result<Vec<f32>, ModelError> {
    let pairs: Vec<(&str, &str)> = texts.iter().map(|text| (query, *text)).collect();
    Ok(model.logits(&pairs)?.concat())
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
                logits(&model, &query, &texts)
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
