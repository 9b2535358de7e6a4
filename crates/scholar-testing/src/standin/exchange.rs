//! Requests and replies as the services' handlers see them.

use serde::Serialize;
use serde_json::{Value, json};

/// One request as the server saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoggedRequest {
    /// Method of the request, in capitals.
    pub method: String,
    /// Decoded path with the service's prefix.
    pub path: String,
    /// Query as it came, without `?`.
    pub query: String,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body, as text where it is text.
    pub body: String,
    /// Status of the answer; `None` for an answer that is broken off or never comes.
    pub status: Option<u16>,
    /// Milliseconds since the server started.
    pub at_ms: u64,
}

impl LoggedRequest {
    /// The first header of that name, given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A request without its service's prefix.
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: &'a [(String, String)],
    pub(super) body: &'a [u8],
    /// Address of this server, for links.
    pub(super) base: &'a str,
}

impl Request<'_> {
    pub(super) fn param(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn number(&self, name: &str, otherwise: usize) -> usize {
        self.param(name).and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(self.body).unwrap_or(Value::Null)
    }
}

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Reply {
    pub(super) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, body: body.into() }
    }

    pub(super) fn json(value: &Value) -> Self {
        Self::new(200, "application/json", value.to_string())
    }

    pub(super) fn error(status: u16, message: &str) -> Self {
        Self::new(status, "application/json", json!({ "error": message }).to_string())
    }

    pub(super) fn xml(body: String) -> Self {
        Self::new(200, "text/xml; charset=UTF-8", body)
    }

    pub(super) fn html(body: String) -> Self {
        Self::new(200, "text/html; charset=utf-8", body)
    }

    pub(super) fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

/// Undoes percent-encoding, and `+` where it stands for a space.
pub(super) fn decoded(text: &str, plus: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (byte, hex) {
            (b'%', Some(value)) => {
                out.push(value);
                at += 2;
            }
            (b'+', _) if plus => out.push(b' '),
            _ => out.push(*byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Name and value pairs of a query.
pub(super) fn pairs(query: &str) -> Vec<(String, String)> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (decoded(name, true), decoded(value, true))
        })
        .collect()
}
