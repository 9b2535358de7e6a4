//! The listening socket: connections in, a graceful end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::service::Server;

/// After a connection could not be accepted, mostly for want of file handles.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Connections that were still busy when the time for ending was over.
    pub cut_off: usize,
}

/// What connections may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Connections open at the same time; others wait in the system's own queue.
    pub(crate) max_connections: usize,
    /// A client that sends the head of its request more slowly is disconnected.
    pub(crate) header_timeout: Duration,
    /// How long requests may go on after the end was asked for.
    pub(crate) drain: Duration,
}

/// Counts a connection as long as it lives.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(connections: &Arc<AtomicUsize>) -> Self {
        connections.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(connections))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Server {
    /// Answers until `stop` is ready; then no connection is accepted any more, requests that are being answered are
    /// answered to the end, and idle connections are closed. What takes longer than
    /// [`drain`](crate::ServerConfig::drain) is cut off.
    ///
    /// # Errors
    /// When the listener's address cannot be told; a connection's failure is its own.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
    ) -> io::Result<Stopped> {
        let config = &self.shared.config;
        let limits = Limits {
            max_connections: config.max_connections,
            header_timeout: config.header_timeout,
            drain: config.drain,
        };
        let stop = async {
            stop.await;
            self.shared.stopping.store(true, Ordering::Release);
        };
        accept(self.router(), listener, limits, &self.shared.connections, stop).await
    }
}

/// Answers with `router` until `stop` is ready, as [`Server::serve`] says.
pub(crate) async fn accept(
    router: Router,
    listener: TcpListener,
    limits: Limits,
    open: &Arc<AtomicUsize>,
    stop: impl Future<Output = ()>,
) -> io::Result<Stopped> {
    let address = listener.local_addr()?;
    tracing::info!(%address, "listening");
    let places = Arc::new(Semaphore::new(limits.max_connections));
    let graceful = GracefulShutdown::new();
    let mut connections: JoinSet<()> = JoinSet::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout);
    tokio::pin!(stop);
    loop {
        let accept = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accept => accepted,
        };
        // Those that ended are only remembered until here.
        while connections.try_join_next().is_some() {}
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Replies are written whole; without this the last piece may wait for an acknowledgement.
        let _best_effort = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        let counted = Counted::new(open);
        connections.spawn(async move {
            let _held = (place, counted);
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke off");
            }
        });
    }
    drop(listener);
    let cut_off = match tokio::time::timeout(limits.drain, graceful.shutdown()).await {
        Ok(()) => 0,
        Err(_) => open.load(Ordering::Relaxed),
    };
    Ok(Stopped { cut_off })
}
