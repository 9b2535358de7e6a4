//! OpenAlex: works by search, identifier and citation. Needs no key; a contact address buys a faster pool.

mod convert;
mod source;
mod wire;

use std::collections::BTreeMap;

use jiff::civil::Date;
use scholar_core::{Notice, PaperId, PortError, PortErrorKind, SearchFilter};

pub use convert::{OpenAlexPage, OpenAlexWork, page, single};
pub use source::OpenAlexSource;

use crate::fetch::{CachePolicy, FetchRequest, Fetcher, Provider};
use crate::request;
use wire::FIELDS;

/// Works change slowly; counts of citations may be a week old.
const KEPT: CachePolicy = CachePolicy::days("openalex-v1", 7);

/// OpenAlex's largest page.
const LARGEST_PAGE: usize = 200;

/// Values that one filter may name.
const VALUES_PER_FILTER: usize = 50;

/// Pages read for one list before giving up: what stands further down a ranking is not worth the requests.
const MOST_PAGES: usize = 5;

/// Asks OpenAlex. Cheap to clone.
#[derive(Clone)]
pub struct OpenAlex {
    fetcher: Fetcher,
}

/// Works of a list, and what could not be read of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenAlexWorks {
    /// The works, in the list's order.
    pub works: Vec<OpenAlexWork>,
    /// Works that could not be read.
    pub notices: Vec<Notice>,
}

impl OpenAlex {
    /// A client that asks through `fetcher`.
    pub fn new(fetcher: Fetcher) -> Self {
        Self { fetcher }
    }

    /// Whether works can be asked for by identifiers of this registry.
    pub fn has_register_of(id: &PaperId) -> bool {
        name_of(id).is_some()
    }

    /// At most `limit` works that match the words of `text` best and that `filter` accepts.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`].
    pub async fn search(
        &self,
        text: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<OpenAlexWorks, PortError> {
        let text = search_words(text);
        if text.is_empty() || limit == 0 {
            return Ok(OpenAlexWorks::default());
        }
        let request = FetchRequest::get(Provider::OpenAlex, "/works").query("search", text);
        self.list(request, Vec::new(), filter, limit).await
    }

    /// At most `limit` works that cite `work` and that `filter` accepts, the most cited first.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`]; `Rejected` for an identifier that is not OpenAlex's.
    pub async fn citing(
        &self,
        work: &PaperId,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<OpenAlexWorks, PortError> {
        let PaperId::OpenAlex(number) = work else {
            let message = format!("OpenAlex: {work} is not an OpenAlex id");
            return Err(PortError::new(PortErrorKind::Rejected, message)
                .with_hint("look the work up first and use the id it has there"));
        };
        let request =
            FetchRequest::get(Provider::OpenAlex, "/works").query("sort", "cited_by_count:desc");
        self.list(request, vec![format!("cites:W{number}")], filter, limit).await
    }

    /// The work with an OpenAlex id, DOI, arXiv id, PMID or PMCID; `None` when OpenAlex does not know it, and for
    /// identifiers it has no register of.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`].
    pub async fn work(&self, id: &PaperId) -> Result<Option<OpenAlexWork>, PortError> {
        let Some(name) = name_of(id) else { return Ok(None) };
        let request = FetchRequest::get(Provider::OpenAlex, "/works/")
            .path_value(&name)
            .query("select", FIELDS)
            .not_found_answers()
            .cache(KEPT);
        request::find(&self.fetcher, &request, single).await
    }

    /// The works with these identifiers, in their order, `None` for unknown ones: fifty a request. Notices tell of
    /// works that could not be read.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`].
    pub async fn works(
        &self,
        ids: &[PaperId],
    ) -> Result<(Vec<Option<OpenAlexWork>>, Vec<Notice>), PortError> {
        let mut known: BTreeMap<PaperId, OpenAlexWork> = BTreeMap::new();
        let mut notices = Vec::new();
        let mut batches: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for id in ids {
            let Some((field, value)) = batch_value(id) else { continue };
            batches.entry(field).or_default().push(value);
        }
        for (field, mut values) in batches {
            values.sort_unstable();
            values.dedup();
            for batch in values.chunks(VALUES_PER_FILTER) {
                let request = FetchRequest::get(Provider::OpenAlex, "/works")
                    .query("filter", format!("{field}:{}", batch.join("|")))
                    .query("per-page", VALUES_PER_FILTER.to_string())
                    .query("select", FIELDS)
                    .cache(KEPT);
                let page = request::ask(&self.fetcher, &request, page).await?;
                notices.extend(page.notices);
                for work in page.works {
                    let meta = &work.paper.meta;
                    for id in meta.ids() {
                        known.entry(id.clone()).or_insert_with(|| work.clone());
                    }
                }
            }
        }
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            let work = match known.get(id) {
                Some(work) => Some(work.clone()),
                None if batch_value(id).is_none() => self.work(id).await?,
                None => None,
            };
            found.push(work);
        }
        Ok((found, notices))
    }

    /// Pages of one list, until `limit` works are accepted.
    async fn list(
        &self,
        request: FetchRequest,
        mut conditions: Vec<String>,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<OpenAlexWorks, PortError> {
        let mut found = OpenAlexWorks::default();
        if !add_conditions(&mut conditions, filter) {
            return Ok(found);
        }
        // A few more than wanted: some are left out here, because the server does not know the whole filter.
        let size = if filter.is_none() { limit } else { limit.saturating_add(10) };
        let request = request
            .query("filter", conditions.join(","))
            .query("per-page", size.clamp(1, LARGEST_PAGE).to_string())
            .query("select", FIELDS)
            .cache(KEPT);
        let mut cursor = "*".to_owned();
        for _ in 0..MOST_PAGES {
            let request = request.clone().query("cursor", cursor);
            let page = request::ask(&self.fetcher, &request, page).await?;
            found.notices.extend(page.notices);
            let accepted = page.works.into_iter().filter(|work| filter.accepts(&work.paper.meta));
            found.works.extend(accepted);
            found.works.truncate(limit);
            match page.next_cursor {
                Some(next) if found.works.len() < limit => cursor = next,
                _ => break,
            }
        }
        Ok(found)
    }
}

/// What OpenAlex understands of a filter; `false` if nothing can pass it.
fn add_conditions(conditions: &mut Vec<String>, filter: &SearchFilter) -> bool {
    conditions.push("is_paratext:false".to_owned());
    let mut last = filter.year_to.and_then(|year| Date::new(year, 12, 31).ok());
    if let Some(cutoff) = filter.published_before {
        // The bound is inclusive there, and strict here.
        let Ok(before) = cutoff.yesterday() else { return false };
        last = Some(last.map_or(before, |last| last.min(before)));
    }
    if let Some(first) = filter.year_from.and_then(|year| Date::new(year, 1, 1).ok()) {
        conditions.push(format!("from_publication_date:{first}"));
    }
    if let Some(last) = last {
        conditions.push(format!("to_publication_date:{last}"));
    }
    if let Some(min) = filter.min_citations.and_then(|min| min.checked_sub(1)) {
        conditions.push(format!("cited_by_count:>{min}"));
    }
    true
}

/// The words of `text`, without what OpenAlex takes for operators.
fn search_words(text: &str) -> String {
    let plain: String =
        text.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { ' ' }).collect();
    let words = plain.split_whitespace().map(|word| match word {
        "AND" | "OR" | "NOT" => word.to_lowercase(),
        _ => word.trim_matches('-').to_owned(),
    });
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The name of a work in a path.
fn name_of(id: &PaperId) -> Option<String> {
    match id {
        PaperId::OpenAlex(number) => Some(format!("W{number}")),
        PaperId::Doi(doi) => Some(format!("doi:{doi}")),
        PaperId::Arxiv(_) => id.twin().map(|doi| doi.to_string()),
        PaperId::Pmid(number) => Some(format!("pmid:{number}")),
        PaperId::Pmcid(number) => Some(format!("pmcid:PMC{number}")),
        PaperId::CorpusId(_) | PaperId::Acl(_) | PaperId::Local(_) => None,
    }
}

/// Filter and value for many works at once. DOIs with the filter's own punctuation must be asked one by one.
fn batch_value(id: &PaperId) -> Option<(&'static str, String)> {
    match id {
        PaperId::OpenAlex(number) => Some(("openalex", format!("W{number}"))),
        PaperId::Doi(doi) if !doi.contains([',', '|', '!', '"', '&', '+', '#']) => {
            Some(("doi", doi.clone()))
        }
        PaperId::Arxiv(_) => match id.twin() {
            Some(PaperId::Doi(doi)) => Some(("doi", doi)),
            _ => None,
        },
        PaperId::Pmid(number) => Some(("pmid", number.to_string())),
        PaperId::Pmcid(number) => Some(("pmcid", format!("PMC{number}"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_become_words() {
        assert_eq!(search_words("RAG AND \"citation*\" (NOT x?) -y"), "RAG and citation not x y");
        assert_eq!(search_words("*?~"), "");
    }

    #[test]
    fn the_cutoff_is_sent_as_the_day_before() {
        let filter = SearchFilter {
            published_before: Some(Date::constant(2024, 3, 1)),
            year_from: Some(2020),
            min_citations: Some(10),
            ..SearchFilter::none()
        };
        let mut sent = Vec::new();
        assert!(add_conditions(&mut sent, &filter));
        assert_eq!(
            sent,
            [
                "is_paratext:false",
                "from_publication_date:2020-01-01",
                "to_publication_date:2024-02-29",
                "cited_by_count:>9"
            ]
        );
        let nothing = SearchFilter { published_before: Some(Date::MIN), ..SearchFilter::none() };
        assert!(!add_conditions(&mut Vec::new(), &nothing));
    }

    #[test]
    fn a_doi_with_a_filters_punctuation_is_asked_alone() {
        let doi = |text: &str| batch_value(&PaperId::doi(text).expect("a DOI"));
        assert_eq!(doi("10.1/a"), Some(("doi", "10.1/a".to_owned())));
        assert_eq!(doi("10.1/a,b"), None);
        assert_eq!(
            batch_value(&PaperId::Arxiv("2411.14199".to_owned())),
            Some(("doi", "10.48550/arxiv.2411.14199".to_owned()))
        );
    }
}
