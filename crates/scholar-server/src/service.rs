//! Routes, and what every request passes.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock, OnceLock};

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use scholar_core::Retriever;
use tokio::task::JoinSet;
use tokio::time::Instant;
use utoipa::OpenApi as _;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::body::Bodies;
use crate::budget::Budget;
use crate::config::ServerConfig;
use crate::error::{ApiError, ErrorCode};
use crate::gate::guesses::{self, Guesses};
use crate::gate::{self, Refused};
use crate::metrics::Metrics;
use crate::queue::Queue;
use crate::state::{OnQuery, Probe, Shared};
use crate::{additions, health, openapi, typed, upstream};

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
            gauges: OnceLock::new(),
            shelf: OnceLock::new(),
            guesses: Guesses::default(),
        };
        Self { shared: Arc::new(shared), _workers: workers }
    }

    /// The routes.
    pub(crate) fn router(&self) -> Router {
        let greeting = OpenApiRouter::new().routes(routes!(upstream::greeting));
        let own = greeting.with_state(Arc::clone(&self.shared)).split_for_parts().0;
        self.router_with(own.route(openapi::PATH, get(document)))
    }

    /// The routes and those of `more`, which are counted and limited alike.
    pub(crate) fn router_with(&self, more: Router) -> Router {
        let shared = Arc::clone(&self.shared);
        let (routes, _) = routes();
        routes
            .with_state(Arc::clone(&shared))
            .merge(more)
            .fallback(no_route)
            .method_not_allowed_fallback(wrong_method)
            .layer(from_fn_with_state(shared, around))
    }
}

/// Every route that a server with pages has, too, with its description: a route cannot be added without one.
fn routes() -> (Router<Arc<Shared>>, OpenApi) {
    OpenApiRouter::with_openapi(openapi::Document::openapi())
        .routes(routes!(typed::search))
        .routes(routes!(upstream::search))
        .routes(routes!(upstream::queue_size))
        .routes(routes!(upstream::current_search))
        .routes(routes!(health::health))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
        .split_for_parts()
}

/// What describes the search service alone.
pub(crate) fn document_of_routes() -> OpenApi {
    routes().1
}

static SEARCH_OPENAPI_JSON: LazyLock<String> = LazyLock::new(|| {
    // Where there are pages, one of them is at its address.
    let (_, greeting) =
        OpenApiRouter::<Arc<Shared>>::new().routes(routes!(upstream::greeting)).split_for_parts();
    let mut document = document_of_routes();
    document.merge(greeting);
    openapi::to_json(document)
});

/// The document of `datastore serve`, as `GET /openapi.json` answers it: the search service alone.
pub fn search_openapi_json() -> &'static str {
    &SEARCH_OPENAPI_JSON
}

async fn document() -> Response {
    openapi::reply(search_openapi_json())
}

async fn no_route() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "there is nothing at this address")
        .with_hint("POST /v1/search, POST /search, GET /health, GET /metrics, GET /openapi.json")
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
    let (now, needs_token) = (Instant::now(), shared.config.tokens.is_some());
    let guesser = (needs_token && guesses::brings_token(&request, false))
        .then(|| guesses::source_of(&request, false));
    let admitted = admit(&shared.config, &request, route);
    let mut response = match admitted {
        Ok(()) | Err(Refused::Token)
            if let Some(Err(error)) = guesser.map(|from| shared.guesses.check(from, now)) =>
        {
            error.into_response()
        }
        Err(refused) => {
            // Whatever else comes over this connection is not looked at.
            let mut response = ApiError::from(refused).into_response();
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
            response
        }
        Ok(()) if is_preflight => StatusCode::NO_CONTENT.into_response(),
        Ok(()) => {
            let (_, patience) = additions::bounds_of(route, (0, shared.config.timeout));
            let answered = tokio::time::timeout(patience, next.run(request)).await;
            answered.unwrap_or_else(|_| {
                let seconds = patience.as_secs_f64();
                ApiError::new(ErrorCode::Timeout, format!("not answered within {seconds} s"))
                    .into_response()
            })
        }
    };
    if let Some(from) = guesser.filter(|_| response.status() == StatusCode::UNAUTHORIZED) {
        shared.guesses.wrong(from, now);
    }
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
    let (most, _) = additions::bounds_of(route, (*max_body_bytes, config.timeout));
    gate::check(request, allowed_hosts, most)?;
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_document_describes_every_route_and_no_other() {
        let (router, document) = routes();
        let paths = document.paths.paths.keys().map(String::as_str);
        // The router tells its paths in its debug form alone, which has what begins all of them beside them.
        let debug = format!("{router:?}");
        let is_route =
            |text: &&str| text.starts_with('/') && *text != "/" && !text.contains("fallback");
        let routed: BTreeSet<&str> = debug.split('"').filter(is_route).collect();
        let described: BTreeSet<&str> = paths.collect();
        assert_eq!(routed, described);
        assert!(described.contains(LIVE));
    }
}
