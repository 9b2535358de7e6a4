//! Crossref: metadata of DOIs, the paper behind a printed reference, and what was retracted or corrected. Needs no key.

mod convert;
mod standing;
mod wire;

use scholar_core::{PaperId, PortError};
use scholar_formats::PrintedReference;

pub use convert::{CrossrefUpdate, CrossrefWork, list, single};
pub use standing::Standing;

use crate::fetch::{CachePolicy, FetchRequest, Fetcher, Provider};
use crate::matching::is_same_paper;
use crate::request;

/// Retractions should be seen within days.
const KEPT: CachePolicy = CachePolicy::days("crossref-v1", 3);

/// Candidates looked at for one printed reference: the right one is nearly always the first.
const CANDIDATES: usize = 5;

/// Longest reference sent, in characters.
const LONGEST_REFERENCE: usize = 1000;

/// Asks Crossref. Cheap to clone.
#[derive(Clone)]
pub struct Crossref {
    fetcher: Fetcher,
}

impl Crossref {
    /// A client that asks through `fetcher`.
    pub fn new(fetcher: Fetcher) -> Self {
        Self { fetcher }
    }

    /// The record of a DOI; `None` when Crossref has none, as for DOIs of other agencies (arXiv's are `DataCite`'s).
    ///
    /// # Errors
    /// As [`Fetcher::fetch`].
    pub async fn work(&self, doi: &str) -> Result<Option<CrossrefWork>, PortError> {
        let request = FetchRequest::get(Provider::Crossref, "/works/")
            .path_value(doi)
            .not_found_answers()
            .cache(KEPT);
        request::find(&self.fetcher, &request, single).await
    }

    /// The paper that a printed reference names, if Crossref has one that is confirmed by title, year and author
    /// ([`is_same_paper`]). A DOI that the reference states is looked up, and nothing is searched.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`].
    pub async fn referenced(
        &self,
        reference: &PrintedReference,
    ) -> Result<Option<CrossrefWork>, PortError> {
        let doi = reference.ids.iter().find_map(|id| match id {
            PaperId::Doi(doi) => Some(doi.as_str()),
            _ => None,
        });
        if let Some(doi) = doi {
            return self.work(doi).await;
        }
        let Some(query) = bibliographic(reference) else { return Ok(None) };
        let request = FetchRequest::get(Provider::Crossref, "/works")
            .query("query.bibliographic", query)
            .query("rows", CANDIDATES.to_string())
            .cache(KEPT);
        let (works, _) = request::ask(&self.fetcher, &request, list).await?;
        Ok(works.into_iter().find(|work| is_same_paper(reference, &work.paper.meta)))
    }
}

/// What to search for: the reference as printed, else what is known of it.
fn bibliographic(reference: &PrintedReference) -> Option<String> {
    let printed = reference.text.trim();
    let text = if printed.is_empty() {
        let year = reference.year.map(|year| year.to_string());
        let parts = [reference.first_author.clone(), year, reference.title.clone()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    } else {
        printed.to_owned()
    };
    let text: String = text.chars().take(LONGEST_REFERENCE).collect();
    (!text.is_empty()).then_some(text)
}
