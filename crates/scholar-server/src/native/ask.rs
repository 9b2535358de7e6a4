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
pub(super) const MOST_BYTES: usize = 256 << 10;

/// A request of at most `most` bytes.
pub(super) async fn read<T: DeserializeOwned>(body: Body, most: usize) -> Result<T, ApiError> {
    let bytes = axum::body::to_bytes(body, most).await.map_err(|_| {
        ApiError::bad_request(format!("the body is longer than {most} bytes, or broke off"))
    })?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ApiError::bad_request(format!("the body is not a request: {error}")))
}

/// Whether events are asked for by name, and not refused with a weight of 0.
pub(super) fn wants_events(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_named =
            parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("text/event-stream"));
        let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
        is_named && weight.and_then(|weight| weight.parse::<f32>().ok()).is_none_or(|q| q > 0.0)
    })
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
    let request = read::<AskRequest>(body, MOST_BYTES).await?;
    taken(&state, &caller, &headers, request, Accepted::of).await
}

/// Takes a job of any kind; its events where the headers ask for them, else where `accepted` says to look for it.
pub(super) async fn taken(
    state: &Arc<SiteState>,
    caller: &Caller,
    headers: &HeaderMap,
    request: impl Into<JobRequest>,
    accepted: fn(String) -> Accepted,
) -> Result<Response, ApiError> {
    let run = submit(state, caller, request).await?;
    if wants_events(headers)
        && let Some(live) = state.jobs.live(&run)
    {
        return Ok(EventStream::of_live(state, live, None).into_response());
    }
    Ok((StatusCode::ACCEPTED, Json(accepted(run))).into_response())
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
    let expected = asking::estimate(&state, read::<AskRequest>(body, MOST_BYTES).await?).await?;
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

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn events_are_sent_to_those_who_name_them() {
        for (accept, expect) in [
            ("text/event-stream", true),
            ("TEXT/Event-Stream;charset=utf-8", true),
            ("application/json;q=0.5, text/event-stream; q=0.9", true),
            ("text/event-stream;q=0", false),
            ("text/event-streams", false),
            ("text/*", false),
            ("*/*", false),
            ("", false),
        ] {
            let accept = HeaderValue::from_static(accept);
            let headers = HeaderMap::from_iter([(header::ACCEPT, accept.clone())]);
            assert_eq!(wants_events(&headers), expect, "{accept:?}");
        }
    }
}
