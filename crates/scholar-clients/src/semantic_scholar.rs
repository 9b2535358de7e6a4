//! Semantic Scholar: search, papers, the citation graph, recommendations and snippets.
//!
//! Dates are strict everywhere: the service's range is inclusive and knows some papers by year only, so a cutoff is
//! sent as the day before and [`SearchFilter::accepts`] decides again here, also over references, citations and
//! recommendations, for which the service takes no dates.

mod graph;
mod paper;
mod port;
#[cfg(test)]
mod recorded;
mod snippet_source;
mod wire;

use std::collections::BTreeSet;

use jiff::ToSpan as _;
use jiff::civil::Date;
use scholar_core::{Notice, NoticeKind, PaperId, PortError, SearchFilter};

pub use graph::{Batch, RecommendFrom};
pub use paper::{Mention, OpenAccess, S2Edge, S2Paper, Snippet, SnippetKind};

use crate::fetch::{CachePolicy, FetchRequest, Fetcher, Provider};
pub use snippet_source::SnippetSource;
use wire::{Page, WirePaper, WireSnippets};

/// What is asked of every paper. The corpus id is the identifier that other replies use.
pub(super) const FIELDS: &str = "paperId,corpusId,externalIds,title,abstract,year,publicationDate,venue,\
     publicationVenue,journal,authors.name,url,citationCount,referenceCount,influentialCitationCount,openAccessPdf";

/// Searches change every day a little, papers rarely.
const SEARCHES: CachePolicy = CachePolicy::days("s2-search-v1", 7);
const PAPERS: CachePolicy = CachePolicy::days("s2-paper-v1", 30);

/// The service's limits.
const MAX_PAGE: usize = 100;
const MAX_RELEVANT: usize = 1000;
const MAX_SNIPPETS: usize = 1000;

/// Pages that one search may take when the filter refuses much of what comes.
const MAX_PAGES: usize = 4;

/// Things in the service's order, and what a person should know about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed<T> {
    /// The things that the filter accepts.
    pub items: Vec<T>,
    /// How many there are in all, as the service says, before the filter.
    pub total: Option<u64>,
    /// What was left out.
    pub notices: Vec<Notice>,
}

/// Orders of a bulk search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BulkOrder {
    /// By identifier, which is stable and means nothing.
    Id,
    /// The most cited first.
    MostCited,
    /// By publication date, the newest first.
    Newest,
}

/// The client. Cheap to clone.
#[derive(Clone)]
pub struct SemanticScholar {
    fetcher: Fetcher,
}

impl SemanticScholar {
    /// A client that asks through `fetcher`.
    pub fn new(fetcher: Fetcher) -> Self {
        Self { fetcher }
    }

    /// Whether papers can be asked for by identifiers of this registry.
    pub fn has_register_of(id: &PaperId) -> bool {
        s2_id(id).is_some()
    }

    /// Papers for a few words, by relevance. Up to `limit` that `filter` accepts.
    ///
    /// # Errors
    /// When the service cannot be asked or its reply cannot be read; nothing found is `Ok`.
    pub async fn search(
        &self,
        query: &str,
        limit: usize,
        filter: &SearchFilter,
    ) -> Result<Listed<S2Paper>, PortError> {
        let mut listed = Listed { items: Vec::new(), total: None, notices: Vec::new() };
        // The filter refuses some of a page, so a page holds more than is wanted where there is a filter.
        let page =
            if filter.is_none() { limit } else { limit.saturating_mul(2) }.clamp(1, MAX_PAGE);
        let mut offset = 0;
        for _ in 0..MAX_PAGES {
            if listed.items.len() >= limit || offset + page > MAX_RELEVANT {
                break;
            }
            let request = get("/graph/v1/paper/search")
                .query("query", plain_words(query))
                .query("limit", page.to_string())
                .query("offset", offset.to_string())
                .query("fields", FIELDS)
                .cache(SEARCHES);
            let request = filtered(request, filter);
            let reply: Page<Option<WirePaper>> = self.fetcher.fetch_json(&request).await?;
            listed.total = reply.total.or(listed.total);
            self.keep_page(&mut listed, &request, reply.data, reply.total, filter).await?;
            match reply.next {
                Some(next) if next > offset => offset = next,
                _ => break,
            }
        }
        listed.items.truncate(limit);
        Ok(listed)
    }

    /// Papers whose title or abstract matches a boolean expression (`+`, `|`, `-`, quotation marks), in pages of
    /// 1,000. Up to `limit` that `filter` accepts.
    ///
    /// # Errors
    /// As [`SemanticScholar::search`].
    pub async fn search_bulk(
        &self,
        query: &str,
        order: BulkOrder,
        limit: usize,
        filter: &SearchFilter,
    ) -> Result<Listed<S2Paper>, PortError> {
        let mut listed = Listed { items: Vec::new(), total: None, notices: Vec::new() };
        let mut token: Option<String> = None;
        loop {
            let mut request = get("/graph/v1/paper/search/bulk")
                .query("query", query.trim())
                .query("fields", FIELDS)
                .cache(SEARCHES);
            match order {
                BulkOrder::Id => {}
                BulkOrder::MostCited => request = request.query("sort", "citationCount:desc"),
                BulkOrder::Newest => request = request.query("sort", "publicationDate:desc"),
            }
            if let Some(token) = &token {
                request = request.query("token", token.as_str());
            }
            let request = filtered(request, filter);
            let reply: Page<Option<WirePaper>> = self.fetcher.fetch_json(&request).await?;
            listed.total = reply.total.or(listed.total);
            self.keep_page(&mut listed, &request, reply.data, reply.total, filter).await?;
            let repeated = reply.token.is_some() && reply.token == token;
            if repeated {
                let what = "the field `token` of its reply is the one that was sent";
                return Err(self.fetcher.unreadable(&request, what).await);
            }
            token = reply.token;
            if token.is_none() || listed.items.len() >= limit {
                break;
            }
        }
        listed.items.truncate(limit);
        Ok(listed)
    }

    /// The paper whose title is closest to `title`; `None` when none is close.
    ///
    /// # Errors
    /// As [`SemanticScholar::search`].
    pub async fn match_title(&self, title: &str) -> Result<Option<S2Paper>, PortError> {
        let request = get("/graph/v1/paper/search/match")
            .query("query", plain_words(title))
            .query("fields", FIELDS)
            .cache(SEARCHES)
            .not_found_answers();
        let reply: Option<Page<WirePaper>> = self.fetcher.find_json(&request).await?;
        let best = reply.and_then(|page| page.data).and_then(|data| data.into_iter().next());
        Ok(best.and_then(|wire| paper::read(wire, &mut Vec::new())))
    }

    /// Passages for a question: up to `limit` whose papers `filter` accepts. Snippets state no date, venue, count or
    /// licence, so a filter that asks for one has their papers looked up, and leaves out those nobody knows.
    ///
    /// # Errors
    /// As [`SemanticScholar::search`]; `Corrupt` with the field for a snippet of another shape.
    pub async fn snippets(
        &self,
        query: &str,
        limit: usize,
        filter: &SearchFilter,
    ) -> Result<Listed<Snippet>, PortError> {
        let request = get("/graph/v1/snippet/search")
            .query("query", query.trim())
            .query("limit", limit.clamp(1, MAX_SNIPPETS).to_string())
            .cache(SEARCHES);
        let request = filtered(request, filter);
        let reply: WireSnippets = self.fetcher.fetch_json(&request).await?;
        tracing::debug!(version = reply.retrieval_version, "snippets");
        let stated = SearchFilter {
            papers: filter.papers.clone(),
            exclude: filter.exclude.clone(),
            exclude_titles: filter.exclude_titles.clone(),
            ..SearchFilter::none()
        };
        let Some(hits) = reply.data else {
            return Err(self
                .fetcher
                .unreadable(&request, "the field `data` of its reply is missing")
                .await);
        };
        let mut items = Vec::new();
        for (at, hit) in hits.into_iter().enumerate() {
            match paper::read_snippet(hit) {
                Ok(snippet) if stated.accepts(&snippet.paper) => items.push(snippet),
                Ok(_) => {}
                Err(wrong) => {
                    let what = format!("in `data[{at}]` of its reply {wrong}");
                    return Err(self.fetcher.unreadable(&request, &what).await);
                }
            }
        }
        let mut notices = Vec::new();
        if stated != *filter {
            self.keep_accepted(&mut items, filter, &mut notices).await?;
        }
        items.truncate(limit);
        Ok(Listed { items, total: None, notices })
    }

    /// Looks up the papers of `snippets` and keeps those that `filter` accepts, with what is known of them.
    async fn keep_accepted(
        &self,
        snippets: &mut Vec<Snippet>,
        filter: &SearchFilter,
        notices: &mut Vec<Notice>,
    ) -> Result<(), PortError> {
        let ids: Vec<PaperId> = snippets.iter().map(|snippet| snippet.paper.id.clone()).collect();
        let batch = self.batch(&ids).await?;
        notices.extend(batch.notices);
        let mut papers = batch.papers.into_iter();
        let mut unknown = 0;
        snippets.retain_mut(|snippet| {
            let Some(known) = papers.next().flatten() else {
                unknown += 1;
                return false;
            };
            snippet.paper = known.paper.meta;
            filter.accepts(&snippet.paper)
        });
        if unknown > 0 {
            let what = "passages were left out: the service does not know their papers' metadata";
            notices.push(Notice::new(NoticeKind::Skipped, format!("{unknown} {what}")));
        }
        Ok(())
    }

    /// Adds the papers of a reply to a search. A list that is not there is an empty one only where the service says that it
    /// found nothing, and a list of nothing but nulls is none: an empty answer must never stand for a broken one.
    async fn keep_page(
        &self,
        listed: &mut Listed<S2Paper>,
        request: &FetchRequest,
        data: Option<Vec<Option<WirePaper>>>,
        total: Option<u64>,
        filter: &SearchFilter,
    ) -> Result<(), PortError> {
        let wrong = match &data {
            None if total == Some(0) => return Ok(()),
            None => "the field `data` of its reply is missing, and `total` is not 0",
            Some(rows) if !rows.is_empty() && rows.iter().all(Option::is_none) => {
                "the field `data` of its reply holds nulls alone"
            }
            Some(_) => {
                keep(listed, data.into_iter().flatten(), filter);
                return Ok(());
            }
        };
        Err(self.fetcher.unreadable(request, wrong).await)
    }
}

fn get(path: &str) -> FetchRequest {
    FetchRequest::get(Provider::SemanticScholar, path)
}

/// Adds the papers that `filter` accepts, each once; a notice counts the rows that are null.
fn keep(
    listed: &mut Listed<S2Paper>,
    papers: impl Iterator<Item = Option<WirePaper>>,
    filter: &SearchFilter,
) {
    let mut seen: BTreeSet<PaperId> =
        listed.items.iter().map(|known| known.paper.meta.id.clone()).collect();
    let mut nulls = 0;
    for row in papers {
        let Some(wire) = row else {
            nulls += 1;
            continue;
        };
        let Some(found) = paper::read(wire, &mut listed.notices) else { continue };
        if filter.accepts(&found.paper.meta) && seen.insert(found.paper.meta.id.clone()) {
            listed.items.push(found);
        }
    }
    if nulls > 0 {
        listed.notices.push(skipped(format!("Semantic Scholar: {nulls} results were null")));
    }
}

/// Adds what the service understands of `filter`. Venues stay here: the service wants them whole.
fn filtered(mut request: FetchRequest, filter: &SearchFilter) -> FetchRequest {
    let from = filter.year_from.map(|year| year.to_string()).unwrap_or_default();
    let last_of_year = filter.year_to.and_then(|year| Date::new(year, 12, 31).ok());
    let day_before = filter.published_before.and_then(|day| day.checked_sub(1.day()).ok());
    let to = match (last_of_year, day_before) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    if !from.is_empty() || to.is_some() {
        let to = to.map(|day| day.to_string()).unwrap_or_default();
        request = request.query("publicationDateOrYear", format!("{from}:{to}"));
    }
    if let Some(least) = filter.min_citations {
        request = request.query("minCitationCount", least.to_string());
    }
    request
}

/// The relevance search finds nothing for words with hyphens, as its documentation says.
fn plain_words(query: &str) -> String {
    let spaced = query.replace(['-', '\u{2010}', '\u{2011}', '\u{2013}'], " ");
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How the service wants `id` written; `None` for registries it does not know.
fn s2_id(id: &PaperId) -> Option<String> {
    match id {
        PaperId::CorpusId(number) => Some(format!("CorpusId:{number}")),
        PaperId::Doi(doi) => Some(format!("DOI:{doi}")),
        PaperId::Arxiv(id) => Some(format!("ARXIV:{id}")),
        PaperId::Pmid(number) => Some(format!("PMID:{number}")),
        PaperId::Pmcid(number) => Some(format!("PMCID:{number}")),
        PaperId::Acl(id) => Some(format!("ACL:{id}")),
        PaperId::Local(name) => name
            .strip_prefix("s2-")
            .filter(|id| id.len() == 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .map(str::to_owned),
        PaperId::OpenAlex(_) => None,
    }
}

/// A notice that something of this service was left out.
fn skipped(message: String) -> Notice {
    Notice::new(NoticeKind::Skipped, message)
}
