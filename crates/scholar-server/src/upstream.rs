//! The interface of the original search service.
//!
//! `POST /search` takes `{"query", "n_docs", "domains"}` and gives `{"message", "query", "n_docs", "results"}`, where
//! `results` holds parallel arrays: `"pes2o IDs"`, `"scores"` (strings) and `"passages"`. Without
//! [`upstream_exact`](crate::ServerConfig::upstream_exact), `n_docs` and `domains` may be left out, and more arrays come
//! along: `"numeric_scores"`, `"passage_ids"`, `"paper_ids"`, `"titles"`.
//!
//! Where the original is broken (the unreachable queue, the log of every query) it is not followed.

use std::mem;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use scholar_core::{PaperId, PaperMeta, Retrieved, SearchFilter, SearchMode, SearchRequest};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::body::Read;
use crate::budget::{Demand, Hold};
use crate::error::{ApiError, ErrorCode};
use crate::openapi::replies::{CurrentSearch, QueueSize, SearchFailures, UpstreamReply};
use crate::queue::PendingSearch;
use crate::reply::{self, Json, Pieces, write_json};
use crate::state::Shared;

/// Name under which the original serves its papers; accepted beside the collection's own.
const DOMAIN: &str = "pes2o";
/// Passages when a request does not say.
const N_DOCS: usize = 10;

/// Body of `POST /search`. Fields the original ignores are ignored.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = UpstreamRequest)]
struct SearchBody {
    /// What to look for.
    query: String,
    /// Passages, 10 if left out; mandatory with `--upstream-exact`.
    n_docs: Option<usize>,
    /// `pes2o` or the collection's name; mandatory with `--upstream-exact`.
    domains: Option<String>,
}

/// What stands in front of the results.
#[derive(Debug, Serialize)]
struct Head {
    message: &'static str,
    query: String,
    n_docs: usize,
}

/// Passages for one query, as the original service answers
#[utoipa::path(
    post,
    path = "/search",
    tag = "upstream",
    operation_id = "upstreamSearch",
    request_body = SearchBody,
    responses((status = 200, description = "Parallel arrays, best first", body = UpstreamReply), SearchFailures),
)]
pub(crate) async fn search(
    State(shared): State<Arc<Shared>>,
    body: Body,
) -> Result<Response, ApiError> {
    let Read { value, held: _held } = shared.bodies.read(body).await?;
    let SearchBody { query: text, n_docs, domains } = value;
    let exact = shared.config.upstream_exact;
    if exact && (n_docs.is_none() || domains.is_none()) {
        return Err(ApiError::bad_request("query, n_docs and domains are needed"));
    }
    let name = &shared.config.name;
    let named = domains.filter(|domain| domain != DOMAIN && domain != name);
    let among =
        shared.searched(named.iter().cloned().collect()).await.map_err(|error| match named {
            Some(domain) if error.code == ErrorCode::BadRequest => {
                let hint = format!("the domains are {DOMAIN} for all, and {name}");
                ApiError::bad_request(format!("there is no domain {domain:?}")).with_hint(hint)
            }
            _ => error,
        })?;
    let n_docs = shared.top_k("n_docs", n_docs.unwrap_or(N_DOCS))?;
    let demand = Demand { queries: 1, top_k: n_docs, passage_cost: 1, filter_bytes: 0 };
    let query = shared.query(&text)?;
    demand.check(shared.config.max_reply_passages)?;
    let hold = shared.budget.reserve(demand.of_query()).await?;
    let request = SearchRequest {
        query,
        top_k: n_docs,
        mode: SearchMode::Hybrid,
        filter: SearchFilter::none(),
    };
    let answered = shared
        .search(vec![PendingSearch { retriever: among.retriever, request, hold, passage_cost: 1 }])
        .await?
        .pop();
    let answered =
        answered.ok_or_else(|| ApiError::new(ErrorCode::Internal, "no search was made"))?;
    let head = Head { message: "search finished", query: text, n_docs };
    let columns = if exact { &COLUMNS[..ORIGINAL] } else { &COLUMNS[..] };
    let reply = Reply::new(&head, answered.outcome?, (columns, answered.hold));
    Ok(reply::json(reply, shared.reply_deadline()).await)
}

/// An array of the results: its name, and what it has of a passage.
type Column = (&'static str, fn(&mut Retrieved, &mut Vec<u8>));

/// The parallel arrays, best passage first.
const COLUMNS: [Column; 7] = [
    ("pes2o IDs", |hit, out| write_json(&original_id(&hit.paper), out)),
    // As Python prints a float.
    ("scores", |hit, out| write_json(&format!("{:?}", hit.score.value()), out)),
    // Nothing after this needs the text.
    ("passages", |hit, out| write_json(&mem::take(&mut hit.passage.text), out)),
    ("numeric_scores", |hit, out| write_json(&hit.score.value(), out)),
    ("passage_ids", |hit, out| write_json(&hit.passage.id.to_string(), out)),
    ("paper_ids", |hit, out| write_json(&hit.paper.id.to_string(), out)),
    ("titles", |hit, out| write_json(&hit.paper.title, out)),
];

/// So many of them the original sends.
const ORIGINAL: usize = 3;

/// `{"message", "query", "n_docs", "results": {…}}`, cell by cell.
struct Reply {
    /// What is written next, where that is no cell.
    head: Option<Vec<u8>>,
    hits: Vec<Retrieved>,
    columns: &'static [Column],
    /// The next cell.
    column: usize,
    row: usize,
    _hold: Hold,
}

impl Reply {
    fn new(head: &Head, hits: Vec<Retrieved>, rest: (&'static [Column], Hold)) -> Self {
        let (columns, hold) = rest;
        let mut out = Vec::new();
        write_json(head, &mut out);
        // The results are one field more.
        out.pop();
        out.extend_from_slice(b",\"results\":{");
        Self { head: Some(out), hits, columns, column: 0, row: 0, _hold: hold }
    }
}

impl Pieces for Reply {
    fn append(&mut self, out: &mut Vec<u8>) -> bool {
        if let Some(head) = self.head.take() {
            out.extend_from_slice(&head);
            return true;
        }
        let Some((name, cell)) = self.columns.get(self.column) else { return false };
        if self.row == 0 {
            if self.column > 0 {
                out.push(b',');
            }
            write_json(name, out);
            out.extend_from_slice(b":[");
        }
        if let Some(hit) = self.hits.get_mut(self.row) {
            if self.row > 0 {
                out.push(b',');
            }
            cell(hit, out);
            self.row += 1;
        }
        if self.row >= self.hits.len() {
            self.row = 0;
            self.column += 1;
            let last = self.column == self.columns.len();
            out.extend_from_slice(if last { b"]}}" } else { b"]" });
        }
        true
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

/// Queries that wait
#[utoipa::path(
    get,
    path = "/queue_size",
    tag = "upstream",
    responses((status = 200, description = "Queries that wait", body = QueueSize)),
)]
pub(crate) async fn queue_size(State(shared): State<Arc<Shared>>) -> Json<Value> {
    Json(json!({"queue_size": shared.queue.len()}))
}

/// What is being searched
///
/// Without `--upstream-exact` only how much: a question is its asker's.
#[utoipa::path(
    get,
    path = "/current_search",
    tag = "upstream",
    responses((status = 200, description = "The running query, or how many run", body = CurrentSearch)),
)]
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

/// Which program serves what
#[utoipa::path(
    get,
    path = "/",
    tag = "upstream",
    responses((
        status = 200,
        description = "Program, version and collection",
        content_type = "application/json",
        body = String,
    )),
)]
pub(crate) async fn greeting(State(shared): State<Arc<Shared>>) -> Json<String> {
    Json(format!("openscholar {} serves {}", env!("CARGO_PKG_VERSION"), shared.config.name))
}
