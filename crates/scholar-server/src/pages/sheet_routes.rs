//! What browsers ask of tables and screenings.

use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::http::header;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use maud::{Markup, html};
use scholar_pipeline::screen::Decision;

use super::form::Fields;
use super::layout::{Frame, Place};
use super::progress::Progress;
use super::routes::{framed, see};
use super::screenings::{self, Part};
use super::tables;
use super::text::encoded;
use super::{run as run_page, sentence};
use crate::backend::{
    Export, JobKind, RunSummary, ScreeningFile, ScreeningRequest, TableFile, TableRequest,
};
use crate::context::SiteState;
use crate::context::asking::{Shown, find_of, list, submit, visible};
use crate::context::caller::Caller;
use crate::context::shelf::paper_id;
use crate::error::{ApiError, ErrorCode};
use crate::jobs::feed::EventId;

/// Runs that are looked through for tables and screenings.
const LOOKED_THROUGH: usize = 500;
/// Those that are listed.
const LISTED: usize = 30;
/// Longest reason of a decision that is kept, in characters.
const MOST_REASON: usize = 400;

type Site = State<Arc<SiteState>>;
type Who = Extension<Caller>;
type Sent = Form<Vec<(String, String)>>;
type Asked = Query<Vec<(String, String)>>;

/// The routes.
pub(super) fn router() -> Router<Arc<SiteState>> {
    Router::new()
        .route("/tables", get(ask_table).post(send_table))
        .route("/tables/{run}", get(show_table))
        .route("/tables/{run}/export/{format}", get(export_table))
        .route("/screenings", get(ask_screening).post(send_screening))
        .route("/screenings/{run}", get(show_screening))
        .route("/screenings/{run}/decide", post(decide))
        .route("/screenings/{run}/export/{format}", get(export_screening))
}

/// Jobs of a kind that were asked for before, the newest first.
async fn earlier(
    state: &Arc<SiteState>,
    caller: &Caller,
    kind: JobKind,
) -> Result<Vec<RunSummary>, ApiError> {
    let runs = list(state, caller, LOOKED_THROUGH).await?;
    Ok(runs.into_iter().filter(|run| run.verb == kind).take(LISTED).collect())
}

async fn ask_table(
    State(state): Site,
    Extension(caller): Who,
    Query(fields): Asked,
) -> Result<Html<String>, ApiError> {
    // What the library or another page filled in.
    let request = Fields::new(fields).rest_of_table();
    table_form(&state, &caller, &request, None).await
}

async fn table_form(
    state: &Arc<SiteState>,
    caller: &Caller,
    request: &TableRequest,
    problem: Option<&ApiError>,
) -> Result<Html<String>, ApiError> {
    let offer = state.blocking(|state| state.backend.offer()).await??;
    let earlier = earlier(state, caller, JobKind::Table).await?;
    let body = tables::page(&tables::Form { request, problem }, &offer, &earlier);
    framed(state, caller, Frame::plain("Tables", Place::Tables), &body).await
}

async fn send_table(
    State(state): Site,
    Extension(caller): Who,
    Form(fields): Sent,
) -> Result<Response, ApiError> {
    let fields = Fields::new(fields);
    let taken = match fields.table() {
        Ok(request) => submit(&state, &caller, request).await,
        Err(error) => Err(error),
    };
    match taken {
        Ok(run) => Ok(see(&format!("/tables/{run}"))),
        // What was typed is not lost.
        Err(error) => {
            let request = fields.table().unwrap_or_else(|_| fields.rest_of_table());
            let page = table_form(&state, &caller, &request, Some(&error)).await?;
            Ok((error.status(), page).into_response())
        }
    }
}

/// The page of a run that has no result to show; `None` where it has.
fn without_result(state: &SiteState, shown: &Shown, has_result: bool) -> Option<Markup> {
    let Shown { summary, job, live, .. } = shown;
    let run = encoded(&summary.id);
    if let Some(live) = live {
        let events = live.feed.all();
        let last = EventId { attempt: live.feed.attempt(), place: events.len() };
        let progress = Progress::of(&events);
        let ahead = state.jobs.ahead_of(&live.run);
        return Some(html! {
            div #run data-live={ "/runs/" (run) "/live" } data-last=(last) {
                h1 { (super::text::text(&summary.question)) }
                div #state role="status" { (run_page::state_words(ahead)) }
                form.inline method="post" action={ "/runs/" (run) "/cancel" } { button type="submit" { "Stop" } }
                p.soft { "What is done is kept: stopped or interrupted, it goes on where it was." }
                div #progress { (progress.render_steps()) }
                noscript { p.soft { "This page is loaded again every few seconds." } }
            }
        });
    }
    if has_result {
        return None;
    }
    let hint = job.as_ref().and_then(|job| job.hint.as_deref());
    Some(html! {
        h1 { (super::text::text(&summary.question)) }
        div.notice.bad role="alert" {
            p { strong { @match summary.state { crate::backend::RunState::Cancelled => "You stopped this.", crate::backend::RunState::Failed => "This did not work.", _ => "This was interrupted." } } }
            @if let Some(error) = &summary.error { p { (super::text::text(&sentence(error))) } }
            @if let Some(hint) = hint { p { strong { "What you can do: " } (super::text::text(&sentence(hint))) } }
        }
        form.inline method="post" action={ "/runs/" (run) "/resume" } { button.primary type="submit" { "Go on" } }
        p.soft { "What is done is not done again." }
    })
}

async fn show_table(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
) -> Result<Html<String>, ApiError> {
    let shown = find_of(&state, &caller, &run, JobKind::Table).await?;
    let name = run.clone();
    let table = state.blocking(move |state| state.backend.table(&name)).await??;
    let body = match (without_result(&state, &shown, table.is_some()), table) {
        (Some(body), _) => body,
        (None, Some(table)) => tables::table(&shown.summary, &table),
        (None, None) => return Err(ApiError::new(ErrorCode::NotFound, "there is no such run")),
    };
    show(&state, &caller, &shown, Place::Tables, &body).await
}

async fn show(
    state: &Arc<SiteState>,
    caller: &Caller,
    shown: &Shown,
    place: Place,
    body: &Markup,
) -> Result<Html<String>, ApiError> {
    let title = &shown.summary.question;
    let frame = Frame {
        thread: Some(&shown.summary.id),
        is_changing: shown.live.is_some(),
        is_wide: true,
        ..Frame::plain(title, place)
    };
    framed(state, caller, frame, body).await
}

/// Bytes that are kept as a file of that name.
fn file(name: &str, media_type: &'static str, export: Export) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    let head =
        [(header::CONTENT_TYPE, media_type.to_owned()), (header::CONTENT_DISPOSITION, disposition)];
    (head, export.bytes).into_response()
}

async fn export_table(
    State(state): Site,
    Extension(caller): Who,
    Path((run, format)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let format = TableFile::named(&format)
        .ok_or_else(|| ApiError::new(ErrorCode::NotFound, "there is no such format"))?;
    visible(&state, &caller, &run).await?;
    let name = format!("table-{}.{}", safe(&run), format.ending());
    let export = state.blocking(move |state| state.backend.export_table(&run, format)).await??;
    Ok(file(&name, format.media_type(), export))
}

/// A run's name in the name of a file.
fn safe(run: &str) -> String {
    run.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
}

async fn ask_screening(
    State(state): Site,
    Extension(caller): Who,
    Query(fields): Asked,
) -> Result<Html<String>, ApiError> {
    let request = Fields::new(fields).rest_of_screening();
    screening_form(&state, &caller, &request, None).await
}

async fn screening_form(
    state: &Arc<SiteState>,
    caller: &Caller,
    request: &ScreeningRequest,
    problem: Option<&ApiError>,
) -> Result<Html<String>, ApiError> {
    let offer = state.blocking(|state| state.backend.offer()).await??;
    let earlier = earlier(state, caller, JobKind::Screening).await?;
    let body = screenings::page(&screenings::Form { request, problem }, &offer, &earlier);
    framed(state, caller, Frame::plain("Screening", Place::Screenings), &body).await
}

async fn send_screening(
    State(state): Site,
    Extension(caller): Who,
    Form(fields): Sent,
) -> Result<Response, ApiError> {
    let fields = Fields::new(fields);
    let taken = match fields.screening() {
        Ok(request) => submit(&state, &caller, request).await,
        Err(error) => Err(error),
    };
    match taken {
        Ok(run) => Ok(see(&format!("/screenings/{run}"))),
        Err(error) => {
            let request = fields.screening().unwrap_or_else(|_| fields.rest_of_screening());
            let page = screening_form(&state, &caller, &request, Some(&error)).await?;
            Ok((error.status(), page).into_response())
        }
    }
}

async fn show_screening(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
    Query(fields): Asked,
) -> Result<Html<String>, ApiError> {
    let fields = Fields::new(fields);
    let part = Part {
        offset: fields.get("offset").and_then(|offset| offset.parse().ok()).unwrap_or(0),
        only: fields.get("only").and_then(Decision::named),
    };
    let shown = find_of(&state, &caller, &run, JobKind::Screening).await?;
    let name = run.clone();
    let view = state.blocking(move |state| state.backend.screening(&name)).await??;
    let body = match (without_result(&state, &shown, view.is_some()), view) {
        (Some(body), _) => body,
        (None, Some(view)) => screenings::screening(&shown.summary, &view, part),
        (None, None) => return Err(ApiError::new(ErrorCode::NotFound, "there is no such run")),
    };
    show(&state, &caller, &shown, Place::Screenings, &body).await
}

async fn decide(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
    Form(fields): Sent,
) -> Result<Response, ApiError> {
    find_of(&state, &caller, &run, JobKind::Screening).await?;
    let fields = Fields::new(fields);
    let paper = paper_id(fields.get("paper").unwrap_or_default())?;
    let decision = fields.get("decision").and_then(Decision::named);
    let decision = decision
        .ok_or_else(|| ApiError::bad_request("a decision is include, exclude or unclear"))?;
    let reason = fields.get("reason");
    let reason: Option<String> = reason.map(|reason| reason.chars().take(MOST_REASON).collect());
    let name = run.clone();
    let work =
        move |state: &SiteState| state.backend.decide(&name, &paper, decision, reason.as_deref());
    state.blocking(work).await??;
    let rank = fields.get("rank").and_then(|rank| rank.parse::<usize>().ok()).unwrap_or(1);
    let offset = rank.saturating_sub(1) / screenings::SHOWN * screenings::SHOWN;
    Ok(see(&format!("/screenings/{}?offset={offset}#p{rank}", encoded(&run))))
}

async fn export_screening(
    State(state): Site,
    Extension(caller): Who,
    Path((run, format)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let format = ScreeningFile::named(&format)
        .ok_or_else(|| ApiError::new(ErrorCode::NotFound, "there is no such format"))?;
    visible(&state, &caller, &run).await?;
    let name = format!("screening-{}.{}", safe(&run), format.ending());
    let work = move |state: &SiteState| state.backend.export_screening(&run, format);
    Ok(file(&name, format.media_type(), state.blocking(work).await??))
}
