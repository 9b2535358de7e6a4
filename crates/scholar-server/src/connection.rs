//! One client's connection: what it sends is followed, and what it does not take in time is not waited for.
//!
//! hyper has a time limit for the head of a request, but none for a reply that nobody reads: the reply would be held for
//! as long as the client likes. [`Guarded`] stands between hyper and the socket and ends such connections. It also looks
//! at the heads as they come, for what hyper puts right silently ([`HeadScanner`]), and lets a client that still sends a
//! refused body read why.

mod head;

use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use head::HeadScanner;

/// How long a client may go on sending a body that was refused.
const LINGER: Duration = Duration::from_secs(2);
/// How much of it is thrown away.
const LINGER_BYTES: usize = 4 << 20;
/// What is thrown away at once.
const SINK_BYTES: usize = 8 << 10;

/// What a server's connections come to.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// Connections that are open.
    pub(crate) open: AtomicUsize,
    /// Connections that were ended because their clients did not read.
    pub(crate) stalled: AtomicU64,
}

/// What handlers are told about the connection of a request, as an extension of the request.
#[derive(Debug, Default)]
pub(crate) struct Link {
    /// The address of this machine that the client reached; unknown for streams that are no sockets.
    pub(crate) local: Option<IpAddr>,
    /// The address that the client has, or the proxy in front of it.
    pub(crate) peer: Option<IpAddr>,
    /// Whether a head had both a length and a transfer coding.
    pub(crate) conflicting: AtomicBool,
}

/// A stream that gives up a client who does not read.
pub(crate) struct Guarded<S> {
    stream: S,
    link: Arc<Link>,
    traffic: Arc<Traffic>,
    scanner: HeadScanner,
    patience: Duration,
    /// Armed as long as the client has not taken all that was to be written at once.
    due: Option<Pin<Box<Sleep>>>,
    /// Armed while the rest of a refused body is thrown away.
    lingering: Option<(Pin<Box<Sleep>>, usize)>,
}

impl<S> Guarded<S> {
    /// A client that does not take within `patience` what is written at once is disconnected. Writes are as long as
    /// hyper's buffer, so that a client cannot stay by taking a byte now and then.
    pub(crate) fn new(
        stream: S,
        link: Arc<Link>,
        traffic: Arc<Traffic>,
        patience: Duration,
    ) -> Self {
        let scanner = HeadScanner::default();
        Self { stream, link, traffic, scanner, patience, due: None, lingering: None }
    }

    /// Looks at the outcome of writing `asked` bytes.
    fn taken(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<usize>>,
        asked: usize,
    ) -> Poll<io::Result<usize>> {
        match outcome {
            Poll::Ready(Err(_)) => return outcome,
            Poll::Ready(Ok(n)) if n == asked => {
                self.due = None;
                return outcome;
            }
            Poll::Ready(Ok(_)) | Poll::Pending => {}
        }
        let patience = self.patience;
        let due = self.due.get_or_insert_with(|| Box::pin(sleep(patience)));
        if due.as_mut().poll(context).is_pending() {
            return outcome;
        }
        self.traffic.stalled.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        if this.scanner.see(&buffer.filled()[before..]) {
            this.link.conflicting.store(true, Ordering::Release);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.taken(context, outcome, bytes.len())
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write_vectored(context, buffers);
        this.taken(context, outcome, buffers.iter().map(|buffer| buffer.len()).sum())
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    /// Says that nothing more comes. While the client is still sending a body, closing would reset the connection, and
    /// with it the reply that says why the body was refused: so the rest is thrown away, for a while.
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.lingering.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
            if !this.scanner.expects_body() {
                return Poll::Ready(Ok(()));
            }
        }
        let (until, left) =
            this.lingering.get_or_insert_with(|| (Box::pin(sleep(LINGER)), LINGER_BYTES));
        while *left > 0 && until.as_mut().poll(context).is_pending() {
            let mut sink = [0; SINK_BYTES];
            let mut sink = ReadBuf::new(&mut sink);
            // A client that went away needs no patience.
            if ready!(Pin::new(&mut this.stream).poll_read(context, &mut sink)).is_err()
                || sink.filled().is_empty()
            {
                break;
            }
            *left = left.saturating_sub(sink.filled().len());
        }
        Poll::Ready(Ok(()))
    }
}
