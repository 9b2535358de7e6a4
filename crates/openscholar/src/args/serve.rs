//! Options of servers: `datastore serve`, and access to any of them.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Serve searches over HTTP: the reference implementation's POST /search and a typed POST /v1/search.
#[derive(Debug, ClapArgs)]
pub(crate) struct ServeArgs {
    /// Datastore to serve.
    pub(crate) name: Option<String>,
    /// Address to listen on; port 0 picks a free port. An address that other machines can reach needs --token-file or --insecure.
    #[arg(long, default_value = "127.0.0.1:5005", value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
    /// Maximum number of waiting queries; further ones get 503 with Retry-After.
    #[arg(long, default_value_t = 512, value_name = "N")]
    pub(crate) queue: usize,
    /// Threads for encoding and searching [default: the configured number, else one per CPU core].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Maximum number of queries encoded together.
    #[arg(long, default_value_t = 32, value_name = "N")]
    pub(crate) batch: usize,
    /// Maximum number of passages per query.
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    pub(crate) max_passages: usize,
    /// Maximum number of passages per request, over all its queries; half as many with explanations [default: 20000, or
    /// --max-passages if larger].
    #[arg(long, value_name = "N")]
    pub(crate) max_reply_passages: Option<usize>,
    /// Seconds until an unanswered request gets 504.
    #[arg(long, default_value_t = 60, value_name = "S")]
    pub(crate) timeout: u64,
    /// Reproduce the reference server exactly: `n_docs` and `domains` are required, replies have no additional fields, the
    /// running query is visible to everyone, and any origin is allowed (CORS).
    #[arg(long)]
    pub(crate) upstream_exact: bool,
    /// Log every query to this file. Without it, queries are not stored.
    #[arg(long, value_name = "FILE")]
    pub(crate) log_queries: Option<PathBuf>,
    /// File of access tokens, one `NAME: TOKEN` per line, readable by its owner only. Clients send
    /// `Authorization: Bearer TOKEN`.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub(crate) token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}

/// Ask, read and check answers in the browser, and over HTTP.
///
/// Runs are the same as those of `ask`. A question that was waiting or under way when the server ended goes on when it is started
/// again.
#[derive(Debug, ClapArgs)]
pub(crate) struct SiteArgs {
    /// Address to listen on; port 0 picks a free port. An address that other machines can reach needs --token-file or --insecure.
    #[arg(long, default_value = "127.0.0.1:5006", value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
    /// Datastore that can be asked; repeatable [default: all, the usual one first].
    #[arg(long, value_name = "NAME")]
    pub(crate) datastore: Vec<String>,
    /// Maximum number of questions answered at the same time.
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub(crate) concurrency: usize,
    /// Threads for models and searches [default: the configured number, else one per CPU core].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Send no requests; use only datastores and cached replies of any age.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Log every question and search query to this file. Without it, neither is logged; runs keep their questions all the same.
    #[arg(long, value_name = "FILE")]
    pub(crate) log_queries: Option<PathBuf>,
    /// File of access tokens, one `NAME: TOKEN` per line, readable by its owner only, with `questions-per-hour=N` and
    /// `usd-per-day=N` behind a token that is limited. Each sees their own runs and those that are shared.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub(crate) token_file: Option<PathBuf>,
    /// Study whose annotators' pages are served at /annotate: a file of `bench annotate create`; repeatable.
    #[arg(long = "study", value_name = "FILE")]
    pub(crate) studies: Vec<PathBuf>,
    /// Browsers reach the server through TLS, by a reverse proxy: cookies are then sent over nothing else.
    #[arg(long)]
    pub(crate) behind_tls: bool,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}

/// Who may reach a server.
#[derive(Debug, ClapArgs)]
pub(crate) struct ReachArgs {
    /// Additional host name to accept, such as that of a reverse proxy; repeatable. Requests for other hosts, and
    /// cross-origin requests, are rejected.
    #[arg(long = "allowed-host", value_name = "NAME")]
    pub(crate) allowed_hosts: Vec<String>,
    /// Listen on an address that other machines can reach without authentication or encryption.
    #[arg(long)]
    pub(crate) insecure: bool,
}

/// Measure both servers under load: throughput and memory of the search service; latencies, memory and bounds of the pages.
///
/// The search service is `datastore serve`, batched and unbatched, also under clients that do not read and requests of the
/// maximum size. The pages are those of `serve`, without a language model: open event streams, searches at a steady rate beside a
/// running question, many requests, and clients that dawdle.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BenchServeArgs {
    /// Datastore to serve.
    pub(crate) name: Option<String>,
    /// Number of concurrent clients of the search service.
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub(crate) clients: usize,
    /// Total number of requests to the search service.
    #[arg(long, default_value_t = 4_000, value_name = "N")]
    pub(crate) requests: usize,
    /// Number of open event streams.
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub(crate) streams: usize,
    /// Searches per second beside them.
    #[arg(long, default_value_t = 50.0, value_name = "N")]
    pub(crate) rate: f64,
    /// Duration of the searches beside the streams.
    #[arg(long, default_value_t = 60, value_name = "N")]
    pub(crate) seconds: u64,
    /// Requests over which the memory of the pages' server is observed.
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub(crate) pages: usize,
    /// Seconds that the server has to end connections of clients that dawdle; 0 leaves them out.
    #[arg(long, default_value_t = 75, value_name = "N")]
    pub(crate) dawdle_seconds: u64,
    /// Measure the pages only.
    #[arg(long)]
    pub(crate) only_pages: bool,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
