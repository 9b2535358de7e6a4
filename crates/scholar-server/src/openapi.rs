//! The HTTP interface as an `OpenAPI` 3.1 document, made of the handlers and types that implement it.
//!
//! `docs/openapi.json` is the same document; a test compares them, and another one checks replies of a running server
//! against it.

pub(crate) mod replies;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

/// Address of the document.
pub(crate) const PATH: &str = "/openapi.json";

/// This document
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "operation",
    responses((status = 200, description = "An OpenAPI 3.1 document", body = Object)),
)]
#[expect(dead_code, reason = "described here; which document it is depends on the server")]
fn document() {}

/// A document as it is answered and stored.
pub(crate) fn to_json(mut document: utoipa::openapi::OpenApi) -> String {
    document.merge(Itself::openapi());
    // Its maps have texts for keys, so that it is always JSON.
    let mut json = document.to_pretty_json().unwrap_or_default();
    json.push('\n');
    json
}

/// The reply that it is.
pub(crate) fn reply(json: &'static str) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], json).into_response()
}

/// The route of the document itself.
#[derive(OpenApi)]
#[openapi(paths(document))]
struct Itself;

/// What is not said by a handler.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "OpenScholar",
        description = "Passage search, as `openscholar datastore serve` answers it, and with `openscholar serve` questions and their runs.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "ask", description = "Questions, with `openscholar serve`"),
        (name = "reviews", description = "Ideas weighed against the literature, with `openscholar serve`"),
        (name = "runs", description = "What came of them, with `openscholar serve`"),
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
