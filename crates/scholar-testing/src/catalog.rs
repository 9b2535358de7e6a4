//! Paper metadata and citations in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use scholar_core::{Catalog, Paper, PaperId, PortError};

/// Answers from given papers; what cites a paper is derived from their reference lists.
pub struct MemoryCatalog {
    papers: BTreeMap<PaperId, Paper>,
}

impl MemoryCatalog {
    /// A catalog of exactly `papers`, by all their identifiers.
    pub fn new(papers: impl IntoIterator<Item = Paper>) -> Self {
        let keyed = papers.into_iter().map(|paper| (paper.meta.id.clone(), paper));
        Self { papers: keyed.collect() }
    }
}

#[async_trait]
impl Catalog for MemoryCatalog {
    fn name(&self) -> &'static str {
        "memory"
    }

    async fn paper(&self, id: &PaperId) -> Result<Option<Paper>, PortError> {
        let by_other_id =
            || self.papers.values().find(|paper| paper.meta.external_ids.contains(id));
        Ok(self.papers.get(id).or_else(by_other_id).cloned())
    }

    async fn references(&self, id: &PaperId) -> Result<Vec<PaperId>, PortError> {
        Ok(self.papers.get(id).map(|paper| paper.references.clone()).unwrap_or_default())
    }

    async fn citations(&self, id: &PaperId) -> Result<Vec<PaperId>, PortError> {
        let citing = self.papers.values().filter(|paper| paper.references.contains(id));
        Ok(citing.map(|paper| paper.meta.id.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;

    #[tokio::test]
    async fn citations_mirror_references() {
        let mut papers = corpus::papers();
        let (first, second) = (papers[0].meta.id.clone(), papers[1].meta.id.clone());
        let doi = papers[0].meta.external_ids[0].clone();
        papers[0].references.push(second.clone());
        let catalog = MemoryCatalog::new(papers);
        assert_eq!(catalog.references(&first).await.expect("asked"), std::slice::from_ref(&second));
        assert_eq!(catalog.citations(&second).await.expect("asked"), std::slice::from_ref(&first));
        assert_eq!(catalog.paper(&doi).await.expect("asked").map(|p| p.meta.id), Some(first));
        assert_eq!(catalog.paper(&PaperId::Pmid(1)).await.expect("asked"), None);
    }
}
