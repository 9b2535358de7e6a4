//! How a server behaves under load.

use std::time::Duration;

use crate::gate::{Hosts, Tokens};
use crate::queue::QueueConfig;

/// Limits of a server. No default: [`ServerConfig::local`] says for what it is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Name of what is served: the domain of upstream's interface.
    pub name: String,
    /// How queries wait and are batched.
    pub queue: QueueConfig,
    /// Most passages of one query.
    pub max_top_k: usize,
    /// Most queries of one request.
    pub max_queries: usize,
    /// Most passages of one request: its queries times the passages of each. Explained ones count twice, and long filters
    /// of many queries count too.
    pub max_reply_passages: usize,
    /// Passages that all requests together may hold, from their search until their clients have taken them; others wait
    /// for room.
    pub max_held_passages: usize,
    /// Passages of one request that are searched at once, or one query's; the next ones follow when its client has taken
    /// these, so that one who does not holds no more.
    pub window_passages: usize,
    /// Longest body of a request.
    pub max_body_bytes: usize,
    /// Bytes of all bodies that are being read or answered; one more is answered with 503.
    pub max_bodies_bytes: usize,
    /// Connections open at the same time; others wait in the system's own queue.
    pub max_connections: usize,
    /// A request that takes longer, its reading and its waiting included, is answered with 504.
    pub timeout: Duration,
    /// A client that sends the head of its request more slowly is disconnected.
    pub header_timeout: Duration,
    /// A client that does not take what is written for so long is disconnected.
    pub write_timeout: Duration,
    /// A reply that is not taken whole within this is broken off.
    pub reply_timeout: Duration,
    /// How long requests may go on after the server was asked to stop.
    pub drain: Duration,
    /// Answers exactly as the original does where it is odd: `n_docs` and `domains` are mandatory, replies have no
    /// fields of ours, the running query is shown to everybody, and pages of any origin may ask.
    pub upstream_exact: bool,
    /// Names of hosts that requests may be for, beside this machine's own.
    pub allowed_hosts: Hosts,
    /// Who may ask; left out, everybody who reaches the server.
    pub tokens: Option<Tokens>,
}

impl ServerConfig {
    /// One machine and its users: enough room for a few hundred clients at once.
    pub fn local(name: impl Into<String>, workers: usize) -> Self {
        Self {
            name: name.into(),
            queue: QueueConfig { capacity: 512, batch: 32, workers: workers.max(1) },
            max_top_k: 1_000,
            max_queries: 256,
            max_reply_passages: 20_000,
            max_held_passages: 60_000,
            window_passages: 2_000,
            max_body_bytes: 1 << 20,
            max_bodies_bytes: 16 << 20,
            max_connections: 1_024,
            timeout: Duration::from_secs(60),
            header_timeout: Duration::from_secs(15),
            write_timeout: Duration::from_secs(20),
            reply_timeout: Duration::from_secs(300),
            drain: Duration::from_secs(30),
            upstream_exact: false,
            allowed_hosts: Hosts::default(),
            tokens: None,
        }
    }

    /// The same server as the original runs: one query after the other, each alone.
    #[must_use]
    pub fn one_at_a_time(self) -> Self {
        Self { queue: QueueConfig { batch: 1, workers: 1, ..self.queue }, ..self }
    }
}
