//! The best of both lists, each with both scores.

use std::collections::BTreeSet;
use std::sync::Arc;

use scholar_core::{Explanation, SearchFilter, SearchMode};
use tantivy::DocAddress;

use super::Hit;
use super::explain::{Side, explain_hit};
use super::filters::Filtered;
use super::fusion::{Candidate, Fusion, Spread};
use crate::dense::scan::{DenseSearch, Scored};
use crate::dense::vectors::Vectors;
use crate::error::Error;
use crate::lexical::{Bm25, LexicalSearch};
use crate::store::{Datastore, Snapshot};

/// Terms shown per hit.
const EXPLAINED_TERMS: usize = 5;

/// One side of the search: its best passages and what is needed to place any other passage among them.
struct List {
    best: Vec<Scored>,
    /// Scores of `best`, descending.
    sorted: Vec<f32>,
}

impl List {
    fn new(best: Vec<Scored>) -> Self {
        let mut sorted: Vec<f32> = best.iter().map(|scored| scored.score).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        Self { best, sorted }
    }

    fn spread(&self, depth: usize) -> Spread {
        Spread::of(self.sorted.clone(), depth)
    }
}

struct Lexical<'a> {
    list: List,
    search: LexicalSearch<'a>,
}

struct Dense {
    list: List,
    query: Vec<f32>,
    is_moved: bool,
}

/// One search on one snapshot.
pub(crate) struct Candidates<'a> {
    store: &'a Datastore,
    snapshot: &'a Snapshot,
    vectors: Vectors<'a>,
    filtered: Arc<Filtered>,
    depth: usize,
    how: DenseSearch,
    lexical: Option<Lexical<'a>>,
    dense: Option<Dense>,
}

impl<'a> Candidates<'a> {
    pub(crate) fn new(
        store: &'a Datastore,
        snapshot: &'a Snapshot,
        filter: &SearchFilter,
        depth: usize,
        how: DenseSearch,
        compared: usize,
    ) -> Result<Self, Error> {
        let failed = || Error::index("search", store.root());
        let vectors = Vectors::new(snapshot).map_err(failed())?;
        let filtered =
            snapshot.filters.get(&vectors, store.fields(), filter, compared).map_err(failed())?;
        Ok(Self { store, snapshot, vectors, filtered, depth, how, lexical: None, dense: None })
    }

    pub(crate) fn find_lexical(&mut self, parameters: Bm25, query: &str) -> Result<(), Error> {
        let failed = || Error::index("search", self.store.root());
        let Self { snapshot, store, .. } = self;
        let search = LexicalSearch::new(
            &snapshot.searcher,
            &snapshot.terms,
            store.fields(),
            parameters,
            query,
        )
        .map_err(failed())?;
        let best = search.best(&self.filtered.accepted, self.depth).map_err(failed())?;
        self.lexical = Some(Lexical { list: List::new(best), search });
        Ok(())
    }

    pub(crate) fn find_dense(&mut self, query: Vec<f32>) -> Result<(), Error> {
        let Self { vectors, filtered, .. } = &*self;
        let allowed = filtered.allowed(vectors);
        let best = vectors.best(&query, allowed, self.depth, self.how)?;
        self.dense = Some(Dense { list: List::new(best), query, is_moved: false });
        Ok(())
    }

    /// Moves the query's vector towards the passages found first and searches the dense side again.
    #[expect(clippy::cast_precision_loss, reason = "a handful of passages")]
    pub(crate) fn move_query(&mut self, first: &[Candidate], weight: f32) -> Result<(), Error> {
        let Some(Dense { mut query, .. }) = self.dense.take() else { return Ok(()) };
        let gains: Vec<f32> = (0..first.len()).map(|i| 1.0 / (i as f32 + 2.0).log2()).collect();
        let total: f32 = gains.iter().sum();
        for (candidate, gain) in first.iter().zip(&gains) {
            let vector = self.vectors.vector(candidate.address)?.unwrap_or_default();
            for (value, other) in query.iter_mut().zip(vector) {
                *value += weight * gain / total * other;
            }
        }
        self.find_dense(query)?;
        if let Some(dense) = &mut self.dense {
            dense.is_moved = true;
        }
        Ok(())
    }

    /// Every candidate with its final score, in no particular order.
    pub(crate) fn rank(&self, mode: SearchMode, fusion: Fusion) -> Result<Vec<Candidate>, Error> {
        let lists = [self.dense.as_ref().map(|d| &d.list), self.lexical.as_ref().map(|l| &l.list)];
        let union: BTreeSet<DocAddress> = lists
            .iter()
            .flatten()
            .flat_map(|list| &list.best)
            .map(|scored| scored.address)
            .collect();
        let union: Vec<DocAddress> = union.into_iter().collect();
        let lexical = match &self.lexical {
            Some(lexical) => {
                lexical.search.scores(&union).map_err(Error::index("search", self.store.root()))?
            }
            None => vec![0.0; union.len()],
        };
        let mut ranked = Vec::with_capacity(union.len());
        for (address, lexical) in union.into_iter().zip(lexical) {
            let dense = match &self.dense {
                Some(Dense { query, .. }) => self.vectors.dot(query, address)?.unwrap_or_default(),
                None => 0.0,
            };
            let score = match mode {
                SearchMode::Dense => dense,
                SearchMode::Lexical => lexical,
                // Set below, once both sides are known.
                SearchMode::Hybrid => 0.0,
            };
            ranked.push(Candidate { address, dense, lexical, score });
        }
        if mode == SearchMode::Hybrid {
            let sides = self.sides(fusion);
            for candidate in &mut ranked {
                candidate.score =
                    sides.iter().map(|side| side.contribution(fusion, candidate)).sum();
            }
        }
        Ok(ranked)
    }

    pub(crate) fn explain(
        &self,
        mode: SearchMode,
        fusion: Fusion,
        hits: &[Hit],
    ) -> Result<Vec<Explanation>, Error> {
        let addresses: Vec<DocAddress> = hits.iter().map(|hit| hit.candidate.address).collect();
        let terms = match &self.lexical {
            Some(lexical) => lexical
                .search
                .explain(&addresses, EXPLAINED_TERMS)
                .map_err(Error::index("search", self.store.root()))?,
            None => vec![Vec::new(); hits.len()],
        };
        let sides = self.sides(fusion);
        Ok(hits
            .iter()
            .zip(terms)
            .map(|(hit, terms)| explain_hit(mode, fusion, &sides, &hit.candidate, terms))
            .collect())
    }

    fn sides(&self, fusion: Fusion) -> Vec<Side<'_>> {
        let depth = match fusion {
            Fusion::ZScores { depth, .. } => depth,
            Fusion::ReciprocalRank { .. } => 0,
        };
        let dense = self.dense.as_ref().map(|dense| Side {
            is_dense: true,
            is_moved: dense.is_moved,
            spread: dense.list.spread(depth),
            sorted: &dense.list.sorted,
        });
        let lexical = self.lexical.as_ref().map(|lexical| Side {
            is_dense: false,
            is_moved: false,
            spread: lexical.list.spread(depth),
            sorted: &lexical.list.sorted,
        });
        dense.into_iter().chain(lexical).collect()
    }
}
