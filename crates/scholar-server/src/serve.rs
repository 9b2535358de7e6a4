//! The listening socket: connections in, a graceful end.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderValue, Request, header};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::connection::{Guarded, Link, Traffic};
use crate::service::Server;

/// After a connection could not be accepted, mostly for want of file handles.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Longest head of a request, and about what a connection buffers of a reply.
const BUFFER_BYTES: usize = 64 << 10;

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
    /// A client that does not take what is written for so long is disconnected.
    pub(crate) write_timeout: Duration,
    /// How long requests may go on after the end was asked for.
    pub(crate) drain: Duration,
}

/// Counts a connection as long as it lives.
struct Counted(Arc<Traffic>);

impl Counted {
    fn new(traffic: &Arc<Traffic>) -> Self {
        traffic.open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(traffic))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The routes as one connection's requests meet them.
struct Linked {
    router: TowerToHyperService<Router>,
    link: Arc<Link>,
}

impl Service<Request<Incoming>> for Linked {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        // What follows a body with a transfer coding is not looked at (see `connection`), so nothing may follow.
        let last = request.headers().contains_key(header::TRANSFER_ENCODING);
        request.extensions_mut().insert(Arc::clone(&self.link));
        let answered = self.router.call(request);
        Box::pin(async move {
            let mut response = answered.await?;
            if last {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(header::CONNECTION, close);
            }
            Ok(response)
        })
    }
}

/// Answers connections with a router.
struct Answering {
    http: http1::Builder,
    router: Router,
    limits: Limits,
    traffic: Arc<Traffic>,
}

impl Answering {
    fn new(router: Router, limits: Limits, traffic: &Arc<Traffic>) -> Self {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(limits.header_timeout)
            .max_buf_size(BUFFER_BYTES);
        Self { http, router, limits, traffic: Arc::clone(traffic) }
    }

    /// Answers what comes over `stream`, whose ends are the addresses `local` and `peer`.
    fn connection<S: AsyncRead + AsyncWrite + Unpin + 'static>(
        &self,
        stream: S,
        [local, peer]: [Option<IpAddr>; 2],
    ) -> http1::Connection<TokioIo<Guarded<S>>, Linked> {
        let link = Arc::new(Link { local, peer, ..Link::default() });
        let traffic = Arc::clone(&self.traffic);
        let stream = Guarded::new(stream, Arc::clone(&link), traffic, self.limits.write_timeout);
        let router = TowerToHyperService::new(self.router.clone());
        self.http.serve_connection(TokioIo::new(stream), Linked { router, link })
    }
}

impl Server {
    pub(crate) fn limits(&self) -> Limits {
        let config = &self.shared.config;
        Limits {
            max_connections: config.max_connections,
            header_timeout: config.header_timeout,
            write_timeout: config.write_timeout,
            drain: config.drain,
        }
    }

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
        let stop = async {
            stop.await;
            self.shared.stopping.store(true, Ordering::Release);
        };
        accept(self.router(), listener, self.limits(), &self.shared.traffic, stop).await
    }

    /// Answers what comes over one stream that is no socket, such as a pipe within this process, to its end.
    pub async fn answer(&self, stream: impl AsyncRead + AsyncWrite + Unpin + 'static) {
        let answering = Answering::new(self.router(), self.limits(), &self.shared.traffic);
        let _counted = Counted::new(&self.shared.traffic);
        if let Err(error) = answering.connection(stream, [None, None]).await {
            tracing::debug!(%error, "a connection broke off");
        }
    }
}

/// Answers with `router` until `stop` is ready, as [`Server::serve`] says.
pub(crate) async fn accept(
    router: Router,
    listener: TcpListener,
    limits: Limits,
    traffic: &Arc<Traffic>,
    stop: impl Future<Output = ()>,
) -> io::Result<Stopped> {
    let address = listener.local_addr()?;
    tracing::info!(%address, "listening");
    let places = Arc::new(Semaphore::new(limits.max_connections));
    let graceful = GracefulShutdown::new();
    let mut connections: JoinSet<()> = JoinSet::new();
    let answering = Answering::new(router, limits, traffic);
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
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // The last piece of a reply may wait for an acknowledgement without this.
        let _best_effort = stream.set_nodelay(true);
        let local = stream.local_addr().ok().map(|address| address.ip());
        let connection = graceful.watch(answering.connection(stream, [local, Some(peer.ip())]));
        let counted = Counted::new(traffic);
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
        Err(_) => traffic.open.load(Ordering::Relaxed),
    };
    Ok(Stopped { cut_off })
}
