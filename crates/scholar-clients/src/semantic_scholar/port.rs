//! Semantic Scholar behind the ports.

use async_trait::async_trait;
use scholar_core::{
    Catalog, FindBy, FindRequest, Found, Paper, PaperId, PaperMeta, PaperSource, PortError,
    SearchFilter,
};

use super::{SemanticScholar, s2_id};

/// References and citations that a catalog answers with at most: ten pages.
const MAX_EDGES: usize = 10_000;

#[async_trait]
impl PaperSource for SemanticScholar {
    fn name(&self) -> &str {
        "s2"
    }

    fn takes(&self, by: FindBy) -> bool {
        by == FindBy::Keywords
    }

    async fn find(&self, request: &FindRequest) -> Result<Found, PortError> {
        let listed = self.search(request.text.as_str(), request.limit, &request.filter).await?;
        let papers = listed.items.into_iter().map(|found| found.paper).collect();
        Ok(Found { papers, notices: listed.notices })
    }

    /// Semantic Scholar has addresses of open copies, not texts.
    async fn full_text(&self, _paper: &PaperMeta) -> Result<Option<Paper>, PortError> {
        Ok(None)
    }
}

#[async_trait]
impl Catalog for SemanticScholar {
    fn name(&self) -> &str {
        "Semantic Scholar"
    }

    async fn paper(&self, id: &PaperId) -> Result<Option<Paper>, PortError> {
        Ok(Self::paper(self, id).await?.map(|found| found.paper))
    }

    async fn references(&self, id: &PaperId) -> Result<Vec<PaperId>, PortError> {
        if s2_id(id).is_none() {
            return Ok(Vec::new());
        }
        let edges = Self::references(self, id, MAX_EDGES, &SearchFilter::none()).await?;
        Ok(edges.items.into_iter().map(|edge| edge.paper.paper.meta.id).collect())
    }

    async fn citations(&self, id: &PaperId) -> Result<Vec<PaperId>, PortError> {
        if s2_id(id).is_none() {
            return Ok(Vec::new());
        }
        let edges = Self::citations(self, id, MAX_EDGES, &SearchFilter::none()).await?;
        Ok(edges.items.into_iter().map(|edge| edge.paper.paper.meta.id).collect())
    }
}
