//! `/v1/runs…`: what was asked and what came of it.
#![expect(unused_qualifications, reason = "utoipa names the types of parameters by paths")]

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::events::{EventStream, last_event};
use super::reply::{Failures, RunReply, RunsReply, Told};
use crate::backend::{Export, ExportKind};
use crate::context::SiteState;
use crate::context::asking::{Shown, find, list as runs_of, visible};
use crate::context::caller::Caller;
use crate::error::{ApiError, ErrorCode};
use crate::jobs::Live;
use crate::reply::Json;

/// Runs of one list at most.
const MOST_RUNS: usize = 500;
/// Longest time a request waits for a run's end, in seconds: below the server's own limit.
const MOST_WAIT_S: u64 = 50;

/// Which runs.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Listed {
    /// How many at most, up to 500.
    #[serde(default = "fifty")]
    #[param(default = 50)]
    limit: usize,
}

fn fifty() -> usize {
    50
}

impl Listed {
    /// As many as are wanted and may be had.
    pub(super) fn limit(&self) -> usize {
        self.limit.min(MOST_RUNS)
    }
}

/// The newest runs, the newest first
#[utoipa::path(
    get,
    path = "/v1/runs",
    tag = "runs",
    operation_id = "list_runs",
    params(Listed),
    responses((status = 200, description = "Runs", body = RunsReply), Failures),
)]
pub(super) async fn list(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Query(listed): Query<Listed>,
) -> Result<Json<RunsReply>, ApiError> {
    let runs = runs_of(&state, &caller, listed.limit()).await?;
    Ok(Json(RunsReply { runs }))
}

/// How a run is asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Patience {
    /// Seconds to wait for its end, up to 50.
    #[serde(default)]
    wait: u64,
}

impl Patience {
    /// Waits for the end of a run, as long as that is wanted and may be had.
    pub(super) async fn wait_for(&self, live: &Live) {
        let seconds = Duration::from_secs(self.wait.min(MOST_WAIT_S));
        // However it goes, what there is is shown.
        let _in_time = tokio::time::timeout(seconds, live.feed.closed()).await;
    }
}

/// There is no such run of that kind.
pub(super) fn no_run_of(kind: &str) -> ApiError {
    ApiError::new(ErrorCode::NotFound, format!("there is no such {kind}"))
}

/// A run with its answer, as far as it came
#[utoipa::path(
    get,
    path = "/v1/runs/{run}",
    tag = "runs",
    operation_id = "show_run",
    params(("run" = String, Path, description = "Name of a run"), Patience),
    responses((status = 200, description = "The run", body = RunReply), Failures),
)]
pub(super) async fn show(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    Query(patience): Query<Patience>,
) -> Result<Json<RunReply>, ApiError> {
    visible(&state, &caller, &run).await?;
    if let Some(live) = state.jobs.live(&run) {
        patience.wait_for(&live).await;
    }
    let Shown { summary, view, .. } = find(&state, &caller, &run).await?;
    let mut reply = RunReply::new(summary, view.and_then(|view| view.answer));
    reply.waiting_behind = state.jobs.ahead_of(&run);
    Ok(Json(reply))
}

/// The events of a run as they happen, from the beginning or from `Last-Event-ID` on
#[utoipa::path(
    get,
    path = "/v1/runs/{run}/events",
    tag = "runs",
    operation_id = "run_events",
    params(("run" = String, Path, description = "Name of a run")),
    responses(
        (status = 200, description = "Server-sent events: each `data` is one event of the closed list in docs/api.md", content_type = "text/event-stream", body = String),
        Failures,
    ),
)]
pub(super) async fn events(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    headers: HeaderMap,
) -> Result<EventStream, ApiError> {
    Ok(events_of(&state, find(&state, &caller, &run).await?, &headers))
}

/// The events of a run, those after the one that the headers name.
pub(super) fn events_of(state: &Arc<SiteState>, shown: Shown, headers: &HeaderMap) -> EventStream {
    let last = last_event(headers);
    let Shown { summary, view, live, .. } = shown;
    match live {
        Some(live) => EventStream::of_live(state, live, last),
        None => {
            let events = view.map(|view| view.events).unwrap_or_default();
            EventStream::of_events(events, summary.state, last)
        }
    }
}

/// Gives a question up, or ends its run at the next safe point
#[utoipa::path(
    post,
    path = "/v1/runs/{run}/cancel",
    tag = "runs",
    operation_id = "cancel_run",
    params(("run" = String, Path, description = "Name of a run")),
    responses((status = 200, description = "Whether there was anything to end", body = Told), Failures),
)]
pub(super) async fn cancel(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Json<Told>, ApiError> {
    visible(&state, &caller, &run).await?;
    let done = state.blocking(move |state| state.jobs.cancel(&run)).await??;
    Ok(Json(Told { done }))
}

/// Takes up a run that failed, was interrupted or cancelled; what it knows is not asked again
#[utoipa::path(
    post,
    path = "/v1/runs/{run}/resume",
    tag = "runs",
    operation_id = "resume_run",
    params(("run" = String, Path, description = "Name of a run")),
    responses((status = 200, description = "Whether there was anything to go on with", body = Told), Failures),
)]
pub(super) async fn resume(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Json<Told>, ApiError> {
    visible(&state, &caller, &run).await?;
    let done = state.blocking(move |state| state.jobs.resume(&run)).await??;
    Ok(Json(Told { done }))
}

/// What a run wrote as a file: docx, latex, html, markdown, json; its references: bibtex, ris, csl
#[utoipa::path(
    get,
    path = "/v1/runs/{run}/export/{format}",
    tag = "runs",
    operation_id = "export_run",
    params(("run" = String, Path, description = "Name of a run"), ("format" = String, Path, description = "Name of a format")),
    responses((status = 200, description = "The file", content_type = "application/octet-stream", body = Vec<u8>), Failures),
)]
pub(super) async fn export(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path((run, format)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    visible(&state, &caller, &run).await?;
    let kind = ExportKind::named(&format).ok_or_else(|| {
        let names: Vec<&str> = ExportKind::ALL.iter().map(|kind| kind.name()).collect();
        ApiError::new(ErrorCode::NotFound, "there is no such format")
            .with_hint(format!("the formats are {}", names.join(", ")))
    })?;
    let name = run.clone();
    let Export { bytes } =
        state.blocking(move |state| state.backend.export(&name, kind, None)).await??;
    let safe: String = run.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let file = format!("attachment; filename=\"{safe}.{}\"", kind.extension());
    let head =
        [(header::CONTENT_TYPE, kind.media_type().to_owned()), (header::CONTENT_DISPOSITION, file)];
    Ok((head, bytes).into_response())
}
