//! One exchange over the network, without opinions about what comes back.

use std::time::Duration;

use async_trait::async_trait;
use url::Url;

use crate::http::{self, HttpClient};

/// A request ready to be sent, secrets included. It is not printable.
pub struct Outgoing {
    /// `GET`, `HEAD` or `POST`.
    pub method: &'static str,
    /// Scheme, host, path and query, keys in the query included.
    pub url: Url,
    /// Header names and values.
    pub headers: Vec<(String, String)>,
    /// The body of a `POST`.
    pub body: Option<Vec<u8>>,
    /// Larger bodies are refused.
    pub max_bytes: usize,
    /// Longest time without a byte before the request is given up.
    pub idle_timeout: Duration,
}

/// A whole reply. Redirects are replies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// HTTP status, 100 to 599.
    pub status: u16,
    /// Names in lower case, values that are text.
    pub headers: Vec<(String, String)>,
    /// The body, after any `Content-Encoding` was undone.
    pub body: Vec<u8>,
}

impl Incoming {
    /// The first header of that name, given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Why there is no reply. Reasons name no address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// No connection came about.
    Unreachable(String),
    /// Nothing came for this long.
    Silent(Duration),
    /// The connection broke in the middle.
    BrokeOff(String),
    /// The body cannot be decompressed.
    Garbled(String),
    /// The body is larger than allowed.
    TooLarge,
    /// The request cannot be sent as it is.
    Unsendable(String),
}

/// How a request reaches a server: over HTTP, from a recording, or not at all.
#[async_trait]
pub trait Transport: Send + Sync {
    /// The reply to `request`, whatever its status. Redirects are not followed.
    ///
    /// # Errors
    /// [`Broken`] when there is no whole reply.
    async fn send(&self, request: Outgoing) -> Result<Incoming, Broken>;
}

#[async_trait]
impl Transport for HttpClient {
    async fn send(&self, request: Outgoing) -> Result<Incoming, Broken> {
        let Outgoing { method, url, headers, body, max_bytes, idle_timeout } = request;
        let pool = self.still_pool(&url);
        let mut builder = match method {
            "POST" => pool.post(url),
            "HEAD" => pool.head(url),
            _ => pool.get(url),
        };
        for (name, value) in headers {
            builder = builder.header(name, value);
        }
        if let Some(body) = body {
            builder = builder.body(body);
        }
        let sent = tokio::time::timeout(idle_timeout, builder.send()).await;
        let mut response = sent.map_err(|_| Broken::Silent(idle_timeout))?.map_err(broken)?;
        let headers = response.headers().iter();
        let headers = headers
            .filter_map(|(name, value)| {
                Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
            })
            .collect();
        let status = response.status().as_u16();
        let mut body = Vec::new();
        loop {
            let piece = tokio::time::timeout(idle_timeout, response.chunk()).await;
            let Some(piece) = piece.map_err(|_| Broken::Silent(idle_timeout))?.map_err(broken)?
            else {
                break;
            };
            if body.len() + piece.len() > max_bytes {
                return Err(Broken::TooLarge);
            }
            body.extend_from_slice(&piece);
        }
        Ok(Incoming { status, headers, body })
    }
}

fn broken(error: reqwest::Error) -> Broken {
    let (connect, builder, decode) = (error.is_connect(), error.is_builder(), error.is_decode());
    let reason = http::reason(error);
    if connect {
        Broken::Unreachable(reason)
    } else if builder {
        Broken::Unsendable(reason)
    } else if decode {
        Broken::Garbled(reason)
    } else {
        Broken::BrokeOff(reason)
    }
}
