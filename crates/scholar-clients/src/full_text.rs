//! Whole papers from the places that have them in a structured form.

use scholar_core::{Paper, PaperMeta, PortError};

use crate::fetch::Fetcher;
use crate::latexml::Latexml;
use crate::pubmed::Pubmed;

/// arXiv and PMC together. Cheap to clone.
#[derive(Clone)]
pub struct FullTexts {
    latexml: Latexml,
    pubmed: Pubmed,
}

impl FullTexts {
    /// Clients that ask through `fetcher`.
    pub fn new(fetcher: &Fetcher) -> Self {
        Self { latexml: Latexml::new(fetcher.clone()), pubmed: Pubmed::new(fetcher.clone()) }
    }

    /// `meta` with its text: from PMC if it is there, where it is the published version, else from arXiv.
    ///
    /// # Errors
    /// That of the last place which could not be asked, if none has the text.
    pub async fn of(&self, meta: &PaperMeta) -> Result<Option<Paper>, PortError> {
        let published = self.pubmed.paper(meta).await;
        if let Ok(Some(paper)) = published {
            return Ok(Some(paper));
        }
        match self.latexml.paper(meta).await {
            Ok(None) => published,
            found => found,
        }
    }
}
