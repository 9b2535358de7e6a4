//! Routes of the page on which ideas are reviewed. What comes of a review is a run like any other.

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Multipart, Query, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde::Deserialize;

use super::form::Fields;
use super::layout::{Frame, Place};
use super::review::{self, Form};
use super::routes::{framed, see};
use crate::backend::{JobRequest, ReviewRequest};
use crate::context::SiteState;
use crate::context::asking::{estimate, submit, visible};
use crate::context::caller::Caller;
use crate::error::ApiError;

type Site = State<Arc<SiteState>>;
type Who = Extension<Caller>;

/// The routes.
pub(super) fn router() -> Router<Arc<SiteState>> {
    // Their handlers count the bytes themselves.
    let unlimited = DefaultBodyLimit::disable;
    Router::new()
        .route("/review", get(entrance).merge(post(send).layer(unlimited())))
        .route("/review/estimate", post(estimated).layer(unlimited()))
}

#[derive(Deserialize)]
struct Like {
    /// A review whose idea and settings are filled in.
    like: Option<String>,
}

async fn entrance(
    State(state): Site,
    Extension(caller): Who,
    Query(Like { like }): Query<Like>,
) -> Result<Html<String>, ApiError> {
    let job = match like {
        Some(run) => visible(&state, &caller, &run).await?,
        None => None,
    };
    let request = match job.map(|job| job.request) {
        Some(JobRequest::Review(request)) => request,
        _ => ReviewRequest::default(),
    };
    page(&state, &caller, &request, |form| form).await
}

async fn page<'a>(
    state: &Arc<SiteState>,
    caller: &Caller,
    request: &'a ReviewRequest,
    fill: impl FnOnce(Form<'a>) -> Form<'a>,
) -> Result<Html<String>, ApiError> {
    let offer = state.blocking(|state| state.backend.offer()).await??;
    let filled = fill(Form { request, problem: None, estimate: None });
    let body = review::page(&filled, &offer);
    framed(state, caller, Frame::plain("Review", Place::Review), &body).await
}

/// The request of a form, and what is shown of it where it cannot be taken: what was typed or read is not lost.
async fn request(
    state: &Arc<SiteState>,
    parts: Multipart,
) -> (ReviewRequest, Result<ReviewRequest, ApiError>) {
    let form = match state.idea_form(parts).await {
        Ok(form) => form,
        Err(error) => return (ReviewRequest::default(), Err(error)),
    };
    let (fields, problem) = match state.with_file_read(form).await {
        Ok(fields) => (Fields::new(fields), None),
        Err((fields, error)) => (Fields::new(fields), Some(error)),
    };
    let read = fields.review();
    let shown = read.clone().unwrap_or_else(|_| fields.idea());
    (shown, problem.map_or(read, Err))
}

async fn send(
    State(state): Site,
    Extension(caller): Who,
    parts: Multipart,
) -> Result<Response, ApiError> {
    let (shown, request) = request(&state, parts).await;
    let taken = match request {
        Ok(request) => submit(&state, &caller, request).await,
        Err(error) => Err(error),
    };
    let error = match taken {
        Ok(run) => return Ok(see(&format!("/runs/{run}"))),
        Err(error) => error,
    };
    let status = error.status();
    let page = page(&state, &caller, &shown, |form| Form { problem: Some(error), ..form }).await?;
    Ok((status, page).into_response())
}

async fn estimated(
    State(state): Site,
    Extension(caller): Who,
    parts: Multipart,
) -> Result<Response, ApiError> {
    let (shown, request) = request(&state, parts).await;
    let expected = match request {
        Ok(request) => estimate(&state, request).await,
        Err(error) => Err(error),
    };
    let status = expected.as_ref().err().map_or(StatusCode::OK, ApiError::status);
    let page = page(&state, &caller, &shown, |form| match expected {
        Ok(expected) => Form { estimate: Some(expected), ..form },
        Err(problem) => Form { problem: Some(problem), ..form },
    })
    .await?;
    Ok((status, page).into_response())
}
