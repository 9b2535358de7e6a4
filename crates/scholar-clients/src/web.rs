//! Web search restricted to academic sites, through You.com and Brave. Each needs a key.

mod lookup;
mod results;
mod source;

use scholar_core::{Notice, NoticeKind, PortError, PortErrorKind};

pub use results::{WebResult, brave, papers, you};
pub use source::WebSource;

use crate::fetch::{CachePolicy, FetchRequest, Fetcher, Provider};
use crate::request;

/// The web changes daily.
const KEPT: CachePolicy = CachePolicy::days("web-v1", 2);

/// Sites whose pages name papers. Source: the paper searches arXiv and PubMed; PMC is where PubMed's texts are.
const SITES: &str = "(site:arxiv.org OR site:pubmed.ncbi.nlm.nih.gov OR site:ncbi.nlm.nih.gov/pmc)";

/// Pages asked for: twice the papers wanted, because several pages are of one paper. Brave's largest number.
const PAGES: usize = 20;

/// Brave takes no more characters and words.
const LONGEST_QUERY: usize = 400;
const MOST_WORDS: usize = 50;

/// Asks web search engines. Cheap to clone.
#[derive(Clone)]
pub struct WebSearch {
    fetcher: Fetcher,
}

impl WebSearch {
    /// A client that asks through `fetcher`.
    pub fn new(fetcher: Fetcher) -> Self {
        Self { fetcher }
    }

    /// Pages of academic sites for `question`: from You.com if its key is set, else or on its failure from Brave.
    ///
    /// # Errors
    /// `Rejected` when no key is set; otherwise the last engine's, as [`Fetcher::fetch`].
    pub async fn search(&self, question: &str) -> Result<(Vec<WebResult>, Vec<Notice>), PortError> {
        let config = self.fetcher.config();
        let mut notices = Vec::new();
        let mut failure = None;
        for engine in [Provider::You, Provider::Brave] {
            // Offline, what is stored was paid for.
            if !config.keys.contains_key(&engine) && !config.offline {
                continue;
            }
            let (query, cut) = query(question);
            let found = match engine {
                Provider::You => self.you(&query).await,
                _ => self.brave(&query).await,
            };
            match found {
                Ok((results, broken)) => {
                    notices.extend(broken);
                    notices.extend(cut);
                    return Ok((results, notices));
                }
                Err(error) => {
                    let message = format!("a web search engine was skipped: {error}");
                    notices.push(Notice::new(NoticeKind::SourceDown, message));
                    failure = Some(error);
                }
            }
        }
        Err(failure.unwrap_or_else(|| {
            let settings: Vec<&str> =
                [Provider::You, Provider::Brave].iter().filter_map(|e| e.key_setting()).collect();
            PortError::new(PortErrorKind::Rejected, "web search: no engine's key is set")
                .with_hint(format!("set {}", settings.join(" or ")))
        }))
    }

    async fn you(&self, query: &str) -> Result<(Vec<WebResult>, Vec<Notice>), PortError> {
        let request = FetchRequest::get(Provider::You, "/v1/search")
            .query("query", query)
            .query("count", PAGES.to_string())
            .not_found_answers()
            .cache(KEPT);
        if let Some(found) = request::find(&self.fetcher, &request, you).await? {
            return Ok(found);
        }
        // The address before v1, which older accounts still have.
        let request = FetchRequest::get(Provider::You, "/search")
            .query("query", query)
            .query("num_web_results", PAGES.to_string())
            .cache(KEPT);
        request::ask(&self.fetcher, &request, you).await
    }

    async fn brave(&self, query: &str) -> Result<(Vec<WebResult>, Vec<Notice>), PortError> {
        let request = FetchRequest::get(Provider::Brave, "/res/v1/web/search")
            .query("q", query)
            .query("count", PAGES.to_string())
            .query("result_filter", "web")
            .cache(KEPT);
        request::ask(&self.fetcher, &request, brave).await
    }
}

/// The question restricted to the sites, within what engines take; a notice tells when words were left out.
fn query(question: &str) -> (String, Option<Notice>) {
    let mut query = SITES.to_owned();
    let mut cut = false;
    for (count, word) in (SITES.split(' ').count()..).zip(question.split_whitespace()) {
        let longer = query.chars().count() + 1 + word.chars().count();
        if longer > LONGEST_QUERY || count >= MOST_WORDS {
            cut = true;
            break;
        }
        query.push(' ');
        query.push_str(word);
    }
    let message =
        "the web was searched for the beginning of the question: it is too long for engines";
    (query, cut.then(|| Notice::new(NoticeKind::Truncated, message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_stay_within_what_engines_take() {
        let (short, cut) = query("does  RAG reduce hallucination?");
        assert!(
            short.starts_with("(site:arxiv.org OR ")
                && short.ends_with(") does RAG reduce hallucination?")
        );
        assert_eq!(cut, None);
        let (long, cut) = query(&"word ".repeat(300));
        assert!(long.chars().count() <= LONGEST_QUERY && long.split(' ').count() <= MOST_WORDS);
        assert!(cut.is_some());
    }
}
