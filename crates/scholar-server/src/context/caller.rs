//! Who a request is from: a token in its head, or the cookie of a browser that signed in with one.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::SiteState;
use crate::callers::{Access, EVERYBODY};
use crate::error::ApiError;
use crate::jobs::store::Job;

/// Name of the cookie.
const COOKIE: &str = "openscholar";
/// Seconds a browser stays signed in.
pub(crate) const SIGNED_IN_S: i64 = 30 * 24 * 3_600;
/// Pause before a wrong token is told.
pub(crate) const GUESS_PAUSE: Duration = Duration::from_millis(500);
/// Page on which a browser signs in.
pub(crate) const SIGN_IN: &str = "/sign-in";

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Their name; [`EVERYBODY`] where there are no tokens.
    pub(crate) name: Arc<str>,
    /// Whether they see runs of others.
    pub(crate) sees_all: bool,
}

impl Caller {
    /// Whoever sent these headers; `None` without a token where tokens are needed.
    pub(crate) async fn of(
        state: &Arc<SiteState>,
        headers: &HeaderMap,
    ) -> Result<Option<Self>, ApiError> {
        let callers = match &state.access {
            Access::Everybody => {
                return Ok(Some(Self { name: EVERYBODY.into(), sees_all: true }));
            }
            Access::Named(callers) => callers,
        };
        let named = |name: &str| Self { name: name.into(), sees_all: false };
        if let Some(name) = callers.of_headers(headers) {
            return Ok(Some(named(name)));
        }
        let Some(secret) = cookie(headers) else { return Ok(None) };
        let secret = secret.to_owned();
        let name = state
            .blocking(move |state| state.store.signed_in(&secret, state.backend.now().as_second()))
            .await??;
        Ok(name.as_deref().map(named))
    }

    /// Whether a question is theirs to see.
    pub(crate) fn sees(&self, job: &Job) -> bool {
        self.sees_all || *job.caller == *self.name
    }

    /// Whose questions they see: `None` for all.
    pub(crate) fn only(&self) -> Option<&str> {
        (!self.sees_all).then_some(&self.name)
    }
}

/// The secret of the cookie.
pub(crate) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    cookies.flat_map(|line| line.split(';')).find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == COOKIE).then_some(value)
    })
}

/// The cookie as it is set. Other sites' pages cannot make a browser send it, and scripts cannot read it.
pub(crate) fn set_cookie(secret: &str, seconds: i64, behind_tls: bool) -> String {
    let secure = if behind_tls { "; Secure" } else { "" };
    format!("{COOKIE}={secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
}

/// Routes that need no token: signing in, what its page is made of, shared answers, and whether the process lives.
pub(crate) fn is_open(route: &str) -> bool {
    let open = [
        SIGN_IN,
        "/style.css",
        "/app.js",
        "/icon.svg",
        "/shared/{secret}",
        "/shared/{secret}/drawing.svg",
        "/health/live",
    ];
    open.contains(&route)
}

/// Leads a browser to the page where it signs in, and back after that.
pub(crate) fn to_sign_in(request: &Request) -> Response {
    let wanted = request.uri().path_and_query().map_or("/", |wanted| wanted.as_str());
    let wanted: String = wanted
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect();
    let address = format!("{SIGN_IN}?next={wanted}");
    (StatusCode::SEE_OTHER, [(header::LOCATION, address)]).into_response()
}

/// An address of this site that a browser may be led to after it signed in: a path, and nothing that leads elsewhere.
pub(crate) fn own_address(next: &str) -> &str {
    let is_path =
        next.starts_with('/') && !next.starts_with("//") && !next.contains(['\\', '\r', '\n']);
    if is_path && next.bytes().all(|byte| (0x21..0x7f).contains(&byte)) { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_browser_is_led_to_paths_of_this_site_alone() {
        for (next, expect) in [
            ("/runs/x?y=1", "/runs/x?y=1"),
            ("//evil.example", "/"),
            ("/\\evil.example", "/"),
            ("https://evil.example", "/"),
            ("javascript:alert(1)", "/"),
            ("/a\r\nSet-Cookie: x", "/"),
            ("", "/"),
        ] {
            assert_eq!(own_address(next), expect);
        }
    }

    #[test]
    fn the_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        assert_eq!(cookie(&headers), None);
        headers.append(header::COOKIE, HeaderValue::from_static("a=b; xopenscholar=1"));
        headers.append(header::COOKIE, HeaderValue::from_static("openscholar=abc; c=d"));
        assert_eq!(cookie(&headers), Some("abc"));
        assert!(set_cookie("abc", 9, true).ends_with("Max-Age=9; Secure"));
    }
}
