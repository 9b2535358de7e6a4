//! `POST /v1/search`: one or many queries, with filters and explanations. Described in `docs/api.md`.
//!
//! Unknown fields are errors: a misspelt filter must not return what it was to keep out.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use jiff::civil::Date;
use scholar_core::licence::licence_key;
use scholar_core::text::normalise::title_key;
use scholar_core::{
    Explanation, PaperId, PaperMeta, Passage, RetrievalScore, Retrieved, SearchFilter, SearchMode,
    SearchRequest,
};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::error::ApiError;
use crate::queue::Outcome;
use crate::service::{Shared, parse};

/// Schema of the reply.
pub const SCHEMA: &str = "openscholar.api-search/1";
/// Passages when a request does not say.
const TOP_K: usize = 10;

/// Body of the request: `query` or `queries`, the rest optional.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchBody {
    query: Option<String>,
    queries: Option<Vec<String>>,
    #[serde(default = "top_k")]
    top_k: usize,
    #[serde(default = "mode")]
    mode: SearchMode,
    #[serde(default)]
    filter: FilterBody,
    #[serde(default)]
    explain: bool,
}

fn top_k() -> usize {
    TOP_K
}

fn mode() -> SearchMode {
    SearchMode::Hybrid
}

/// Conditions on papers; all must hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FilterBody {
    published_before: Option<Date>,
    year_from: Option<i16>,
    year_to: Option<i16>,
    venues: Vec<String>,
    min_citations: Option<u32>,
    /// Names of licences, with or without a version.
    licences: BTreeSet<String>,
    without_retracted: bool,
    papers: Option<BTreeSet<PaperId>>,
    exclude: BTreeSet<PaperId>,
    /// Whole titles, in any case and punctuation.
    exclude_titles: BTreeSet<String>,
}

impl From<FilterBody> for SearchFilter {
    fn from(body: FilterBody) -> Self {
        let FilterBody {
            published_before,
            year_from,
            year_to,
            venues,
            min_citations,
            licences,
            without_retracted,
            papers,
            exclude,
            exclude_titles,
        } = body;
        Self {
            published_before,
            year_from,
            year_to,
            venues,
            min_citations,
            licences: licences.iter().map(|licence| licence_key(licence)).collect(),
            without_retracted,
            papers,
            exclude,
            exclude_titles: exclude_titles.iter().map(|title| title_key(title)).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct SearchReply {
    schema: &'static str,
    collection: String,
    /// Waiting included.
    took_ms: u64,
    /// One per query, in order.
    results: Vec<QueryResult>,
}

#[derive(Debug, Serialize)]
struct QueryResult {
    query: String,
    #[serde(flatten)]
    found: Found,
}

/// One query's failure is not the others'.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Found {
    Hits(Vec<Hit>),
    Error(ApiError),
}

#[derive(Debug, Serialize)]
struct Hit {
    rank: usize,
    score: RetrievalScore,
    passage: Passage,
    paper: Arc<PaperMeta>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explanation>,
}

pub(crate) async fn search(
    State(shared): State<Arc<Shared>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<SearchReply>, ApiError> {
    let began = Instant::now();
    let SearchBody { query, queries, top_k, mode, filter, explain } = parse(body)?;
    let texts = match (query, queries) {
        (Some(query), None) => vec![query],
        (None, Some(queries)) if !queries.is_empty() => queries,
        _ => return Err(ApiError::bad_request("give either query or a list of queries")),
    };
    let most = shared.config.max_queries.min(shared.config.queue);
    if texts.len() > most {
        return Err(ApiError::bad_request(format!("{} queries, more than {most}", texts.len())));
    }
    let top_k = shared.top_k("top_k", top_k)?;
    let filter = SearchFilter::from(filter);
    let mut requests = Vec::with_capacity(texts.len());
    for (at, text) in texts.iter().enumerate() {
        let query = shared.query(text).map_err(|error| ApiError {
            message: format!("query {at}: {}", error.message),
            ..error
        })?;
        requests.push(SearchRequest { query, top_k, mode, filter: filter.clone() });
    }
    let outcomes = shared.search(requests).await?;
    let results: Vec<QueryResult> = texts
        .into_iter()
        .zip(outcomes)
        .map(|(query, outcome)| QueryResult { query, found: Found::new(outcome, explain) })
        .collect();
    // Nothing found out at all is a failure of the request.
    if let Some(Found::Error(error)) = results.first().map(|result| &result.found)
        && results.iter().all(|result| matches!(result.found, Found::Error(_)))
    {
        return Err(error.clone());
    }
    let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let collection = shared.config.name.clone();
    Ok(Json(SearchReply { schema: SCHEMA, collection, took_ms, results }))
}

impl Found {
    fn new(outcome: Outcome, explain: bool) -> Self {
        match outcome {
            Ok(found) => Self::Hits(
                found
                    .into_iter()
                    .enumerate()
                    .map(|(at, found)| Hit::new(at + 1, found, explain))
                    .collect(),
            ),
            Err(error) => Self::Error(error.into()),
        }
    }
}

impl Hit {
    fn new(rank: usize, found: Retrieved, explain: bool) -> Self {
        let Retrieved { passage, paper, score, explanation, found_by: _ } = found;
        Self { rank, score, passage, paper, explanation: explain.then_some(explanation) }
    }
}
