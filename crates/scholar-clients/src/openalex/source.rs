//! OpenAlex behind the port.

use async_trait::async_trait;
use scholar_core::{FindBy, FindRequest, Found, Paper, PaperMeta, PaperSource, PortError};

use super::OpenAlex;
use crate::full_text::FullTexts;

/// OpenAlex as a source of papers; texts come from arXiv and PMC.
pub struct OpenAlexSource {
    client: OpenAlex,
    texts: FullTexts,
}

impl OpenAlexSource {
    /// A source over `client`.
    pub fn new(client: OpenAlex, texts: FullTexts) -> Self {
        Self { client, texts }
    }
}

#[async_trait]
impl PaperSource for OpenAlexSource {
    fn name(&self) -> &str {
        "openalex"
    }

    fn takes(&self, by: FindBy) -> bool {
        // Every word must occur: a whole question finds nothing.
        by == FindBy::Keywords
    }

    async fn find(&self, request: &FindRequest) -> Result<Found, PortError> {
        let found =
            self.client.search(request.text.as_str(), &request.filter, request.limit).await?;
        let papers = found.works.into_iter().map(|work| work.paper).collect();
        Ok(Found { papers, notices: found.notices })
    }

    async fn full_text(&self, paper: &PaperMeta) -> Result<Option<Paper>, PortError> {
        self.texts.of(paper).await
    }
}
