//! The datastore as a [`Catalog`].

use async_trait::async_trait;
use scholar_core::{Catalog, Paper, PaperId, PortError};

use super::Datastore;

// Look-ups are a few memory-mapped reads: below a millisecond, so they stay on the caller's thread.
#[async_trait]
impl Catalog for Datastore {
    fn name(&self) -> &str {
        "datastore"
    }

    async fn paper(&self, id: &PaperId) -> Result<Option<Paper>, PortError> {
        Ok(Self::paper(self, id)?)
    }

    async fn references(&self, id: &PaperId) -> Result<Vec<PaperId>, PortError> {
        let references = self.graph()?.references(id)?.unwrap_or_default();
        Ok(references.into_iter().map(|linked| linked.id).collect())
    }

    async fn citations(&self, id: &PaperId) -> Result<Vec<PaperId>, PortError> {
        Ok(self.citing(id)?)
    }
}
