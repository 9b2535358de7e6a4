//! The seams between the algorithms and the world.
//!
//! Each port has at least two real implementations and a fake. Failures cross as [`PortError`]; whoever implements a
//! port decides nothing about retrying beyond what its error kind says.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::PortError;
use crate::explanation::Explanation;
use crate::generation::{Generation, GenerationRequest, GeneratorInfo, Message};
use crate::ids::{PaperId, PassageId};
use crate::notice::Notice;
use crate::paper::{Paper, PaperMeta};
use crate::passage::Passage;
use crate::question::Query;
use crate::retrieval::{Retrieved, SearchRequest, Searched};
use crate::score::RerankScore;
use crate::support::Judgement;

/// Which side of a search a text is on. Contriever and `MiniLM` treat both alike; others prefix them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// What is looked for.
    Query,
    /// What is stored and found.
    Passage,
}

/// How two embeddings of an encoder compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Similarity {
    /// Raw inner product of unnormalised vectors (Contriever, OpenScholar's retriever).
    Dot,
    /// Vectors come out with length 1, so the inner product is the cosine.
    Cosine,
}

/// What an encoder is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncoderInfo {
    /// Name under which the catalog lists the model.
    pub name: String,
    /// Digest of weights, tokenizer and settings: a datastore refuses vectors of another.
    pub fingerprint: String,
    /// Length of a vector.
    pub dim: usize,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: usize,
    /// How two of its vectors compare.
    pub similarity: Similarity,
    /// What is done to a text before it is split into tokens.
    #[serde(default, skip_serializing_if = "TextPreparation::is_none")]
    pub preparation: TextPreparation,
}

impl EncoderInfo {
    /// How its cosines are read.
    pub fn cosine_scale(&self) -> CosineScale {
        let known = UNRELATED.iter().find(|(name, _)| *name == self.name);
        CosineScale { unrelated: known.map_or(0.0, |(_, cosine)| *cosine) }
    }
}

/// Mean cosine of texts that have nothing to do with each other, of the encoders where it is far from 0.
///
/// Ours: 60 questions of `docs/results/answerable-questions.tsv` and 1,455 titles that were found for any of them, 0.53; and the
/// sentences of these papers, 0.52.
const UNRELATED: [(&str, f32); 1] = [("granite-embedding-30m-english", 0.52)];

/// Puts the cosines of encoders on one scale: 0 for texts that have nothing to do with each other, 1 for the same.
///
/// Ours, because the vectors of many encoders lie in a narrow cone, each in its own, and thresholds must mean the same for all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CosineScale {
    unrelated: f32,
}

impl CosineScale {
    /// `cosine` on the common scale; the order of cosines stays.
    pub fn rescaled(self, cosine: f32) -> f32 {
        (cosine - self.unrelated) / (1.0 - self.unrelated)
    }
}

/// What is done to a text before an encoder splits it into tokens.
///
/// A datastore keeps it with its encoder: queries must be prepared as the passages were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TextPreparation {
    /// Lower case, for vocabularies that distinguish case.
    pub lowercase: bool,
    /// One character for each kind of dash, quotation mark, slash and dots.
    pub normalize_text: bool,
}

impl TextPreparation {
    /// The text as it is.
    pub const NONE: Self = Self { lowercase: false, normalize_text: false };

    /// Whether texts are taken as they are.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

/// `n` vectors of `dim` numbers, row after row.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    /// Row-major `[n, dim]`, in the order of the texts.
    pub values: Vec<f32>,
    /// Length of a row.
    pub dim: usize,
    /// How many inputs exceeded the token limit and were cut.
    pub truncated: usize,
}

impl Embeddings {
    /// Each vector, `[dim]`, in the order of the texts.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f32> {
        self.values.chunks_exact(self.dim)
    }

    /// The rows scaled to length 1; one of zeros stays as it is.
    pub fn unit_rows(&self) -> Vec<Vec<f32>> {
        let unit = |row: &[f32]| {
            let norm = row.iter().map(|value| value * value).sum::<f32>().sqrt();
            if norm > 0.0 { row.iter().map(|value| value / norm).collect() } else { row.to_vec() }
        };
        self.rows().map(unit).collect()
    }

    /// Number of vectors, one for each text.
    pub fn len(&self) -> usize {
        self.values.len() / self.dim
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// A bi-encoder. Blocking: it computes on the caller's threads.
pub trait Encoder: Send + Sync {
    /// Name, fingerprint, dimension, longest input and similarity.
    fn info(&self) -> &EncoderInfo;

    /// Encodes `texts` in order. The neighbours in a batch change a vector by at most 1e-6.
    ///
    /// # Errors
    /// When the model cannot run; never for a long or empty text.
    fn encode(&self, side: Side, texts: &[&str]) -> Result<Embeddings, PortError>;

    /// Encodes `text` and returns one vector per token beside the token's character span, for late interaction.
    /// `None` when the encoder offers no token states.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    fn token_states(
        &self,
        side: Side,
        texts: &[&str],
    ) -> Result<Option<Vec<Embeddings>>, PortError> {
        let _ = (side, texts);
        Ok(None)
    }
}

/// What a reranker is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RerankerInfo {
    /// Name shown to people; says what it is (`cross-encoder …`, `late interaction + lexical (no cross-encoder)`).
    pub name: String,
    /// Whether it is a trained cross-encoder.
    pub cross_encoder: bool,
}

/// Scores (query, passage) pairs together.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Name, and whether it is a trained cross-encoder.
    fn info(&self) -> &RerankerInfo;

    /// One raw score per passage, in input order. Batching changes no score by more than 1e-3.
    ///
    /// # Errors
    /// When the model cannot run.
    async fn rerank(
        &self,
        query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<RerankScore>, PortError>;

    /// The same scores with what each is made of; of a model that cannot tell, the score alone.
    ///
    /// # Errors
    /// As [`Reranker::rerank`].
    async fn explain(
        &self,
        query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<Explanation>, PortError> {
        let reason = format!("{} on query and passage read together", self.info().name);
        let scores = self.rerank(query, passages).await?;
        Ok(scores.iter().map(|score| Explanation::new(score.value(), reason.as_str())).collect())
    }
}

/// Sees each new piece of a reply as it comes.
///
/// A name of its own because `async_trait` would tie the elided lifetime of a bare `Fn(&str)` to the call, and no
/// generator could pass text it owns.
pub type OnText<'a> = dyn Fn(&str) + Send + Sync + 'a;

/// A language model that completes chats, in this process or behind a server.
#[async_trait]
pub trait Generator: Send + Sync {
    /// Model name, context length, strength and price.
    fn info(&self) -> &GeneratorInfo;

    /// Tokens of `text`: exact for local models, an over-estimate where the tokenizer is unknown.
    fn count_tokens(&self, text: &str) -> usize;

    /// Generates; `on_text` sees each new piece of text as it comes.
    ///
    /// # Errors
    /// [`PortError`]; a reply cut by the token limit is not an error but a finish reason.
    async fn generate(
        &self,
        request: &GenerationRequest,
        on_text: &OnText<'_>,
    ) -> Result<Generation, PortError>;

    /// Log-probability of each of `choices` as the start of the reply, normalised over the choices.
    ///
    /// # Errors
    /// `Rejected` where the engine gives no probabilities.
    async fn choose(
        &self,
        purpose: &str,
        messages: &[Message],
        choices: &[&str],
    ) -> Result<Vec<f32>, PortError>;
}

/// Search for passages, and reading of stored ones.
#[async_trait]
pub trait Retriever: Send + Sync {
    /// Name for explanations and notices.
    fn name(&self) -> &str;

    /// Best first, ties by passage id; at most `top_k`, and only what the filter accepts.
    ///
    /// # Errors
    /// When the index cannot be read or the encoder does not fit it.
    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError>;

    /// As [`Retriever::search`], and beyond what is stored where the retriever can look there. One source's failure
    /// is not the others': it is a notice.
    ///
    /// # Errors
    /// When nothing could be searched.
    async fn explore(&self, request: &SearchRequest) -> Result<Searched, PortError> {
        Ok(Searched { hits: self.search(request).await?, notices: Vec::new() })
    }

    /// One outcome per request, in order, each as [`Retriever::search`] gives it: one request's failure is not the
    /// others'. Whoever can share work between queries does so here.
    async fn search_batch(
        &self,
        requests: &[SearchRequest],
    ) -> Vec<Result<Vec<Retrieved>, PortError>> {
        let mut outcomes = Vec::with_capacity(requests.len());
        for request in requests {
            outcomes.push(self.search(request).await);
        }
        outcomes
    }

    /// The stored passage of that name: what proofs are checked against.
    ///
    /// # Errors
    /// When the store cannot be read; an unknown passage is `Ok(None)`.
    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError>;
}

/// Paper metadata and the citation graph.
#[async_trait]
pub trait Catalog: Send + Sync {
    /// Name that notices give it.
    fn name(&self) -> &str;

    /// Whole paper; unknown is `Ok(None)`, unreachable is `Err`.
    ///
    /// # Errors
    /// When the source cannot be asked.
    async fn paper(&self, id: &PaperId) -> Result<Option<Paper>, PortError>;

    /// What it cites.
    ///
    /// # Errors
    /// When the source cannot be asked.
    async fn references(&self, id: &PaperId) -> Result<Vec<PaperId>, PortError>;

    /// What cites it.
    ///
    /// # Errors
    /// When the source cannot be asked.
    async fn citations(&self, id: &PaperId) -> Result<Vec<PaperId>, PortError>;
}

/// Does this evidence support this sentence?
#[async_trait]
pub trait Attributor: Send + Sync {
    /// Name with version, as it stands beside every verdict.
    fn name(&self) -> &str;

    /// One judgement per `(sentence, evidence)` pair, in order.
    ///
    /// # Errors
    /// When the judge cannot run. A reply it cannot read is an error, never a verdict.
    async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError>;

    /// How likely each of `candidates` speaks for or against `sentence`, in `[0, 1]` and in order: which sentence of a
    /// passage is the evidence. `None` of a judge that cannot tell.
    ///
    /// # Errors
    /// When the judge cannot run.
    async fn evidence(
        &self,
        sentence: &str,
        candidates: &[&str],
    ) -> Result<Option<Vec<f32>>, PortError> {
        let _ = (sentence, candidates);
        Ok(None)
    }

    /// Whether its verdict "contradicted" stands by itself. That of small judges was measured to be a false alarm more
    /// often than not, so the gates ask for a second sign: an opposite direction or a negation.
    fn finds_contradictions(&self) -> bool {
        false
    }

    /// What a person should know of the judgements given since this was last asked, such as who judged instead.
    fn take_notices(&self) -> Vec<Notice> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(name: &str) -> CosineScale {
        let info = EncoderInfo {
            name: name.to_owned(),
            fingerprint: String::new(),
            dim: 384,
            max_tokens: 512,
            similarity: Similarity::Cosine,
            preparation: TextPreparation::NONE,
        };
        info.cosine_scale()
    }

    #[test]
    fn cosines_of_encoders_come_on_one_scale() {
        let narrow = scale("granite-embedding-30m-english");
        assert!(narrow.rescaled(0.52).abs() < 1e-6, "unrelated texts");
        assert!((narrow.rescaled(1.0) - 1.0).abs() < 1e-6, "the same text");
        assert!((narrow.rescaled(0.76) - 0.5).abs() < 1e-6);
        for cosine in [-0.2, 0.0, 0.4, 1.0] {
            assert!((scale("all-MiniLM-L6-v2").rescaled(cosine) - cosine).abs() < 1e-6);
        }
    }
}
