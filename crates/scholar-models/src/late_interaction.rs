//! A reranker without a cross-encoder: late interaction over an encoder's token states, and lexical features.
//!
//! The query and each of the best candidates are encoded separately and compared: `MaxSim` over their tokens, the cosine of
//! their pooled vectors, query terms in the title, query bigrams in the passage. Features are z-scored over the candidates
//! of one query and added with fixed weights.
//!
//! The encoder is a trained late-interaction reranker, whose folder states its weights ([`LateInteractionConfig`]); or an
//! encoder larger than the datastore's; or the datastore's own, where there is no other ([`TokenEncoder`]).

mod cache;
mod features;
mod state_encoder;
mod weights;

use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{Explanation, PortError, Query, RerankScore, Reranker, RerankerInfo, Retrieved};

use self::features::{NAMES, features};
use self::state_encoder::StateEncoder;
pub use self::weights::{LateInteractionConfig, LateInteractionWeights};
use crate::batcher::{Batcher, QUEUE_TOKENS};
use crate::encoder::LocalEncoder;
use crate::error::ModelError;
use crate::fusion::{self, WeightedFeatures, by_first_stage, fused};

/// Candidates reranked unless a setting says otherwise; the others keep the first stage's order below them.
///
/// Measured: of the gain at 40 candidates, 30 keep nine tenths and 20 three quarters. Each costs one pass of the encoder.
pub const DEPTH: usize = 30;

/// Weights for an encoder that did not retrieve the candidates.
///
/// The rounded middle of a plateau: on samples of four collections (CACM, Cranfield, citing sentences, `SciFact` test; first
/// 30 candidates, all-mpnet-base-v2 over `MiniLM` and BM25) any weights of 0.3 to 0.9 for `MaxSim` and the pooled cosine gained 3.4 to
/// 5.5 % of nDCG@10 on the mean, and lost on none. They were chosen with a look at these samples, so not blind.
const SEPARATE_WEIGHTS: LateInteractionWeights = LateInteractionWeights {
    retrieval: 1.0,
    max_sim: 0.6,
    pooled_cosine: 0.6,
    feedback: 0.0,
    title: 0.3,
    bigrams: 0.3,
};

/// Weights for the encoder that retrieved the candidates: its cosine is in the first-stage score already, so the cosine after
/// relevance feedback counts in its place.
///
/// The rounded mean of the twenty best points of a grid on 90 queries of `SciFact`'s training half, over the z-score
/// fusion of `MiniLM` and BM25. Which features to keep was decided with a look at three other collections: weighting
/// `MaxSim` by rarity among the candidates helped `SciFact` and hurt all of them.
const RETRIEVER_WEIGHTS: LateInteractionWeights = LateInteractionWeights {
    retrieval: 1.0,
    max_sim: 0.5,
    pooled_cosine: 0.0,
    feedback: 0.6,
    title: 0.3,
    bigrams: 0.3,
};

/// Which encoder's token states are compared, where no folder states weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenEncoder {
    /// Another one than retrieved the candidates.
    Separate,
    /// The one that retrieved them.
    Retriever,
}

/// How a [`LateInteractionReranker`] is run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LateInteractionOptions {
    /// Candidates that are reranked, best of the first stage first.
    pub depth: usize,
    /// Weights of the features.
    pub weights: LateInteractionWeights,
    /// Bytes of token states kept in memory, so that a passage is encoded once for several queries.
    pub cache_bytes: usize,
}

/// States of a few hundred passages.
const CACHE_BYTES: usize = 128 << 20;

impl LateInteractionOptions {
    /// [`DEPTH`] candidates, 128 MiB of states.
    pub fn project(encoder: TokenEncoder) -> Self {
        let weights = match encoder {
            TokenEncoder::Separate => SEPARATE_WEIGHTS,
            TokenEncoder::Retriever => RETRIEVER_WEIGHTS,
        };
        Self { depth: DEPTH, weights, cache_bytes: CACHE_BYTES }
    }

    /// What a model's folder states.
    pub fn of(config: LateInteractionConfig) -> Self {
        let LateInteractionConfig { depth, weights } = config;
        Self { depth, weights, cache_bytes: CACHE_BYTES }
    }
}

/// Late interaction of an encoder plus lexical features.
pub struct LateInteractionReranker {
    info: RerankerInfo,
    states: Arc<StateEncoder>,
    weights: LateInteractionWeights,
    depth: usize,
    batcher: Batcher,
}

impl LateInteractionReranker {
    /// A reranker on an encoder that is loaded already.
    ///
    /// # Errors
    /// When its thread cannot be started.
    pub fn new(
        encoder: Arc<LocalEncoder>,
        options: LateInteractionOptions,
    ) -> Result<Self, ModelError> {
        use scholar_core::Encoder as _;
        let LateInteractionOptions { depth, weights, cache_bytes } = options;
        let model = encoder.info().name.clone();
        let name = format!("late interaction of {model} + lexical features (no cross-encoder)");
        let batcher = Batcher::start("scholar-reranker-0", &model, QUEUE_TOKENS)?;
        let info = RerankerInfo { name, cross_encoder: false };
        let states = Arc::new(StateEncoder::new(encoder, cache_bytes));
        Ok(Self { info, states, weights, depth: depth.max(1), batcher })
    }
}

#[async_trait]
impl Reranker for LateInteractionReranker {
    fn info(&self) -> &RerankerInfo {
        &self.info
    }

    async fn rerank(
        &self,
        query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<RerankScore>, PortError> {
        fusion::scores(&self.info, &self.explain(query, passages).await?)
    }

    async fn explain(
        &self,
        query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<Explanation>, PortError> {
        use scholar_core::Encoder as _;
        let states = Arc::clone(&self.states);
        let (depth, weights) = (self.depth, self.weights);
        let cost = passages.len().min(depth) * states.encoder().info().max_tokens;
        let (query, passages) = (query.clone(), passages.to_vec());
        let work = move || explain(&states, depth, weights, &query, &passages);
        Ok(self.batcher.run(cost, work).await??)
    }
}

fn explain(
    states: &StateEncoder,
    depth: usize,
    weights: LateInteractionWeights,
    query: &Query,
    passages: &[Retrieved],
) -> Result<Vec<Explanation>, ModelError> {
    let first_stage: Vec<f32> = passages.iter().map(|passage| passage.score.value()).collect();
    let order = by_first_stage(&first_stage);
    let candidates: Vec<&Retrieved> = order.iter().take(depth).map(|at| &passages[*at]).collect();
    let rows = features(states, query.as_str(), &candidates)?;
    let features = WeightedFeatures { names: NAMES, weights: weights.in_order() };
    Ok(fused(&order, &rows, features))
}
