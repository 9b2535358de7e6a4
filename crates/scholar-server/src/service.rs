//! Routes, what they share, and what every request passes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use scholar_core::{PortError, Query, Question, Retriever};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::body::Bodies;
use crate::budget::{Budget, PASSAGE_BYTES};
use crate::config::ServerConfig;
use crate::connection::Traffic;
use crate::error::{ApiError, ErrorCode};
use crate::gate::{self, Refused};
use crate::metrics::Metrics;
use crate::queue::{Answered, Asked, Queue};
use crate::{health, typed, upstream};

/// Answers without a token, so that whatever watches over the process needs none.
const LIVE: &str = "/health/live";

/// Every route, so that metrics count nothing under a name a client made up.
const ROUTES: [&str; 9] = [
    "/",
    "/search",
    "/queue_size",
    "/current_search",
    "/v1/search",
    "/health",
    LIVE,
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
    pub(crate) budget: Budget,
    pub(crate) bodies: Bodies,
    pub(crate) traffic: Arc<Traffic>,
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
            budget: Budget::new(config.max_held_passages, config.max_reply_passages),
            bodies: Bodies::new(config.max_bodies_bytes, config.max_body_bytes),
            config,
            queue,
            metrics,
            probe,
            traffic: Arc::default(),
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
            .route(LIVE, get(health::live))
            .route("/health/ready", get(health::ready))
            .route("/metrics", get(health::metrics))
            .fallback(no_route)
            .method_not_allowed_fallback(wrong_method)
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

/// Who may ask, time limit, counting, and what upstream sends with every reply.
async fn around(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let route = ROUTES.into_iter().find(|route| *route == path).unwrap_or("other");
    let is_preflight = shared.config.upstream_exact && request.method() == Method::OPTIONS;
    let mut response = match shared.admit(&request, route) {
        Err(refused) => {
            // Whatever else comes over this connection is not looked at.
            let mut response = ApiError::from(refused).into_response();
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
            response
        }
        Ok(()) if is_preflight => StatusCode::NO_CONTENT.into_response(),
        Ok(()) => {
            let answered = tokio::time::timeout(shared.config.timeout, next.run(request)).await;
            answered.unwrap_or_else(|_| {
                let seconds = shared.config.timeout.as_secs_f64();
                ApiError::new(ErrorCode::Timeout, format!("not answered within {seconds} s"))
                    .into_response()
            })
        }
    };
    if shared.config.upstream_exact {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        if is_preflight {
            let methods = HeaderValue::from_static("GET, POST");
            let allowed = match shared.config.tokens {
                Some(_) => "content-type, authorization",
                None => "content-type",
            };
            headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
            let allowed = HeaderValue::from_static(allowed);
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
        }
    }
    shared.metrics.request(route, response.status().as_u16());
    response
}

/// What a request asks for, as far as it takes memory.
pub(crate) struct Wanted {
    /// Queries.
    pub(crate) queries: usize,
    /// Passages of each.
    pub(crate) top_k: usize,
    /// Room that one passage takes: 2 where it is explained.
    pub(crate) each: usize,
    /// Bytes of the conditions, which every query has a copy of.
    pub(crate) filter_bytes: usize,
}

impl Wanted {
    /// Room for one query, in passages.
    pub(crate) fn of_query(&self) -> usize {
        (self.top_k.saturating_mul(self.each)).saturating_add(self.filter_bytes / PASSAGE_BYTES)
    }

    /// Refuses what is more than `most` passages in all.
    pub(crate) fn check(&self, most: usize) -> Result<(), ApiError> {
        let Self { queries, top_k, each, filter_bytes } = *self;
        if queries.saturating_mul(self.of_query()) <= most {
            return Ok(());
        }
        let passages = queries.saturating_mul(top_k);
        if passages.saturating_mul(each) <= most {
            let why = format!("{queries} queries with a filter of {filter_bytes} bytes each");
            return Err(ApiError::bad_request(format!("{why} are more than this server holds"))
                .with_hint("send fewer queries at once, or a shorter filter"));
        }
        let most = most / each;
        let explained = if each > 1 { " when they are explained" } else { "" };
        let queries_at_once = most / top_k.max(1);
        let hint = match most / queries.max(1) {
            0 => format!("send at most {queries_at_once} queries at once"),
            n => format!(
                "ask for at most {n} passages for each query, or send at most {queries_at_once} queries at once"
            ),
        };
        let why = format!(
            "{queries} queries with {top_k} passages each are {passages} passages, more than the {most} that one \
             request may ask for{explained}"
        );
        Err(ApiError::bad_request(why).with_hint(hint))
    }
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

    /// Refuses who may not ask, before anything of the body is read.
    fn admit(&self, request: &Request, route: &str) -> Result<(), Refused> {
        let ServerConfig { allowed_hosts, tokens, upstream_exact, max_body_bytes, .. } =
            &self.config;
        gate::check(request, allowed_hosts, *max_body_bytes)?;
        // The original lets pages of any origin ask; through which name they do so is checked all the same.
        if !upstream_exact {
            gate::check_origin(request, allowed_hosts)?;
        }
        let is_preflight = *upstream_exact && request.method() == Method::OPTIONS;
        match tokens {
            Some(tokens) if !is_preflight && route != LIVE => {
                gate::check_token(request.headers(), tokens)
            }
            _ => Ok(()),
        }
    }

    /// When a reply that begins now must have been taken.
    pub(crate) fn reply_deadline(&self) -> Instant {
        Instant::now() + self.config.reply_timeout
    }

    /// Waits in the queue for the outcome of each of `requests`.
    pub(crate) async fn search(&self, requests: Vec<Asked>) -> Result<Vec<Answered>, ApiError> {
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
