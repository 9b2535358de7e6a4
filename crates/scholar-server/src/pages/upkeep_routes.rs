//! What browsers ask of runs that are over, and of the program's state.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Html;
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde::Deserialize;

use super::layout::{Frame, Place};
use super::routes::framed;
use super::{again, status};
use crate::context::SiteState;
use crate::context::asking::{list, visible};
use crate::context::caller::Caller;
use crate::error::ApiError;

/// Runs that can be chosen to be compared.
const SHOWN_RUNS: usize = 200;

type Site = State<Arc<SiteState>>;
type Who = Extension<Caller>;

/// The routes.
pub(super) fn router() -> Router<Arc<SiteState>> {
    Router::new()
        .route("/compare", get(compare))
        .route("/runs/{run}/verify", post(verify))
        .route("/runs/{run}/replay", post(replay))
        .route("/runs/{run}/explain", get(explain))
        .route("/status", get(quick).post(thorough))
}

/// Two runs.
#[derive(Debug, Deserialize)]
struct Two {
    left: Option<String>,
    right: Option<String>,
}

async fn compare(
    State(state): Site,
    Extension(caller): Who,
    Query(Two { left, right }): Query<Two>,
) -> Result<Html<String>, ApiError> {
    let runs = list(&state, &caller, SHOWN_RUNS).await?;
    let found = match (left.clone(), right.clone()) {
        (Some(left), Some(right)) => {
            visible(&state, &caller, &left).await?;
            visible(&state, &caller, &right).await?;
            Some(state.laborious(move |state| state.backend.compare(&left, &right)).await?)
        }
        _ => None,
    };
    let body = again::compare(&runs, (left.as_deref(), right.as_deref()), found.as_ref());
    framed(&state, &caller, Frame::plain("Compare two runs", Place::Runs), &body).await
}

async fn verify(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
) -> Result<Html<String>, ApiError> {
    visible(&state, &caller, &run).await?;
    let name = run.clone();
    let found = state.laborious(move |state| state.backend.verify(&name)).await?;
    let body = again::verified(&run, &found);
    framed(&state, &caller, Frame::plain("Verification", Place::Runs), &body).await
}

async fn replay(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
) -> Result<Html<String>, ApiError> {
    visible(&state, &caller, &run).await?;
    let name = run.clone();
    let found = state.laborious(move |state| state.backend.replay(&name)).await?;
    let body = again::replayed(&run, &found);
    framed(&state, &caller, Frame::plain("Replay", Place::Runs), &body).await
}

async fn explain(
    State(state): Site,
    Extension(caller): Who,
    Path(run): Path<String>,
) -> Result<Html<String>, ApiError> {
    visible(&state, &caller, &run).await?;
    let name = run.clone();
    let found = state.laborious(move |state| state.backend.explain(&name)).await?;
    let body = again::explained(&run, &found);
    framed(&state, &caller, Frame::plain("Why these papers are cited", Place::Runs), &body).await
}

async fn quick(site: Site, who: Who) -> Result<Html<String>, ApiError> {
    status_page(site, who, false).await
}

async fn thorough(site: Site, who: Who) -> Result<Html<String>, ApiError> {
    status_page(site, who, true).await
}

async fn status_page(
    State(state): Site,
    Extension(caller): Who,
    ask_providers: bool,
) -> Result<Html<String>, ApiError> {
    let (status, offer) = state
        .laborious(move |state| Ok((state.backend.status(ask_providers)?, state.backend.offer()?)))
        .await?;
    let mut status = status;
    status.checks.retain(|check| caller.sees_all || !check.is_private);
    let body = status::page(
        &status,
        &offer,
        {
            let (waiting, running) = state.jobs.counts();
            waiting + running
        },
        ask_providers,
    );
    framed(&state, &caller, Frame::plain("Status", Place::Status), &body).await
}
