//! NCBI's E-utilities: PubMed's records, the links between them, and PMC's full texts. A key buys more requests.

mod article;
mod search;
mod source;

use std::collections::BTreeMap;

use jiff::civil::Date;
use scholar_core::{Notice, NoticeKind, Paper, PaperId, PaperMeta, PortError, SearchFilter};
use scholar_formats::{Document, DocumentFormat};

pub use article::article_set;
pub use search::{IdList, LinkSet, id_list, link_sets};
pub use source::PubmedSource;

use crate::document::{read_document, with_text};
use crate::fetch::{Accept, CachePolicy, FetchRequest, Fetcher, Provider};
use crate::request;

/// New records appear daily.
const SEARCHES_KEPT: CachePolicy = CachePolicy::days("pubmed-search-v1", 3);

/// Corrections reach records within weeks.
const RECORDS_KEPT: CachePolicy = CachePolicy::days("pubmed-v1", 14);

/// Texts in PMC hardly change.
const TEXTS_KEPT: CachePolicy = CachePolicy::days("pmc-v1", 90);

/// NCBI wants longer lists to be posted.
const IDS_PER_REQUEST: usize = 200;

/// Pages read for one search before giving up.
const MOST_PAGES: usize = 3;

/// Asks NCBI. Cheap to clone.
#[derive(Clone)]
pub struct Pubmed {
    fetcher: Fetcher,
}

impl Pubmed {
    /// A client that asks through `fetcher`.
    pub fn new(fetcher: Fetcher) -> Self {
        Self { fetcher }
    }

    fn request(utility: &str) -> FetchRequest {
        FetchRequest::get(Provider::Pubmed, format!("/entrez/eutils/{utility}.fcgi"))
            .query("tool", "openscholar")
            .accept(Accept::Xml)
    }

    /// The PMIDs that match `text` best, `limit` from the `start`-th on; only what PubMed understands of `filter`
    /// holds.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`].
    pub async fn ids(
        &self,
        text: &str,
        filter: &SearchFilter,
        start: usize,
        limit: usize,
    ) -> Result<IdList, PortError> {
        let none = IdList { count: 0, ids: Vec::new(), understood: None, ignored: Vec::new() };
        let text = term(text);
        let Some(range) = date_range(filter).filter(|_| !text.is_empty()) else {
            return Ok(none);
        };
        let mut request = Self::request("esearch")
            .query("db", "pubmed")
            .query("term", text)
            .query("retstart", start.to_string())
            .query("retmax", limit.to_string())
            .query("sort", "relevance");
        if let Some((first, last)) = range {
            request =
                request.query("datetype", "pdat").query("mindate", first).query("maxdate", last);
        }
        request::ask(&self.fetcher, &request.cache(SEARCHES_KEPT), id_list).await
    }

    /// At most `limit` papers that match `text` best and that `filter` accepts, with abstracts.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`].
    pub async fn search(
        &self,
        text: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<(Vec<Paper>, Vec<Notice>), PortError> {
        let (mut papers, mut notices) = (Vec::new(), Vec::new());
        let size = if filter.is_none() { limit } else { limit.saturating_add(10) };
        let size = size.clamp(1, IDS_PER_REQUEST);
        for page in 0..MOST_PAGES {
            let start = page * size;
            let list = self.ids(text, filter, start, size).await?;
            if page == 0 && !list.ignored.is_empty() {
                let words = list.ignored.join(", ");
                let message = format!("PubMed searched without words it does not know: {words}");
                notices.push(Notice::new(NoticeKind::Truncated, message));
            }
            let (found, broken) = self.records(&list.ids).await?;
            notices.extend(broken);
            papers.extend(found.into_iter().flatten().filter(|p| filter.accepts(&p.meta)));
            papers.truncate(limit);
            if papers.len() >= limit || (start + size) as u64 >= list.count {
                break;
            }
        }
        Ok((papers, notices))
    }

    /// The papers with these PMIDs, in their order, `None` for unknown ones: two hundred a request.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`].
    pub async fn records(
        &self,
        pmids: &[u64],
    ) -> Result<(Vec<Option<Paper>>, Vec<Notice>), PortError> {
        let (mut known, mut notices) = (BTreeMap::new(), Vec::new());
        for batch in pmids.chunks(IDS_PER_REQUEST) {
            let list: Vec<String> = batch.iter().map(u64::to_string).collect();
            let request = Self::request("efetch")
                .query("db", "pubmed")
                .query("id", list.join(","))
                .query("retmode", "xml")
                .cache(RECORDS_KEPT);
            let (papers, broken) = request::ask(&self.fetcher, &request, article_set).await?;
            notices.extend(broken);
            known.extend(papers.into_iter().map(|paper| (paper.meta.id.clone(), paper)));
        }
        let found = pmids.iter().map(|pmid| known.get(&PaperId::Pmid(*pmid)).cloned()).collect();
        Ok((found, notices))
    }

    /// What each record of `from` is linked to under `name`, for example `pubmed_pmc`, `pmc_pubmed`,
    /// `pubmed_pubmed_citedin` or `pubmed_pubmed_refs`; the databases are the name's first two words.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`].
    pub async fn links(&self, name: &str, from: &[u64]) -> Result<Vec<(u64, Vec<u64>)>, PortError> {
        let mut words = name.split('_');
        let (source, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let mut found = Vec::new();
        for batch in from.chunks(IDS_PER_REQUEST) {
            let mut request = Self::request("elink")
                .query("dbfrom", source)
                .query("db", target)
                .query("linkname", name)
                .query("retmode", "xml");
            // One parameter for each record keeps their links apart.
            for id in batch {
                request = request.query("id", id.to_string());
            }
            let request = request.cache(RECORDS_KEPT);
            for set in request::ask(&self.fetcher, &request, link_sets).await? {
                if let [record] = set.from[..] {
                    found.push((record, set.to(name).collect()));
                }
            }
        }
        Ok(found)
    }

    /// The text of a paper in PMC; `Ok(None)` when PMC has none that may be read by programs.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`]; `Corrupt` for a text that cannot be read, or that is another paper's.
    pub async fn document(&self, pmcid: u64) -> Result<Option<Document>, PortError> {
        let request = Self::request("efetch")
            .query("db", "pmc")
            .query("id", pmcid.to_string())
            .query("retmode", "xml")
            .not_found_answers()
            .cache(TEXTS_KEPT);
        let fetched = self.fetcher.fetch(&request).await?;
        let Some(article) = only_article(&fetched.body).filter(|_| !fetched.is_not_found()) else {
            return Ok(None);
        };
        let document = match read_document(DocumentFormat::Jats, article.to_vec()).await {
            Ok(document) => document,
            Err(what) => return Err(self.fetcher.unreadable(&request, &what).await),
        };
        let other = other_pmcid(&document, pmcid);
        if let Some(other) = other {
            let what = format!("it is the text of {other}, not of PMC{pmcid}");
            return Err(self.fetcher.unreadable(&request, &what).await);
        }
        Ok(Some(document))
    }

    /// `meta` with its text in PMC; `Ok(None)` without a PMCID, and as [`Pubmed::document`].
    ///
    /// # Errors
    /// As [`Pubmed::document`].
    pub async fn paper(&self, meta: &PaperMeta) -> Result<Option<Paper>, PortError> {
        let mut ids = meta.ids();
        let pmcid = ids.find_map(|id| match id {
            PaperId::Pmcid(number) => Some(*number),
            _ => None,
        });
        let Some(pmcid) = pmcid else { return Ok(None) };
        Ok(self.document(pmcid).await?.and_then(|document| with_text(meta, document)))
    }
}

/// The PMCID that a text states, if it is another than `pmcid`.
fn other_pmcid(document: &Document, pmcid: u64) -> Option<PaperId> {
    let meta = &document.paper.meta;
    let mut stated = meta.ids();
    stated.find(|id| matches!(id, PaperId::Pmcid(n) if *n != pmcid)).cloned()
}

/// The `article` element of a reply that wraps it, `None` if there is none.
fn only_article(reply: &[u8]) -> Option<&[u8]> {
    const END: &[u8] = b"</article>";
    let find = |what: &[u8]| reply.windows(what.len()).position(|part| part == what);
    let start =
        [&b"<article "[..], b"<article>", b"<article\n"].into_iter().filter_map(find).min()?;
    let end = reply.windows(END.len()).rposition(|part| part == END)? + END.len();
    reply.get(start..end).filter(|article| !article.is_empty())
}

/// `text` without the characters of PubMed's own syntax.
fn term(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '\'' | '.') { c } else { ' ' })
        .collect();
    let words = plain.split_whitespace().map(|word| match word {
        "AND" | "OR" | "NOT" => word.to_lowercase(),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// First and last day in PubMed's form, `Some(None)` without bounds, `None` if nothing can pass.
fn date_range(filter: &SearchFilter) -> Option<Option<(String, String)>> {
    let mut last = filter.year_to.and_then(|year| Date::new(year, 12, 31).ok());
    if let Some(cutoff) = filter.published_before {
        // The bound is inclusive there, and strict here.
        let before = cutoff.yesterday().ok()?;
        last = Some(last.map_or(before, |last| last.min(before)));
    }
    let first = filter.year_from.and_then(|year| Date::new(year, 1, 1).ok());
    if first.is_none() && last.is_none() {
        return Some(None);
    }
    let form = |day: Date| format!("{:04}/{:02}/{:02}", day.year(), day.month(), day.day());
    // PubMed wants both bounds.
    let first = first.map_or_else(|| "1700/01/01".to_owned(), form);
    let last = last.map_or_else(|| "3000/12/31".to_owned(), form);
    Some(Some((first, last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_article_is_taken_out_of_its_wrapping() {
        let reply = b"<?xml?><pmc-articleset><article x='1'><front><article-meta/></front></article></pmc-articleset>";
        let article = only_article(reply).expect("found");
        assert!(article.starts_with(b"<article x") && article.ends_with(b"</article>"));
        assert_eq!(only_article(b"<pmc-articleset><article-meta/></pmc-articleset>"), None);
        assert_eq!(only_article(b"</article><article>"), None);
    }

    #[test]
    fn bounds_are_inclusive_there() {
        let filter = SearchFilter {
            published_before: Some(Date::constant(2020, 1, 1)),
            ..SearchFilter::none()
        };
        assert_eq!(
            date_range(&filter),
            Some(Some(("1700/01/01".to_owned(), "2019/12/31".to_owned())))
        );
        assert_eq!(date_range(&SearchFilter::none()), Some(None));
        assert_eq!(term("BRCA1[gene] AND \"x\" (y)"), "BRCA1 gene and x y");
    }
}
