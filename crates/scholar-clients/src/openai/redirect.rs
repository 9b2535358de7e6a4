//! Where a language model server sends a request on to, and whether it may.
//!
//! A prompt holds a person's question and passages of their library, and the key goes with it: neither follows a redirect
//! to another server. A server may move a request within itself, as long as it stays the same request.

use reqwest::header::LOCATION;
use scholar_core::{PortError, PortErrorKind};
use url::Url;

use super::OpenAiGenerator;
use crate::http::redacted;

/// More than an honest server needs within itself.
pub(super) const MAX_REDIRECTS: usize = 5;

/// The address that `response` to a request to `from` redirects to; `None` when it is a reply.
pub(super) fn target(from: &Url, response: &reqwest::Response) -> Result<Option<Url>, PortError> {
    let status = response.status().as_u16();
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let Some(to) = location.and_then(|location| from.join(location).ok()) else {
        let why = format!("{} redirects ({status}) without an address", redacted(from));
        return Err(refused(why, None));
    };
    let (here, there) = (redacted(from), redacted(&to));
    if to.origin() != from.origin() {
        let why = format!(
            "{here} redirects ({status}) to another server, {there}: neither the prompt nor a key was sent there"
        );
        return Err(refused(why, Some(&to)));
    }
    if !matches!(status, 307 | 308) {
        let why = format!(
            "{here} redirects to {there} with status {status}, which would leave the prompt behind"
        );
        return Err(refused(why, Some(&to)));
    }
    Ok(Some(to))
}

/// The server sends a request round and round.
pub(super) fn too_many(generator: &OpenAiGenerator) -> PortError {
    refused(format!("{} redirects more than {MAX_REDIRECTS} times", generator.address()), None)
}

fn refused(why: String, to: Option<&Url>) -> PortError {
    let error = PortError::new(PortErrorKind::Rejected, why);
    match to {
        Some(to) => {
            let to = redacted(to);
            let base = to.strip_suffix("/chat/completions").unwrap_or(&to);
            error.with_hint(format!("if that is the server you mean: --base-url {base}"))
        }
        None => error.with_hint("check --base-url (it usually ends in /v1)"),
    }
}
