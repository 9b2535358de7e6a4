//! Routes, what they share, and what every request passes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use scholar_core::{PortError, Query, Question, Retriever, SearchRequest};
use serde::de::DeserializeOwned;
use tokio::task::JoinSet;

use crate::config::ServerConfig;
use crate::error::{ApiError, ErrorCode};
use crate::metrics::Metrics;
use crate::queue::{Outcome, Queue};
use crate::{health, typed, upstream};

/// Every route, so that metrics count nothing under a name a client made up.
const ROUTES: [&str; 9] = [
    "/",
    "/search",
    "/queue_size",
    "/current_search",
    "/v1/search",
    "/health",
    "/health/live",
    "/health/ready",
    "/metrics",
];

/// How much is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionSize {
    /// Papers.
    pub papers: u64,
    /// Passages.
    pub passages: u64,
}

/// Looks whether the collection can be read, cheaply.
pub type Probe = Arc<dyn Fn() -> Result<CollectionSize, PortError> + Send + Sync>;

/// Sees every query that is accepted. Nobody does unless the server's owner asks for it.
pub type OnQuery = Arc<dyn Fn(&Query) + Send + Sync>;

/// What the handlers share.
pub(crate) struct Shared {
    pub(crate) config: ServerConfig,
    pub(crate) queue: Arc<Queue>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) probe: Probe,
    pub(crate) connections: Arc<AtomicUsize>,
    pub(crate) stopping: AtomicBool,
    on_query: Option<OnQuery>,
}

/// A search service over one [`Retriever`].
pub struct Server {
    pub(crate) shared: Arc<Shared>,
    /// Ends with the server.
    _workers: JoinSet<()>,
}

impl Server {
    /// Starts the workers, within the current tokio runtime.
    pub fn start(
        retriever: Arc<dyn Retriever>,
        config: ServerConfig,
        probe: Probe,
        on_query: Option<OnQuery>,
    ) -> Self {
        let metrics = Arc::new(Metrics::default());
        let room = (config.queue, config.batch, config.workers);
        let queue = Queue::new(retriever, room, Arc::clone(&metrics));
        let mut workers = JoinSet::new();
        for _ in 0..config.workers {
            workers.spawn(Arc::clone(&queue).work());
        }
        let shared = Shared {
            config,
            queue,
            metrics,
            probe,
            connections: Arc::default(),
            stopping: AtomicBool::new(false),
            on_query,
        };
        Self { shared: Arc::new(shared), _workers: workers }
    }

    /// The routes.
    pub(crate) fn router(&self) -> Router {
        let shared = Arc::clone(&self.shared);
        Router::new()
            .route("/", get(upstream::greeting))
            .route("/search", post(upstream::search))
            .route("/queue_size", get(upstream::queue_size))
            .route("/current_search", get(upstream::current_search))
            .route("/v1/search", post(typed::search))
            .route("/health", get(health::health))
            .route("/health/live", get(health::live))
            .route("/health/ready", get(health::ready))
            .route("/metrics", get(health::metrics))
            .fallback(no_route)
            .method_not_allowed_fallback(wrong_method)
            .layer(DefaultBodyLimit::max(shared.config.max_body_bytes))
            .layer(from_fn_with_state(Arc::clone(&shared), around))
            .with_state(shared)
    }
}

async fn no_route() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "there is nothing at this address")
        .with_hint("POST /v1/search, POST /search, GET /health, GET /metrics")
}

async fn wrong_method() -> ApiError {
    ApiError::new(ErrorCode::MethodNotAllowed, "this address takes another method")
        .with_hint("searches are POST, everything else is GET")
}

/// Time limit, counting, and what upstream sends with every reply.
async fn around(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let route = ROUTES.into_iter().find(|route| *route == path).unwrap_or("other");
    let is_preflight = shared.config.upstream_exact && request.method() == Method::OPTIONS;
    let mut response = if is_preflight {
        StatusCode::NO_CONTENT.into_response()
    } else {
        tokio::time::timeout(shared.config.timeout, next.run(request)).await.unwrap_or_else(|_| {
            let seconds = shared.config.timeout.as_secs_f64();
            ApiError::new(ErrorCode::Timeout, format!("not answered within {seconds} s"))
                .into_response()
        })
    };
    if shared.config.upstream_exact {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        if is_preflight {
            let (methods, any) = (HeaderValue::from_static("GET, POST"), "content-type");
            headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(any));
        }
    }
    shared.metrics.request(route, response.status().as_u16());
    response
}

/// The JSON body as a `T`. The content type does not matter: upstream's clients send several.
pub(crate) fn parse<T: DeserializeOwned>(
    body: Result<Bytes, BytesRejection>,
) -> Result<T, ApiError> {
    let body = body.map_err(|rejection| {
        if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
            ApiError::new(ErrorCode::TooLarge, "the body is longer than this server reads")
                .with_hint("send fewer queries at once")
        } else {
            ApiError::bad_request("the body could not be read")
        }
    })?;
    serde_json::from_slice(&body)
        .map_err(|error| ApiError::bad_request(format!("the body is not a request: {error}")))
}

impl Shared {
    /// The text as a query, checked as questions are.
    pub(crate) fn query(&self, text: &str) -> Result<Query, ApiError> {
        let query = Question::new(text)
            .map(|question| Query::from(&question))
            .map_err(|error| ApiError::bad_request(error.to_string()))?;
        if let Some(on_query) = &self.on_query {
            on_query(&query);
        }
        Ok(query)
    }

    /// A number of passages within the server's limit.
    pub(crate) fn top_k(&self, field: &str, asked: usize) -> Result<usize, ApiError> {
        let most = self.config.max_top_k;
        if (1..=most).contains(&asked) {
            Ok(asked)
        } else {
            Err(ApiError::bad_request(format!("{field} is {asked}, which is not 1 to {most}")))
        }
    }

    /// Waits in the queue for the outcome of each of `requests`.
    pub(crate) async fn search(
        &self,
        requests: Vec<SearchRequest>,
    ) -> Result<Vec<Outcome>, ApiError> {
        let receivers = self.queue.submit(requests).map_err(|full| {
            ApiError::busy(
                format!("{} queries are waiting already", full.waiting),
                full.retry_after_s,
            )
        })?;
        let mut outcomes = Vec::with_capacity(receivers.len());
        for receiver in receivers {
            outcomes.push(
                receiver
                    .await
                    .map_err(|_| ApiError::new(ErrorCode::Internal, "the search broke off"))?,
            );
        }
        Ok(outcomes)
    }
}
