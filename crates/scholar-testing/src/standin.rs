//! A stand-in for the services that papers come from, on a loopback port, in a thread of its own.
//!
//! It answers in the true shapes of Semantic Scholar, OpenAlex, arXiv, `PubMed`, Crossref, Unpaywall, You.com, Brave,
//! ar5iv, GROBID, Zotero and the DOI resolver, each under a path prefix: first from recorded exchanges, then from a small
//! invented library ([`world`]). [`Fault`]s break single answers on demand. Every request is logged, in process
//! ([`StandIn::log`]) and at `/__log`; `/__reset` forgets log and faults.
//!
//! ```
//! let server = scholar_testing::StandIn::start().expect("a free loopback port");
//! let reply = scholar_testing::http::get(server.address(), "/s2/graph/v1/paper/CorpusId:990000001?fields=title");
//! assert_eq!(reply.json()["title"], "Passage Retrieval for Scientific Question Answering");
//! assert_eq!(server.log().len(), 1);
//! ```

mod arxiv;
mod exchange;
mod fault;
mod openalex;
mod pages;
mod pubmed;
mod registries;
mod replay;
mod s2;
mod search;
mod serve;
#[cfg(test)]
mod tests;
mod web;
pub mod world;
mod zotero;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use tokio::sync::oneshot;

pub use exchange::LoggedRequest;
pub use fault::{Calls, Fault};
pub use replay::Recordings;

use serve::Shared;

/// The server; it stops when dropped.
pub struct StandIn {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Start of a service's settings, and its path here.
const SERVICES: [(&str, &str); 13] = [
    ("S2", "/s2"),
    ("OPENALEX", "/openalex"),
    ("ARXIV", "/arxiv"),
    ("NCBI", "/pubmed"),
    ("CROSSREF", "/crossref"),
    ("UNPAYWALL", "/unpaywall"),
    ("YDC", "/you"),
    ("BRAVE", "/brave"),
    ("AR5IV", "/ar5iv"),
    ("ARXIV_HTML", "/arxiv_html"),
    ("GROBID", "/grobid"),
    ("ZOTERO", "/zotero"),
    ("DOI", "/doi"),
];

impl StandIn {
    /// Starts it with the recordings that come with this crate.
    ///
    /// # Errors
    /// When no loopback port or thread is to be had.
    pub fn start() -> io::Result<Self> {
        Self::start_with(Recordings::embedded())
    }

    /// Starts it with other recordings.
    ///
    /// # Errors
    /// When no loopback port or thread is to be had.
    pub fn start_with(recordings: Recordings) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(format!("http://{address}"), recordings));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let state = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("stand-in".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serve::serve(listener, state) => {}
                    _ = stopped => {}
                }
            });
            // Replies that never end would otherwise be waited for.
            runtime.shutdown_background();
        })?;
        Ok(Self { address, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Loopback address and port that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Address of one service, for example `base_url("/s2")`.
    pub fn base_url(&self, prefix: &str) -> String {
        format!("http://{}{prefix}", self.address)
    }

    /// The settings that lead every client here: `S2_BASE_URL` and so on.
    pub fn settings(&self) -> BTreeMap<String, String> {
        let entry =
            |(name, prefix): (&str, &str)| (format!("{name}_BASE_URL"), self.base_url(prefix));
        SERVICES.into_iter().map(entry).collect()
    }

    /// Breaks the answers to requests whose path and query contain `route`, as counted by `calls` from now on. The
    /// fault that was added last wins.
    pub fn fault(&self, route: &str, calls: Calls, fault: Fault) {
        self.shared.faults.lock().add(route, calls, fault);
    }

    /// Every request so far, in order of arrival.
    pub fn log(&self) -> Vec<LoggedRequest> {
        self.shared.log.lock().clone()
    }

    /// Requests whose path begins with `prefix`.
    pub fn asked(&self, prefix: &str) -> Vec<LoggedRequest> {
        self.log().into_iter().filter(|request| request.path.starts_with(prefix)).collect()
    }

    /// From now on Zotero's items have files, which lie in `folder` as `KEY.pdf`.
    pub fn store_files(&self, folder: &std::path::Path) {
        *self.shared.storage.lock() = Some(folder.display().to_string());
    }

    /// Forgets log and faults.
    pub fn reset(&self) {
        self.shared.reset();
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        // The other end is gone only if the thread ended by itself.
        let _ended = self.stop.take().map(|stop| stop.send(()));
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

/// Shared by the parts that log.
type Log = Mutex<Vec<LoggedRequest>>;
