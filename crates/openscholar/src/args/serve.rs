//! Options of `datastore serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Answer searches over HTTP: the original's POST /search and a typed POST /v1/search.
#[derive(Debug, ClapArgs)]
pub(crate) struct ServeArgs {
    /// Datastore to serve.
    pub(crate) name: Option<String>,
    /// Address to listen on; port 0 takes any free one. Whoever reaches it can search.
    #[arg(long, default_value = "127.0.0.1:5005", value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
    /// Queries that may wait; one more is answered with 503 and Retry-After.
    #[arg(long, default_value_t = 512, value_name = "N")]
    pub(crate) queue: usize,
    /// Threads for encoding and searching; left out: the configured number, else one per processor.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Most queries that are encoded together.
    #[arg(long, default_value_t = 32, value_name = "N")]
    pub(crate) batch: usize,
    /// Most passages a query may ask for.
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    pub(crate) max_passages: usize,
    /// Seconds after which a request that was not answered gets 504.
    #[arg(long, default_value_t = 60, value_name = "S")]
    pub(crate) timeout: u64,
    /// Be as odd as the original: number of documents and domain are mandatory, replies have no fields of ours, the
    /// running query is shown to everybody, pages of any origin may ask.
    #[arg(long)]
    pub(crate) upstream_exact: bool,
    /// Append every query to this file. Without it queries are kept nowhere.
    #[arg(long, value_name = "FILE")]
    pub(crate) log_queries: Option<PathBuf>,
}
