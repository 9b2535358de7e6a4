//! A datastore, and what a run found beyond it, as a source of stored passages only: proofs are checked without any model.

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
    store: Datastore,
}

impl StoredPassages {
    /// The passages of `store`, and those of the papers a run `found`, which come first as they did in the run.
    pub(crate) fn new(store: Datastore, found: &[Paper]) -> Self {
        let cut = |paper: &Paper| -> Vec<(Passage, PaperMeta)> {
            let passages = cut(paper, PassageRules::sections());
            passages.into_iter().map(|passage| (passage, paper.meta.clone())).collect()
        };
        Self { found: found.iter().flat_map(cut).collect(), store }
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
        match self.found.iter().find(|(passage, _)| passage.id == *id) {
            Some(found) => Ok(Some(found.clone())),
            None => Ok(self.store.passage(id)?),
        }
    }
}
