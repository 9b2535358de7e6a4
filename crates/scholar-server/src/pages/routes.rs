//! What browsers ask for, and what they are sent.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use maud::Markup;
use scholar_core::PassageId;
use scholar_formats::exploration::{self, Exploration, NoveltyMap};
use scholar_pipeline::Event;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::ask::Form as AskForm;
use super::form::Fields;
use super::layout::{self, Frame, ICON, Place, SCRIPT, STYLE};
use super::progress::Progress;
use super::run::{Around, Written};
use super::text::encoded;
use super::{
    annotate as annotate_page, answer, ask, live, run as run_page, runs as runs_page, sign_in,
};
use crate::annotate;
use crate::backend::{AskRequest, CitedPassage, Export, ExportKind, ExportPart};
use crate::callers::Access;
use crate::context::SiteState;
use crate::context::asking::{Shown, estimate, find, find_shared, list, own, say, submit, visible};
use crate::context::caller::{self, Caller};
use crate::error::{ApiError, ErrorCode};
use crate::jobs::feed::EventId;
use crate::jobs::store::{Feedback, Job, Thumb};
use crate::native::{EventStream, last_event};

/// Threads at the side of a page.
const SHOWN_THREADS: usize = 30;
/// Runs on the page of all.
const SHOWN_RUNS: usize = 200;
/// Quoted passages of one run that are shown whole.
const MOST_QUOTED: usize = 500;

type Site = State<Arc<SiteState>>;
type Who = Extension<Caller>;
type Sent = Form<Vec<(String, String)>>;

/// The routes.
pub(super) fn router() -> Router<Arc<SiteState>> {
    Router::new()
        .route("/", get(entrance))
        .route("/ask", post(send))
        .route("/estimate", post(estimated))
        .route("/runs", get(all_runs))
        .route("/runs/{run}", get(show))
        .route("/runs/{run}/live", get(follow))
        .route("/runs/{run}/cancel", post(cancel))
        .route("/runs/{run}/resume", post(resume))
        .route("/runs/{run}/share", post(share))
        .route("/runs/{run}/unshare", post(unshare))
        .route("/runs/{run}/feedback", post(feedback))
        .route("/runs/{run}/export/{format}", get(export))
        .route("/runs/{run}/parts/{part}/{format}", get(part))
        .route("/runs/{run}/drawing.svg", get(drawing))
        .route("/shared/{secret}", get(shared))
        .route("/shared/{secret}/drawing.svg", get(shared_drawing))
        .route(annotate::WITHIN, get(studies))
        .route("/sign-in", get(ask_token).post(take_token))
        .route("/sign-out", post(sign_out))
        .route("/style.css", get(|headers| asset(headers, "text/css; charset=utf-8", STYLE)))
        .route("/app.js", get(|headers| asset(headers, "text/javascript; charset=utf-8", SCRIPT)))
        .route("/icon.svg", get(|headers| asset(headers, "image/svg+xml", ICON)))
}

/// A file that is part of the program. A browser asks each time whether it is still the same.
async fn asset(headers: HeaderMap, kind: &'static str, text: &'static str) -> Response {
    let digest = Sha256::digest(text);
    let tag: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("\"{tag}\"");
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    let mut known =
        known.flat_map(|line| line.split(',')).map(|one| one.trim().trim_start_matches("W/"));
    let is_same = known.any(|one| one == "*" || one == tag);
    let head = [(header::ETAG, tag), (header::CACHE_CONTROL, "no-cache".to_owned())];
    match is_same {
        true => (StatusCode::NOT_MODIFIED, head).into_response(),
        false => (head, [(header::CONTENT_TYPE, kind)], text).into_response(),
    }
}

pub(super) fn see(address: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, address.to_owned())]).into_response()
}

/// A page with the caller's threads at its side.
pub(super) async fn framed(
    state: &Arc<SiteState>,
    caller: &Caller,
    mut frame: Frame<'_>,
    body: &Markup,
) -> Result<Html<String>, ApiError> {
    let only = caller.only().map(str::to_owned);
    let threads =
        state.blocking(move |state| state.store.threads(only.as_deref(), SHOWN_THREADS)).await??;
    frame.threads = Some(&threads);
    frame.caller = caller.only();
    frame.has_studies = state.studies.is_some();
    Ok(Html(layout::page(&frame, body).into_string()))
}

#[derive(Deserialize)]
struct Filled {
    question: Option<String>,
}

async fn entrance(
    State(state): Site,
    Extension(caller): Who,
    Query(Filled { question }): Query<Filled>,
) -> Result<Html<String>, ApiError> {
    let request = AskRequest { question: question.unwrap_or_default(), ..AskRequest::default() };
    ask_page(&state, &caller, &request, |form| form).await
}

async fn ask_page<'a>(
    state: &Arc<SiteState>,
    caller: &Caller,
    request: &'a AskRequest,
    fill: impl FnOnce(AskForm<'a>) -> AskForm<'a>,
) -> Result<Html<String>, ApiError> {
    let offer = state.blocking(|state| state.backend.offer()).await??;
    let filled = fill(AskForm { request, problem: None, estimate: None });
    let body = ask::page(&filled, &offer);
    framed(state, caller, Frame::plain("Ask", Place::Ask), &body).await
}

async fn send(
    State(state): Site,
    Extension(caller): Who,
    Form(fields): Sent,
) -> Result<Response, ApiError> {
    let fields = Fields::new(fields);
    let taken = match fields.request() {
        Ok(request) => submit(&state, &caller, request).await,
        Err(error) => Err(error),
    };
    let error = match taken {
        Ok(run) => return Ok(see(&format!("/runs/{run}"))),
        Err(error) => error,
    };
    // What was typed is not lost.
    let request = fields.request().unwrap_or_else(|_| fields.question());
    let page = ask_page(&state, &caller, &request, |form| AskForm {
        problem: Some(error.clone()),
        ..form
    })
    .await?;
    Ok((error.status(), page).into_response())
}

async fn estimated(
    State(state): Site,
    Extension(caller): Who,
    Form(fields): Sent,
) -> Result<Response, ApiError> {
    let fields = Fields::new(fields);
    let expected = match fields.request() {
        Ok(request) => estimate(&state, request).await,
        Err(error) => Err(error),
    };
    let request = fields.request().unwrap_or_else(|_| fields.question());
    let status = expected.as_ref().err().map_or(StatusCode::OK, ApiError::status);
    let page = ask_page(&state, &caller, &request, |form| match expected {
        Ok(estimate) => AskForm { estimate: Some(estimate), ..form },
        Err(problem) => AskForm { problem: Some(problem), ..form },
    })
    .await?;
    Ok((status, page).into_response())
}

async fn all_runs(State(state): Site, Extension(caller): Who) -> Result<Html<String>, ApiError> {
    let runs = list(&state, &caller, SHOWN_RUNS).await?;
    framed(&state, &caller, Frame::plain("Runs", Place::Runs), &runs_page::page(&runs)).await
}

async fn show(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
) -> Result<Response, ApiError> {
    let shown = find(&state, &caller, &run).await?;
    if let Some(address) = runs_page::page_of(shown.summary.verb, &run) {
        return Ok(see(&address));
    }
    let (name, thread) =
        (Arc::clone(&caller.name), shown.job.as_ref().map(|job| job.thread.clone()));
    let beside = state
        .blocking(move |state| {
            let feedback = state.store.said(&run, &name)?;
            let thread = match thread {
                Some(thread) => state.store.of_thread(&thread)?,
                None => Vec::new(),
            };
            Ok::<_, ApiError>(Beside { feedback, thread, guest: None })
        })
        .await??;
    let stored = quoted(&state, &shown).await?;
    let body = run_body(&state, &shown, &beside, &stored);
    let thread = beside.thread.last().map(|job| job.run.as_str());
    let is_changing = shown.live.is_some();
    let title = &shown.summary.question;
    let frame = Frame { thread, is_changing, ..Frame::plain(title, Place::Elsewhere) };
    Ok(framed(&state, &caller, frame, &body).await?.into_response())
}

/// What the page of a run has beside the run.
struct Beside {
    feedback: Vec<Feedback>,
    thread: Vec<Job>,
    /// The secret of the address, where it is read by a guest.
    guest: Option<String>,
}

/// The passages that a run quotes and no event of it has, as the datastore has them. One that is gone is not shown whole.
async fn quoted(state: &Arc<SiteState>, shown: &Shown) -> Result<Vec<CitedPassage>, ApiError> {
    let Some(view) = &shown.view else { return Ok(Vec::new()) };
    let Some(answer) = &view.answer else { return Ok(Vec::new()) };
    let ranked = view.events.iter().filter_map(|event| match event {
        Event::Ranked { evidence, .. } => Some(evidence),
        _ => None,
    });
    let known: BTreeSet<String> =
        ranked.flatten().map(|one| one.ranked.retrieved.passage.id.to_string()).collect();
    let of_sentences = answer.answer.sentences.iter().flat_map(|sentence| &sentence.quotes);
    let wanted: BTreeSet<PassageId> = of_sentences
        .map(|quote| quote.passage_id.clone())
        .filter(|id| !known.contains(&id.to_string()))
        .collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let datastore = shown.summary.datastore.clone();
    state
        .blocking(move |state| {
            let passage = |id: &PassageId| state.backend.passage(&datastore, id).ok().flatten();
            wanted.iter().take(MOST_QUOTED).filter_map(passage).collect()
        })
        .await
}

/// The page of a run without what is around it.
fn run_body(state: &SiteState, shown: &Shown, beside: &Beside, stored: &[CitedPassage]) -> Markup {
    let Beside { feedback, thread, guest } = beside;
    let Shown { summary, job, view, live } = shown;
    let around = Around {
        summary,
        hint: job.as_ref().and_then(|job| job.hint.as_deref()),
        is_own: job.is_some(),
        shared: job.as_ref().and_then(|job| job.share.as_deref()),
        thread,
        feedback,
        is_guest: guest.is_some(),
    };
    if let Some(live) = live {
        let events = live.feed.all();
        let last = EventId { attempt: live.feed.attempt(), place: events.len() };
        let ahead = state.jobs.ahead_of(&live.run);
        return run_page::under_way(&around, &Progress::of(&events), (ahead, last));
    }
    let events = view.as_ref().map(|view| view.events.as_slice()).unwrap_or_default();
    match view.as_ref().and_then(|view| view.answer.as_ref()) {
        Some(answer) => {
            let review = view.as_ref().and_then(|view| view.review.as_ref());
            let drawing = match guest {
                Some(secret) => format!("/shared/{}/drawing.svg", encoded(secret)),
                None => format!("/runs/{}/drawing.svg", encoded(&summary.id)),
            };
            let written = Written { events, stored, review, drawing: &drawing };
            run_page::answered(&around, answer, &written)
        }
        None => run_page::without_answer(&around, events),
    }
}

#[derive(Deserialize)]
struct From {
    last: Option<String>,
}

async fn follow(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
    Query(From { last }): Query<From>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    // What the browser saw since the page was loaded is newer than what the page had.
    let last = last_event(&headers).or_else(|| last?.parse().ok());
    let Shown { summary, live, .. } = find(&state, &caller, &run).await?;
    let Some(live) = live else {
        return Ok(live::respond(
            EventStream::of_events(Vec::new(), summary.state, None),
            &[],
            summary.verb,
        ));
    };
    let (place, _) = live.feed.resume(last);
    let before = live.feed.all();
    let stream = EventStream::of_live(&state, live, last);
    Ok(live::respond(stream, before.get(..place).unwrap_or_default(), summary.verb))
}

async fn cancel(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
) -> Result<Response, ApiError> {
    visible(&state, &caller, &run).await?;
    let name = run.clone();
    state.blocking(move |state| state.jobs.cancel(&name)).await??;
    Ok(see(&format!("/runs/{run}")))
}

async fn resume(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
) -> Result<Response, ApiError> {
    visible(&state, &caller, &run).await?;
    let name = run.clone();
    state.blocking(move |state| state.jobs.resume(&name)).await??;
    Ok(see(&format!("/runs/{run}")))
}

async fn share(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
) -> Result<Response, ApiError> {
    own(&state, &caller, &run).await?;
    let name = run.clone();
    state
        .blocking(move |state| {
            let secret = state.backend.secret()?;
            Ok::<_, ApiError>(state.store.share(&name, Some(&secret))?)
        })
        .await??;
    Ok(see(&format!("/runs/{run}")))
}

async fn unshare(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
) -> Result<Response, ApiError> {
    own(&state, &caller, &run).await?;
    let name = run.clone();
    state.blocking(move |state| state.store.share(&name, None)).await??;
    Ok(see(&format!("/runs/{run}")))
}

async fn feedback(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
    Form(fields): Sent,
) -> Result<Response, ApiError> {
    own(&state, &caller, &run).await?;
    let fields = Fields::new(fields);
    let section = fields.get("section").and_then(|section| section.parse::<usize>().ok());
    let section = section.ok_or_else(|| ApiError::bad_request("no section is named"))?;
    let thumb = match fields.get("thumb") {
        Some("up") => Some(Thumb::Up),
        Some("down") => Some(Thumb::Down),
        _ => None,
    };
    let comment = fields.get("comment").unwrap_or_default().to_owned();
    say(&state, &caller, &run, Feedback { section, thumb, comment }).await?;
    Ok(see(&format!("/runs/{run}#part-{section}")))
}

fn format_named(name: &str) -> Result<ExportKind, ApiError> {
    ExportKind::named(name)
        .ok_or_else(|| ApiError::new(ErrorCode::NotFound, "there is no such format"))
}

async fn export(
    State(state): Site,
    Extension(caller): Who,
    Path((run, format)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    visible(&state, &caller, &run).await?;
    let kind = format_named(&format)?;
    let name = run.clone();
    let Export { bytes } =
        state.blocking(move |state| state.backend.export(&name, kind, None)).await??;
    let safe: String = run.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let file = format!("attachment; filename=\"{safe}.{}\"", kind.extension());
    let head =
        [(header::CONTENT_TYPE, kind.media_type().to_owned()), (header::CONTENT_DISPOSITION, file)];
    Ok((head, bytes).into_response())
}

/// A part of an answer to be copied: plain text, whatever its format.
async fn part(
    State(state): Site,
    Extension(caller): Who,
    Path((run, part, format)): Path<(String, usize, String)>,
) -> Result<Response, ApiError> {
    let kind = format_named(&format)?;
    if !matches!(kind, ExportKind::Markdown | ExportKind::Plain | ExportKind::Bibtex) {
        return Err(ApiError::bad_request("parts are copied as markdown, plain or bibtex"));
    }
    let shown = find(&state, &caller, &run).await?;
    let none = || ApiError::new(ErrorCode::NotFound, "there is no such part");
    let view = shown.view.ok_or_else(none)?;
    let wanted = match (&view.review, &view.answer) {
        (Some(review), _) => (part < review.parts.len()).then_some(ExportPart::Report(part)),
        (None, Some(view)) => {
            let parts = answer::parts(&view.answer);
            parts.into_iter().nth(part).map(|part| ExportPart::Sentences(part.sentences))
        }
        (None, None) => None,
    };
    let wanted = wanted.ok_or_else(none)?;
    let Export { bytes } =
        state.blocking(move |state| state.backend.export(&run, kind, Some(wanted))).await??;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], bytes).into_response())
}

/// The drawing of a run: outline and tree of an answer, the map of novelty of a review.
fn drawn(shown: &Shown) -> Result<Response, ApiError> {
    let view = shown.view.as_ref();
    let explored = view.and_then(|view| view.answer.as_ref()).and_then(|view| {
        let exploration = Exploration::of(&view.answer)?;
        Some(exploration::svg(exploration))
    });
    let mapped = || {
        let review = view.and_then(|view| view.review.as_ref())?;
        review.parts.iter().find_map(|part| part.map.as_ref()).map(NoveltyMap::svg)
    };
    let svg = explored.or_else(mapped);
    let svg =
        svg.ok_or_else(|| ApiError::new(ErrorCode::NotFound, "this run has nothing to draw"))?;
    let head = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        // A run that is over does not change.
        (header::CACHE_CONTROL, "private, max-age=600"),
    ];
    Ok((head, svg).into_response())
}

async fn drawing(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
) -> Result<Response, ApiError> {
    drawn(&find(&state, &caller, &run).await?)
}

async fn shared_drawing(
    State(state): Site,
    Path(secret): Path<String>,
) -> Result<Response, ApiError> {
    drawn(&find_shared(&state, &secret).await?)
}

/// An answer that is shared: all of it, and nothing that can be done with it.
async fn shared(State(state): Site, Path(secret): Path<String>) -> Result<Html<String>, ApiError> {
    let shown = find_shared(&state, &secret).await?;
    let beside = Beside { feedback: Vec::new(), thread: Vec::new(), guest: Some(secret) };
    let stored = quoted(&state, &shown).await?;
    let body = run_body(&state, &shown, &beside, &stored);
    let frame = Frame {
        is_changing: shown.live.is_some(),
        ..Frame::plain(&shown.summary.question, Place::Elsewhere)
    };
    Ok(Html(layout::page(&frame, &body).into_string()))
}

#[derive(Deserialize)]
struct Next {
    next: Option<String>,
}

/// Where annotators are told how to begin.
async fn studies(State(state): Site, Extension(caller): Who) -> Result<Html<String>, ApiError> {
    let none = || ApiError::new(ErrorCode::NotFound, "no answers are compared here");
    let counts = state
        .blocking(|state| match &state.studies {
            Some(studies) => studies.counts().map(Some),
            None => Ok(None),
        })
        .await?;
    let counts = counts.map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "a study cannot be read");
        ApiError::new(ErrorCode::Internal, "a study cannot be read")
            .with_hint("the server's log says why")
    })?;
    let body = annotate_page::page(&counts.ok_or_else(none)?);
    framed(&state, &caller, Frame::plain("Compare answers", Place::Annotate), &body).await
}

fn sign_in_page(next: &str, is_wrong: bool) -> Html<String> {
    let body = sign_in::page(next, is_wrong);
    Html(layout::page(&Frame::plain("Sign in", Place::Elsewhere), &body).into_string())
}

async fn ask_token(Query(Next { next }): Query<Next>) -> Html<String> {
    sign_in_page(caller::own_address(next.as_deref().unwrap_or("/")), false)
}

async fn take_token(State(state): Site, Form(fields): Sent) -> Result<Response, ApiError> {
    let fields = Fields::new(fields);
    let next = caller::own_address(fields.get("next").unwrap_or("/")).to_owned();
    let named = match &state.access {
        Access::Everybody => return Ok(see(&next)),
        Access::Named(callers) => callers.of_token(fields.get("token").unwrap_or_default()),
    };
    let Some(name) = named.map(str::to_owned) else {
        tracing::warn!("a token that is none was tried on the sign-in page");
        // Guessing takes its time; a person who mistyped does not notice.
        tokio::time::sleep(caller::GUESS_PAUSE).await;
        return Ok((StatusCode::UNAUTHORIZED, sign_in_page(&next, true)).into_response());
    };
    let secret = state
        .blocking(move |state| {
            let (secret, now) = (state.backend.secret()?, state.backend.now().as_second());
            state.store.sign_in(&secret, &name, now, now + caller::SIGNED_IN_S)?;
            Ok::<_, ApiError>(secret)
        })
        .await??;
    let cookie = caller::set_cookie(&secret, caller::SIGNED_IN_S, state.behind_tls);
    Ok(([(header::SET_COOKIE, cookie)], see(&next)).into_response())
}

async fn sign_out(State(state): Site, headers: HeaderMap) -> Result<Response, ApiError> {
    if let Some(secret) = caller::cookie(&headers).map(str::to_owned) {
        state.blocking(move |state| state.store.sign_out(&secret)).await??;
    }
    let cookie = caller::set_cookie("", 0, state.behind_tls);
    Ok(([(header::SET_COOKIE, cookie)], see("/")).into_response())
}
