//! The socket: logs, breaks or answers.

use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::Response;
use futures::stream;
use parking_lot::Mutex;
use serde_json::Value;

use super::exchange::{LoggedRequest, Reply, Request, decoded, pairs};
use super::fault::{Fault, FaultPlan, with_list};
use super::replay::Recordings;
use super::world::world;
use super::{Log, arxiv, openalex, pages, pubmed, registries, s2, web, zotero};

/// What all requests share.
pub(super) struct Shared {
    base: String,
    recordings: Recordings,
    began: Instant,
    pub(super) log: Log,
    pub(super) faults: Mutex<FaultPlan>,
    /// Where the files of Zotero's items lie.
    pub(super) storage: Mutex<Option<String>>,
}

impl Shared {
    pub(super) fn new(base: String, recordings: Recordings) -> Self {
        let began = Instant::now();
        Self {
            base,
            recordings,
            began,
            log: Mutex::default(),
            faults: Mutex::default(),
            storage: Mutex::default(),
        }
    }

    pub(super) fn reset(&self) {
        self.log.lock().clear();
        *self.faults.lock() = FaultPlan::default();
    }
}

/// Larger requests are refused; a PDF for GROBID is the largest.
const MAX_BODY: usize = 32 << 20;

pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let router = Router::new()
        .fallback(answer)
        .layer(axum::extract::DefaultBodyLimit::max(MAX_BODY))
        .with_state(shared);
    let listener = tokio::net::TcpListener::from_std(listener);
    let listener = listener.expect("the listener is non-blocking and this is a runtime");
    axum::serve(listener, router).await.expect("serving on loopback goes on until stopped");
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = decoded(uri.path(), false);
    let query = uri.query().unwrap_or_default();
    match path.as_str() {
        "/__log" => {
            let log = serde_json::to_value(&*shared.log.lock()).unwrap_or(Value::Null);
            return plain(Reply::json(&log));
        }
        "/__reset" => {
            shared.reset();
            return plain(Reply::json(&Value::Bool(true)));
        }
        _ => {}
    }
    let headers: Vec<(String, String)> = headers
        .iter()
        .map(|(name, value)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect();
    let at_ms = u64::try_from(shared.began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut logged = LoggedRequest {
        method: method.to_string(),
        path: path.clone(),
        query: query.to_owned(),
        headers: headers.clone(),
        body: String::from_utf8_lossy(&body).into_owned(),
        status: None,
        at_ms,
    };
    let fault = shared.faults.lock().next(&format!("{path}?{query}"));
    let recorded = shared.recordings.find(method.as_str(), &path, query, &body);
    let reply = recorded.unwrap_or_else(|| {
        let (prefix, rest) = split(&path);
        let request = Request {
            method: method.as_str(),
            path: rest,
            query: pairs(query),
            headers: &headers,
            body: &body,
            base: &shared.base,
        };
        conditional(&request, dispatch(prefix, &request, shared.storage.lock().as_deref()))
    });
    let reply = match &fault {
        Some(fault) => replaced(reply, fault),
        None => reply,
    };
    let whole =
        !matches!(fault, Some(Fault::Hang | Fault::Truncated | Fault::BrokenGzip | Fault::Drip(_)));
    logged.status = whole.then_some(reply.status);
    shared.log.lock().push(logged);
    deliver(reply, fault).await
}

/// Prefix of the service and the rest of the path.
fn split(path: &str) -> (&str, &str) {
    let end = path.get(1..).and_then(|rest| rest.find('/')).map_or(path.len(), |at| at + 1);
    path.split_at(end)
}

fn dispatch(prefix: &str, request: &Request<'_>, storage: Option<&str>) -> Reply {
    match prefix {
        "/s2" => s2::answer(world(), request),
        "/openalex" => openalex::answer(world(), request),
        "/arxiv" => arxiv::answer(world(), request),
        "/pubmed" => pubmed::answer(world(), request),
        "/crossref" => registries::crossref(world(), request),
        "/unpaywall" => registries::unpaywall(world(), request),
        "/doi" => registries::resolver(world(), request),
        "/you" => web::you(world(), request),
        "/brave" => web::brave(world(), request),
        "/ar5iv" | "/arxiv_html" => pages::html(world(), request),
        "/grobid" => pages::grobid(world(), request),
        "/zotero" => zotero::answer(world(), request, storage),
        "/pdf" => pages::pdf(world(), request),
        "/link" => pages::link(request),
        "/__loop" => {
            let next = if request.path == "/a" { "/__loop/b" } else { "/__loop/a" };
            Reply::new(302, "text/html", "").with_header("location", next)
        }
        _ => Reply::error(404, "the stand-in has no such service"),
    }
}

/// Adds a validator to whole answers and honours it.
fn conditional(request: &Request<'_>, reply: Reply) -> Reply {
    if reply.status != 200 || request.method != "GET" {
        return reply;
    }
    // FNV-1a: short, and the same in every run.
    let hash = reply.body.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let tag = format!("\"{hash:016x}\"");
    if request.header("if-none-match") == Some(tag.as_str()) {
        return Reply { status: 304, headers: vec![("etag".to_owned(), tag)], body: Vec::new() };
    }
    reply.with_header("etag", tag)
}

/// The faults that are another reply.
fn replaced(reply: Reply, fault: &Fault) -> Reply {
    match fault {
        Fault::RateLimited(wish) => {
            let body = r#"{"message": "Too Many Requests. Please wait and try again or apply for a key.", "code": "429"}"#;
            let limited = Reply::new(429, "application/json", body);
            match wish {
                Some(wish) => limited.with_header("retry-after", wish.as_str()),
                None => limited,
            }
        }
        Fault::Status(status, body) => Reply::new(*status, "text/plain", body.as_str()),
        Fault::Html => Reply::html(
            "<!DOCTYPE html><html><head><title>Just a moment</title></head><body>Checking</body></html>"
                .to_owned(),
        ),
        Fault::Nulls => with_list(reply, |list| {
            list.iter_mut().skip(1).step_by(2).for_each(|entry| *entry = Value::Null);
        }),
        Fault::Duplicate => with_list(reply, |list| {
            if let Some(first) = list.first().cloned() {
                list.insert(0, first);
            }
        }),
        Fault::List(value) => match serde_json::from_slice::<Value>(&reply.body) {
            Ok(Value::Object(mut map)) => {
                if let Some(entry) = map.values_mut().find(|entry| entry.is_array()) {
                    *entry = value.clone();
                }
                Reply::json(&Value::Object(map))
            }
            _ => Reply::json(value),
        },
        Fault::RedirectLoop => {
            Reply::new(302, "text/html", "").with_header("location", "/__loop/a")
        }
        Fault::Redirect(to) => Reply::new(302, "text/html", "").with_header("location", to.as_str()),
        Fault::BrokenGzip => {
            let mut broken = reply.with_header("content-encoding", "gzip");
            broken.body = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[0xff; 64][..]].concat();
            broken
        }
        Fault::Padded(bytes) => {
            let mut padded = reply;
            padded.body.extend(std::iter::repeat_n(b' ', *bytes));
            padded
        }
        Fault::Delay(_) | Fault::Hang | Fault::Truncated | Fault::Drip(_) => reply,
    }
}

/// Sends the reply, badly if so planned.
async fn deliver(reply: Reply, fault: Option<Fault>) -> Response {
    match fault {
        Some(Fault::Hang) => std::future::pending().await,
        Some(Fault::Delay(pause)) => {
            tokio::time::sleep(pause).await;
            plain(reply)
        }
        Some(Fault::Truncated) => {
            let half = reply.body.get(..reply.body.len() / 2).unwrap_or_default().to_vec();
            let broken = std::io::Error::other("broken off on purpose");
            let pieces = stream::iter([Ok(Bytes::from(half)), Err(broken)]);
            with_body(&reply, Body::from_stream(pieces))
        }
        Some(Fault::Drip(pause)) => {
            let bytes = reply.body.clone().into_iter();
            let drops = stream::unfold(bytes, move |mut bytes| async move {
                tokio::time::sleep(pause.max(Duration::from_millis(1))).await;
                let byte = bytes.next()?;
                Some((Ok::<_, Infallible>(Bytes::from(vec![byte])), bytes))
            });
            with_body(&reply, Body::from_stream(drops))
        }
        Some(_) | None => plain(reply),
    }
}

fn plain(mut reply: Reply) -> Response {
    let body = Body::from(std::mem::take(&mut reply.body));
    with_body(&reply, body)
}

fn with_body(reply: &Reply, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in &reply.headers {
        let name = HeaderName::try_from(name.as_str());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value.as_str())) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
