//! Readers of replies: every question that the clients ask, with the stand-in's replies broken on the way.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::future::LocalBoxFuture;
use parking_lot::Mutex;
use scholar_clients::fetch::{Broken, Incoming, Outgoing, Transport};
use scholar_clients::semantic_scholar::{BulkOrder, RecommendFrom};
use scholar_clients::{
    Arxiv, Crossref, Fetcher, Grobid, HttpClient, Latexml, OpenAlex, Pubmed, SemanticScholar,
    Unpaywall, WebSearch, Zotero,
};
use scholar_core::{PaperId, PortError, SearchFilter};
use scholar_testing::mutate::{Random, mutate};
use scholar_testing::standin::world::{WorldPaper, world};
use scholar_testing::{Calls, Fault, StandIn};
use tokio::runtime::Runtime;

use super::{Reader, Subject};
use crate::wiring::standin;

type Ask = fn(Fetcher, &'static WorldPaper) -> LocalBoxFuture<'static, Result<bool, PortError>>;

/// What is asked; the answer is whether something was found.
const ASKED: [(&str, Ask); 25] = [
    ("Semantic Scholar: search", |f, _| {
        async move { Ok(!s2(f).search(WORDS, 10, &all()).await?.items.is_empty()) }.boxed_local()
    }),
    ("Semantic Scholar: bulk search", |f, _| {
        let asked = async move {
            let found = s2(f).search_bulk(WORDS, BulkOrder::MostCited, 10, &all()).await?;
            Ok(!found.items.is_empty())
        };
        asked.boxed_local()
    }),
    ("Semantic Scholar: match", |f, work| {
        async move { Ok(s2(f).match_title(&work.title).await?.is_some()) }.boxed_local()
    }),
    ("Semantic Scholar: paper", |f, work| {
        async move { Ok(s2(f).paper(&corpus(work)).await?.is_some()) }.boxed_local()
    }),
    ("Semantic Scholar: batch", |f, _| {
        let asked = async move {
            let ids: Vec<PaperId> = world().papers.iter().map(corpus).collect();
            Ok(s2(f).batch(&ids).await?.papers.iter().any(Option::is_some))
        };
        asked.boxed_local()
    }),
    ("Semantic Scholar: references", |f, work| {
        async move { Ok(!s2(f).references(&corpus(work), 50, &all()).await?.items.is_empty()) }
            .boxed_local()
    }),
    ("Semantic Scholar: citations", |f, work| {
        async move { Ok(!s2(f).citations(&corpus(work), 50, &all()).await?.items.is_empty()) }
            .boxed_local()
    }),
    ("Semantic Scholar: recommendations for one", |f, work| {
        let asked = async move {
            let from = RecommendFrom::Recent;
            let found = s2(f).recommend_for(&corpus(work), from, 10, &all()).await?;
            Ok(!found.items.is_empty())
        };
        asked.boxed_local()
    }),
    ("Semantic Scholar: recommendations", |f, work| {
        let asked = async move {
            let found = s2(f).recommend(&[corpus(work)], &[], 10, &all()).await?;
            Ok(!found.items.is_empty())
        };
        asked.boxed_local()
    }),
    ("Semantic Scholar: snippets", |f, _| {
        async move { Ok(!s2(f).snippets(WORDS, 10, &all()).await?.items.is_empty()) }.boxed_local()
    }),
    ("OpenAlex: search", |f, _| {
        async move { Ok(!OpenAlex::new(f).search(WORDS, &all(), 10).await?.works.is_empty()) }
            .boxed_local()
    }),
    ("OpenAlex: citations", |f, work| {
        let asked = async move {
            let id = PaperId::OpenAlex(work.openalex);
            Ok(!OpenAlex::new(f).citing(&id, &all(), 10).await?.works.is_empty())
        };
        asked.boxed_local()
    }),
    ("OpenAlex: work", |f, work| {
        async move { Ok(OpenAlex::new(f).work(&PaperId::OpenAlex(work.openalex)).await?.is_some()) }
            .boxed_local()
    }),
    ("arXiv: search", |f, _| {
        let asked = async move {
            Ok(!Arxiv::new(f).search("passage retrieval", &all(), 10).await?.0.is_empty())
        };
        asked.boxed_local()
    }),
    ("ar5iv: text", |f, _| {
        let asked = async move {
            let id =
                world().papers.iter().find_map(|work| work.arxiv.as_deref()).unwrap_or_default();
            Ok(Latexml::new(f).document(id).await?.is_some())
        };
        asked.boxed_local()
    }),
    ("PubMed: search", |f, _| {
        async move { Ok(!Pubmed::new(f).search(WORDS, &all(), 10).await?.0.is_empty()) }
            .boxed_local()
    }),
    ("PubMed Central: text", |f, _| {
        let asked = async move {
            let id = world().papers.iter().find_map(|work| work.pmcid).unwrap_or_default();
            Ok(Pubmed::new(f).document(id).await?.is_some())
        };
        asked.boxed_local()
    }),
    ("Crossref: work", |f, _| {
        async move { Ok(Crossref::new(f).work(doi()).await?.is_some()) }.boxed_local()
    }),
    ("Crossref: standing", |f, _| {
        async move { Ok(Crossref::new(f).standings(&[doi()]).await.1.is_empty()) }.boxed_local()
    }),
    ("Unpaywall", |f, _| {
        async move { Ok(Unpaywall::new(f).lookup(doi()).await?.is_some()) }.boxed_local()
    }),
    (YOU, |f, _| {
        async move { Ok(!WebSearch::new(f).search(WORDS).await?.0.is_empty()) }.boxed_local()
    }),
    (YOU_BEFORE, |f, _| {
        async move { Ok(!WebSearch::new(f).search(WORDS).await?.0.is_empty()) }.boxed_local()
    }),
    (BRAVE, |f, _| {
        async move { Ok(!WebSearch::new(f).search(WORDS).await?.0.is_empty()) }.boxed_local()
    }),
    ("GROBID: document", |f, work| {
        let asked = async move {
            // As the stand-in's PDFs say whose they are.
            let pdf = format!("%PDF-1.4\n% stand-in: {}\n", work.key);
            Ok(Grobid::new(f).document(pdf.as_bytes()).await?.is_some())
        };
        asked.boxed_local()
    }),
    ("Zotero: items", |f, _| {
        async move { Ok(!Zotero::new(f).items(None).await?.is_empty()) }.boxed_local()
    }),
];

const WORDS: &str = "sleep memory consolidation";
const YOU: &str = "You.com";
const YOU_BEFORE: &str = "You.com before v1";
const BRAVE: &str = "Brave";

fn s2(fetcher: Fetcher) -> SemanticScholar {
    SemanticScholar::new(fetcher)
}

fn all() -> SearchFilter {
    SearchFilter::none()
}

fn corpus(work: &WorldPaper) -> PaperId {
    PaperId::CorpusId(work.corpus)
}

fn doi() -> &'static str {
    world().papers.iter().find_map(|work| work.doi.as_deref()).unwrap_or_default()
}

/// One reader for each question.
pub(super) fn subjects() -> Vec<Subject> {
    ASKED
        .into_iter()
        .map(|(name, ask)| Subject {
            name: name.to_owned(),
            open: Box::new(move || Ok(Box::new(Replies::open(name, ask)?) as Box<dyn Reader>)),
        })
        .collect()
}

/// A client whose replies are broken.
struct Replies {
    runtime: Runtime,
    fetcher: Fetcher,
    wire: Arc<Wire>,
    ask: Ask,
    work: &'static WorldPaper,
    /// Answers for as long as it lives.
    _server: StandIn,
}

impl Replies {
    /// Asks once with whole replies, which must find something.
    fn open(name: &str, ask: Ask) -> Result<Self, String> {
        let words = |what: &str| format!("the stand-in has no {what}");
        let work = world()
            .papers
            .iter()
            .find(|work| !work.references.is_empty() && world().citing(&work.key).next().is_some());
        let work = work.ok_or_else(|| words("paper that cites and is cited"))?;
        let server = StandIn::start().map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        if name == YOU_BEFORE {
            server.fault("/you/v1/search", Calls::All, Fault::Status(404, "{}".to_owned()));
        }
        let engine = if name == BRAVE { "BRAVE_API_KEY" } else { "YDC_API_KEY" };
        let mut config = standin::config(&server, &[engine]).map_err(|error| error.to_string())?;
        config.retry.attempts = 1;
        config.breaker.failures = u32::MAX;
        let wire = Arc::new(Wire {
            http: HttpClient::new().map_err(|error| error.to_string())?,
            known: Mutex::default(),
            random: Mutex::default(),
        });
        let transport: Arc<dyn Transport> = Arc::<Wire>::clone(&wire);
        let fetcher = {
            let _inside = runtime.enter();
            Fetcher::with_transport(transport, config)
        };
        let found = runtime.block_on(ask(fetcher.clone(), work));
        match found.map_err(|error| error.to_string())? {
            true => Ok(Self { runtime, fetcher, wire, ask, work, _server: server }),
            false => Err(words("answer")),
        }
    }
}

impl Reader for Replies {
    fn read(&mut self, number: u64) -> bool {
        *self.wire.random.lock() = Some(Random::new(number));
        let asked = (self.ask)(self.fetcher.clone(), self.work);
        self.runtime.block_on(asked).unwrap_or(false)
    }
}

/// Sends requests once, and answers the same ones from memory.
struct Wire {
    http: HttpClient,
    known: Mutex<HashMap<String, Incoming>>,
    /// What breaks the bodies of replies; nothing does at first.
    random: Mutex<Option<Random>>,
}

#[async_trait]
impl Transport for Wire {
    async fn send(&self, request: Outgoing) -> Result<Incoming, Broken> {
        let body = String::from_utf8_lossy(request.body.as_deref().unwrap_or_default());
        let key = format!("{} {} {body}", request.method, request.url);
        let known = self.known.lock().get(&key).cloned();
        let whole = match known {
            Some(reply) => reply,
            None => {
                let reply = self.http.send(request).await?;
                // Broken replies lead to questions without end, which are not worth keeping.
                if self.random.lock().is_none() {
                    self.known.lock().insert(key, reply.clone());
                }
                reply
            }
        };
        let mut random = self.random.lock();
        Ok(match random.as_mut() {
            Some(random) => {
                let body = mutate(std::slice::from_ref(&whole.body), random);
                Incoming { body, ..whole }
            }
            None => whole,
        })
    }
}
