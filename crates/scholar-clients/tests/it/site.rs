//! A site on this machine that answers what a test tells it to and remembers what it was asked.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use parking_lot::Mutex;
use scholar_clients::fetch::{Pace, Provider};
use scholar_clients::{FetchConfig, Fetcher, HttpClient, Url};

/// One request as it came.
#[derive(Debug, Clone)]
pub(crate) struct SeenRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Parameters in order, decoded.
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl SeenRequest {
    /// The first parameter of that name.
    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

type Answer = dyn Fn(&SeenRequest) -> (u16, &'static str, String) + Send + Sync;

struct Shared {
    answer: Box<Answer>,
    asked: Mutex<Vec<SeenRequest>>,
}

/// A running site.
pub(crate) struct Site {
    address: SocketAddr,
    shared: Arc<Shared>,
}

async fn reply(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let query = uri.query().unwrap_or_default().as_bytes();
    let query = url::form_urlencoded::parse(query).into_owned().collect();
    let asked = SeenRequest {
        method: method.to_string(),
        path: uri.path().to_owned(),
        query,
        headers,
        body: body.to_vec(),
    };
    shared.asked.lock().push(asked.clone());
    let (status, kind, text) = (shared.answer)(&asked);
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::IM_A_TEAPOT);
    (status, [("content-type", kind)], text).into_response()
}

impl Site {
    pub(crate) async fn start(
        answer: impl Fn(&SeenRequest) -> (u16, &'static str, String) + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared { answer: Box::new(answer), asked: Mutex::default() });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let app = axum::Router::new().fallback(reply).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { address, shared }
    }

    /// Everything asked so far, in order.
    pub(crate) fn asked(&self) -> Vec<SeenRequest> {
        self.shared.asked.lock().clone()
    }

    /// A configuration in which this site is every provider, in no hurry and without limits.
    pub(crate) fn config(&self) -> FetchConfig {
        let mut config = FetchConfig::interactive(Arc::new(jiff::Timestamp::default));
        let base = Url::parse(&format!("http://{}", self.address)).expect("an address");
        let pace = Pace { interval: Duration::ZERO, burst: 1, concurrency: 8 };
        for provider in Provider::ALL {
            config.base_urls.insert(provider, base.clone());
            config.paces.insert(provider, pace);
        }
        config.retry.attempts = 1;
        config
    }

    /// A fetcher for which this site is every provider.
    pub(crate) fn fetcher(&self) -> Fetcher {
        Fetcher::new(HttpClient::new().expect("TLS"), self.config())
    }
}
