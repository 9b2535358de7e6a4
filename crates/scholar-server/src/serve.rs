//! The listening socket: connections in, a graceful end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::service::{Server, Shared};

/// After a connection could not be accepted, mostly for want of file handles.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Connections that were still busy when the time for ending was over.
    pub cut_off: usize,
}

/// Counts a connection as long as it lives.
struct Counted(Arc<Shared>);

impl Counted {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.connections.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(shared))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
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
        let address = listener.local_addr()?;
        tracing::info!(%address, "listening");
        let router = self.router();
        let places = Arc::new(Semaphore::new(self.shared.config.max_connections));
        let graceful = GracefulShutdown::new();
        let mut connections: JoinSet<()> = JoinSet::new();
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.shared.config.header_timeout);
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
            let counted = Counted::new(&self.shared);
            connections.spawn(async move {
                let _held = (place, counted);
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection broke off");
                }
            });
        }
        drop(listener);
        self.shared.stopping.store(true, Ordering::Release);
        let drained = tokio::time::timeout(self.shared.config.drain, graceful.shutdown()).await;
        let cut_off = match drained {
            Ok(()) => 0,
            Err(_) => self.shared.connections.load(Ordering::Relaxed),
        };
        Ok(Stopped { cut_off })
    }
}
