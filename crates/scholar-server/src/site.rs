//! The pages and the native interface over one [`Backend`], beside the search service.
//!
//! [`Site::start`] takes up what an earlier process left, [`Site::serve`] answers until it is told to stop. Every request passes
//! [`around`]: the host and origin it is for, who asks, and what browsers are told.

mod headers;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::annotate::Studies;
use crate::backend::Backend;
use crate::callers::Access;
use crate::context::SiteState;
use crate::context::caller::{self, Caller};
use crate::context::shelf::Shelving;
use crate::error::{ApiError, in_our_words};
use crate::gate::guesses::{self, Guesses};
use crate::gate::{self, Refused};
use crate::jobs::store::{JobStore, JobStoreError};
use crate::jobs::{Jobs, JobsConfig};
use crate::serve::{Stopped, accept};
use crate::service::Server;
use crate::{additions, native, openapi, pages, service};

/// How long runs under way may take to keep what they have after the server was asked to stop.
const RUNS_DRAIN: Duration = Duration::from_secs(20);

/// How a site behaves.
pub struct SiteConfig {
    /// How questions wait.
    pub jobs: JobsConfig,
    /// Who may ask.
    pub access: Access,
    /// Where questions, threads and feedback are kept.
    pub database: PathBuf,
    /// Whether browsers reach the server through TLS, so that cookies are sent over nothing else.
    pub behind_tls: bool,
    /// Studies whose annotators' pages are among those of the site.
    pub studies: Option<Studies>,
}

/// A web server for people and programs.
pub struct Site {
    server: Server,
    state: Arc<SiteState>,
    workers: JoinSet<()>,
}

impl Site {
    /// Starts answering questions, those first that an earlier process left. `server` has no tokens of its own: `config` says who
    /// may ask.
    ///
    /// # Errors
    /// When the database cannot be used.
    pub fn start(
        server: Server,
        backend: Arc<dyn Backend>,
        config: SiteConfig,
    ) -> Result<Self, JobStoreError> {
        let SiteConfig { jobs, access, database, behind_tls, studies } = config;
        let store = Arc::new(JobStore::open(&database)?);
        let concurrency = jobs.concurrency.max(1);
        let jobs = Jobs::start(Arc::clone(&backend), Arc::clone(&store), access.clone(), jobs)?;
        let shelving = Shelving::start(Arc::clone(&backend), Arc::clone(&store), jobs.stopping())?;
        let mut workers = JoinSet::new();
        for _ in 0..concurrency {
            workers.spawn(Arc::clone(&jobs).work());
        }
        let counted = Arc::clone(&jobs);
        let gauges = move || {
            let (waiting, under_way) = counted.counts();
            vec![
                ("questions_waiting", "Questions that wait.", waiting as u64),
                ("questions_under_way", "Questions being answered.", under_way as u64),
            ]
        };
        // A server has one site: nothing was set before.
        let _first = server.shared.gauges.set(Box::new(gauges));
        let hosts = server.shared.config.allowed_hosts.clone();
        let max_body_bytes = server.shared.config.max_body_bytes;
        let _first = server.shared.shelf.set(Arc::clone(&backend));
        let state = SiteState {
            backend,
            jobs,
            store,
            shelving,
            studies,
            access,
            guesses: Guesses::default(),
            hosts,
            max_body_bytes,
            behind_tls,
        };
        Ok(Self { server, state: Arc::new(state), workers })
    }

    /// The routes.
    pub(crate) fn router(&self) -> Router {
        let state = Arc::clone(&self.state);
        let own = pages::router()
            .merge(native::router())
            .route(openapi::PATH, get(document))
            .route("/docs", get(reference))
            .with_state(Arc::clone(&state));
        let own = match &state.studies {
            Some(studies) => own.merge(studies.router()),
            None => own,
        };
        self.server.router_with(own).layer(from_fn_with_state(state, around))
    }

    /// Answers until `stop` is ready. Then no connection is accepted any more, streams of events end, and runs under way keep
    /// what they have, for the next process to go on with.
    ///
    /// # Errors
    /// When the listener's address cannot be told.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
    ) -> io::Result<Stopped> {
        let router = self.router();
        let Self { server, state, mut workers } = self;
        let stop = async {
            stop.await;
            server.shared.stopping.store(true, Ordering::Release);
            state.jobs.stop();
        };
        let stopped =
            accept(router, listener, server.limits(), &server.shared.traffic, stop).await?;
        let ended = async { while workers.join_next().await.is_some() {} };
        if tokio::time::timeout(RUNS_DRAIN, ended).await.is_err() {
            tracing::warn!(
                "runs under way did not stop in time; their journals hold what was done"
            );
        }
        Ok(stopped)
    }
}

fn whole_document() -> utoipa::openapi::OpenApi {
    let mut document = service::document_of_routes();
    document.merge(native::document());
    document
}

static OPENAPI_JSON: LazyLock<String> = LazyLock::new(|| openapi::to_json(whole_document()));

/// The document of `serve`, as `GET /openapi.json` answers it: questions, runs and the search service.
pub fn openapi_json() -> &'static str {
    &OPENAPI_JSON
}

async fn document() -> Response {
    openapi::reply(openapi_json())
}

/// The same for people.
async fn reference(State(state): State<Arc<SiteState>>) -> Html<String> {
    Html(pages::reference(&whole_document(), state.studies.is_some()).into_string())
}

/// Whether an address is a page, and not of a program's interface.
fn is_page(path: &str) -> bool {
    let program = ["/v1/", "/search", "/health", "/metrics", "/openapi.json", "/queue_size"];
    !program.iter().any(|prefix| path.starts_with(prefix)) && path != "/current_search"
}

/// Who may ask, and what every reply says to browsers.
async fn around(State(state): State<Arc<SiteState>>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let is_page = is_page(&path);
    let began = Instant::now();
    let method = request.method().clone();
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let route = matched.as_ref().map_or("", MatchedPath::as_str);
    let (most, _) = additions::bounds_of(route, (state.max_body_bytes, Duration::ZERO));
    // Where nobody needs a token, none is looked at.
    let guesser = (matches!(state.access, Access::Named(_))
        && guesses::brings_token(&request, route == caller::SIGN_IN))
    .then(|| guesses::source_of(&request, state.behind_tls));
    let admitted = gate::check(&request, &state.hosts, most)
        .and_then(|()| gate::check_origin(&request, &state.hosts))
        .and_then(|()| gate::check_site(&request))
        .and_then(|()| gate::check_form(&request));
    let mut response = match admitted {
        Err(refused) => refuse(&refused, is_page, &state),
        Ok(()) if let Some(Err(error)) = guesser.map(|from| state.guesses.check(from, began)) => {
            error.into_response()
        }
        Ok(()) => match Caller::of(&state, request.headers()).await {
            Err(error) => error.into_response(),
            Ok(Some(caller)) => {
                request.extensions_mut().insert(caller);
                next.run(request).await
            }
            Ok(None) if caller::is_open(route) => next.run(request).await,
            Ok(None) if is_page => caller::to_sign_in(&request),
            Ok(None) => ApiError::from(Refused::Token).into_response(),
        },
    };
    if let Some(from) = guesser.filter(|_| response.status() == StatusCode::UNAUTHORIZED) {
        state.guesses.wrong(from, began);
    }
    response = in_our_words(response).await;
    // Errors are made as programs read them; a person gets a page of the same words.
    if is_page && let Some(error) = response.extensions().get::<ApiError>().cloned() {
        response =
            (error.status(), Html(pages::error(&error, state.studies.is_some()).into_string()))
                .into_response();
    }
    headers::add(&mut response, is_page);
    // The route and not the address: what is asked and which run is read is nobody's business.
    let (status, ms) = (response.status().as_u16(), began.elapsed().as_millis());
    tracing::info!(%method, route, status, ms, "answered");
    response
}

/// A refusal in the form its reader expects; whatever else comes over this connection is not looked at.
fn refuse(refused: &Refused, is_page: bool, state: &SiteState) -> Response {
    let close = [(header::CONNECTION, "close")];
    if is_page {
        let page = pages::message("That did not work", &refused.message(), state.studies.is_some());
        (refused.status(), close, Html(page.into_string())).into_response()
    } else {
        (close, ApiError::from(refused.clone())).into_response()
    }
}
