//! `POST /v1/ask`: a question in; its run, or the events of its run, out.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::de::DeserializeOwned;

use super::events::EventStream;
use super::reply::{Accepted, EstimateReply, Failures};
use crate::backend::{AskRequest, JobRequest, Offer};
use crate::context::SiteState;
use crate::context::asking::{self, submit};
use crate::context::caller::Caller;
use crate::error::ApiError;
use crate::reply::Json;

/// Longest body, in bytes: far above the longest accepted question.
const MOST_BYTES: usize = 256 << 10;

pub(super) async fn read<T: DeserializeOwned>(body: Body) -> Result<T, ApiError> {
    let bytes = axum::body::to_bytes(body, MOST_BYTES).await.map_err(|_| {
        ApiError::bad_request(format!("the body is longer than {MOST_BYTES} bytes, or broke off"))
    })?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ApiError::bad_request(format!("the body is not a request: {error}")))
}

/// Whether a client would rather be told what happens.
pub(super) fn wants_events(headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accepts.is_some_and(|accept| accept.contains("text/event-stream"))
}

/// Asks a question
///
/// With `Accept: text/event-stream` the reply is the stream of the run's events, as `GET /v1/runs/{run}/events` has it.
#[utoipa::path(
    post,
    path = "/v1/ask",
    tag = "ask",
    operation_id = "ask",
    request_body = AskRequest,
    responses(
        (status = 202, description = "The question waits for its turn", body = Accepted),
        (status = 200, description = "Its events, as they happen", content_type = "text/event-stream", body = String),
        Failures,
    ),
)]
pub(super) async fn ask(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    taken(&state, &caller, &headers, read::<AskRequest>(body).await?).await
}

/// Takes a job of any kind; its events where the headers ask for them, else where to look for it.
pub(super) async fn taken(
    state: &Arc<SiteState>,
    caller: &Caller,
    headers: &HeaderMap,
    request: impl Into<JobRequest>,
) -> Result<Response, ApiError> {
    let run = submit(state, caller, request).await?;
    if wants_events(headers)
        && let Some(live) = state.jobs.live(&run)
    {
        return Ok(EventStream::of_live(state, live, None).into_response());
    }
    Ok((StatusCode::ACCEPTED, Json(Accepted::of(run))).into_response())
}

/// What answering a question is expected to use
#[utoipa::path(
    post,
    path = "/v1/estimate",
    tag = "ask",
    operation_id = "estimate",
    request_body = AskRequest,
    responses((status = 200, description = "The estimate", body = EstimateReply), Failures),
)]
pub(super) async fn estimate(
    State(state): State<Arc<SiteState>>,
    body: Body,
) -> Result<Json<EstimateReply>, ApiError> {
    let expected = asking::estimate(&state, read::<AskRequest>(body).await?).await?;
    Ok(Json(EstimateReply::of(&expected.most)))
}

/// What can be asked, of what and how
#[utoipa::path(
    get,
    path = "/v1/offer",
    tag = "ask",
    operation_id = "offer",
    responses((status = 200, description = "Datastores, modes and sources", body = Offer), Failures),
)]
pub(super) async fn offer(State(state): State<Arc<SiteState>>) -> Result<Json<Offer>, ApiError> {
    Ok(Json(state.blocking(|state| state.backend.offer()).await??))
}
