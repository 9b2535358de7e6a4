//! The HTTP interface as an `OpenAPI` 3.1 document, made of the handlers and types that implement it.
//!
//! `docs/openapi.json` is the same document; a test compares them, and another one checks replies of a running server
//! against it.

pub(crate) mod replies;

use std::sync::LazyLock;

use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::service::routes;

/// What is not said by a handler.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "OpenScholar search service",
        description = "Passage search over one datastore, as `openscholar datastore serve` answers it.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "search", description = "This project's own interface"),
        (name = "upstream", description = "The interface of the original search service"),
        (name = "operation", description = "For those who run the server"),
    ),
    security((), ("token" = [])),
    modifiers(&Tokens),
)]
pub(crate) struct Document;

/// The token that a server may ask for.
struct Tokens;

impl Modify for Tokens {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        document.components.get_or_insert_default().add_security_scheme("token", scheme);
    }
}

static JSON: LazyLock<String> = LazyLock::new(|| {
    let (_, document) = routes();
    // Its maps have texts for keys, so that it is always JSON.
    let mut json = document.to_pretty_json().unwrap_or_default();
    json.push('\n');
    json
});

/// The document as `GET /openapi.json` answers it.
pub fn openapi_json() -> &'static str {
    &JSON
}

/// This document
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "operation",
    responses((status = 200, description = "An OpenAPI 3.1 document", body = Object)),
)]
pub(crate) async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], openapi_json())
}
