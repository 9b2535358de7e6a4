//! What a client is told when it gets no result.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use scholar_core::{PortError, PortErrorKind};
use serde::Serialize;
use utoipa::ToSchema;

use crate::reply::Json;

/// Kinds of failure, as programs tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request is not what the route takes.
    BadRequest,
    /// A token is needed.
    Unauthorized,
    /// A page of another server asks.
    Forbidden,
    /// No such route.
    NotFound,
    /// The route takes another method.
    MethodNotAllowed,
    /// The body is longer than the server reads.
    TooLarge,
    /// The request is for another host.
    Misdirected,
    /// The queue is full; worth trying again.
    Busy,
    /// The caller has asked or spent as much as they may.
    OverBudget,
    /// Too many wrong tokens came from the same address.
    RateLimited,
    /// It took longer than the server waits.
    Timeout,
    /// The collection cannot be searched now.
    Unavailable,
    /// The collection is damaged, or the server has a bug.
    Internal,
}

/// A failure as JSON: `{"error": {"code", "message", "hint"}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// What kind it is.
    pub code: ErrorCode,
    /// One clause.
    pub message: String,
    /// The next step, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub hint: Option<String>,
    /// Seconds after which a busy server is worth asking again; sent as `Retry-After`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub retry_after_s: Option<u64>,
}

impl ApiError {
    /// A failure without a hint.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, retry_after_s: None }
    }

    /// A request that cannot be understood: status 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::BadRequest, message)
    }

    /// Worth asking again after `seconds`.
    pub fn busy(message: impl Into<String>, seconds: u64) -> Self {
        Self { retry_after_s: Some(seconds.max(1)), ..Self::new(ErrorCode::Busy, message) }
    }

    /// Adds the next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The status it is sent with.
    pub fn status(&self) -> StatusCode {
        match self.code {
            ErrorCode::BadRequest => StatusCode::BAD_REQUEST,
            ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
            ErrorCode::Forbidden => StatusCode::FORBIDDEN,
            ErrorCode::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            ErrorCode::NotFound => StatusCode::NOT_FOUND,
            ErrorCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorCode::OverBudget | ErrorCode::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            ErrorCode::Busy | ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            ErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
            ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<PortError> for ApiError {
    fn from(error: PortError) -> Self {
        let code = match error.kind() {
            PortErrorKind::Transient | PortErrorKind::Unavailable => ErrorCode::Unavailable,
            PortErrorKind::RateLimited { retry_after } => {
                let seconds = retry_after.map_or(1, |pause| pause.as_secs());
                return Self::busy(error.to_string(), seconds);
            }
            PortErrorKind::Rejected | PortErrorKind::Corrupt => ErrorCode::Internal,
        };
        // Paths of the server's disk and the next step of its owner are no business of a client; they are logged.
        tracing::error!(error = &error as &dyn std::error::Error, "a search failed");
        Self::new(code, "the collection could not be searched")
            .with_hint("the server's log says why")
    }
}

/// Longest refusal that is told on.
const MOST_REFUSAL_BYTES: usize = 4_096;

/// A request that the framework refused before a handler saw it, in the form of all other failures: it says why in plain text.
pub(crate) async fn in_our_words(response: Response) -> Response {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_plain = kind.is_none_or(|kind| kind.starts_with(b"text/plain"));
    if !status.is_client_error() || !is_plain || response.extensions().get::<ApiError>().is_some() {
        return response;
    }
    let code = match status {
        StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::TooLarge,
        StatusCode::NOT_FOUND => ErrorCode::NotFound,
        _ => ErrorCode::BadRequest,
    };
    let said = axum::body::to_bytes(response.into_body(), MOST_REFUSAL_BYTES).await;
    let said = said.unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let message = if said.is_empty() { "the request cannot be read" } else { said.trim() };
    ApiError::new(code, message).into_response()
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response =
            (self.status(), Json(serde_json::json!({ "error": self }))).into_response();
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code == ErrorCode::Unauthorized {
            let scheme = HeaderValue::from_static("Bearer realm=\"openscholar\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        // For who shows it in another form.
        response.extensions_mut().insert(self);
        response
    }
}
