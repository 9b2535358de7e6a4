//! Whole papers of arXiv as the HTML that LaTeXML makes of their sources: arXiv's own pages and ar5iv.

use scholar_core::{Paper, PaperId, PaperMeta, PortError};
use scholar_formats::{Document, DocumentFormat};

use crate::document::{read_document, with_text};
use crate::fetch::{Accept, CachePolicy, FetchRequest, Fetcher, Provider};

/// Pages of published versions hardly change.
const KEPT: CachePolicy = CachePolicy::days("latexml-v1", 90);

/// arXiv makes pages of its own since December 2023.
const OWN_PAGES_SINCE: &str = "2312";

/// Fetches LaTeXML's pages. Cheap to clone.
#[derive(Clone)]
pub struct Latexml {
    fetcher: Fetcher,
}

impl Latexml {
    /// A client that asks through `fetcher`.
    pub fn new(fetcher: Fetcher) -> Self {
        Self { fetcher }
    }

    /// The page of an arXiv paper, read; `Ok(None)` when neither place has one, as for papers whose source is closed
    /// or could not be converted.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`], if no place has the page and one could not be asked; `Corrupt` for a page that cannot be
    /// read.
    pub async fn document(&self, arxiv_id: &str) -> Result<Option<Document>, PortError> {
        let mut failure = None;
        for provider in places(arxiv_id) {
            let request = FetchRequest::get(provider, "/html/")
                .path_value(arxiv_id)
                .accept(Accept::Html)
                .not_found_answers()
                .cache(KEPT);
            let fetched = match self.fetcher.fetch(&request).await {
                Ok(fetched) => fetched,
                Err(error) => {
                    failure = Some(error);
                    continue;
                }
            };
            // ar5iv leads to the abstract's page when it has none, and that is not a paper.
            if fetched.is_not_found() || !is_latexml(&fetched.body) {
                continue;
            }
            return match read_document(DocumentFormat::LatexmlHtml, fetched.body).await {
                Ok(document) => Ok(Some(document)),
                Err(what) => Err(self.fetcher.unreadable(&request, &what).await),
            };
        }
        failure.map_or(Ok(None), Err)
    }

    /// `meta` with the text of its arXiv version; `Ok(None)` without an arXiv id, and as [`Latexml::document`].
    ///
    /// # Errors
    /// As [`Latexml::document`].
    pub async fn paper(&self, meta: &PaperMeta) -> Result<Option<Paper>, PortError> {
        let ids = meta.ids();
        let arxiv = ids.filter_map(|id| match id {
            PaperId::Arxiv(id) => Some(id.clone()),
            _ => None,
        });
        for id in arxiv {
            if let Some(document) = self.document(&id).await? {
                return Ok(with_text(meta, document));
            }
        }
        Ok(None)
    }
}

/// Where to look, the likelier place first.
fn places(id: &str) -> [Provider; 2] {
    let recent = id.split_once('.').is_some_and(|(month, _)| month >= OWN_PAGES_SINCE);
    if recent {
        [Provider::ArxivHtml, Provider::Ar5iv]
    } else {
        [Provider::Ar5iv, Provider::ArxivHtml]
    }
}

/// Whether a page has LaTeXML's marks: its classes all begin alike.
fn is_latexml(page: &[u8]) -> bool {
    page.windows(b"ltx_document".len()).any(|part| part == b"ltx_document")
        || page.windows(b"ltx_page".len()).any(|part| part == b"ltx_page")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_papers_are_looked_for_at_ar5iv_first() {
        assert_eq!(places("2411.14199")[0], Provider::ArxivHtml);
        assert_eq!(places("1706.03762")[0], Provider::Ar5iv);
        assert_eq!(places("hep-th/9901001")[0], Provider::Ar5iv);
        assert!(is_latexml(b"<article class=\"ltx_document ltx_authors_1line\">"));
        assert!(!is_latexml(b"<html><body>Attention Is All You Need</body></html>"));
    }
}
