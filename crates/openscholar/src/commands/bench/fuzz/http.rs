//! Requests to the search service: broken ones over a pipe within this process, to the same code that answers sockets.
//!
//! Whatever comes, the connection ends, no worker breaks, and nothing of it stays: room and bodies are free afterwards.

use std::sync::Arc;
use std::time::Duration;

use futures::future;
use scholar_server::{CollectionSize, Server, ServerConfig};
use scholar_testing::MemoryRetriever;
use scholar_testing::mutate::{Random, mutate};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::Runtime;

use super::{Reader, Subject};

/// Good requests without a body.
const GOT: [&str; 4] = [
    "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET http://127.0.0.1:5005/queue_size HTTP/1.1\r\nHost: 127.0.0.1:5005\r\nConnection: close\r\n\r\n",
    "GET /metrics HTTP/1.0\r\n\r\n",
    "OPTIONS /search HTTP/1.1\r\nHost: [::1]\r\nOrigin: http://localhost:3000\r\n\r\n",
];

/// Bodies of every field, and where they go.
const POSTED: [(&str, &str); 3] = [
    ("/search", r#"{"query": "dense passage retrieval", "n_docs": 3, "domains": "pes2o"}"#),
    ("/v1/search", r#"{"query": "retrieval"}"#),
    (
        "/v1/search",
        r#"{"queries": ["retrieval", "machine translation"], "top_k": 5, "mode": "lexical", "explain": true,
            "filter": {"published_before": "2030-01-01", "year_from": 2010, "year_to": 2030, "venues": ["ACL"],
            "min_citations": 0, "licences": ["cc-by"], "without_retracted": true, "papers": ["doi:10.1000/y"],
            "exclude": ["doi:10.1000/x"], "exclude_titles": ["A"]}}"#,
    ),
];

/// Good requests of every kind: with a length, in chunks, after being told to go on, two in a row.
fn samples() -> Vec<Vec<u8>> {
    let mut samples: Vec<String> = GOT.map(str::to_owned).into();
    for (path, body) in POSTED {
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n");
        let n = body.len();
        let whole = format!("{head}Content-Length: {n}\r\n\r\n{body}");
        samples.push(format!("{head}Expect: 100-continue\r\nContent-Length: {n}\r\n\r\n{body}"));
        let (first, rest) = body.split_at(9);
        samples.push(format!(
            "{head}Transfer-Encoding: chunked\r\n\r\n9\r\n{first}\r\n{:x}\r\n{rest}\r\n0\r\n\r\n",
            rest.len()
        ));
        samples.push(format!("{}{whole}", GOT[0]));
        samples.push(whole);
    }
    samples.into_iter().map(String::into_bytes).collect()
}

/// What is 0 after a request, whatever was asked.
const ZERO: [&str; 3] = [
    "openscholar_held_passages",
    "openscholar_held_body_bytes",
    "openscholar_queries_failed_total",
];

/// Asks how the server is; the connection ends after it.
const METRICS: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Bytes that a pipe holds: small, so that both sides wait for each other.
const PIPE: usize = 4 << 10;

/// The search service as it is, and as the original is.
pub(super) fn subjects() -> Vec<Subject> {
    let subject = |name: &str, upstream_exact: bool| Subject {
        name: name.to_owned(),
        open: Box::new(move || Ok(Box::new(Requests::open(upstream_exact)?) as Box<dyn Reader>)),
    };
    vec![subject("HTTP requests", false), subject("HTTP requests, upstream's", true)]
}

/// A server for broken requests.
struct Requests {
    runtime: Runtime,
    server: Server,
    samples: Vec<Vec<u8>>,
}

impl Requests {
    /// Sends every good request once, which must be answered.
    fn open(upstream_exact: bool) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let config = ServerConfig {
            max_reply_passages: 400,
            max_body_bytes: 64 << 10,
            // Much of what is broken is half a request; what waits for the rest must not wait long.
            timeout: Duration::from_millis(20),
            header_timeout: Duration::from_millis(5),
            write_timeout: Duration::from_millis(100),
            upstream_exact,
            ..ServerConfig::local("forty", 1)
        };
        let probe = Arc::new(|| Ok(CollectionSize { papers: 40, passages: 40 }));
        let server = runtime.block_on(async {
            Server::start(Arc::new(MemoryRetriever::corpus()), config, probe, None)
        });
        let opened = Self { runtime, server, samples: samples() };
        for sample in &opened.samples {
            let reply = opened.ask(sample);
            if !reply.starts_with(b"HTTP/1.") {
                let sample = String::from_utf8_lossy(sample);
                return Err(format!("{sample:?} is not answered"));
            }
        }
        Ok(opened)
    }

    /// All that comes back.
    fn ask(&self, request: &[u8]) -> Vec<u8> {
        let (client, server) = tokio::io::duplex(PIPE);
        let talking = async move {
            let (mut from, mut to) = tokio::io::split(client);
            let mut reply = Vec::new();
            let sending = async {
                // The server may have had enough before everything is sent; what it said counts.
                drop(to.write_all(request).await);
                future::pending::<()>().await;
            };
            tokio::select! {
                () = sending => {}
                _ended = from.read_to_end(&mut reply) => {}
            }
            reply
        };
        let both = async { tokio::join!(self.server.answer(server), talking) };
        self.runtime.block_on(both).1
    }
}

impl Reader for Requests {
    fn read(&mut self, number: u64) -> bool {
        let reply = self.ask(&mutate(&self.samples, &mut Random::new(number)));
        let metrics = self.ask(METRICS);
        let metrics = String::from_utf8_lossy(&metrics);
        for name in ZERO {
            let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            assert_eq!(line, Some("0"), "{name} after input {number}");
        }
        reply.starts_with(b"HTTP/1.1 2") || reply.starts_with(b"HTTP/1.0 2")
    }
}
