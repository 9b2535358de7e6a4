//! Web search behind the port.

use async_trait::async_trait;
use scholar_core::{FindBy, FindRequest, Found, Paper, PaperMeta, PaperSource, PortError};

use super::lookup::Lookup;
use super::{WebSearch, papers};
use crate::fetch::Fetcher;
use crate::full_text::FullTexts;

/// Papers taken from one search. Source: the paper keeps the first ten.
const MOST_PAPERS: usize = 10;

/// Web search as a source of papers: pages name papers, and the papers come from the registries they are named in.
pub struct WebSource {
    search: WebSearch,
    lookup: Lookup,
    texts: FullTexts,
}

impl WebSource {
    /// A source whose clients all ask through `fetcher`.
    pub fn new(fetcher: &Fetcher) -> Self {
        Self {
            search: WebSearch::new(fetcher.clone()),
            lookup: Lookup::new(fetcher),
            texts: FullTexts::new(fetcher),
        }
    }
}

#[async_trait]
impl PaperSource for WebSource {
    fn name(&self) -> &str {
        "web"
    }

    fn takes(&self, by: FindBy) -> bool {
        by == FindBy::Question
    }

    async fn find(&self, request: &FindRequest) -> Result<Found, PortError> {
        let (results, mut notices) = self.search.search(request.text.as_str()).await?;
        // What the filter leaves out must not use up places, so more than wanted are looked up.
        let (ids, others) = papers(&results, results.len());
        notices.extend(others);
        let (found, lost) = self.lookup.papers(&ids).await?;
        notices.extend(lost);
        let accepted = found.into_iter().filter(|paper| request.filter.accepts(&paper.meta));
        let papers = accepted.take(request.limit.min(MOST_PAPERS)).collect();
        Ok(Found { papers, notices })
    }

    async fn full_text(&self, paper: &PaperMeta) -> Result<Option<Paper>, PortError> {
        self.texts.of(paper).await
    }
}
