//! A reranker without a cross-encoder: late interaction of the encoder's token states, and lexical evidence.
//!
//! It reads each of the best candidates once more with the query at hand: does every word of the query have a counterpart
//! among the words of the passage, does the passage as a whole resemble the query, are the query's words in the title, do
//! they stand side by side? The features are put on a common scale within the candidates of one query and added with fixed
//! weights.
//!
//! The reading encoder is a reranker that was trained to read apart, whose folder says how much each feature counts
//! ([`LateRules`]); or a larger one than the datastore's, which knows what the first did not; or the datastore's own, for
//! machines that have no other ([`Reading`]).

mod cache;
mod features;
mod rules;

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_core::{
    Explanation, PortError, Query, RerankScore, Reranker, RerankerInfo, Retrieved, Side,
};

use self::cache::StateCache;
use self::features::{FEATURES, Features, NAMES};
pub use self::rules::{LateRules, LateWeights};
use crate::batcher::{Batcher, QUEUE_TOKENS};
use crate::cross_encoder::finite;
use crate::encoder::{LocalEncoder, TokenStates};
use crate::error::ModelError;

/// Candidates that are read again unless a setting says otherwise; the others keep the retriever's order below them.
///
/// Measured: of the gain at 40 candidates, 30 keep nine tenths and 20 three quarters. Each costs one pass of the encoder.
pub const DEPTH: usize = 30;

/// Weights of the standardised features, in the order of `features::NAMES`, for an encoder that did not find the candidates.
///
/// The rounded middle of a plateau: on samples of four collections (CACM, Cranfield, citing sentences, `SciFact` test; first
/// 30 candidates, all-mpnet-base-v2 over `MiniLM` and BM25) any weights of 0.3 to 0.9 for `MaxSim` and likeness gained 3.4 to
/// 5.5 % of nDCG@10 on the mean, and lost on none. They were chosen with a look at these samples, so not blind.
const SECOND_WEIGHTS: LateWeights = LateWeights {
    retrieval: 1.0,
    tokens: 0.6,
    likeness: 0.6,
    feedback: 0.0,
    title: 0.3,
    pairs: 0.3,
};

/// The same for the encoder that found the candidates; likeness is then to the query and the best candidates.
///
/// The rounded mean of the twenty best points of a grid on 90 queries of `SciFact`'s training half, over the z-score
/// fusion of `MiniLM` and BM25. Which features to keep was decided with a look at three other collections: weighting
/// `MaxSim` by rarity among the candidates helped `SciFact` and hurt all of them.
const OWN_WEIGHTS: LateWeights = LateWeights {
    retrieval: 1.0,
    tokens: 0.5,
    likeness: 0.0,
    feedback: 0.6,
    title: 0.3,
    pairs: 0.3,
};

/// Whose encoder reads the candidates, where no folder says how much its features count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Another one than found them: its own likeness to the query counts.
    Second,
    /// The one that found them: its likeness is in the retriever's score already, so the first candidates move the query.
    Own,
}

/// Stretches scores to about the spread of a cross-encoder's logits, against which the pipeline's citation bonus is sized.
const SPREAD: f32 = 4.0;

/// How a [`LateInteractionReranker`] is run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LateInteractionOptions {
    /// Candidates that are read again, the retriever's best first.
    pub depth: usize,
    /// How much each feature counts.
    pub weights: LateWeights,
    /// Token states kept in memory, so that a passage is read once for several queries.
    pub cache_bytes: usize,
}

/// A few hundred passages.
const CACHE_BYTES: usize = 128 << 20;

impl LateInteractionOptions {
    /// [`DEPTH`] candidates, 128 MiB of states.
    pub fn project(reading: Reading) -> Self {
        let weights = match reading {
            Reading::Second => SECOND_WEIGHTS,
            Reading::Own => OWN_WEIGHTS,
        };
        Self { depth: DEPTH, weights, cache_bytes: CACHE_BYTES }
    }

    /// What a model's folder says.
    pub fn ruled(rules: LateRules) -> Self {
        let LateRules { depth, weights } = rules;
        Self { depth, weights, cache_bytes: CACHE_BYTES }
    }
}

/// Late interaction of an encoder plus lexical features.
pub struct LateInteractionReranker {
    info: RerankerInfo,
    reader: Arc<Reader>,
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
        let reader = Reader { encoder, weights, states: Mutex::new(StateCache::new(cache_bytes)) };
        Ok(Self { info, reader: Arc::new(reader), depth: depth.max(1), batcher })
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
        let scores = self.explain(query, passages).await?;
        finite(&self.info.name, scores.iter().map(|explanation| explanation.value).collect())
    }

    async fn explain(
        &self,
        query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<Explanation>, PortError> {
        use scholar_core::Encoder as _;
        let reader = Arc::clone(&self.reader);
        let (depth, query) = (self.depth, query.clone());
        let cost = passages.len().min(depth) * reader.encoder.info().max_tokens;
        let passages = passages.to_vec();
        let work = move || explain(&reader, depth, &query, &passages);
        Ok(self.batcher.run(cost, work).await??)
    }
}

/// What reads candidates.
struct Reader {
    encoder: Arc<LocalEncoder>,
    weights: LateWeights,
    states: Mutex<StateCache>,
}

impl Reader {
    /// Token states of the texts, read now or before.
    fn states(&self, texts: &[&str]) -> Result<Vec<Arc<TokenStates>>, ModelError> {
        let known: Vec<Option<Arc<TokenStates>>> = {
            let states = self.states.lock();
            texts.iter().map(|text| states.get(text)).collect()
        };
        let unread: Vec<&str> = texts
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none())
            .map(|(text, _)| *text)
            .collect();
        let mut read = self.encoder.late_states(Side::Passage, &unread)?.into_iter().map(Arc::new);
        let mut states = self.states.lock();
        let found = texts.iter().zip(known).filter_map(|(text, known)| {
            known.or_else(|| {
                let fresh = read.next()?;
                states.put(text, &fresh);
                Some(fresh)
            })
        });
        Ok(found.collect())
    }
}

fn explain(
    reader: &Reader,
    depth: usize,
    query: &Query,
    passages: &[Retrieved],
) -> Result<Vec<Explanation>, ModelError> {
    let order = by_retrieval(passages);
    let (head, tail) = order.split_at(depth.min(order.len()));
    let candidates: Vec<&Retrieved> = head.iter().map(|at| &passages[*at]).collect();
    let mut explanations = vec![Explanation::new(0.0, "not scored"); passages.len()];
    let mut lowest = 0.0_f32;
    if !candidates.is_empty() {
        let features = Features::compute(reader, query.as_str(), &candidates)?;
        for (at, row) in head.iter().zip(features.standardised()) {
            explanations[*at] = explained(&row, reader.weights.in_order());
            lowest = lowest.min(explanations[*at].value);
        }
    }
    for (rank, at) in tail.iter().enumerate() {
        let score = lowest - SPREAD * (1.0 + rank as f32);
        let reason = format!("beyond the {depth} candidates read again: the retriever's order");
        explanations[*at] = Explanation::new(score, reason);
    }
    Ok(explanations)
}

fn explained(row: &[f32; FEATURES], weights: [f32; FEATURES]) -> Explanation {
    let parts: Vec<f32> =
        row.iter().zip(weights).map(|(value, weight)| SPREAD * weight * value).collect();
    let sum = parts.iter().sum();
    NAMES.iter().zip(parts).fold(
        Explanation::new(sum, "standardised among the candidates, weighted, added"),
        |all, (name, part)| all.with(Explanation::new(part, *name)),
    )
}

/// Positions, best retrieval score first, ties by input order.
fn by_retrieval(passages: &[Retrieved]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..passages.len()).collect();
    order.sort_by(|a, b| passages[*b].score.cmp(&passages[*a].score).then(a.cmp(b)));
    order
}
