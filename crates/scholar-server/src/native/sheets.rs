//! `/v1/tables` and `/v1/screenings`: papers read side by side, with a quotation for everything that is said of them.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use scholar_core::PaperId;
use scholar_pipeline::screen::Decision;
use scholar_pipeline::tabulate::Table;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ask::{read, taken};
use super::reply::{Accepted, Failures, RunsReply};
use crate::backend::{
    JobKind, RunSummary, ScreeningFile, ScreeningRequest, ScreeningView, TableFile, TableRequest,
};
use crate::context::SiteState;
use crate::context::asking::{Shown, find_of, list, visible};
use crate::context::caller::Caller;
use crate::context::shelf::paper_id;
use crate::error::{ApiError, ErrorCode};
use crate::reply::Json;

/// Longest body, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// Runs of one list at most.
const MOST_LISTED: usize = 500;
/// Longest reason that is kept, in characters.
const MOST_REASON: usize = 400;

/// A table, or how far it is.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TableReply {
    #[serde(flatten)]
    run: RunSummary,
    /// As `openscholar papers table --json` prints it; `null` while there is none.
    #[schema(value_type = Option<Object>)]
    table: Option<Table>,
}

/// A screening, or how far it is.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ScreeningReply {
    #[serde(flatten)]
    run: RunSummary,
    /// Title, criteria, method, `papers` with decisions and quotations, `flow`; `null` while there is none.
    #[schema(value_type = Option<Object>)]
    screening: Option<ScreeningView>,
}

/// Makes a table of papers
///
/// With `Accept: text/event-stream` the reply is the stream of the run's events, as `GET /v1/runs/{run}/events` has it.
#[utoipa::path(
    post,
    path = "/v1/tables",
    tag = "tables",
    operation_id = "make_table",
    request_body = TableRequest,
    responses(
        (status = 202, description = "The table waits for its turn", body = Accepted),
        (status = 200, description = "Its events, as they happen", content_type = "text/event-stream", body = String),
        Failures,
    ),
)]
pub(super) async fn make_table(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let request = read::<TableRequest>(body, MOST_BYTES).await?;
    taken(&state, &caller, &headers, request, Accepted::of).await
}

/// Tables, the newest first
#[utoipa::path(
    get,
    path = "/v1/tables",
    tag = "tables",
    operation_id = "list_tables",
    responses((status = 200, description = "Tables", body = RunsReply), Failures),
)]
pub(super) async fn tables(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<RunsReply>, ApiError> {
    listed(&state, &caller, JobKind::Table).await
}

async fn listed(
    state: &Arc<SiteState>,
    caller: &Caller,
    kind: JobKind,
) -> Result<Json<RunsReply>, ApiError> {
    let runs = list(state, caller, MOST_LISTED).await?;
    Ok(Json(RunsReply { runs: runs.into_iter().filter(|run| run.verb == kind).collect() }))
}

/// A table with its cells and their quotations
#[utoipa::path(
    get,
    path = "/v1/tables/{run}",
    tag = "tables",
    operation_id = "show_table",
    params(("run" = String, Path, description = "Name of the run")),
    responses((status = 200, description = "The table", body = TableReply), Failures),
)]
pub(super) async fn table(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Json<TableReply>, ApiError> {
    let Shown { summary, .. } = find_of(&state, &caller, &run, JobKind::Table).await?;
    let table = state.blocking(move |state| state.backend.table(&run)).await??;
    Ok(Json(TableReply { run: summary, table }))
}

/// A table as a file
#[utoipa::path(
    get,
    path = "/v1/tables/{run}/export/{format}",
    tag = "tables",
    operation_id = "export_table",
    params(
        ("run" = String, Path, description = "Name of the run"),
        ("format" = String, Path, description = "`csv`, `docx`, `markdown`, `html` or `json`"),
    ),
    responses((status = 200, description = "The file", content_type = "application/octet-stream", body = Vec<u8>), Failures),
)]
pub(super) async fn export_table(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path((run, format)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let format = TableFile::named(&format).ok_or_else(no_format)?;
    visible(&state, &caller, &run).await?;
    let export = state.blocking(move |state| state.backend.export_table(&run, format)).await??;
    Ok(([(header::CONTENT_TYPE, format.media_type())], export.bytes).into_response())
}

fn no_format() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "there is no such format")
}

/// Screens papers by criteria
///
/// With `Accept: text/event-stream` the reply is the stream of the run's events, as `GET /v1/runs/{run}/events` has it.
#[utoipa::path(
    post,
    path = "/v1/screenings",
    tag = "screenings",
    operation_id = "screen",
    request_body = ScreeningRequest,
    responses(
        (status = 202, description = "The screening waits for its turn", body = Accepted),
        (status = 200, description = "Its events, as they happen", content_type = "text/event-stream", body = String),
        Failures,
    ),
)]
pub(super) async fn screen(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let request = read::<ScreeningRequest>(body, MOST_BYTES).await?;
    taken(&state, &caller, &headers, request, Accepted::of).await
}

/// Screenings, the newest first
#[utoipa::path(
    get,
    path = "/v1/screenings",
    tag = "screenings",
    operation_id = "list_screenings",
    responses((status = 200, description = "Screenings", body = RunsReply), Failures),
)]
pub(super) async fn screenings(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<RunsReply>, ApiError> {
    listed(&state, &caller, JobKind::Screening).await
}

/// A screening with each decision and its quotation
#[utoipa::path(
    get,
    path = "/v1/screenings/{run}",
    tag = "screenings",
    operation_id = "show_screening",
    params(("run" = String, Path, description = "Name of the run")),
    responses((status = 200, description = "The screening", body = ScreeningReply), Failures),
)]
pub(super) async fn screening(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Json<ScreeningReply>, ApiError> {
    let Shown { summary, .. } = find_of(&state, &caller, &run, JobKind::Screening).await?;
    let screening = state.blocking(move |state| state.backend.screening(&run)).await??;
    Ok(Json(ScreeningReply { run: summary, screening }))
}

/// What a person decided: body of `POST /v1/screenings/{run}/decisions`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DecisionRequest {
    /// Identifier of the paper.
    #[schema(example = "doi:10.1000/x")]
    paper: String,
    /// `include`, `exclude` or `unclear`.
    decision: String,
    /// Why; the id of a criterion counts as excluded by it.
    #[serde(default)]
    #[schema(nullable = false)]
    reason: Option<String>,
}

/// Keeps what a person decided on a paper, which no later run changes; the screening as it is then
#[utoipa::path(
    post,
    path = "/v1/screenings/{run}/decisions",
    tag = "screenings",
    operation_id = "decide",
    params(("run" = String, Path, description = "Name of the run")),
    request_body = DecisionRequest,
    responses((status = 200, description = "The screening", body = ScreeningReply), Failures),
)]
pub(super) async fn decide(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    body: Body,
) -> Result<Json<ScreeningReply>, ApiError> {
    let Shown { summary, .. } = find_of(&state, &caller, &run, JobKind::Screening).await?;
    let DecisionRequest { paper, decision, reason } = read(body, MOST_BYTES).await?;
    let paper: PaperId = paper_id(&paper)?;
    let decision = Decision::named(&decision)
        .ok_or_else(|| ApiError::bad_request("a decision is include, exclude or unclear"))?;
    let reason: Option<String> = reason.map(|reason| reason.chars().take(MOST_REASON).collect());
    let screening = state
        .blocking(move |state| {
            state.backend.decide(&run, &paper, decision, reason.as_deref())?;
            state.backend.screening(&run)
        })
        .await??;
    Ok(Json(ScreeningReply { run: summary, screening }))
}

/// A screening as a file
#[utoipa::path(
    get,
    path = "/v1/screenings/{run}/export/{format}",
    tag = "screenings",
    operation_id = "export_screening",
    params(
        ("run" = String, Path, description = "Name of the run"),
        ("format" = String, Path, description = "`csv`, `markdown` or `prisma`"),
    ),
    responses((status = 200, description = "The file", content_type = "application/octet-stream", body = Vec<u8>), Failures),
)]
pub(super) async fn export_screening(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path((run, format)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let format = ScreeningFile::named(&format).ok_or_else(no_format)?;
    visible(&state, &caller, &run).await?;
    let work = move |state: &SiteState| state.backend.export_screening(&run, format);
    let export = state.blocking(work).await??;
    Ok(([(header::CONTENT_TYPE, format.media_type())], export.bytes).into_response())
}
