//! PubMed behind the port.

use async_trait::async_trait;
use scholar_core::{FindBy, FindRequest, Found, Paper, PaperMeta, PaperSource, PortError};

use super::Pubmed;

/// PubMed as a source of papers; texts come from PMC.
pub struct PubmedSource {
    client: Pubmed,
}

impl PubmedSource {
    /// A source over `client`.
    pub fn new(client: Pubmed) -> Self {
        Self { client }
    }
}

#[async_trait]
impl PaperSource for PubmedSource {
    fn name(&self) -> &str {
        "pubmed"
    }

    fn takes(&self, by: FindBy) -> bool {
        by == FindBy::Keywords
    }

    async fn find(&self, request: &FindRequest) -> Result<Found, PortError> {
        let (papers, notices) =
            self.client.search(request.text.as_str(), &request.filter, request.limit).await?;
        Ok(Found { papers, notices })
    }

    async fn full_text(&self, paper: &PaperMeta) -> Result<Option<Paper>, PortError> {
        self.client.paper(paper).await
    }
}
