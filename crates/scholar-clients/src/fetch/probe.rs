//! Is a provider there, and does it take our key?

use std::time::Duration;

use scholar_core::PortError;
use tokio::time::Instant;

use super::provider::Provider;
use super::request::{Accept, FetchRequest};
use super::{FetchConfig, Fetcher};

/// Longest a probe takes, pauses included: a person looks on.
const PATIENCE: Duration = Duration::from_secs(10);

impl Fetcher {
    /// Asks `provider` for something small, once, and never the cache. How long it took to answer.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`]: a wrong key is `Rejected`, an absent server `Unavailable`.
    pub async fn probe(&self, provider: Provider) -> Result<Duration, PortError> {
        let asked = Instant::now();
        self.within(PATIENCE).fetch(&question(provider)).await?;
        Ok(asked.elapsed())
    }
}

impl FetchConfig {
    /// Why `provider` cannot be asked as things are set, and what to set; `None` when it can.
    pub fn missing(&self, provider: Provider) -> Option<String> {
        let facts = provider.facts();
        let key = facts.key.map(|(setting, _)| setting);
        if facts.key_needed && !self.keys.contains_key(&provider) {
            return key.map(str::to_owned);
        }
        if facts.contact_needed && self.email.is_none() {
            return Some(super::EMAIL_SETTING.to_owned());
        }
        (self.base_url(provider).is_none() && provider != Provider::OpenAccess)
            .then(|| provider.base_url_setting())
    }
}

/// The smallest question that tells whether key and address are right.
fn question(provider: Provider) -> FetchRequest {
    let get =
        |path: &str| FetchRequest::get(provider, path).accept(Accept::Bytes).not_found_answers();
    match provider {
        Provider::SemanticScholar => {
            get("/graph/v1/paper/search").query("query", "attention").query("limit", "1")
        }
        Provider::OpenAlex => get("/works").query("per-page", "1").query("select", "id"),
        Provider::Arxiv => {
            get("/api/query").query("search_query", "all:attention").query("max_results", "1")
        }
        Provider::Pubmed => get("/entrez/eutils/esearch.fcgi")
            .query("db", "pubmed")
            .query("term", "attention")
            .query("retmax", "1"),
        Provider::Crossref => get("/works").query("rows", "0"),
        // DOIs under this prefix are Crossref's own.
        Provider::Unpaywall => get("/v2/10.5555/12345678"),
        Provider::Doi => get("/10.5555/12345678"),
        Provider::You => get("/v1/search").query("query", "attention").query("count", "1"),
        Provider::Brave => get("/res/v1/web/search").query("q", "attention").query("count", "1"),
        Provider::Ar5iv | Provider::ArxivHtml => get("/html/1706.03762"),
        Provider::Grobid => get("/api/isalive"),
        Provider::Zotero => get("/api/users/0/items").query("limit", "1"),
        Provider::OpenAccess => get("/"),
    }
}
