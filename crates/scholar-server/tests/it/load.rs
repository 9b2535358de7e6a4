//! More clients than can be served at once, and the end of a server.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use scholar_server::{QueueConfig, ServerConfig};
use scholar_testing::http::{HttpReply, begin, finish, get, post};
use serde_json::json;

use super::{Gated, Running, config};

const BODY: &str = "{\"query\": \"retrieval\", \"n_docs\": 2}";

fn small(capacity: usize) -> ServerConfig {
    ServerConfig { queue: QueueConfig { capacity, batch: 4, workers: 1 }, ..config() }
}

fn one_worker() -> ServerConfig {
    let queue = QueueConfig { workers: 1, ..config().queue };
    ServerConfig { queue, ..config() }
}

/// Waits until `n` queries wait in the queue: each was sent by a thread of its own.
fn wait_for_queue(server: &Running, n: u64) {
    loop {
        let size = get(server.address, "/queue_size").json()["queue_size"].as_u64();
        if size == Some(n) {
            return;
        }
        std::thread::yield_now();
    }
}

#[test]
fn two_hundred_clients_are_answered_in_batches() {
    let gated = Gated::closed();
    let server = Running::start(Arc::clone(&gated) as _, one_worker());
    let replies: Vec<HttpReply> = std::thread::scope(|scope| {
        let ask = |n: usize| {
            let body = json!({"query": format!("retrieval {n}"), "n_docs": 3}).to_string();
            post(server.address, "/search", &body)
        };
        let first = scope.spawn(move || ask(0));
        gated.wait_for_arrival();
        let clients: Vec<_> = (1..200).map(|n| scope.spawn(move || ask(n))).collect();
        wait_for_queue(&server, 199);
        gated.open(1_000);
        [first].into_iter().chain(clients).map(|client| client.join().expect("answered")).collect()
    });
    for (n, reply) in replies.iter().enumerate() {
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert_eq!(reply.json()["query"], json!(format!("retrieval {n}")), "its own answer");
    }
    assert_eq!(gated.batches(), [1, 32, 32, 32, 32, 32, 32, 7]);
}

#[test]
fn a_full_queue_says_when_to_come_again_and_recovers() {
    let gated = Gated::closed();
    let server = Running::start(Arc::clone(&gated) as _, small(3));
    let running = begin(server.address, "POST", "/search", BODY);
    gated.wait_for_arrival();
    let waiting: Vec<_> = (0..3).map(|_| begin(server.address, "POST", "/search", BODY)).collect();
    wait_for_queue(&server, 3);

    let refused = post(server.address, "/search", BODY);
    assert_eq!(refused.status, 503);
    let seconds = refused.header("retry-after").and_then(|value| value.parse::<u64>().ok());
    assert!(seconds.is_some_and(|seconds| (1..=60).contains(&seconds)), "{refused:?}");
    assert_eq!(refused.json()["error"]["code"], "busy");
    assert_eq!(get(server.address, "/health").status, 200, "still there");
    let message = get(server.address, "/current_search").json()["message"].clone();
    assert_eq!(message, "1 searches are running", "and nobody's question");
    assert!(get(server.address, "/metrics").body.contains("openscholar_queries_refused_total 1"));

    // Clients that leave make room.
    drop(waiting);
    wait_for_queue(&server, 0);
    let again = begin(server.address, "POST", "/search", BODY);
    gated.open(10);
    assert_eq!(finish(running).status, 200);
    assert_eq!(finish(again).status, 200);
    assert_eq!(gated.n_queries.load(std::sync::atomic::Ordering::Relaxed), 2, "only these two");
}

#[test]
fn a_batch_that_does_not_fit_is_refused_whole() {
    let gated = Gated::closed();
    gated.open(100);
    let server = Running::start(Arc::clone(&gated) as _, small(3));
    let body = |n: usize| json!({"queries": vec!["retrieval"; n]}).to_string();
    assert_eq!(post(server.address, "/v1/search", &body(4)).status, 400, "it can never fit");
    assert_eq!(post(server.address, "/v1/search", &body(3)).status, 200);
}

#[test]
fn slow_searches_and_slow_clients_are_cut_off() {
    let gated = Gated::closed();
    let limits = ServerConfig {
        timeout: Duration::from_millis(50),
        header_timeout: Duration::from_millis(50),
        ..config()
    };
    let server = Running::start(gated, limits);
    let reply = post(server.address, "/search", BODY);
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (504, &json!("timeout")));
    // Half a head, and half a body.
    let mut slow = std::net::TcpStream::connect(server.address).expect("listens");
    slow.write_all(b"POST /search HTTP/1.1\r\nhost: localhost\r\n").expect("sent");
    let mut rest = Vec::new();
    let _reset = slow.read_to_end(&mut rest);
    let mut slow = std::net::TcpStream::connect(server.address).expect("listens");
    slow.write_all(b"POST /search HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{")
        .expect("sent");
    assert_eq!(finish(slow).status, 504);
}

#[test]
fn stopping_answers_what_was_asked_and_takes_nothing_new() {
    let gated = Gated::closed();
    let mut server = Running::start(Arc::clone(&gated) as _, small(10));
    let running = begin(server.address, "POST", "/search", BODY);
    gated.wait_for_arrival();
    let waiting = begin(server.address, "POST", "/v1/search", "{\"query\": \"retrieval\"}");
    wait_for_queue(&server, 1);
    // A connection that asked once and stays open must not keep the server alive.
    let mut idle = std::net::TcpStream::connect(server.address).expect("listens");
    idle.write_all(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n").expect("sent");
    let mut answer = [0; 12];
    idle.read_exact(&mut answer).expect("answered");

    server.ask_to_stop();
    while std::net::TcpStream::connect(server.address).is_ok() {
        std::thread::yield_now();
    }
    gated.open(2);
    assert_eq!((finish(running).status, finish(waiting).status), (200, 200));
    assert_eq!(server.join().cut_off, 0);
}

#[test]
fn stopping_does_not_wait_for_ever() {
    let gated = Gated::closed();
    let limits = ServerConfig { drain: Duration::from_millis(50), ..small(10) };
    let server = Running::start(Arc::clone(&gated) as _, limits);
    let _running = begin(server.address, "POST", "/search", BODY);
    gated.wait_for_arrival();
    assert_eq!(server.join().cut_off, 1);
}
