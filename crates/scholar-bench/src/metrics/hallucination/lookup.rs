//! Titles looked up in the datastore and in the sources beyond it.

use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{
    FindBy, FindRequest, PaperSource, PortError, PortErrorKind, Query, Retriever, SearchFilter,
    SearchMode, SearchRequest,
};

use super::{CANDIDATES, TitleLookup, same_title};

/// Passages searched for a title: several may be of one paper.
const PASSAGES: usize = 20;

/// Asks the datastore first, then each source until one knows the title.
///
/// Without sources a paper that is merely not stored looks invented: the name of the lookup says who was asked, and
/// stands beside the numbers.
pub struct PortLookup {
    retriever: Option<Arc<dyn Retriever>>,
    sources: Vec<Arc<dyn PaperSource>>,
    name: String,
}

impl PortLookup {
    /// Looks in `retriever`, if there is one, and in `sources` in their order.
    pub fn new(retriever: Option<Arc<dyn Retriever>>, sources: Vec<Arc<dyn PaperSource>>) -> Self {
        let asked: Vec<&str> = retriever
            .iter()
            .map(|retriever| retriever.name())
            .chain(sources.iter().map(|source| source.name()))
            .collect();
        let name = asked.join(", ");
        Self { retriever, sources, name }
    }

    async fn stored(&self, query: &Query) -> Result<Vec<String>, PortError> {
        let Some(retriever) = &self.retriever else { return Ok(Vec::new()) };
        let request = SearchRequest {
            query: query.clone(),
            top_k: PASSAGES,
            mode: SearchMode::Lexical,
            filter: SearchFilter::none(),
        };
        let mut titles: Vec<String> = Vec::new();
        for hit in retriever.search(&request).await? {
            if !titles.contains(&hit.paper.title) {
                titles.push(hit.paper.title.clone());
            }
        }
        titles.truncate(CANDIDATES);
        Ok(titles)
    }

    async fn found(source: &dyn PaperSource, query: &Query) -> Result<Vec<String>, PortError> {
        let by = if source.takes(FindBy::Keywords) { FindBy::Keywords } else { FindBy::Question };
        let filter = SearchFilter::none();
        let request = FindRequest { text: query.clone(), by, filter, limit: CANDIDATES };
        let found = source.find(&request).await?;
        Ok(found.papers.into_iter().map(|paper| paper.meta.title).collect())
    }
}

#[async_trait]
impl TitleLookup for PortLookup {
    fn name(&self) -> &str {
        &self.name
    }

    /// A failure counts only if nobody else knows the title.
    async fn titles_like(&self, title: &str) -> Result<Vec<String>, PortError> {
        let query = Query::new(title).ok_or_else(|| {
            PortError::new(PortErrorKind::Rejected, "an empty title cannot be looked up")
        })?;
        let mut failure = None;
        let mut titles = match self.stored(&query).await {
            Ok(titles) => titles,
            Err(error) => {
                failure = Some(error);
                Vec::new()
            }
        };
        for source in &self.sources {
            if let Some(same) = titles.iter().find(|found| same_title(title, found)) {
                return Ok(vec![same.clone()]);
            }
            match Self::found(source.as_ref(), &query).await {
                Ok(found) => titles.extend(found),
                Err(error) => failure = Some(error),
            }
        }
        if let Some(same) = titles.iter().find(|found| same_title(title, found)) {
            return Ok(vec![same.clone()]);
        }
        failure.map_or(Ok(titles), Err)
    }
}
