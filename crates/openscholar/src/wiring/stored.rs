//! Datastores, and what a run found beyond it, as a source of stored passages only: proofs are checked without any model.

use async_trait::async_trait;
use scholar_core::text::passages::{PassageRules, cut};
use scholar_core::{
    Paper, PaperMeta, Passage, PassageId, PortError, PortErrorKind, Retrieved, Retriever,
    SearchRequest,
};
use scholar_datastore::Datastore;

/// Serves passages by name and refuses to search.
pub(crate) struct StoredPassages {
    found: Vec<(Passage, PaperMeta)>,
    stores: Vec<Datastore>,
}

impl StoredPassages {
    /// The passages of `stores`, and those of the papers a run `found`, which come first as they did in the run.
    pub(crate) fn new(stores: Vec<Datastore>, found: &[Paper]) -> Self {
        let cut = |paper: &Paper| -> Vec<(Passage, PaperMeta)> {
            let passages = cut(paper, PassageRules::sections());
            passages.into_iter().map(|passage| (passage, paper.meta.clone())).collect()
        };
        Self { found: found.iter().flat_map(cut).collect(), stores }
    }
}

#[async_trait]
impl Retriever for StoredPassages {
    fn name(&self) -> &str {
        "stored passages"
    }

    async fn search(&self, _request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        Err(PortError::new(
            PortErrorKind::Rejected,
            "this view of the datastore has no encoder and cannot search",
        ))
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        if let Some(found) = self.found.iter().find(|(passage, _)| passage.id == *id) {
            return Ok(Some(found.clone()));
        }
        for store in &self.stores {
            if let Some(found) = store.passage(id)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
