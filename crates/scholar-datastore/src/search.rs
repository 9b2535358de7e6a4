//! Hybrid search over one snapshot: lexical scores, dense scores, fusion, explanation.
//!
//! 1. The filter becomes a set of documents per segment ([`crate::filter`]), which the commit remembers ([`filters`]).
//! 2. BM25 scores every passage ([`crate::lexical`]), the dense scan compares every vector ([`crate::dense::scan`]).
//! 3. The best of both lists are the candidates; each has both scores exactly, whichever list it came from.
//! 4. [`fusion`] turns two scores into one. With feedback on, the vectors of the first few move the query's vector and
//!    steps 2 to 4 run once more for the dense side.
//! 5. The winners are loaded and explained.

mod batch;
mod candidates;
mod explain;
pub(crate) mod filters;
pub mod fusion;
pub mod group;
mod memory;
pub mod pool;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{
    Encoder, Explanation, PaperId, PaperMeta, Passage, PassageId, PortError, PortErrorKind,
    RetrievalScore, Retrieved, Retriever, SearchMode, SearchRequest, Side,
};

use crate::dense::scan::DenseSearch;
use crate::error::Error;
use crate::lexical::Bm25;
use crate::store::{Datastore, Snapshot};
use candidates::Candidates;
use fusion::{Candidate, Fusion};
use group::Scored;
use memory::MemoryBudget;
use pool::SearchPool;

/// Pseudo-relevance feedback on the dense side (Rocchio): `q' = q + weight · Σ g_i d_i`, with the gains
/// `g_i ∝ 1 / log2(i + 1)` of the first `passages` results, summing to 1.
///
/// Source: Rocchio 1971, on dense vectors as in Yu et al. 2021.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Feedback {
    /// How many first results move the query.
    pub passages: usize,
    /// `weight` of the formula above; 0 leaves the query where it is.
    pub weight: f32,
}

/// How a retriever searches. No default: presets say where they come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchConfig {
    /// Parameters of the lexical side.
    pub bm25: Bm25,
    /// How two scores become one.
    pub fusion: Fusion,
    /// Whether the first results improve the query.
    pub feedback: Option<Feedback>,
    /// How many of each list are candidates, at least; `top_k` where that is more.
    pub depth: usize,
    /// How thoroughly vectors are compared.
    pub dense: DenseSearch,
    /// Up to so many passages that a filter accepts are compared each; more are looked for as `dense` says.
    pub compared: usize,
    /// Resident memory above which mapped vectors are given back after a search; `None` leaves it to the system.
    pub memory_bytes: Option<u64>,
}

/// Candidates of each list. Ours: deep enough that a passage outside cannot win by the other list alone.
const CANDIDATE_DEPTH: usize = 200;
/// Hits of each datastore that are fused with others': as many as give mean and deviation.
const FUSED_DEPTH: usize = 50;
/// Passages of a filter that are compared each. Ours: as long as that takes about as long as looking through an index.
const COMPARED: usize = 20_000;

impl SearchConfig {
    /// Ours; how it was chosen, and on what, is in docs/decisions/0006.
    pub fn tuned() -> Self {
        Self {
            bm25: Bm25::tuned(),
            fusion: Fusion::standard_scores(),
            feedback: Some(Feedback { passages: 3, weight: 0.3 }),
            depth: CANDIDATE_DEPTH,
            dense: DenseSearch::Indexed { probe: None },
            compared: COMPARED,
            memory_bytes: None,
        }
    }

    /// Plain reciprocal-rank fusion, k = 60, of Lucene-style BM25 and the dense list: the textbook baseline.
    pub fn reciprocal_rank() -> Self {
        Self {
            bm25: Bm25::lucene(),
            fusion: Fusion::reciprocal_rank(),
            feedback: None,
            depth: CANDIDATE_DEPTH,
            dense: DenseSearch::Indexed { probe: None },
            compared: COMPARED,
            memory_bytes: None,
        }
    }
}

/// A datastore with an encoder: the local [`Retriever`].
#[derive(Clone)]
pub struct HybridRetriever {
    store: Arc<Datastore>,
    encoder: Arc<dyn Encoder>,
    config: SearchConfig,
    pool: Arc<SearchPool>,
    memory: Arc<MemoryBudget>,
}

impl HybridRetriever {
    /// Puts a store and the encoder it was built with together.
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`].
    pub fn new(
        store: Arc<Datastore>,
        encoder: Arc<dyn Encoder>,
        config: SearchConfig,
        pool: Arc<SearchPool>,
    ) -> Result<Self, Error> {
        store.check_encoder(encoder.info())?;
        Ok(Self { store, encoder, config, pool, memory: Arc::default() })
    }

    /// The datastore that is searched.
    pub fn store(&self) -> &Arc<Datastore> {
        &self.store
    }

    /// [`Retriever::search`] on this thread.
    ///
    /// # Errors
    /// [`Error::Encode`] when the query cannot be encoded, otherwise damage of the store.
    pub fn search_blocking(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, Error> {
        let vector = match request.mode {
            SearchMode::Lexical => Vec::new(),
            SearchMode::Dense | SearchMode::Hybrid => self.encode(request.query.as_str())?,
        };
        self.search_encoded(request, vector)
    }

    /// As [`HybridRetriever::search_blocking`] with the query's vector, which a lexical search does not read.
    fn search_encoded(
        &self,
        request: &SearchRequest,
        vector: Vec<f32>,
    ) -> Result<Vec<Retrieved>, Error> {
        if request.top_k == 0 {
            return Ok(Vec::new());
        }
        let found = self.store.reading(|| self.search_commit(request, vector))?;
        Ok(found.into_iter().map(|scored| scored.hit).collect())
    }

    /// As [`HybridRetriever::search_blocking`], deep enough to be fused with other stores', each hit with both scores.
    fn search_scored(&self, request: &SearchRequest) -> Result<Vec<Scored>, Error> {
        let vector = match request.mode {
            SearchMode::Lexical => Vec::new(),
            SearchMode::Dense | SearchMode::Hybrid => self.encode(request.query.as_str())?,
        };
        let deep = SearchRequest { top_k: request.top_k.max(FUSED_DEPTH), ..request.clone() };
        self.store.reading(|| self.search_commit(&deep, vector))
    }

    /// The newest commit's answer.
    fn search_commit(
        &self,
        request: &SearchRequest,
        vector: Vec<f32>,
    ) -> Result<Vec<Scored>, Error> {
        let SearchRequest { query, top_k, mode, filter } = request;
        let SearchConfig { bm25, fusion, feedback, depth, dense, compared, memory_bytes } =
            self.config;
        let snapshot = self.store.snapshot()?;
        let mut candidates =
            Candidates::new(&self.store, &snapshot, filter, depth.max(*top_k), dense, compared)?;
        match mode {
            SearchMode::Lexical => candidates.find_lexical(bm25, query.as_str())?,
            SearchMode::Dense => candidates.find_dense(vector)?,
            SearchMode::Hybrid => {
                candidates.find_lexical(bm25, query.as_str())?;
                candidates.find_dense(vector)?;
            }
        }
        let mut ranked = candidates.rank(*mode, fusion)?;
        if let (SearchMode::Hybrid, Some(feedback)) = (mode, feedback) {
            let first = self.load(&snapshot, ranked, feedback.passages)?;
            let first: Vec<Candidate> = first.into_iter().map(|hit| hit.candidate).collect();
            candidates.move_query(&first, feedback.weight)?;
            ranked = candidates.rank(*mode, fusion)?;
        }
        let hits = self.load(&snapshot, ranked, *top_k)?;
        let explanations = candidates.explain(*mode, fusion, &hits)?;
        let found = self.assemble(&snapshot, hits, explanations);
        if let Some(most) = memory_bytes {
            self.memory.keep(most, &snapshot);
        }
        found
    }

    fn encode(&self, query: &str) -> Result<Vec<f32>, Error> {
        let failed = |source| Error::Encode { path: self.store.root().to_owned(), source };
        let embeddings = self.encoder.encode(Side::Query, &[query]).map_err(failed)?;
        let finite = embeddings.values.iter().all(|value| value.is_finite());
        if embeddings.values.len() != self.encoder.info().dim || !finite {
            let what = "it returned no usable vector for the query";
            return Err(failed(PortError::new(PortErrorKind::Corrupt, what)));
        }
        Ok(embeddings.values)
    }

    /// The best `top_k` of `ranked`, ties broken by passage id. Loads no more than it returns, besides ties.
    fn load(
        &self,
        snapshot: &Snapshot,
        mut ranked: Vec<Candidate>,
        top_k: usize,
    ) -> Result<Vec<Hit>, Error> {
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        if let Some(bar) = top_k.checked_sub(1).and_then(|last| ranked.get(last)).map(|c| c.score) {
            ranked.retain(|candidate| candidate.score >= bar);
        }
        let mut hits = ranked
            .into_iter()
            .map(|candidate| {
                let passage = self.store.load_passage(snapshot, candidate.address)?;
                Ok(Hit { candidate, passage })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        hits.sort_by(|a, b| {
            b.candidate
                .score
                .total_cmp(&a.candidate.score)
                .then_with(|| a.passage.id.cmp(&b.passage.id))
        });
        hits.truncate(top_k);
        Ok(hits)
    }

    fn assemble(
        &self,
        snapshot: &Snapshot,
        hits: Vec<Hit>,
        explanations: Vec<Explanation>,
    ) -> Result<Vec<Scored>, Error> {
        let mut metas: BTreeMap<PaperId, Arc<PaperMeta>> = BTreeMap::new();
        let mut retrieved = Vec::with_capacity(hits.len());
        for (Hit { candidate, passage }, explanation) in hits.into_iter().zip(explanations) {
            let paper = match metas.get(&passage.id.paper) {
                Some(meta) => Arc::clone(meta),
                None => {
                    let meta = Arc::new(self.store.load_meta(snapshot, &passage.id.paper)?);
                    metas.insert(passage.id.paper.clone(), Arc::clone(&meta));
                    meta
                }
            };
            let score = RetrievalScore::new(candidate.score)
                .map_err(|error| Error::corrupt(self.store.root(), error.to_string()))?;
            let hit = Retrieved { passage, paper, score, explanation, found_by: Vec::new() };
            retrieved.push(Scored { hit, dense: candidate.dense, lexical: candidate.lexical });
        }
        Ok(retrieved)
    }
}

/// A winner with its passage loaded.
pub(crate) struct Hit {
    pub(crate) candidate: Candidate,
    pub(crate) passage: Passage,
}

#[async_trait]
impl Retriever for HybridRetriever {
    fn name(&self) -> &str {
        "datastore"
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        let retriever = self.clone();
        let request = request.clone();
        Ok(self.pool.run(move || retriever.search_blocking(&request)).await??)
    }

    async fn search_batch(
        &self,
        requests: &[SearchRequest],
    ) -> Vec<Result<Vec<Retrieved>, PortError>> {
        batch::search(self, requests).await
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        Ok(self.store.passage(id)?)
    }
}
