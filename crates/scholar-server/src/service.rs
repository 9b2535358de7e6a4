//! Routes, and what every request passes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use scholar_core::Retriever;
use tokio::task::JoinSet;

use crate::body::Bodies;
use crate::budget::Budget;
use crate::config::ServerConfig;
use crate::error::{ApiError, ErrorCode};
use crate::gate::{self, Refused};
use crate::metrics::Metrics;
use crate::queue::Queue;
use crate::state::{OnQuery, Probe, Shared};
use crate::{health, typed, upstream};

/// Answers without a token, so that whatever watches over the process needs none.
const LIVE: &str = "/health/live";

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
        let queue = Queue::new(retriever, config.queue, Arc::clone(&metrics));
        let mut workers = JoinSet::new();
        for _ in 0..config.queue.workers {
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
    // As the router names it, so that metrics count nothing under a name a client made up.
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let route = matched.as_ref().map_or("other", MatchedPath::as_str);
    let is_preflight = shared.config.upstream_exact && request.method() == Method::OPTIONS;
    let mut response = match admit(&shared.config, &request, route) {
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

/// Refuses who may not ask, before anything of the body is read.
fn admit(config: &ServerConfig, request: &Request, route: &str) -> Result<(), Refused> {
    let ServerConfig { allowed_hosts, tokens, upstream_exact, max_body_bytes, .. } = config;
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
