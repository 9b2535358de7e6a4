//! arXiv's API: preprints by words and by identifier. Needs no key, and wants three seconds between requests.

mod atom;
mod source;

use std::collections::BTreeMap;

use jiff::civil::Date;
use scholar_core::text::words::is_stop_word;
use scholar_core::{Notice, PaperId, PortError, SearchFilter};

pub use atom::{ArxivEntry, ArxivPage, feed};
pub use source::ArxivSource;

use crate::fetch::{Accept, CachePolicy, FetchRequest, Fetcher, Provider};
use crate::request;

/// New versions appear daily, and a day is what the API itself may lag behind.
const KEPT: CachePolicy = CachePolicy::days("arxiv-v1", 3);

/// Identifiers in one request: addresses stay below two thousand characters.
const IDS_PER_REQUEST: usize = 100;

/// arXiv asks for pages of moderate size.
const LARGEST_PAGE: usize = 100;

/// Pages read for one search before giving up.
const MOST_PAGES: usize = 3;

/// Words of one search: more make it slow there, and no better.
const MOST_WORDS: usize = 12;

/// A paper on arXiv in a certain version, or in the latest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArxivRef {
    /// arXiv identifier without its version.
    pub id: String,
    /// `None` for the latest.
    pub version: Option<u32>,
}

impl ArxivRef {
    /// The latest version of the paper, if `id` is arXiv's.
    pub fn latest(id: &PaperId) -> Option<Self> {
        match id {
            PaperId::Arxiv(id) => Some(Self { id: id.clone(), version: None }),
            _ => None,
        }
    }

    fn text(&self) -> String {
        match self.version {
            Some(version) => format!("{}v{version}", self.id),
            None => self.id.clone(),
        }
    }
}

/// Asks arXiv. Cheap to clone.
#[derive(Clone)]
pub struct Arxiv {
    fetcher: Fetcher,
}

impl Arxiv {
    /// A client that asks through `fetcher`.
    pub fn new(fetcher: Fetcher) -> Self {
        Self { fetcher }
    }

    /// At most `limit` preprints that `filter` accepts: those that have all words of `text`, and if there are none,
    /// those that have some, the most relevant first as arXiv ranks them.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`].
    pub async fn search(
        &self,
        text: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<(Vec<ArxivEntry>, Vec<Notice>), PortError> {
        let found = self.matching(text, " AND ", filter, limit).await?;
        if found.0.is_empty() {
            return self.matching(text, " OR ", filter, limit).await;
        }
        Ok(found)
    }

    async fn matching(
        &self,
        text: &str,
        operator: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<(Vec<ArxivEntry>, Vec<Notice>), PortError> {
        let (mut entries, mut notices) = (Vec::new(), Vec::new());
        let Some(query) = query(text, operator, filter) else { return Ok((entries, notices)) };
        let size = if filter.is_none() { limit } else { limit.saturating_add(10) };
        let size = size.clamp(1, LARGEST_PAGE);
        for page in 0..MOST_PAGES {
            let start = page * size;
            let request = FetchRequest::get(Provider::Arxiv, "/api/query")
                .query("search_query", query.as_str())
                .query("start", start.to_string())
                .query("max_results", size.to_string())
                .query("sortBy", "relevance")
                .query("sortOrder", "descending")
                .accept(Accept::Xml)
                .cache(KEPT);
            let feed = request::ask(&self.fetcher, &request, feed).await?;
            let last = feed.entries.is_empty() || (start + size) as u64 >= feed.total;
            notices.extend(feed.notices);
            let accepted = feed.entries.into_iter().filter(|e| filter.accepts(&e.paper.meta));
            entries.extend(accepted);
            entries.truncate(limit);
            if last || entries.len() >= limit {
                break;
            }
        }
        Ok((entries, notices))
    }

    /// The papers with these identifiers, in their order, `None` for those that arXiv does not have: a hundred a
    /// request.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`].
    pub async fn papers(&self, ids: &[ArxivRef]) -> Result<Vec<Option<ArxivEntry>>, PortError> {
        let mut known: BTreeMap<String, ArxivEntry> = BTreeMap::new();
        for batch in ids.chunks(IDS_PER_REQUEST) {
            let list: Vec<String> = batch.iter().map(ArxivRef::text).collect();
            let request = FetchRequest::get(Provider::Arxiv, "/api/query")
                .query("id_list", list.join(","))
                .query("start", "0")
                .query("max_results", batch.len().to_string())
                .accept(Accept::Xml)
                .cache(KEPT);
            for entry in request::ask(&self.fetcher, &request, feed).await?.entries {
                if let PaperId::Arxiv(id) = &entry.paper.meta.id {
                    let version = entry.version.unwrap_or(1);
                    known.insert(format!("{id}v{version}"), entry.clone());
                    // With two versions of one paper in a batch, the one without version is the latest.
                    let latest = known.get(id).is_none_or(|known| known.version < entry.version);
                    if latest {
                        known.insert(id.clone(), entry);
                    }
                }
            }
        }
        Ok(ids.iter().map(|id| known.get(&id.text()).cloned()).collect())
    }
}

/// The search in arXiv's syntax; `None` if nothing can match.
fn query(text: &str, operator: &str, filter: &SearchFilter) -> Option<String> {
    let mut terms: Vec<String> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let word = word.to_lowercase();
        if !word.is_empty() && !is_stop_word(&word) && !terms.contains(&word) {
            terms.push(word);
        }
    }
    if terms.is_empty() {
        return None;
    }
    terms.truncate(MOST_WORDS);
    let terms: Vec<String> = terms.iter().map(|word| format!("all:{word}")).collect();
    let mut query = terms.join(operator);
    let first = filter.year_from.and_then(|year| Date::new(year, 1, 1).ok());
    let mut last = filter.year_to.and_then(|year| Date::new(year, 12, 31).ok());
    if let Some(cutoff) = filter.published_before {
        let before = cutoff.yesterday().ok()?;
        last = Some(last.map_or(before, |last| last.min(before)));
    }
    if first.is_some() || last.is_some() {
        let first = first.map_or_else(|| "19910101".to_owned(), compact);
        let last = last.map_or_else(|| "29991231".to_owned(), compact);
        query = format!("({query}) AND submittedDate:[{first}0000 TO {last}2359]");
    }
    Some(query)
}

fn compact(day: Date) -> String {
    format!("{:04}{:02}{:02}", day.year(), day.month(), day.day())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_terms_and_nothing_becomes_an_operator() {
        let free = SearchFilter::none();
        let and = |text| query(text, " AND ", &free);
        assert_eq!(
            and("the citation-accuracy of \"RAG\" ANDNOT au:smith").as_deref(),
            Some(
                "all:citation AND all:accuracy AND all:rag AND all:andnot AND all:au AND all:smith"
            )
        );
        assert_eq!(and("?!"), None);
        let filter = SearchFilter {
            published_before: Some(Date::constant(2024, 1, 1)),
            year_to: Some(2024),
            ..SearchFilter::none()
        };
        assert_eq!(
            query("rag", " OR ", &filter).as_deref(),
            Some("(all:rag) AND submittedDate:[199101010000 TO 202312312359]")
        );
    }
}
