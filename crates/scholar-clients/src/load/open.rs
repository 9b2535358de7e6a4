//! Clients of a server with pages: requests at a steady rate, streams that stay open, and clients that dawdle.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::future::{self, join_all};
use serde::Serialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::sleep;
use url::Url;

use super::{Client, LoadReport, summed};
use crate::http::HttpClient;

/// Between two looks for something to watch.
const PAUSE: Duration = Duration::from_millis(50);

/// Posts each of `bodies` once, one every `per_second`th of a second whatever the server does.
///
/// A latency counts from the time at which its request was due, so that a server that stands still is not asked less.
pub async fn post_at_rate(
    http: &HttpClient,
    url: &Url,
    bodies: &[String],
    per_second: f64,
) -> LoadReport {
    let began = Instant::now();
    let requests = (0_u32..).zip(bodies).map(async |(at, body)| {
        let due = Duration::from_secs_f64(f64::from(at) / per_second.max(1e-3));
        sleep(due.saturating_sub(began.elapsed())).await;
        let mut seen = Client::default();
        let request = http.still_pool(url).post(url.clone()).body(body.clone());
        let request = request.header("content-type", "application/json");
        seen.send(request, || began.elapsed().saturating_sub(due)).await;
        seen
    });
    let seen = join_all(requests).await;
    summed(bodies.len(), began.elapsed().as_secs_f64(), &seen)
}

/// Gets `url` `n` times, by clients that each wait for a reply before they ask again.
pub async fn get_all(http: &HttpClient, urls: &[Url], n: usize, clients: usize) -> LoadReport {
    let next = AtomicUsize::new(0);
    let began = Instant::now();
    let client = async || {
        let mut seen = Client::default();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(url) = urls.get(at % urls.len().max(1)).filter(|_| at < n) else { break };
            let began = Instant::now();
            seen.send(http.still_pool(url).get(url.clone()), || began.elapsed()).await;
        }
        seen
    };
    let seen = join_all((0..clients).map(|_| client())).await;
    summed(clients, began.elapsed().as_secs_f64(), &seen)
}

/// What those who watch streams have seen.
#[derive(Debug, Default)]
pub struct Watched {
    /// Streams that are open now.
    pub open: AtomicUsize,
    /// Bytes that came over them.
    pub bytes: AtomicU64,
    /// Streams that could not be opened.
    pub refused: AtomicU64,
}

/// Watches the stream at the newest address there is, and the next when that ends, for ever.
pub async fn watch_streams(
    http: &HttpClient,
    newest: &watch::Receiver<Option<Url>>,
    seen: &Watched,
) {
    loop {
        let url = newest.borrow().clone();
        let Some(url) = url else {
            sleep(PAUSE).await;
            continue;
        };
        let request = http.still_pool(&url).get(url.clone()).header("accept", "text/event-stream");
        match request.send().await {
            Ok(mut reply) if reply.status().is_success() => {
                seen.open.fetch_add(1, Ordering::Relaxed);
                while let Ok(Some(chunk)) = reply.chunk().await {
                    seen.bytes.fetch_add(chunk.len() as u64, Ordering::Relaxed);
                }
                seen.open.fetch_sub(1, Ordering::Relaxed);
            }
            _ => {
                seen.refused.fetch_add(1, Ordering::Relaxed);
            }
        }
        sleep(PAUSE).await;
    }
}

/// How a client that dawdles fared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Dawdled {
    /// Seconds until the server ended the connection; `None` when it never did.
    pub ended_after_s: Option<f64>,
    /// The status that it was told, if any.
    pub status: Option<u16>,
}

/// Sends `at_once`, then one byte every `pause` or nothing more, and waits for the server to end the connection.
pub async fn dawdle(
    address: SocketAddr,
    at_once: &[u8],
    pause: Option<Duration>,
    patience: Duration,
) -> Dawdled {
    let began = Instant::now();
    let Ok(stream) = TcpStream::connect(address).await else {
        return Dawdled { ended_after_s: Some(0.0), status: None };
    };
    let (mut read, mut write) = stream.into_split();
    let mut head = Vec::new();
    let reading = async {
        let mut part = [0; 4_096];
        loop {
            match read.read(&mut part).await {
                Ok(0) | Err(_) => return,
                Ok(n) if head.len() < part.len() => head.extend_from_slice(&part[..n]),
                Ok(_) => {}
            }
        }
    };
    let writing = async {
        let mut result = write.write_all(at_once).await;
        while let (Ok(()), Some(pause)) = (&result, pause) {
            sleep(pause).await;
            result = write.write_all(b"x").await;
        }
        // What the server has to say about it is still to be read.
        future::pending::<()>().await;
    };
    let ended = async {
        tokio::select! {
            () = reading => {}
            () = writing => {}
        }
    };
    let in_time = tokio::time::timeout(patience, ended).await.is_ok();
    let status = head.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    Dawdled { ended_after_s: in_time.then(|| began.elapsed().as_secs_f64()), status }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn a_server_that_hangs_up_is_noticed_and_one_that_does_not_too() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let serving = tokio::spawn(async move {
            let (mut first, _) = listener.accept().await.expect("a client");
            let mut part = [0; 8];
            first.read_exact(&mut part).await.expect("eight bytes, some of them late");
            first.write_all(b"HTTP/1.1 408 Request Timeout\r\n\r\n").await.expect("sent");
            drop(first);
            listener.accept().await.expect("another")
        });
        let pause = Some(Duration::from_millis(1));
        let first = dawdle(address, b"GET", pause, Duration::from_secs(60)).await;
        assert_eq!((first.status, first.ended_after_s.is_some()), (Some(408), true));
        let second = dawdle(address, b"GET", None, Duration::from_millis(20)).await;
        assert_eq!(second, Dawdled { ended_after_s: None, status: None });
        let _kept = serving.await.expect("it served");
    }

    #[tokio::test]
    async fn requests_at_a_rate_are_all_sent_and_late_ones_are_counted_from_when_they_were_due() {
        let server = scholar_testing::ScriptedLmServer::start().await;
        server.respond_with(|_| scholar_testing::Behaviour::Text("yes".to_owned()));
        let url = Url::parse(&format!("{}/chat/completions", server.base_url())).expect("valid");
        let http = HttpClient::new().expect("TLS");
        let bodies = vec!["{}".to_owned(); 12];
        let report = post_at_rate(&http, &url, &bodies, 1_000.0).await;
        assert_eq!((report.latencies_ms.len(), report.errors()), (12, 0));
        assert!(report.seconds >= 0.011, "{}", report.seconds);
        let nobody = Url::parse("http://127.0.0.1:1/").expect("valid");
        let (_send, newest) = watch::channel(Some(nobody));
        let seen = Arc::new(Watched::default());
        let watching = watch_streams(&http, &newest, &seen);
        let _for_a_while = tokio::time::timeout(Duration::from_millis(200), watching).await;
        assert!(seen.refused.load(Ordering::Relaxed) > 0);
        assert_eq!(seen.open.load(Ordering::Relaxed), 0);
    }
}
