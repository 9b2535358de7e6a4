//! Clients that ask for too much, do not read, or say what no client says; over raw sockets.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use scholar_core::{PaperMeta, Passage, PassageId, PortError, Retrieved, Retriever, SearchRequest};
use scholar_server::{Hosts, ServerConfig, Tokens};
use scholar_testing::MemoryRetriever;
use scholar_testing::http::{HttpReply, begin, finish, get, post};
use scholar_testing::until;
use serde_json::{Value, json};

use super::{Gated, Running, config, corpus};

/// Sends `text` as it is.
fn send(address: SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout can be set");
    // A server may refuse before it has read everything.
    let _refused = stream.write_all(text.as_bytes());
    stream
}

/// The status line's number and the rest of all that comes back until the server closes.
fn raw(address: SocketAddr, text: &str) -> (u16, String) {
    let mut reply = Vec::new();
    let _reset = send(address, text).read_to_end(&mut reply);
    let reply = String::from_utf8(reply).expect("replies are text");
    let status = reply.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_default(), reply)
}

fn gauge(address: SocketAddr, name: &str) -> u64 {
    let text = get(address, "/metrics").body;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {name} in {text}"))
}

const HELD: &str = "openscholar_held_passages";
const CAPACITY: &str = "openscholar_held_passages_capacity";
const STALLED: &str = "openscholar_stalled_connections_total";

/// Finds what is asked for, each passage as long as sockets buffer in a hundred of them.
struct Long(MemoryRetriever);

const LONG_BYTES: usize = 256 << 10;

#[async_trait]
impl Retriever for Long {
    fn name(&self) -> &str {
        "long"
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        let found = self.0.search(&SearchRequest { top_k: 1, ..request.clone() }).await?;
        let first = found.into_iter().next().expect("the query finds a paper");
        let text = "x".repeat(LONG_BYTES);
        let long = Retrieved { passage: Passage { text, ..first.passage.clone() }, ..first };
        Ok(vec![long; request.top_k])
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        self.0.passage(id).await
    }
}

fn long(limits: ServerConfig) -> Running {
    Running::start(Arc::new(Long(MemoryRetriever::corpus())), limits)
}

#[test]
fn a_request_for_too_much_is_refused_with_its_numbers_before_it_is_searched() {
    let gated = Gated::closed();
    let server = Running::start(Arc::clone(&gated) as _, config());
    let asked = |queries: usize, top_k: usize, explain: bool, filter: &Value| {
        let queries = vec!["retrieval"; queries];
        json!({"queries": queries, "top_k": top_k, "explain": explain, "filter": filter})
            .to_string()
    };
    let none = json!({});
    let titles = json!({"exclude_titles": ["x".repeat(900_000)]});
    for (body, says, hint) in [
        (
            asked(256, 1_000, true, &none),
            "256 queries with 1000 passages each are 256000 passages, more than the 10000 that one request may ask \
             for when they are explained",
            "ask for at most 39 passages for each query, or send at most 10 queries at once",
        ),
        (
            asked(256, 79, false, &none),
            "are 20224 passages, more than the 20000 that one request may ask for",
            "at most 78 passages for each query, or send at most 253 queries",
        ),
        (asked(200, 1, false, &titles), "200 queries with a filter of", "send fewer queries"),
    ] {
        let reply = post(server.address, "/v1/search", &body);
        let error = reply.json()["error"].clone();
        assert_eq!((reply.status, &error["code"]), (400, &json!("bad_request")), "{error}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains(says)), "{error}");
        assert!(error["hint"].as_str().is_some_and(|text| text.contains(hint)), "{error}");
    }
    assert_eq!(gated.n_queries.load(std::sync::atomic::Ordering::Relaxed), 0);
    assert_eq!(gauge(server.address, HELD), 0);
    // What the hints say works.
    gated.open(1_000);
    for body in [asked(256, 39, true, &none), asked(10, 1_000, true, &none)] {
        assert_eq!(post(server.address, "/v1/search", &body).status, 200);
    }
}

#[test]
fn clients_that_do_not_read_hold_little_and_are_dropped() {
    let limits = ServerConfig {
        max_held_passages: 160,
        max_reply_passages: 120,
        window_passages: 10,
        write_timeout: Duration::from_millis(200),
        ..config()
    };
    let server = long(limits);
    // Eight replies of 30 MB each, of which nobody reads a byte.
    let body = json!({"queries": vec!["retrieval"; 12], "top_k": 10}).to_string();
    let stalled: Vec<TcpStream> =
        (0..8).map(|_| begin(server.address, "POST", "/v1/search", &body)).collect();
    let capacity = gauge(server.address, CAPACITY);
    while gauge(server.address, STALLED) < 8 {
        // One window of ten each: what is not searched yet is not held.
        let held = gauge(server.address, HELD);
        assert!(held <= 80 && held <= capacity, "{held}");
    }
    until("connections to end", || {
        (gauge(server.address, "openscholar_connections") <= 1).then_some(())
    });
    assert_eq!(gauge(server.address, HELD), 0, "their room is free");
    drop(stalled);
    assert_eq!(post(server.address, "/search", "{\"query\": \"retrieval\"}").status, 200);
}

#[test]
fn a_client_that_reads_a_little_now_and_then_is_dropped_too() {
    let limits = ServerConfig { reply_timeout: Duration::from_millis(200), ..config() };
    let server = long(ServerConfig { window_passages: 10, ..limits });
    let body = json!({"queries": vec!["retrieval"; 20], "top_k": 10}).to_string();
    let mut client = begin(server.address, "POST", "/v1/search", &body);
    let mut read = 0;
    let mut part = [0; 512];
    // A page at a time, each after a request of somebody else.
    while gauge(server.address, HELD) > 0 || read == 0 {
        read += client.read(&mut part).unwrap_or_default();
    }
    let mut rest = Vec::new();
    let _reset = client.read_to_end(&mut rest);
    assert!(read + rest.len() < 200 * LONG_BYTES, "the reply was broken off");
    assert!(!rest.ends_with(b"0\r\n\r\n"), "and does not pretend to be whole");
}

#[test]
fn long_replies_come_whole_to_those_who_read() {
    let limits = ServerConfig { window_passages: 3, max_held_passages: 8, ..config() };
    let server = long(limits);
    let queries = ["retrieval", "translation", "models", "question", "dense"];
    let body = json!({"queries": queries, "top_k": 2}).to_string();
    let replies: Vec<HttpReply> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| finish(begin(server.address, "POST", "/v1/search", &body))))
            .collect();
        clients.into_iter().map(|client| client.join().expect("answered")).collect()
    });
    for reply in replies {
        assert_eq!((reply.status, reply.header("transfer-encoding")), (200, Some("chunked")));
        let document: Value = serde_json::from_str(&unchunked(&reply.body)).expect("JSON");
        let results = document["results"].as_array().expect("results");
        let got: Vec<_> = results.iter().filter_map(|result| result["query"].as_str()).collect();
        assert_eq!(got, queries);
        for result in results {
            assert_eq!(result["hits"].as_array().map(Vec::len), Some(2));
            assert_eq!(result["hits"][1]["rank"], 2);
        }
    }
    assert_eq!(gauge(server.address, HELD), 0);
}

/// The body without its transfer coding.
fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    loop {
        let (size, rest) = body.split_once("\r\n").expect("a size");
        let size = usize::from_str_radix(size, 16).expect("a number");
        if size == 0 {
            return whole;
        }
        whole.push_str(&rest[..size]);
        body = rest[size..].strip_prefix("\r\n").expect("an end");
    }
}

#[test]
fn the_original_route_is_streamed_and_released_as_well() {
    let server = long(ServerConfig { write_timeout: Duration::from_millis(200), ..config() });
    let body = json!({"query": "retrieval", "n_docs": 100}).to_string();
    let reply = finish(begin(server.address, "POST", "/search", &body));
    let document: Value = serde_json::from_str(&unchunked(&reply.body)).expect("JSON");
    assert_eq!(document["results"]["titles"].as_array().map(Vec::len), Some(100));
    let _stalled = begin(server.address, "POST", "/search", &body);
    until("a stalled reply", || (gauge(server.address, STALLED) >= 1).then_some(()));
    until("its room", || (gauge(server.address, HELD) == 0).then_some(()));
}

#[test]
fn a_length_beyond_the_limit_is_refused_before_the_body_comes() {
    let server = corpus();
    for length in ["1048577", "999999999999"] {
        let head = format!(
            "POST /v1/search HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n"
        );
        // Not a byte of the body is sent; the refusal comes, and the connection ends.
        let (status, reply) = raw(server.address, &head);
        assert_eq!(status, 413, "{reply}");
        assert!(
            reply.contains(&format!("the body has {length} bytes, more than the 1048576")),
            "{reply}"
        );
        assert!(reply.to_lowercase().contains("connection: close"), "{reply}");
        let (status, _) =
            raw(server.address, &head.replace("\r\n\r\n", "\r\nexpect: 100-continue\r\n\r\n"));
        assert_eq!(status, 413, "and nobody is told to go on");
    }
    // A body without a length is read up to the limit.
    let size = 1 << 20;
    let chunked = format!(
        "POST /v1/search HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{}\r\n8\r\n        \r\n0\r\n\r\n",
        size,
        " ".repeat(size)
    );
    assert_eq!(raw(server.address, &chunked).0, 413);
}

#[test]
fn requests_that_two_servers_would_read_differently_are_refused() {
    let server = corpus();
    let body = "{\"query\": \"retrieval\"}";
    let n = body.len();
    let chunks = format!("{n:x}\r\n{body}\r\n0\r\n\r\n");
    let post = "POST /v1/search HTTP/1.1\r\nhost: localhost\r\n";
    let smuggled = "GET /queue_size HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for (request, expect, says) in [
        (format!("{post}connection: close\r\ncontent-length: {n}\r\n\r\n{body}"), 200, "hits"),
        (format!("{post}transfer-encoding: chunked\r\n\r\n{chunks}"), 200, "hits"),
        (
            format!("{post}content-length: {n}\r\ntransfer-encoding: chunked\r\n\r\n{chunks}"),
            400,
            "both a Content-Length and a Transfer-Encoding",
        ),
        (
            format!("{post}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n{chunks}"),
            400,
            "both a Content-Length and a Transfer-Encoding",
        ),
        (
            // The second request of a connection.
            format!(
                "{smuggled}{post}transfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n{chunks}"
            ),
            400,
            "both a Content-Length and a Transfer-Encoding",
        ),
        (format!("{post}content-length: {n}\r\ncontent-length: 3\r\n\r\n{body}"), 400, ""),
        (format!("{post}content-length: {n}, {n}\r\n\r\n{body}"), 400, ""),
        (format!("{post}content-length: -1\r\n\r\n{body}"), 400, ""),
        (format!("{post}content-length : {n}\r\n\r\n{body}"), 400, ""),
        (format!("{post}transfer-encoding: gzip\r\n\r\n{body}"), 400, ""),
        (format!("{post}x: a\r\n b\r\ncontent-length: {n}\r\n\r\n{body}"), 400, ""),
        (
            format!("POST /v1/search HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n{chunks}"),
            400,
            "",
        ),
        (format!("{post}x: {}\r\n\r\n", "y".repeat(1 << 20)), 431, ""),
        (format!("{post}{}\r\n", "x: y\r\n".repeat(101)), 431, ""),
        (format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "x".repeat(1 << 20)), 431, ""),
    ] {
        let shown = &request[..request.len().min(200)];
        let (status, reply) = raw(server.address, &request);
        assert_eq!(status, expect, "{shown:?}: {reply}");
        assert!(reply.contains(says), "{shown:?}: {reply}");
    }
    // Nothing is taken for a request that follows a body with a transfer coding.
    let both = format!("{post}transfer-encoding: chunked\r\n\r\n{chunks}{smuggled}");
    let (_, reply) = raw(server.address, &both);
    assert!(!reply.contains("queue_size"), "{reply}");
    // One after the other is as it was.
    let two = format!("{smuggled}{}", smuggled.replace("host:", "connection: close\r\nhost:"));
    assert_eq!(raw(server.address, &two).1.matches("\"queue_size\"").count(), 2);
}

#[test]
fn bodies_that_never_come_are_not_waited_for() {
    let server = Running::start(
        Arc::new(MemoryRetriever::corpus()),
        ServerConfig { timeout: Duration::from_millis(50), ..config() },
    );
    for head in [
        "POST /search HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{",
        "POST /search HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nfff\r\n{",
    ] {
        assert_eq!(finish(send(server.address, head)).status, 504);
    }
    assert_eq!(gauge(server.address, "openscholar_held_body_bytes"), 0);
}

/// `GET path` with these header lines.
fn status(server: &Running, path: &str, lines: &str) -> u16 {
    let request = format!("GET {path} HTTP/1.1\r\nconnection: close\r\n{lines}\r\n");
    raw(server.address, &request).0
}

#[test]
fn pages_of_others_and_names_of_others_are_refused() {
    let port = |server: &Running| server.address.port();
    let named = ServerConfig {
        allowed_hosts: Hosts::new(["search.example.org"]).expect("a name"),
        ..config()
    };
    let server = Running::start(Arc::new(MemoryRetriever::corpus()), named.clone());
    for (lines, expect) in [
        (format!("host: localhost:{}\r\n", port(&server)), 200),
        ("host: search.example.org\r\norigin: https://search.example.org\r\n".to_owned(), 200),
        ("host: rebound.example\r\n".to_owned(), 421),
        (format!("host: rebound.example:{}\r\n", port(&server)), 421),
        (String::new(), 400),
        ("host: localhost\r\nhost: localhost\r\n".to_owned(), 400),
        ("host: localhost\r\norigin: https://rebound.example\r\n".to_owned(), 403),
        ("host: localhost\r\norigin: null\r\n".to_owned(), 403),
    ] {
        assert_eq!(status(&server, "/queue_size", &lines), expect, "{lines:?}");
    }
    let (_, reply) = raw(server.address, "GET / HTTP/1.1\r\nhost: rebound.example\r\n\r\n");
    assert!(reply.contains("\"misdirected\"") && reply.contains("--allowed-host"), "{reply}");
    // The original lets any page ask, by the server's own name.
    let exact = ServerConfig { upstream_exact: true, ..named };
    let server = Running::start(Arc::new(MemoryRetriever::corpus()), exact);
    let origin = "origin: https://rebound.example\r\n";
    let asked = |host: &str| status(&server, "/queue_size", &format!("host: {host}\r\n{origin}"));
    assert_eq!((asked("localhost"), asked("rebound.example")), (200, 421));
}

#[test]
fn with_tokens_nobody_searches_without_one() {
    let tokens = Tokens::parse("ada: 0123456789abcdef\n").expect("good");
    let limits = ServerConfig { tokens: Some(tokens), upstream_exact: true, ..config() };
    let server = Running::start(Arc::new(MemoryRetriever::corpus()), limits);
    let good = "host: localhost\r\nauthorization: Bearer 0123456789abcdef\r\n";
    for path in ["/queue_size", "/metrics", "/health", "/nothing"] {
        assert_eq!(status(&server, path, "host: localhost\r\n"), 401, "{path}");
        assert_ne!(status(&server, path, good), 401, "{path}");
    }
    assert_eq!(status(&server, "/health/live", "host: localhost\r\n"), 200);
    let reply = post(server.address, "/search", "{\"query\": \"retrieval\"}");
    assert_eq!(reply.header("www-authenticate"), Some("Bearer realm=\"openscholar\""));
    assert_eq!(reply.json()["error"]["code"], "unauthorized");
    // Browsers ask without a token whether they may send one.
    let preflight = "OPTIONS /search HTTP/1.1\r\nconnection: close\r\nhost: localhost\r\norigin: http://a.example\r\n\r\n";
    let (status, reply) = raw(server.address, preflight);
    assert_eq!(status, 204);
    assert!(reply.contains("content-type, authorization"), "{reply}");
}
