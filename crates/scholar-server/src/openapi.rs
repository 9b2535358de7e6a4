//! The HTTP interface as an `OpenAPI` 3.1 document, made of the handlers and types that implement it.
//!
//! `docs/openapi.json` is the same document; a test compares them, and another one checks replies of a running server
//! against it.

pub(crate) mod replies;

use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

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
