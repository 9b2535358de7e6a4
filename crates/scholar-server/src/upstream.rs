//! The interface of the original search service.
//!
//! `POST /search` takes `{"query", "n_docs", "domains"}` and gives `{"message", "query", "n_docs", "results"}`, where
//! `results` holds parallel arrays: `"pes2o IDs"`, `"scores"` (strings) and `"passages"`. Without
//! [`upstream_exact`](crate::ServerConfig::upstream_exact), `n_docs` and `domains` may be left out, and more arrays come
//! along: `"numeric_scores"`, `"passage_ids"`, `"paper_ids"`, `"titles"`.
//!
//! Source: spec A.6. Where the original is broken (the unreachable queue, the log of every query) it is not followed.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use scholar_core::{PaperId, PaperMeta, Retrieved, SearchFilter, SearchMode, SearchRequest};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::service::{Shared, parse};

/// Name under which the original serves its papers; accepted beside the collection's own.
const DOMAIN: &str = "pes2o";
/// Passages when a request does not say.
const N_DOCS: usize = 10;

/// Body of `POST /search`. Fields the original ignores are ignored.
#[derive(Debug, Deserialize)]
struct SearchBody {
    query: String,
    n_docs: Option<usize>,
    domains: Option<String>,
}

/// Parallel arrays, best passage first.
#[derive(Debug, Serialize)]
struct Results {
    #[serde(rename = "pes2o IDs")]
    ids: Vec<String>,
    scores: Vec<String>,
    passages: Vec<String>,
    #[serde(flatten)]
    ours: Option<Ours>,
}

/// What the original does not send.
#[derive(Debug, Serialize)]
struct Ours {
    numeric_scores: Vec<f32>,
    passage_ids: Vec<String>,
    paper_ids: Vec<String>,
    titles: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct SearchReply {
    message: &'static str,
    query: String,
    n_docs: usize,
    results: Results,
}

pub(crate) async fn search(
    State(shared): State<Arc<Shared>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<SearchReply>, ApiError> {
    let SearchBody { query: text, n_docs, domains } = parse(body)?;
    let exact = shared.config.upstream_exact;
    if exact && (n_docs.is_none() || domains.is_none()) {
        return Err(ApiError::bad_request("query, n_docs and domains are needed"));
    }
    let name = &shared.config.name;
    if let Some(domain) = domains.filter(|domain| domain != DOMAIN && domain != name) {
        return Err(ApiError::bad_request(format!("there is no domain {domain:?}"))
            .with_hint(format!("the domains are {DOMAIN} and {name}: the same papers")));
    }
    let n_docs = shared.top_k("n_docs", n_docs.unwrap_or(N_DOCS))?;
    let request = SearchRequest {
        query: shared.query(&text)?,
        top_k: n_docs,
        mode: SearchMode::Hybrid,
        filter: SearchFilter::none(),
    };
    let found = shared.search(vec![request]).await?.pop().unwrap_or(Ok(Vec::new()))?;
    let results = Results {
        ids: found.iter().map(|hit| original_id(&hit.paper)).collect(),
        // As Python prints a float.
        scores: found.iter().map(|hit| format!("{:?}", hit.score.value())).collect(),
        passages: found.iter().map(|hit| hit.passage.text.clone()).collect(),
        ours: (!exact).then(|| ours(&found)),
    };
    Ok(Json(SearchReply { message: "search finished", query: text, n_docs, results }))
}

fn ours(found: &[Retrieved]) -> Ours {
    Ours {
        numeric_scores: found.iter().map(|hit| hit.score.value()).collect(),
        passage_ids: found.iter().map(|hit| hit.passage.id.to_string()).collect(),
        paper_ids: found.iter().map(|hit| hit.paper.id.to_string()).collect(),
        titles: found.iter().map(|hit| hit.paper.title.clone()).collect(),
    }
}

/// The corpus id, which is how peS2o names papers; of a paper without one, the identifier it is filed under.
fn original_id(paper: &PaperMeta) -> String {
    let corpus_id = paper.ids().find_map(|id| match id {
        PaperId::CorpusId(number) => Some(number.to_string()),
        _ => None,
    });
    corpus_id.unwrap_or_else(|| paper.id.to_string())
}

pub(crate) async fn queue_size(State(shared): State<Arc<Shared>>) -> Json<Value> {
    Json(json!({"queue_size": shared.queue.len()}))
}

/// What is being searched. Without `upstream_exact` only how much: a question is its asker's.
pub(crate) async fn current_search(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let running = shared.queue.running();
    match running.first() {
        Some((query, n_docs)) if shared.config.upstream_exact => {
            Json(json!({"current_search": query, "domains": DOMAIN, "n_docs": n_docs}))
        }
        Some(_) => Json(json!({"message": format!("{} searches are running", running.len())})),
        None => Json(json!({"message": "no search is running"})),
    }
}

pub(crate) async fn greeting(State(shared): State<Arc<Shared>>) -> Json<String> {
    Json(format!("openscholar {} serves {}", env!("CARGO_PKG_VERSION"), shared.config.name))
}
