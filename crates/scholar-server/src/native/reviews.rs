//! `/v1/reviews`: an idea in; its run, or the events of its run, out; and the review when it is there.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Response};

use super::ask::{MOST_BYTES, read, taken, wants_events};
use super::reply::{Accepted, ExpectedReply, Failures, ReviewReply, RunsReply};
use super::runs::{Listed, Patience, events_of, no_run_of};
use crate::backend::{JobKind, ReviewRequest};
use crate::context::SiteState;
use crate::context::asking::{Shown, estimate as expected, find, list as runs_of};
use crate::context::caller::Caller;
use crate::error::ApiError;
use crate::reply::Json;

/// Newest runs among which reviews are looked for.
const LOOKED_AT: usize = 2_000;

/// Reviews an idea
///
/// With `Accept: text/event-stream` the reply is the stream of the run's events, as `GET /v1/runs/{run}/events` has it.
#[utoipa::path(
    post,
    path = "/v1/reviews",
    tag = "reviews",
    operation_id = "review",
    request_body = ReviewRequest,
    responses(
        (status = 202, description = "The idea waits for its turn", body = Accepted),
        (status = 200, description = "Its events, as they happen", content_type = "text/event-stream", body = String),
        Failures,
    ),
)]
pub(super) async fn review(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let request = read::<ReviewRequest>(body, MOST_BYTES).await?;
    taken(&state, &caller, &headers, request, Accepted::of_review).await
}

/// What a review is expected to use
#[utoipa::path(
    post,
    path = "/v1/reviews/estimate",
    tag = "reviews",
    operation_id = "estimate_review",
    request_body = ReviewRequest,
    responses((status = 200, description = "The estimate", body = ExpectedReply), Failures),
)]
pub(super) async fn estimate(
    State(state): State<Arc<SiteState>>,
    body: Body,
) -> Result<Json<ExpectedReply>, ApiError> {
    let expected = expected(&state, read::<ReviewRequest>(body, MOST_BYTES).await?).await?;
    Ok(Json(ExpectedReply::of(&expected)))
}

/// The newest reviews, the newest first
#[utoipa::path(
    get,
    path = "/v1/reviews",
    tag = "reviews",
    operation_id = "list_reviews",
    params(Listed),
    responses((status = 200, description = "Reviews", body = RunsReply), Failures),
)]
pub(super) async fn list(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Query(listed): Query<Listed>,
) -> Result<Json<RunsReply>, ApiError> {
    let mut runs = runs_of(&state, &caller, LOOKED_AT).await?;
    runs.retain(|run| run.verb == JobKind::Review);
    runs.truncate(listed.limit());
    Ok(Json(RunsReply { runs }))
}

/// A review, as far as it came
///
/// With `Accept: text/event-stream` the reply is the stream of its events, from the beginning or from `Last-Event-ID` on.
#[utoipa::path(
    get,
    path = "/v1/reviews/{run}",
    tag = "reviews",
    operation_id = "show_review",
    params(("run" = String, Path, description = "Name of the review's run"), Patience),
    responses((status = 200, description = "The review", body = ReviewReply), Failures),
)]
pub(super) async fn show(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    Query(patience): Query<Patience>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let shown = find(&state, &caller, &run).await?;
    if shown.summary.verb != JobKind::Review {
        return Err(no_run_of("review"));
    }
    if wants_events(&headers) {
        return Ok(events_of(&state, shown, &headers).into_response());
    }
    let Some(live) = shown.live else {
        return Ok(Json(ReviewReply::new(shown.summary, shown.view)).into_response());
    };
    patience.wait_for(&live).await;
    let Shown { summary, view, .. } = find(&state, &caller, &run).await?;
    let mut reply = ReviewReply::new(summary, view);
    reply.waiting_behind = state.jobs.ahead_of(&run);
    Ok(Json(reply).into_response())
}
