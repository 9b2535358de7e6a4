//! For those who run the server: is it there, can it answer, how is it doing.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use crate::openapi::replies::Health;
use crate::reply::Json;
use crate::state::Shared;

/// Whether the server lives and is ready
#[utoipa::path(
    get,
    path = "/health",
    tag = "operation",
    responses(
        (status = 200, description = "Ready", body = Health),
        (status = 503, description = "Not ready", body = Health),
    ),
)]
pub(crate) async fn health(State(shared): State<Arc<Shared>>) -> Response {
    let stopping = shared.stopping.load(Ordering::Acquire);
    let size = (shared.probe)();
    if let Err(error) = &size {
        tracing::error!(error = error as &dyn std::error::Error, "the collection cannot be read");
    }
    let is_ready = size.is_ok() && !stopping;
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = json!({
        "live": true,
        "ready": is_ready,
        "stopping": stopping,
        "collection": shared.config.name,
        "papers": size.as_ref().ok().map(|size| size.papers),
        "passages": size.as_ref().ok().map(|size| size.passages),
        "queue_size": shared.queue.len(),
    });
    (status, Json(body)).into_response()
}

/// Whether the process answers
#[utoipa::path(
    get,
    path = "/health/live",
    tag = "operation",
    responses((status = 200, description = "It does")),
    security(()),
)]
pub(crate) async fn live() -> StatusCode {
    StatusCode::OK
}

/// Whether a search would be tried
#[utoipa::path(
    get,
    path = "/health/ready",
    tag = "operation",
    responses(
        (status = 200, description = "It would"),
        (status = 503, description = "The datastore cannot be read, or the server is stopping"),
    ),
)]
pub(crate) async fn ready(State(shared): State<Arc<Shared>>) -> StatusCode {
    let is_ready = !shared.stopping.load(Ordering::Acquire) && (shared.probe)().is_ok();
    if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}

/// Counters and gauges in Prometheus' text format
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "operation",
    responses((status = 200, description = "Metrics", content_type = "text/plain", body = String)),
)]
pub(crate) async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    let mut gauges = vec![
        ("queue_size", "Queries that wait.", shared.queue.len() as u64),
        ("queue_capacity", "Queries that may wait.", shared.config.queue.capacity as u64),
        ("running_batches", "Batches being searched.", shared.queue.running().len() as u64),
        ("connections", "Open connections.", shared.traffic.open.load(Ordering::Relaxed) as u64),
        ("held_passages", "Passages for which requests have room.", shared.budget.held() as u64),
        ("held_passages_capacity", "Passages there is room for.", shared.budget.size() as u64),
        ("held_body_bytes", "Bytes of bodies.", shared.bodies.held() as u64),
    ];
    gauges.extend(shared.gauges.get().into_iter().flat_map(|gauges| gauges()));
    if let Ok(size) = (shared.probe)() {
        gauges.push(("papers", "Papers served.", size.papers));
        gauges.push(("passages", "Passages served.", size.passages));
    }
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, shared.metrics.render(&shared.traffic, &gauges)).into_response()
}
