//! Runs looked at again, and the state of the program.
#![expect(unused_qualifications, reason = "utoipa names the types of parameters by paths")]

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Query, State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::reply::Failures;
use crate::backend::{Replayed, RunDifference, Status, Verified};
use crate::context::SiteState;
use crate::context::asking::visible;
use crate::context::caller::Caller;
use crate::error::ApiError;
use crate::reply::Json;

type Site = State<Arc<SiteState>>;
type Who = Extension<Caller>;

/// Derives a run's files again, and locates every quotation in the stored papers
#[utoipa::path(
    post,
    path = "/v1/runs/{run}/verify",
    tag = "runs",
    operation_id = "verify_run",
    params(("run" = String, Path, description = "Name of a run")),
    responses((status = 200, description = "Whether its proof holds", body = Verified), Failures),
)]
pub(super) async fn verify(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
) -> Result<Json<Verified>, ApiError> {
    visible(&state, &caller, &run).await?;
    Ok(Json(state.laborious(move |state| state.backend.verify(&run)).await?))
}

/// Runs the algorithm again on the recorded replies
#[utoipa::path(
    post,
    path = "/v1/runs/{run}/replay",
    tag = "runs",
    operation_id = "replay_run",
    params(("run" = String, Path, description = "Name of a run")),
    responses((status = 200, description = "Whether it gave the same", body = Replayed), Failures),
)]
pub(super) async fn replay(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
) -> Result<Json<Replayed>, ApiError> {
    visible(&state, &caller, &run).await?;
    Ok(Json(state.laborious(move |state| state.backend.replay(&run)).await?))
}

/// Why each reference of a run is cited.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ExplainedReply {
    /// A text for each reference: what it is cited for, and how its passages were found.
    references: Vec<String>,
}

/// Why each reference of a run is cited, and what led to it
#[utoipa::path(
    get,
    path = "/v1/runs/{run}/explain",
    tag = "runs",
    operation_id = "explain_run",
    params(("run" = String, Path, description = "Name of a run")),
    responses((status = 200, description = "An explanation for each", body = ExplainedReply), Failures),
)]
pub(super) async fn explain(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
) -> Result<Json<ExplainedReply>, ApiError> {
    visible(&state, &caller, &run).await?;
    let references = state.laborious(move |state| state.backend.explain(&run)).await?;
    Ok(Json(ExplainedReply { references }))
}

/// Two runs.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Two {
    /// One of them.
    left: String,
    /// The other.
    right: String,
}

/// In what two runs differ
#[utoipa::path(
    get,
    path = "/v1/compare",
    tag = "runs",
    operation_id = "compare_runs",
    params(Two),
    responses((status = 200, description = "Their differences", body = RunDifference), Failures),
)]
pub(super) async fn compare(
    State(state): Site,
    Extension(caller): Who,
    Query(Two { left, right }): Query<Two>,
) -> Result<Json<RunDifference>, ApiError> {
    visible(&state, &caller, &left).await?;
    visible(&state, &caller, &right).await?;
    Ok(Json(state.laborious(move |state| state.backend.compare(&left, &right)).await?))
}

/// Whether providers of papers are asked.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Thorough {
    /// Ask them, which takes seconds.
    #[serde(default)]
    providers: bool,
}

/// What works here and what is missing
#[utoipa::path(
    get,
    path = "/v1/status",
    tag = "operation",
    operation_id = "status",
    params(Thorough),
    responses((status = 200, description = "Every check", body = Status), Failures),
)]
pub(super) async fn status(
    State(state): Site,
    Extension(caller): Who,
    Query(Thorough { providers }): Query<Thorough>,
) -> Result<Json<Status>, ApiError> {
    let mut status = state.laborious(move |state| state.backend.status(providers)).await?;
    status.checks.retain(|check| caller.sees_all || !check.is_private);
    Ok(Json(status))
}
