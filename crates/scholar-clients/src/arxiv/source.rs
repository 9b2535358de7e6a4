//! arXiv behind the port.

use async_trait::async_trait;
use scholar_core::{FindBy, FindRequest, Found, Paper, PaperMeta, PaperSource, PortError};

use super::Arxiv;
use crate::latexml::Latexml;

/// arXiv as a source of papers; texts come from the HTML that LaTeXML makes of their sources.
pub struct ArxivSource {
    client: Arxiv,
    texts: Latexml,
}

impl ArxivSource {
    /// A source over `client`.
    pub fn new(client: Arxiv, texts: Latexml) -> Self {
        Self { client, texts }
    }
}

#[async_trait]
impl PaperSource for ArxivSource {
    fn name(&self) -> &str {
        "arxiv"
    }

    fn takes(&self, by: FindBy) -> bool {
        by == FindBy::Keywords
    }

    async fn find(&self, request: &FindRequest) -> Result<Found, PortError> {
        let (entries, notices) =
            self.client.search(request.text.as_str(), &request.filter, request.limit).await?;
        let papers = entries.into_iter().map(|entry| entry.paper).collect();
        Ok(Found { papers, notices })
    }

    async fn full_text(&self, paper: &PaperMeta) -> Result<Option<Paper>, PortError> {
        self.texts.paper(paper).await
    }
}
