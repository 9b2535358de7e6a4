//! `/v1/threads` and what is said of runs: threads, feedback, sharing.
#![expect(unused_qualifications, reason = "utoipa names the types of parameters by paths")]

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::reply::{Failures, Told};
use crate::backend::RunState;
use crate::context::SiteState;
use crate::context::asking::{own, say};
use crate::context::caller::Caller;
use crate::error::ApiError;
use crate::jobs::store::{Feedback, ThreadLine, Thumb};
use crate::reply::Json;

/// Threads of one list at most.
const MOST_THREADS: usize = 500;
/// Longest body, in bytes: far above the longest comment.
const MOST_BYTES: usize = 64 << 10;

/// Which threads.
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

/// A question with those that follow it.
#[derive(Debug, Serialize, ToSchema)]
struct ThreadReply {
    /// Its last run: `follows` of the next question.
    run: String,
    /// Its first question.
    title: String,
    /// How many questions it has.
    n_runs: usize,
    /// How far its last run came.
    state: RunState,
}

/// Threads, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ThreadsReply {
    threads: Vec<ThreadReply>,
}

/// The newest threads, the newest first
#[utoipa::path(
    get,
    path = "/v1/threads",
    tag = "ask",
    operation_id = "list_threads",
    params(Listed),
    responses((status = 200, description = "Threads", body = ThreadsReply), Failures),
)]
pub(super) async fn list(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Query(Listed { limit }): Query<Listed>,
) -> Result<Json<ThreadsReply>, ApiError> {
    let only = caller.only().map(str::to_owned);
    let limit = limit.min(MOST_THREADS);
    let threads =
        state.blocking(move |state| state.store.threads(only.as_deref(), limit)).await??;
    let reply = |line: ThreadLine| {
        let ThreadLine { run, title, n_runs, state } = line;
        ThreadReply { run, title, n_runs, state }
    };
    Ok(Json(ThreadsReply { threads: threads.into_iter().map(reply).collect() }))
}

/// What a caller thinks of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ThumbBody {
    Up,
    Down,
}

/// Feedback on one section of an answer.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FeedbackBody {
    /// Number of the section, from 0.
    section: usize,
    /// Left out, it stays as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    thumb: Option<ThumbBody>,
    /// At most 4,000 characters are kept.
    #[serde(default)]
    comment: String,
}

/// What was said of a run.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FeedbackReply {
    /// One entry for each section of which something was said.
    feedback: Vec<FeedbackBody>,
}

/// What you said of a run's sections
#[utoipa::path(
    get,
    path = "/v1/runs/{run}/feedback",
    tag = "runs",
    operation_id = "show_feedback",
    params(("run" = String, Path, description = "Name of a run")),
    responses((status = 200, description = "Feedback by section", body = FeedbackReply), Failures),
)]
pub(super) async fn feedback(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Json<FeedbackReply>, ApiError> {
    own(&state, &caller, &run).await?;
    let name = Arc::clone(&caller.name);
    let said = state.blocking(move |state| state.store.said(&run, &name)).await??;
    let reply = |one: Feedback| {
        let Feedback { section, thumb, comment } = one;
        let thumb = thumb.map(|thumb| match thumb {
            Thumb::Up => ThumbBody::Up,
            Thumb::Down => ThumbBody::Down,
        });
        FeedbackBody { section, thumb, comment }
    };
    Ok(Json(FeedbackReply { feedback: said.into_iter().map(reply).collect() }))
}

/// Says something of a section: a thumb, a comment, or both
#[utoipa::path(
    post,
    path = "/v1/runs/{run}/feedback",
    tag = "runs",
    operation_id = "give_feedback",
    params(("run" = String, Path, description = "Name of a run")),
    request_body = FeedbackBody,
    responses((status = 200, description = "It is kept", body = Told), Failures),
)]
pub(super) async fn give_feedback(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    body: Body,
) -> Result<Json<Told>, ApiError> {
    let bytes = axum::body::to_bytes(body, MOST_BYTES).await.map_err(|_| {
        ApiError::bad_request(format!("the body is longer than {MOST_BYTES} bytes, or broke off"))
    })?;
    own(&state, &caller, &run).await?;
    let FeedbackBody { section, thumb, comment } = serde_json::from_slice(&bytes)
        .map_err(|error| ApiError::bad_request(format!("the body is no feedback: {error}")))?;
    let thumb = thumb.map(|thumb| match thumb {
        ThumbBody::Up => Thumb::Up,
        ThumbBody::Down => Thumb::Down,
    });
    say(&state, &caller, &run, Feedback { section, thumb, comment }).await?;
    Ok(Json(Told { done: true }))
}

/// Where a shared answer can be read.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SharedReply {
    /// The address on this server, which nobody can guess; `null` when it is not shared.
    path: Option<String>,
}

/// Shares an answer with whoever has its address
#[utoipa::path(
    post,
    path = "/v1/runs/{run}/share",
    tag = "runs",
    operation_id = "share_run",
    params(("run" = String, Path, description = "Name of a run")),
    responses((status = 200, description = "Where it can be read", body = SharedReply), Failures),
)]
pub(super) async fn share(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Json<SharedReply>, ApiError> {
    own(&state, &caller, &run).await?;
    let secret = state
        .blocking(move |state| {
            let secret = state.backend.secret()?;
            Ok::<_, ApiError>(state.store.share(&run, Some(&secret))?)
        })
        .await??;
    Ok(Json(SharedReply { path: secret.map(|secret| format!("/shared/{secret}")) }))
}

/// Ends sharing
#[utoipa::path(
    post,
    path = "/v1/runs/{run}/unshare",
    tag = "runs",
    operation_id = "unshare_run",
    params(("run" = String, Path, description = "Name of a run")),
    responses((status = 200, description = "Nobody else can read it any more", body = SharedReply), Failures),
)]
pub(super) async fn unshare(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Json<SharedReply>, ApiError> {
    own(&state, &caller, &run).await?;
    state.blocking(move |state| state.store.share(&run, None)).await??;
    Ok(Json(SharedReply { path: None }))
}
