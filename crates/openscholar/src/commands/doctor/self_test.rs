//! `doctor --self-test`: every client against a stand-in for the services, faults included. No network.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use scholar_clients::fetch::{CacheConfig, Fetcher};
use scholar_clients::{Crossref, HttpClient, SemanticScholar};
use scholar_core::{
    FindBy, FindRequest, PaperId, PaperSource, PortError, Query, Retraction, Retriever as _,
    SearchFilter, SearchMode, SearchRequest,
};
use scholar_pipeline::retrieve::sources::{SourcesConfig, WideRetriever};
use scholar_testing::standin::world::world;
use scholar_testing::{Calls, Fault, StandIn};

use super::Check;
use crate::args::SourceArg;
use crate::error::{CommandError, Context as _};
use crate::wiring::{providers, standin};

/// Looked for in the stand-in's library.
const QUESTION: &str = "How does sleep change memory consolidation?";
/// Every source beyond the datastore.
const SOURCES: [SourceArg; 6] = [
    SourceArg::S2,
    SourceArg::Snippets,
    SourceArg::Web,
    SourceArg::Openalex,
    SourceArg::Arxiv,
    SourceArg::Pubmed,
];

/// Runs all tests; each is a check.
pub(super) async fn checks() -> Result<Vec<Check>, CommandError> {
    let server = StandIn::start().user(|| "cannot listen on a loopback port".to_owned())?;
    let cache = tempfile::tempdir().user(|| "cannot make a temporary folder".to_owned())?;
    let bench = Bench { server, cache: cache.path() };
    let mut checks = Vec::new();
    for source in SOURCES {
        checks.push(bench.finds(source).await?);
    }
    checks.push(bench.standing().await?);
    checks.push(bench.waits_when_told().await?);
    checks.push(bench.broken_replies().await?);
    checks.push(bench.offline().await?);
    checks.push(bench.question().await?);
    Ok(checks)
}

struct Bench<'a> {
    server: StandIn,
    cache: &'a Path,
}

impl Bench<'_> {
    /// A fetcher whose every address is the stand-in's, with keys that open nothing else, as fast as it goes.
    fn fetcher(&self, offline: bool) -> Result<Fetcher, PortError> {
        let mut config = standin::config(&self.server, &["YDC_API_KEY", "BRAVE_API_KEY"])?;
        config.cache = Some(CacheConfig::new(self.cache));
        config.offline = offline;
        Ok(Fetcher::new(HttpClient::new()?, config))
    }

    async fn finds(&self, source: SourceArg) -> Result<Check, CommandError> {
        self.server.reset();
        let what = format!("{} finds papers", source.name());
        let Some(port) = providers::source(source, &self.fetcher(false)?).source else {
            return Ok(Check::new(&what, false, "it could not be set up", BUG));
        };
        let found = port.find(&request(port.as_ref())).await;
        Ok(verdict(
            &what,
            found.map(|found| {
                (!found.papers.is_empty()).then(|| format!("{} papers", found.papers.len()))
            }),
        ))
    }

    async fn standing(&self) -> Result<Check, CommandError> {
        self.server.reset();
        let dois: Vec<&str> =
            world().papers.iter().filter_map(|work| work.doi.as_deref()).collect();
        let (standings, _) = Crossref::new(self.fetcher(false)?).standings(&dois).await;
        let retracted = standings.iter().filter(|one| one.status == Retraction::Retracted).count();
        let found = (retracted > 0).then(|| format!("{retracted} of {} papers", dois.len()));
        Ok(verdict("Crossref reports retractions", Ok(found)))
    }

    async fn waits_when_told(&self) -> Result<Check, CommandError> {
        self.server.reset();
        self.server.fault("/s2/", Calls::Nth(1), Fault::RateLimited(Some("0".to_owned())));
        let client = SemanticScholar::new(self.fetcher(false)?);
        let id = PaperId::CorpusId(world().papers.first().map_or(0, |work| work.corpus));
        let answer = client.paper(&id).await;
        let asked = self.server.asked("/s2/").len();
        Ok(verdict(
            "a rate limit is respected and the request retried",
            answer
                .map(|paper| (paper.is_some() && asked == 2).then(|| format!("{asked} requests"))),
        ))
    }

    /// Broken answers must be errors: an empty list would be a lie.
    async fn broken_replies(&self) -> Result<Check, CommandError> {
        let mut told = 0;
        let faults =
            [Fault::Truncated, Fault::BrokenGzip, Fault::Html, Fault::Status(503, String::new())];
        let total = faults.len();
        for fault in faults {
            self.server.reset();
            self.server.fault("/openalex/", Calls::All, fault);
            let fetcher = self.fetcher(false)?;
            let Some(port) = providers::source(SourceArg::Openalex, &fetcher).source else { break };
            let mut request = request(port.as_ref());
            // Not what the cache knows.
            request.limit += 1;
            told += usize::from(port.find(&request).await.is_err());
        }
        self.server.reset();
        let all = (told == total).then(|| format!("{told} of {total} faults are reported"));
        Ok(verdict("broken replies are reported", Ok(all)))
    }

    async fn offline(&self) -> Result<Check, CommandError> {
        self.server.reset();
        let Some(port) = providers::source(SourceArg::Openalex, &self.fetcher(true)?).source else {
            return Ok(Check::new("stored replies answer offline", false, "no source", BUG));
        };
        let found = port.find(&request(port.as_ref())).await;
        let asked = self.server.log().len();
        Ok(verdict(
            "stored replies answer offline",
            found.map(|found| {
                (asked == 0 && !found.papers.is_empty())
                    .then(|| format!("{} papers, no request", found.papers.len()))
            }),
        ))
    }

    /// A question to all sources, one of them limited.
    async fn question(&self) -> Result<Check, CommandError> {
        self.server.reset();
        self.server.fault("/s2/", Calls::All, Fault::RateLimited(None));
        let fetcher = self.fetcher(false)?.within(Duration::from_secs(20));
        let sources: Vec<Arc<dyn PaperSource>> =
            SOURCES.iter().filter_map(|one| providers::source(*one, &fetcher).source).collect();
        let query = Query::new(QUESTION).unwrap_or_else(|| unreachable!("a constant with words"));
        let wide = WideRetriever::new(None, sources, query.clone(), SourcesConfig::quick());
        let request = SearchRequest {
            query,
            top_k: 50,
            mode: SearchMode::Hybrid,
            filter: SearchFilter::none(),
        };
        let searched = wide.explore(&request).await;
        Ok(verdict(
            "a question is searched although one source is limited",
            searched.map(|searched| {
                let told = searched
                    .notices
                    .iter()
                    .any(|notice| notice.message.starts_with("source s2 is limited"));
                let papers = wide.found_papers().len();
                (told && papers > 0)
                    .then(|| format!("{papers} papers, {} passages", searched.hits.len()))
            }),
        ))
    }
}

const BUG: &str = "this is a bug of the program: please report it";

/// What every source of the stand-in has papers on.
fn request(port: &dyn PaperSource) -> FindRequest {
    let (text, by) = match port.name() {
        // There is nothing on sleep on arXiv.
        "arxiv" => ("passage retrieval", FindBy::Keywords),
        _ if port.takes(FindBy::Keywords) => ("sleep memory", FindBy::Keywords),
        _ => (QUESTION, FindBy::Question),
    };
    let text = Query::new(text).unwrap_or_else(|| unreachable!("a constant with words"));
    FindRequest { text, by, filter: SearchFilter::none(), limit: 10 }
}

/// `Ok(None)` is a wrong result.
fn verdict(what: &str, result: Result<Option<String>, PortError>) -> Check {
    match result {
        Ok(Some(found)) => Check::new(what, true, found, ""),
        Ok(None) => Check::new(what, false, "not as it should be", BUG),
        Err(error) => Check::new(what, false, error.to_string(), BUG),
    }
}
