//! `POST /v1/search`: one or many queries, with filters and explanations. Described in `docs/api.md`.
//!
//! Unknown fields are errors: a misspelt filter must not return what it was to keep out.

mod filter;
mod reply;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use scholar_core::{Query, SearchFilter, SearchMode, SearchRequest};
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep};
use utoipa::ToSchema;

use crate::backend::SearchedDatastores;
use crate::body::Read;
use crate::budget::{Demand, Hold};
use crate::error::{ApiError, ErrorCode};
use crate::openapi::replies::{SearchFailures, SearchReply};
use crate::queue::PendingSearch;
use crate::reply::json;
use crate::state::Shared;
use filter::FilterBody;
use reply::{Found, Head, QueryResult, Reply};

/// Schema of the reply.
pub const SCHEMA: &str = "openscholar.api-search/1";
/// Passages when a request does not say.
const TOP_K: usize = 10;
/// Until a full queue is tried again.
const PAUSE: Duration = Duration::from_millis(200);
/// A passage with its explanation is about twice as long as without.
const EXPLAINED: usize = 2;

/// Body of `POST /v1/search`: `query` or `queries`, the rest optional.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = SearchRequest)]
#[serde(deny_unknown_fields)]
struct SearchBody {
    /// What to look for.
    query: Option<String>,
    /// Several at once, at most 256 unless the server allows another number: they are encoded together.
    queries: Option<Vec<String>>,
    /// Names of the datastores to search; all that are served where none is named.
    #[serde(default)]
    datastores: Vec<String>,
    /// Passages for each query, from 1.
    #[serde(default = "top_k")]
    top_k: usize,
    /// Which indexes are asked.
    #[serde(default = "mode")]
    #[schema(value_type = Mode, default = "hybrid")]
    mode: SearchMode,
    /// Conditions on the papers.
    #[serde(default)]
    filter: FilterBody,
    /// Whether each hit says how its score came about.
    #[serde(default)]
    explain: bool,
}

/// Which indexes are asked.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "describes scholar-core's SearchMode")]
enum Mode {
    Hybrid,
    Dense,
    Lexical,
}

fn top_k() -> usize {
    TOP_K
}

fn mode() -> SearchMode {
    SearchMode::Hybrid
}

/// Passages for one or several queries
#[utoipa::path(
    post,
    path = "/v1/search",
    tag = "search",
    operation_id = "search",
    request_body = SearchBody,
    responses((status = 200, description = "Hits of each query, best first", body = SearchReply), SearchFailures),
)]
pub(crate) async fn search(
    State(shared): State<Arc<Shared>>,
    body: Body,
) -> Result<Response, ApiError> {
    let began = Instant::now();
    let Read { value, held } = shared.bodies.read(body).await?;
    let SearchBody { query, queries, datastores, top_k, mode, filter, explain } = value;
    let texts = match (query, queries) {
        (Some(query), None) => vec![query],
        (None, Some(queries)) if !queries.is_empty() => queries,
        _ => return Err(ApiError::bad_request("give either query or a list of queries")),
    };
    let most = shared.config.max_queries.min(shared.config.queue.capacity);
    if texts.len() > most {
        return Err(ApiError::bad_request(format!("{} queries, more than {most}", texts.len())));
    }
    let top_k = shared.top_k("top_k", top_k)?;
    let passage_cost = if explain { EXPLAINED } else { 1 };
    let demand = Demand { queries: texts.len(), top_k, passage_cost, filter_bytes: filter.bytes() };
    demand.check(shared.config.max_reply_passages)?;
    let mut queries = Vec::with_capacity(texts.len());
    for (at, text) in texts.into_iter().enumerate() {
        let query = shared.query(&text).map_err(|error| ApiError {
            message: format!("query {at}: {}", error.message),
            ..error
        })?;
        queries.push((text, query));
    }
    let among = shared.searched(datastores).await?;
    let (collection, left_out) = (among.names.join(","), among.left_out.clone());
    let mut left = Remaining {
        shared,
        among,
        queries: queries.into_iter(),
        filter: filter.into(),
        mode,
        demand,
        _body: held,
    };
    let results = left.search().await?;
    // Nothing found out at all is a failure of the request.
    if let Some(Found::Error(error)) = results.first().map(|result| &result.found)
        && results.iter().all(|result| matches!(result.found, Found::Error(_)))
    {
        return Err(error.clone());
    }
    let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let head = Head { schema: SCHEMA, collection, left_out, took_ms };
    let deadline = left.shared.reply_deadline();
    Ok(json(Reply::new(&head, results, left), deadline).await)
}

/// Queries of a request that were not searched yet.
struct Remaining {
    shared: Arc<Shared>,
    among: SearchedDatastores,
    queries: std::vec::IntoIter<(String, Query)>,
    filter: SearchFilter,
    mode: SearchMode,
    demand: Demand,
    _body: Option<OwnedSemaphorePermit>,
}

impl Remaining {
    /// Searches as many as one window has room for, one at least.
    async fn search(&mut self) -> Result<Vec<QueryResult>, ApiError> {
        let Self { shared, among, queries, filter, mode, demand, _body } = self;
        let of_query = demand.of_query().max(1);
        let n = (shared.config.window_passages / of_query).max(1).min(queries.len());
        let mut room = shared.budget.reserve(n * of_query).await?;
        let mut asked = Vec::with_capacity(n);
        for (_, query) in &queries.as_slice()[..n] {
            let request = SearchRequest {
                query: query.clone(),
                top_k: demand.top_k,
                mode: *mode,
                filter: filter.clone(),
            };
            asked.push(PendingSearch {
                retriever: Arc::clone(&among.retriever),
                request,
                hold: room.split(of_query),
                passage_cost: demand.passage_cost,
            });
        }
        let answered = shared.search(asked).await?;
        let explain = demand.passage_cost == EXPLAINED;
        let results = queries.by_ref().take(n).zip(answered);
        Ok(results.map(|((text, _), answered)| QueryResult::new(text, answered, explain)).collect())
    }

    /// The same when the reply has begun: a full queue is waited for, as the client can no longer be told to come again;
    /// what else fails is each query's error.
    async fn search_later(&mut self) -> Vec<QueryResult> {
        loop {
            match self.search().await {
                Ok(results) => return results,
                Err(ApiError { code: ErrorCode::Busy, .. }) => sleep(PAUSE).await,
                Err(error) => {
                    let failed = |(query, _)| QueryResult {
                        query,
                        found: Found::Error(error.clone()),
                        hold: Hold::none(),
                    };
                    return self.queries.by_ref().map(failed).collect();
                }
            }
        }
    }
}
