//! Many clients at once against one server: what a load test needs.

mod open;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::future::{self, Either, join_all, select};
use scholar_core::{PortError, PortErrorKind};
use serde::Serialize;
use serde_json::Value;
use url::Url;

use crate::http::{HttpClient, reason, redacted};

pub use open::{Dawdled, Watched, dawdle, get_all, post_at_rate, watch_streams};

/// Latencies and statuses of many clients that asked a server at once.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadReport {
    /// Clients that asked at the same time.
    pub clients: usize,
    /// Seconds from the first request to the last reply.
    pub seconds: f64,
    /// Milliseconds of every answered request, ascending.
    #[serde(skip)]
    pub latencies_ms: Vec<f64>,
    /// Number of replies by HTTP status.
    pub statuses: BTreeMap<u16, u64>,
    /// Requests without a reply, with the reason of the first.
    pub unanswered: u64,
    /// Why the first unanswered request was not answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<String>,
}

impl LoadReport {
    /// Successful replies per second.
    #[expect(clippy::cast_precision_loss, reason = "counts of a measurement")]
    pub fn per_second(&self) -> f64 {
        self.statuses.get(&200).copied().unwrap_or_default() as f64 / self.seconds.max(1e-9)
    }

    /// Several one after the other as one; the seconds between them are not counted.
    pub fn joined(reports: &[Self]) -> Self {
        let mut whole = summed(0, 0.0, &[]);
        for report in reports {
            let Self { clients, seconds, latencies_ms, statuses, unanswered, first_failure } =
                report;
            whole.clients = whole.clients.max(*clients);
            whole.seconds += seconds;
            whole.latencies_ms.extend(latencies_ms);
            for (status, n) in statuses {
                *whole.statuses.entry(*status).or_default() += n;
            }
            whole.unanswered += unanswered;
            whole.first_failure = whole.first_failure.or_else(|| first_failure.clone());
        }
        whole.latencies_ms.sort_by(f64::total_cmp);
        whole
    }

    /// Requests that were not answered with success.
    pub fn errors(&self) -> u64 {
        let refused = self.statuses.iter().filter(|(status, _)| **status != 200);
        self.unanswered + refused.map(|(_, n)| n).sum::<u64>()
    }

    /// The latency that a `share` of the replies stays below, in milliseconds; 0 without replies.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index into a list that fits in memory"
    )]
    pub fn percentile_ms(&self, share: f64) -> f64 {
        let last = self.latencies_ms.len().saturating_sub(1);
        let at = (last as f64 * share.clamp(0.0, 1.0)).round() as usize;
        self.latencies_ms.get(at).copied().unwrap_or_default()
    }
}

#[derive(Default)]
struct Client {
    latencies: Vec<Duration>,
    statuses: BTreeMap<u16, u64>,
    failures: Vec<String>,
}

impl Client {
    /// Sends a request and reads its reply to the end, when `waited` says how long that took.
    async fn send(&mut self, request: reqwest::RequestBuilder, waited: impl Fn() -> Duration) {
        let reply = async {
            let mut reply = request.send().await?;
            let status = reply.status().as_u16();
            // Not kept: the measured server may be in this process.
            while reply.chunk().await?.is_some() {}
            Ok(status)
        };
        match reply.await {
            Ok(status) => {
                self.latencies.push(waited());
                *self.statuses.entry(status).or_default() += 1;
            }
            Err(error) => self.failures.push(reason(error)),
        }
    }
}

/// Posts each of `bodies` once, spread over `clients` that each wait for a reply before they ask again.
pub async fn post_all(
    http: &HttpClient,
    url: &Url,
    bodies: &[String],
    clients: usize,
) -> LoadReport {
    let next = AtomicUsize::new(0);
    let began = Instant::now();
    let client = async || {
        let mut seen = Client::default();
        while let Some(body) = bodies.get(next.fetch_add(1, Ordering::Relaxed)) {
            let began = Instant::now();
            let request = http.still_pool(url).post(url.clone()).body(body.clone());
            seen.send(request, || began.elapsed()).await;
        }
        seen
    };
    let seen = join_all((0..clients).map(|_| client())).await;
    summed(clients, began.elapsed().as_secs_f64(), &seen)
}

/// What clients have seen, in one.
fn summed(clients: usize, seconds: f64, seen: &[Client]) -> LoadReport {
    let mut latencies_ms: Vec<f64> = seen
        .iter()
        .flat_map(|client| &client.latencies)
        .map(|latency| latency.as_secs_f64() * 1e3)
        .collect();
    latencies_ms.sort_by(f64::total_cmp);
    let mut statuses: BTreeMap<u16, u64> = BTreeMap::new();
    for (status, n) in seen.iter().flat_map(|client| &client.statuses) {
        *statuses.entry(*status).or_default() += n;
    }
    let failures: Vec<&String> = seen.iter().flat_map(|client| &client.failures).collect();
    LoadReport {
        clients,
        seconds,
        latencies_ms,
        statuses,
        unanswered: failures.len() as u64,
        first_failure: failures.first().map(|reason| (*reason).clone()),
    }
}

/// Runs `work` while as many clients as there are `bodies` each ask once and read nothing of what comes.
pub async fn stall_while<T>(
    http: &HttpClient,
    url: &Url,
    bodies: &[String],
    work: impl Future<Output = T>,
) -> T {
    let stalled = bodies.iter().map(async |body| {
        // Kept, so that the connection stays open; refused or not, it ends with the work.
        let _reply = http.still_pool(url).post(url.clone()).body(body.clone()).send().await;
        future::pending::<()>().await;
    });
    match select(Box::pin(work), Box::pin(join_all(stalled))).await {
        Either::Left((done, _)) => done,
        Either::Right(_) => future::pending().await,
    }
}

/// Posts JSON and reads the JSON that comes back.
///
/// # Errors
/// `Unavailable` when there is no reply, `Rejected` for any status but success and for a reply that is no JSON.
pub async fn post_json(http: &HttpClient, url: &Url, body: &Value) -> Result<Value, PortError> {
    let failed = |kind, why: String| {
        PortError::new(kind, format!("{} did not answer: {why}", redacted(url)))
    };
    let unavailable = |error| failed(PortErrorKind::Unavailable, reason(error));
    let request = http.still_pool(url).post(url.clone()).body(body.to_string());
    let request = request.header("content-type", "application/json");
    let reply = request.send().await.map_err(unavailable)?;
    let status = reply.status();
    if !status.is_success() {
        return Err(failed(PortErrorKind::Rejected, status.to_string()));
    }
    let text = reply.text().await.map_err(unavailable)?;
    serde_json::from_str(&text).map_err(|error| failed(PortErrorKind::Rejected, error.to_string()))
}

/// The text at `url`.
///
/// # Errors
/// `Unavailable` when there is no reply, `Rejected` for any status but success.
pub async fn get_text(http: &HttpClient, url: &Url) -> Result<String, PortError> {
    let failed = |kind, why: String| {
        PortError::new(kind, format!("{} did not answer: {why}", redacted(url)))
    };
    let unavailable = |error| failed(PortErrorKind::Unavailable, reason(error));
    let reply = http.still_pool(url).get(url.clone()).send().await.map_err(unavailable)?;
    let status = reply.status();
    if !status.is_success() {
        return Err(failed(PortErrorKind::Rejected, status.to_string()));
    }
    reply.text().await.map_err(unavailable)
}

#[cfg(test)]
mod tests {
    use scholar_testing::{Behaviour, ScriptedLmServer};

    use super::*;

    #[tokio::test]
    async fn every_body_is_posted_once_and_every_outcome_is_counted() {
        let server = ScriptedLmServer::start().await;
        server.respond_with(|body| match body["n"].as_u64() {
            Some(3) => Behaviour::ServerError,
            _ => Behaviour::Text("yes".to_owned()),
        });
        let url = Url::parse(&format!("{}/chat/completions", server.base_url())).expect("valid");
        let bodies: Vec<String> = (0..20).map(|n| format!("{{\"n\": {n}}}")).collect();
        let http = HttpClient::new().expect("TLS");
        let report = post_all(&http, &url, &bodies, 6).await;
        assert_eq!(report.statuses, BTreeMap::from([(200, 19), (500, 1)]));
        assert_eq!((report.errors(), report.unanswered), (1, 0));
        assert_eq!(report.latencies_ms.len(), 20);
        assert!(report.percentile_ms(0.5) <= report.percentile_ms(1.0));
        let mut asked: Vec<_> =
            server.requests().iter().filter_map(|request| request.body["n"].as_u64()).collect();
        asked.sort_unstable();
        assert_eq!(asked, (0..20).collect::<Vec<_>>());
        drop(server);
        let nobody = Url::parse("http://127.0.0.1:1/").expect("valid");
        let report = post_all(&http, &nobody, &bodies, 2).await;
        assert_eq!((report.errors(), report.first_failure.is_some()), (20, true));
        assert!(get_text(&http, &nobody).await.is_err());
    }
}
