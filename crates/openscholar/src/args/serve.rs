//! Options of what listens: `datastore serve`, and who may reach it.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Answer searches over HTTP: the original's POST /search and a typed POST /v1/search.
#[derive(Debug, ClapArgs)]
pub(crate) struct ServeArgs {
    /// Datastore to serve.
    pub(crate) name: Option<String>,
    /// Address to listen on; port 0 takes any free one. An address that other machines can reach needs --token-file or --insecure.
    #[arg(long, default_value = "127.0.0.1:5005", value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
    /// Length of the queue; beyond it, queries get 503 with Retry-After.
    #[arg(long, default_value_t = 512, value_name = "N")]
    pub(crate) queue: usize,
    /// Threads for encoding and searching; if omitted, the configured number, else one per CPU core.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Largest batch of queries to encode together.
    #[arg(long, default_value_t = 32, value_name = "N")]
    pub(crate) batch: usize,
    /// Most passages that one query may request.
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    pub(crate) max_passages: usize,
    /// Most passages that all queries of a request may ask for together, half as many with explanations; left out: 20000,
    /// or what one query may ask for if that is more.
    #[arg(long, value_name = "N")]
    pub(crate) max_reply_passages: Option<usize>,
    /// Seconds until an unanswered request gets 504.
    #[arg(long, default_value_t = 60, value_name = "S")]
    pub(crate) timeout: u64,
    /// Reproduce the original server exactly: `n_docs` and `domains` are mandatory, replies carry no additional fields, the
    /// running query is visible to everyone, and any origin is allowed (CORS).
    #[arg(long)]
    pub(crate) upstream_exact: bool,
    /// Log every query to this file. Without it, queries are not stored.
    #[arg(long, value_name = "FILE")]
    pub(crate) log_queries: Option<PathBuf>,
    /// Who may search: a line NAME: TOKEN for each, in a file that only its owner can read. Clients send
    /// Authorization: Bearer TOKEN.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub(crate) token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}

/// Who may reach a server.
#[derive(Debug, ClapArgs)]
pub(crate) struct ReachArgs {
    /// An additional host name to accept, such as that of a reverse proxy. May be
    /// given several times. Requests for other names, and of pages from elsewhere, are refused.
    #[arg(long = "allowed-host", value_name = "NAME")]
    pub(crate) allowed_hosts: Vec<String>,
    /// Listen on an address that other machines can reach without authentication or encryption.
    #[arg(long)]
    pub(crate) insecure: bool,
}
