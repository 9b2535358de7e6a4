//! Who may ask: by which name the server was reached, from which page, and with which token.
//!
//! A page of any origin can make a browser send requests to this machine, and, by answering for its own name with this
//! machine's address (DNS rebinding), read the replies. What it cannot do is choose the `Host` and the `Origin` that the
//! browser sends.
//!
//! Source: RFC 9110 section 7.2, RFC 9112 sections 3.2 and 6.3; the Fetch standard, section 3.2 ("`Origin` header").

pub(crate) mod guesses;
mod tokens;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode, Version, header};

use crate::connection::Link;
use crate::error::{ApiError, ErrorCode};

pub use tokens::{TokenError, Tokens};

/// Names under which a server may be asked, beside this machine's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts(BTreeSet<String>);

/// A text that is not the name of a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the name of a host")]
pub struct HostError(String);

impl Hosts {
    /// Takes names such as `search.example.org` or `192.0.2.7`, of any port.
    ///
    /// # Errors
    /// When one has a port, a scheme, a path or a wildcard.
    pub fn new<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> Result<Self, HostError> {
        let names = names.into_iter().map(|name| {
            let name = name.as_ref();
            let is_address = name.parse::<IpAddr>().is_ok();
            let authority = match name.parse::<IpAddr>() {
                Ok(IpAddr::V6(_)) => format!("[{name}]").parse::<Authority>(),
                _ => name.parse(),
            };
            match authority {
                Ok(authority)
                    if (is_address || authority.host() == name)
                        && !name.contains(['*', '@'])
                        && !name.is_empty() =>
                {
                    Ok(normal(&authority))
                }
                _ => Err(HostError(name.to_owned())),
            }
        });
        names.collect::<Result<_, _>>().map(Self)
    }

    /// Whether `authority` names this machine or one of these.
    fn contain(&self, authority: &Authority, local: Option<IpAddr>) -> bool {
        let host = normal(authority);
        if host == "localhost" || self.0.contains(&host) {
            return true;
        }
        // No page can have an address of ours as its name unless it came from here.
        host.parse::<IpAddr>().is_ok_and(|address| {
            let address = address.to_canonical();
            address.is_loopback() || local.is_some_and(|local| local.to_canonical() == address)
        })
    }
}

/// The host in lower case, without brackets and without the dot of a full name.
fn normal(authority: &Authority) -> String {
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// Why a request is refused before its body is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A length and a transfer coding.
    Framing,
    /// No `Host`, several, or one that is none.
    Host(&'static str),
    /// Another server's name.
    OtherHost(String),
    /// A page from elsewhere.
    Origin(String),
    /// The body is longer than is read.
    TooLong {
        /// Bytes that `Content-Length` states.
        length: u64,
        /// Bytes read at most.
        most: usize,
    },
    /// No token, or none of ours.
    Token,
}

/// Refuses what hyper lets through of RFC 9112, requests for another host, and a body of more than `most_bytes`.
pub(crate) fn check(request: &Request, hosts: &Hosts, most_bytes: usize) -> Result<(), Refused> {
    let link = request.extensions().get::<Arc<Link>>();
    if link.is_some_and(|link| link.conflicting.load(Ordering::Acquire)) {
        return Err(Refused::Framing);
    }
    let local = link.and_then(|link| link.local);
    if let Some(host) = host(request)?
        && !hosts.contain(&host, local)
    {
        return Err(Refused::OtherHost(host.as_str().to_owned()));
    }
    // The target may name the host too; then that is the one meant.
    if let Some(target) = request.uri().authority()
        && !hosts.contain(target, local)
    {
        return Err(Refused::OtherHost(target.as_str().to_owned()));
    }
    // A length that is no number, and two that differ, hyper refuses itself.
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    match length {
        Some(length) if length > most_bytes as u64 => {
            Err(Refused::TooLong { length, most: most_bytes })
        }
        _ => Ok(()),
    }
}

/// The host a request is for. HTTP/1.0 may leave it out, which no browser does.
fn host(request: &Request) -> Result<Option<Authority>, Refused> {
    let mut named = request.headers().get_all(header::HOST).iter();
    match (named.next(), named.next()) {
        (None, _) if request.version() < Version::HTTP_11 => Ok(None),
        (None, _) => Err(Refused::Host("the request does not name its host")),
        (Some(_), Some(_)) => Err(Refused::Host("the request names several hosts")),
        (Some(host), None) => {
            let host = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
            match host.filter(|host| !host.as_str().contains('@') && !host.host().is_empty()) {
                Some(host) => Ok(Some(host)),
                None => Err(Refused::Host("the request's host is not a name")),
            }
        }
    }
}

/// Refuses what a browser says comes from a page of another server. Programs say nothing, and pass.
pub(crate) fn check_origin(request: &Request, hosts: &Hosts) -> Result<(), Refused> {
    let local = request.extensions().get::<Arc<Link>>().and_then(|link| link.local);
    for origin in request.headers().get_all(header::ORIGIN) {
        let text = String::from_utf8_lossy(origin.as_bytes());
        let authority = text.split_once("://").and_then(|(_, host)| host.parse::<Authority>().ok());
        if !authority.is_some_and(|authority| hosts.contain(&authority, local)) {
            return Err(Refused::Origin(text.into_owned()));
        }
    }
    Ok(())
}

/// Refuses forms and scripts of other sites that change something here, where the browser tells.
pub(crate) fn check_site(request: &Request) -> Result<(), Refused> {
    let safe = [Method::GET, Method::HEAD].contains(request.method());
    match request.headers().get("sec-fetch-site") {
        Some(site) if !safe && site != "same-origin" && site != "none" => {
            Err(Refused::Origin(String::from_utf8_lossy(site.as_bytes()).into_owned()))
        }
        _ => Ok(()),
    }
}

/// Refuses forms of which the browser does not say that a page of this server has them. Every browser says so with one field or
/// the other; programs send JSON.
pub(crate) fn check_form(request: &Request) -> Result<(), Refused> {
    let safe = [Method::GET, Method::HEAD].contains(request.method());
    let headers = request.headers();
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_form = kind.is_some_and(|kind| {
        let kind = kind.to_ascii_lowercase();
        ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]
            .iter()
            .any(|form| kind.starts_with(form))
    });
    let told = headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    if safe || !is_form || told { Ok(()) } else { Err(Refused::Origin("nowhere".to_owned())) }
}

/// Refuses requests without one of the tokens.
pub(crate) fn check_token(headers: &HeaderMap, tokens: &Tokens) -> Result<(), Refused> {
    match tokens.holder(headers) {
        Some(name) => {
            tracing::debug!(token.name = name, "admitted");
            Ok(())
        }
        None => Err(Refused::Token),
    }
}

impl Refused {
    /// The status it is sent with.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Framing | Self::Host(_) => StatusCode::BAD_REQUEST,
            Self::OtherHost(_) => StatusCode::MISDIRECTED_REQUEST,
            Self::Origin(_) => StatusCode::FORBIDDEN,
            Self::TooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Token => StatusCode::UNAUTHORIZED,
        }
    }

    /// One clause.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Framing => {
                "the request has both a Content-Length and a Transfer-Encoding".to_owned()
            }
            Self::Host(why) => (*why).to_owned(),
            Self::OtherHost(host) => format!("this server does not answer for {host:?}"),
            Self::Origin(origin) => format!("pages of {origin:?} may not ask this server"),
            Self::TooLong { length, most } => {
                format!("the body has {length} bytes, more than the {most} that this server reads")
            }
            Self::Token => "a token of this server is needed".to_owned(),
        }
    }

    /// The next step, where there is one.
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Framing | Self::Host(_) => None,
            Self::OtherHost(_) | Self::Origin(_) => {
                Some("the operator can allow a name with --allowed-host NAME")
            }
            Self::TooLong { .. } => Some("send fewer queries at once"),
            Self::Token => Some("send it as Authorization: Bearer TOKEN"),
        }
    }
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> Self {
        let code = match refused {
            Refused::Framing | Refused::Host(_) => ErrorCode::BadRequest,
            Refused::OtherHost(_) => ErrorCode::Misdirected,
            Refused::Origin(_) => ErrorCode::Forbidden,
            Refused::TooLong { .. } => ErrorCode::TooLarge,
            Refused::Token => ErrorCode::Unauthorized,
        };
        let error = Self::new(code, refused.message());
        match refused.hint() {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests;
