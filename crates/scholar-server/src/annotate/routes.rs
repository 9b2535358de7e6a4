//! What is asked of the study, and what it replies.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::FormRejection;
use axum::extract::{DefaultBodyLimit, Form as Body, Path, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::json;

use super::Shared;
use super::form::{Action, Sent};
use super::model::{Kind, Ratings};
use super::page::comparison::{Frame, page};
use super::page::{ICON, SCRIPT, STYLE, message, overview};
use super::review::ReviewRatings;
use super::store::{Said, Saved, Store, StoreError, StoreErrorKind, Task, TaskLine};
use crate::gate::{self, Hosts};

/// Two long texts of four bytes a character, percent-encoded.
const MOST_BYTES: usize = 1 << 20;
/// A request that takes longer is given up; a store waits less for others.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Sent with every reply. No page may load, send to, or be framed by anything but this server, and links tell nobody
/// else the secret address they were on. (With `no-referrer`, browsers would not say that a form is ours either.)
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// The routes of a server that has nothing else, which answers for `hosts`.
pub(super) fn router(shared: &Arc<Shared>, hosts: Hosts) -> Router {
    let hosts = Arc::new(hosts);
    routes(shared)
        .route("/", get(entrance))
        .fallback(|| async { Refusal::Unknown })
        .layer(from_fn_with_state(Arc::clone(shared), told))
        .layer(from_fn_with_state(hosts, around))
        .with_state(Arc::clone(shared))
}

/// The routes within another server, which says who may ask.
pub(crate) fn within(shared: &Arc<Shared>) -> Router {
    routes(shared)
        .layer(from_fn_with_state(Arc::clone(shared), told))
        .with_state(Arc::clone(shared))
}

fn routes(shared: &Shared) -> Router<Arc<Shared>> {
    let at = |path: &str| format!("{}{path}", shared.base);
    Router::new()
        .route(&at("/style.css"), get(|| async { asset("text/css; charset=utf-8", STYLE) }))
        .route(
            &at("/annotate.js"),
            get(|| async { asset("text/javascript; charset=utf-8", SCRIPT) }),
        )
        .route(&at("/icon.svg"), get(|| async { asset("image/svg+xml", ICON) }))
        .route(&at("/a/{token}"), get(list))
        .route(&at("/a/{token}/{place}"), get(show).post(send))
        .route(&at("/a/{token}/{place}/draft"), post(draft))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
}

/// Makes a page of what a refusal says.
async fn told(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    match response.extensions().get::<Words>().cloned() {
        Some(Words(words)) => {
            let page = message(shared.base, "That did not work", &words);
            (response.status(), Html(page)).into_response()
        }
        None => response,
    }
}

/// What a refusal says.
#[derive(Clone)]
struct Words(String);

async fn around(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    let admitted = gate::check(&request, &hosts, MOST_BYTES)
        .and_then(|()| gate::check_origin(&request, &hosts))
        .and_then(|()| gate::check_site(&request));
    let mut response = match admitted {
        Ok(()) => match tokio::time::timeout(TIMEOUT, next.run(request)).await {
            Ok(response) => response,
            Err(_) => (StatusCode::GATEWAY_TIMEOUT, "this took too long; please try again")
                .into_response(),
        },
        Err(refused) => {
            let page = Html(message("", "That did not work", &refused.message()));
            (refused.status(), [(header::CONNECTION, "close")], page).into_response()
        }
    };
    for (name, value) in HEADERS {
        let name = HeaderName::from_static(name);
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

async fn entrance() -> Html<String> {
    Html(message(
        "",
        "Comparing answers",
        "Please open the address that was sent to you: it is yours alone, and tells this server who you are.",
    ))
}

/// Why a request is not answered as hoped.
#[derive(Debug)]
enum Refusal {
    /// No such address, token or place: which of them is not said.
    Unknown,
    /// No page of ours sends this.
    Form(String),
    /// Longer than is read.
    TooLong,
    /// The study's file.
    Store(StoreError),
    /// A bug.
    Broken,
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::Unknown => StatusCode::NOT_FOUND,
            Self::Form(_) => StatusCode::BAD_REQUEST,
            Self::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Store(error) => match error.kind {
                StoreErrorKind::Full => StatusCode::INSUFFICIENT_STORAGE,
                StoreErrorKind::Busy => StatusCode::SERVICE_UNAVAILABLE,
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            },
            Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// For the annotator: nothing of the server's disk, and what to do.
    fn words(&self) -> String {
        match self {
            Self::Unknown => {
                "There is nothing at this address. Please check that you have all of it.".to_owned()
            }
            Self::Form(error) => format!("What was sent is not this form: {error}."),
            Self::TooLong => "What was sent is too long.".to_owned(),
            Self::Store(error) => {
                let why = match error.kind {
                    StoreErrorKind::Full => "the server's disk is full",
                    StoreErrorKind::Busy => "the server is busy",
                    StoreErrorKind::ReadOnly => "the server may not write",
                    _ => "the server has a fault",
                };
                format!(
                    "Not saved: {why}. Please keep this page open, tell whoever sent you the address, and try again."
                )
            }
            Self::Broken => "The server has a fault. Please try again.".to_owned(),
        }
    }

    fn log(&self) {
        match self {
            Self::Store(error) => {
                tracing::error!(
                    error = error as &dyn std::error::Error,
                    hint = error.hint(),
                    "the study failed"
                );
            }
            Self::Broken => tracing::error!("a request's work broke off"),
            Self::Unknown | Self::Form(_) | Self::TooLong => {}
        }
    }

    fn json(&self) -> Response {
        self.log();
        (self.status(), Json(json!({ "error": self.words() }))).into_response()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        self.log();
        let mut response = self.status().into_response();
        response.extensions_mut().insert(Words(self.words()));
        response
    }
}

/// A task that an annotator opened.
struct OpenTask {
    /// All of the annotator's tasks, in the order in which they are shown.
    list: Vec<TaskLine>,
    task: Task,
    /// Where it stands in the list, from 1.
    place: u32,
}

impl Shared {
    /// Does `work` with the study of the annotator who has `token`, on a thread that may wait for the disk.
    async fn of<T: Send + 'static>(
        self: &Arc<Self>,
        token: &str,
        work: impl FnOnce(&mut Store, &str) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let (shared, token) = (Arc::clone(self), token.to_owned());
        let found = tokio::task::spawn_blocking(move || {
            for store in &shared.stores {
                let mut store = store.lock();
                if let Some(annotator) = store.annotator(&token)? {
                    return work(&mut store, &annotator).map(Some);
                }
            }
            Ok(None)
        });
        found.await.map_err(|_| Refusal::Broken)?.map_err(Refusal::Store)?.ok_or(Refusal::Unknown)
    }

    /// The annotator's list and what stands at `place` of it.
    async fn find(self: &Arc<Self>, token: &str, place: &str) -> Result<OpenTask, Refusal> {
        let place: u32 = place.parse().map_err(|_| Refusal::Unknown)?;
        let found = self
            .of(token, move |store, annotator| {
                let Some(task) = store.task(annotator, place)? else { return Ok(None) };
                Ok(Some(OpenTask { list: store.list(annotator)?, task, place }))
            })
            .await?;
        found.ok_or(Refusal::Unknown)
    }

    /// Address of an annotator's list.
    fn annotator(&self, token: &str) -> String {
        format!("{}/a/{token}", self.base)
    }

    /// The page of a task.
    fn page(
        &self,
        token: &str,
        open: &OpenTask,
        problem: Option<&str>,
        complain: bool,
    ) -> Html<String> {
        let fresh = (self.environment.fresh)();
        let frame = Frame {
            base: self.base,
            token,
            place: open.place,
            of: open.list.len(),
            done: open.list.iter().filter(|line| line.state.is_done()).count(),
            page: &fresh,
            problem,
            complain,
        };
        Html(page(&open.task, &frame, self.environment.render.as_ref()))
    }
}

async fn list(
    State(shared): State<Arc<Shared>>,
    Path(token): Path<String>,
) -> Result<Html<String>, Refusal> {
    let (annotator, list) = shared
        .of(&token, |store, annotator| Ok((annotator.to_owned(), store.list(annotator)?)))
        .await?;
    Ok(Html(overview(shared.base, &annotator, &token, &list)))
}

async fn show(
    State(shared): State<Arc<Shared>>,
    Path((token, place)): Path<(String, String)>,
) -> Result<Html<String>, Refusal> {
    let open = shared.find(&token, &place).await?;
    Ok(shared.page(&token, &open, None, false))
}

type Fields = Result<Body<Vec<(String, String)>>, FormRejection>;

fn read(fields: Fields) -> Result<Sent, Refusal> {
    let Body(fields) = fields.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Refusal::TooLong,
        _ => Refusal::Form(rejection.body_text().to_lowercase()),
    })?;
    Sent::read(&fields).map_err(Refusal::Form)
}

/// The form saves itself while the annotator works.
async fn draft(
    State(shared): State<Arc<Shared>>,
    Path((token, place)): Path<(String, String)>,
    fields: Fields,
) -> Response {
    let saved = async {
        let sent = read(fields)?;
        let OpenTask { task, .. } = shared.find(&token, &place).await?;
        fitting(&sent, &task)?;
        let now = (shared.environment.now)();
        let work = move |store: &mut Store, _: &str| {
            store.save(task.assignment, &sent.form, &sent.origin, &now)
        };
        shared.of(&token, work).await
    };
    match saved.await {
        Ok(Saved::Stored(revision) | Saved::Late(revision)) => {
            Json(json!({ "revision": revision })).into_response()
        }
        Ok(Saved::Elsewhere(_)) => {
            (StatusCode::CONFLICT, Json(json!({ "error": ELSEWHERE }))).into_response()
        }
        Err(refusal) => refusal.json(),
    }
}

const ELSEWHERE: &str =
    "Not saved: you have changed this question in another window. Reload this page to see it.";

/// The buttons of the form.
async fn send(
    State(shared): State<Arc<Shared>>,
    Path((token, place)): Path<(String, String)>,
    fields: Fields,
) -> Result<Response, Refusal> {
    let sent = read(fields)?;
    let mut open = shared.find(&token, &place).await?;
    fitting(&sent, &open.task)?;
    let rated = match open.task.instance.kind {
        Kind::Comparison => sent.form.ratings(open.task.flipped).map(Rated::Pair),
        Kind::Review => sent.form.review.ratings().map(Rated::Review),
    };
    let complete = match sent.action {
        Action::Save => false,
        Action::Submit => rated.is_some(),
        Action::Skip => sent.form.says_why_to_skip(),
    };
    let saved = {
        let (assignment, now) = (open.task.assignment, (shared.environment.now)());
        let (form, origin) = (sent.form.clone(), sent.origin.clone());
        let rated = rated.filter(|_| sent.action == Action::Submit);
        let work = move |store: &mut Store, _: &str| match complete {
            true => store.submit(assignment, &form, said(rated.as_ref()), &origin, &now),
            false => store.save(assignment, &form, &origin, &now),
        };
        shared.of(&token, work).await
    };
    open.task.form = sent.form;
    let (status, problem) = match saved {
        Ok(Saved::Stored(revision) | Saved::Late(revision)) => {
            open.task.revision = revision;
            match sent.action {
                _ if complete => {
                    return Ok(see(&next(&shared.annotator(&token), &open.list, open.place)));
                }
                Action::Save => return Ok(see(&shared.annotator(&token))),
                Action::Submit => (StatusCode::UNPROCESSABLE_ENTITY, None),
                Action::Skip => (StatusCode::UNPROCESSABLE_ENTITY, Some(SAY_WHY.to_owned())),
            }
        }
        Ok(Saved::Elsewhere(revision)) => {
            open.task.revision = revision;
            (StatusCode::CONFLICT, Some(REPLACE.to_owned()))
        }
        Err(refusal) => {
            refusal.log();
            (refusal.status(), Some(refusal.words()))
        }
    };
    let complain = sent.action == Action::Submit && problem.is_none();
    let page = shared.page(&token, &open, problem.as_deref(), complain);
    Ok((status, page).into_response())
}

/// What a complete form says.
enum Rated {
    Pair(Ratings),
    Review(ReviewRatings),
}

fn said(rated: Option<&Rated>) -> Said<'_> {
    match rated {
        Some(Rated::Pair(ratings)) => Said::Pair(ratings),
        Some(Rated::Review(ratings)) => Said::Review(ratings),
        None => Said::Skipped,
    }
}

/// A form of comparisons says nothing of a report, nor the reverse.
fn fitting(sent: &Sent, task: &Task) -> Result<(), Refusal> {
    if sent.form.fits(task.instance.kind) {
        Ok(())
    } else {
        Err(Refusal::Form("it holds fields of another form".to_owned()))
    }
}

const SAY_WHY: &str = "Not passed over yet. What you entered is saved; please say what is wrong with the question, or leave a remark.";
const REPLACE: &str = "Not saved: you have changed this question in another window. What you see is what you entered \
                       here; if you submit it again, it replaces what you entered there.";

/// The next place with something to do, else the list.
fn next(own: &str, list: &[TaskLine], place: u32) -> String {
    let left = |line: &&TaskLine| line.place != place && !line.state.is_done();
    let after = list.iter().filter(left).find(|line| line.place > place);
    match after.or_else(|| list.iter().find(left)) {
        Some(line) => format!("{own}/{}", line.place),
        None => own.to_owned(),
    }
}

fn see(address: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, address.to_owned())]).into_response()
}
