//! How a server behaves under load.

use std::time::Duration;

/// Limits of a server. No default: [`ServerConfig::local`] says for what it is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Name of what is served: the domain of upstream's interface.
    pub name: String,
    /// Queries that may wait; one more is answered with 503.
    pub queue: usize,
    /// Batches that are searched at the same time.
    pub workers: usize,
    /// Most queries of one batch.
    pub batch: usize,
    /// Most passages of one query.
    pub max_top_k: usize,
    /// Most queries of one request.
    pub max_queries: usize,
    /// Longest body of a request.
    pub max_body_bytes: usize,
    /// Connections open at the same time; others wait in the system's own queue.
    pub max_connections: usize,
    /// A request that takes longer, its reading and its waiting included, is answered with 504.
    pub timeout: Duration,
    /// A client that sends the head of its request more slowly is disconnected.
    pub header_timeout: Duration,
    /// How long requests may go on after the server was asked to stop.
    pub drain: Duration,
    /// Answers exactly as the original does where it is odd: `n_docs` and `domains` are mandatory, replies have no
    /// fields of ours, the running query is shown to everybody, and pages of any origin may ask.
    pub upstream_exact: bool,
}

impl ServerConfig {
    /// One machine and its users: enough room for a few hundred clients at once.
    pub fn local(name: impl Into<String>, workers: usize) -> Self {
        Self {
            name: name.into(),
            queue: 512,
            workers: workers.max(1),
            batch: 32,
            max_top_k: 1_000,
            max_queries: 256,
            max_body_bytes: 1 << 20,
            max_connections: 1_024,
            timeout: Duration::from_secs(60),
            header_timeout: Duration::from_secs(15),
            drain: Duration::from_secs(30),
            upstream_exact: false,
        }
    }

    /// The same server as the original runs: one query after the other, each alone.
    #[must_use]
    pub fn one_at_a_time(self) -> Self {
        Self { workers: 1, batch: 1, ..self }
    }
}
