//! A reranker without a model.

use async_trait::async_trait;
use scholar_core::{
    PortError, PortErrorKind, Query, RerankScore, Reranker, RerankerInfo, Retrieved,
};

use crate::words::coverage;

/// Share of the query's stems found in title and text, from -5 (none) to 5 (all), like a logit.
pub struct FakeReranker {
    info: RerankerInfo,
}

impl FakeReranker {
    /// The one there is.
    pub fn new() -> Self {
        Self { info: RerankerInfo { name: "word overlap (fake)".to_owned(), cross_encoder: false } }
    }
}

impl Default for FakeReranker {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Reranker for FakeReranker {
    fn info(&self) -> &RerankerInfo {
        &self.info
    }

    async fn rerank(
        &self,
        query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<RerankScore>, PortError> {
        let score = |passage: &Retrieved| {
            let share = coverage(query.as_str(), &passage.passage.encoded_text());
            RerankScore::new(share * 10.0 - 5.0).map_err(|source| {
                PortError::new(PortErrorKind::Corrupt, "the overlap is not a number")
                    .with_source(source)
            })
        };
        passages.iter().map(score).collect()
    }
}
