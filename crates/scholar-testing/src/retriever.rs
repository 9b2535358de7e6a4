//! Passage search in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_core::{
    Explanation, PaperMeta, Passage, PassageId, PortError, PortErrorKind, RetrievalScore,
    Retrieved, Retriever, SearchRequest,
};

use crate::corpus;
use crate::words::stems;

/// Ranks given passages by the summed inverse document frequency of the query's stems they contain.
///
/// Honours every filter, returns nothing for a query without a matching word, and records what it was asked.
pub struct MemoryRetriever {
    name: String,
    passages: Vec<(Passage, Arc<PaperMeta>, BTreeSet<String>)>,
    requests: Mutex<Vec<SearchRequest>>,
    failure: Option<(PortErrorKind, String)>,
}

impl MemoryRetriever {
    /// A retriever that searches `passages` by the word stems they share with the query.
    pub fn new(passages: impl IntoIterator<Item = (Passage, Arc<PaperMeta>)>) -> Self {
        let passages = passages.into_iter().map(|(passage, paper)| {
            let words = stems(&passage.encoded_text()).into_iter().collect();
            (passage, paper, words)
        });
        Self {
            name: "memory".to_owned(),
            passages: passages.collect(),
            requests: Mutex::new(Vec::new()),
            failure: None,
        }
    }

    /// Searches the abstracts of [`corpus::papers`].
    pub fn corpus() -> Self {
        Self::new(corpus::passages())
    }

    /// Every search fails with this kind and message.
    #[must_use]
    pub fn failing(mut self, kind: PortErrorKind, message: &str) -> Self {
        self.failure = Some((kind, message.to_owned()));
        self
    }

    /// The same retriever under another name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// What it was asked, in order.
    pub fn requests(&self) -> Vec<SearchRequest> {
        self.requests.lock().clone()
    }

    /// Inverse document frequency of every distinct stem of `query` that some passage has.
    fn weights(&self, query: &str) -> BTreeMap<String, f32> {
        let query: BTreeSet<String> = stems(query).into_iter().collect();
        let weigh = |stem: String| {
            let n_with = self.passages.iter().filter(|(_, _, words)| words.contains(&stem)).count();
            #[expect(clippy::cast_precision_loss, reason = "a test has fewer than 2^24 passages")]
            let weight = (1.0 + self.passages.len() as f32 / n_with.max(1) as f32).ln();
            (n_with > 0).then_some((stem, weight))
        };
        query.into_iter().filter_map(weigh).collect()
    }
}

#[async_trait]
impl Retriever for MemoryRetriever {
    fn name(&self) -> &str {
        &self.name
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        self.requests.lock().push(request.clone());
        if let Some((kind, message)) = &self.failure {
            return Err(PortError::new(*kind, message.clone()));
        }
        let weights = self.weights(request.query.as_str());
        let mut found = Vec::new();
        for (passage, paper, words) in &self.passages {
            let matching = weights.iter().filter(|(stem, _)| words.contains(*stem));
            let value: f32 = matching.clone().map(|(_, weight)| weight).sum();
            if value <= 0.0 || !request.filter.accepts(paper) {
                continue;
            }
            let explanation = matching.fold(
                Explanation::new(value, "sum over matching stems"),
                |all, (stem, weight)| {
                    all.with(Explanation::new(*weight, format!("idf of `{stem}`")))
                },
            );
            let score = RetrievalScore::new(value).map_err(|source| {
                PortError::new(PortErrorKind::Corrupt, "the score is not a number")
                    .with_source(source)
            })?;
            found.push(Retrieved {
                passage: passage.clone(),
                paper: Arc::clone(paper),
                score,
                explanation,
                found_by: Vec::new(),
            });
        }
        found.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.passage.id.cmp(&b.passage.id)));
        found.truncate(request.top_k);
        Ok(found)
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        let found = self.passages.iter().find(|(passage, _, _)| passage.id == *id);
        Ok(found.map(|(passage, paper, _)| (passage.clone(), PaperMeta::clone(paper))))
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::{Query, Reranker as _, SearchFilter, SearchMode};

    use super::*;
    use crate::FakeReranker;

    fn request(text: &str) -> SearchRequest {
        SearchRequest {
            query: Query::new(text).expect("a query"),
            top_k: 5,
            mode: SearchMode::Hybrid,
            filter: SearchFilter::none(),
        }
    }

    #[tokio::test]
    async fn finds_the_topic_and_honours_the_filter() {
        let retriever = MemoryRetriever::corpus();
        let all = retriever.search(&request("dense passage retrieval")).await.expect("found");
        assert_eq!(all.len(), 5);
        assert!(
            all.iter().all(|hit| hit.passage.encoded_text().to_lowercase().contains("retrieval"))
        );
        assert!(all.windows(2).all(|pair| pair[0].score >= pair[1].score));
        let mut later = request("dense passage retrieval");
        later.filter.year_from = Some(2022);
        let later = retriever.search(&later).await.expect("found");
        assert!(!later.is_empty() && later.iter().all(|hit| hit.paper.year >= Some(2022)));
        assert!(retriever.search(&request("xyzzy")).await.expect("asked").is_empty());
        assert_eq!(retriever.requests().len(), 3);
        let id = &all[0].passage.id;
        assert!(retriever.passage(id).await.expect("asked").is_some());
        let query = Query::new("dense passage retrieval").expect("a query");
        let scores = FakeReranker::new().rerank(&query, &all).await.expect("scored");
        assert!(scores.iter().all(|score| (-5.0..=5.0).contains(&score.value())));
    }

    #[tokio::test]
    async fn fails_on_demand() {
        let retriever = MemoryRetriever::corpus().failing(PortErrorKind::Unavailable, "no index");
        let error = retriever.search(&request("x")).await.expect_err("must fail");
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (PortErrorKind::Unavailable, "no index")
        );
    }
}
