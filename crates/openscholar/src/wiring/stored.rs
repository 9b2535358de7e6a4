//! A datastore as a source of stored passages only: proofs are checked without any model.

use async_trait::async_trait;
use scholar_core::{
    PaperMeta, Passage, PassageId, PortError, PortErrorKind, Retrieved, Retriever, SearchRequest,
};
use scholar_datastore::Datastore;

/// Serves passages by name and refuses to search.
pub(crate) struct StoredPassages(pub(crate) Datastore);

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
        Ok(self.0.passage(id)?)
    }
}
