//! Counters of a server, as Prometheus reads them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::connection::Traffic;

/// Upper bounds of the buckets of search times, in seconds.
const BUCKETS: [f64; 11] = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// Everything that is counted. Queries themselves are not kept.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<(String, u16), u64>>,
    searched: AtomicU64,
    failed: AtomicU64,
    refused: AtomicU64,
    batches: AtomicU64,
    batched: AtomicU64,
    micros: AtomicU64,
    buckets: [AtomicU64; BUCKETS.len()],
}

impl Metrics {
    /// A reply with `status` to a request for `route`, which is one of the router's names or `other`.
    pub(crate) fn request(&self, route: &str, status: u16) {
        *self.requests.lock().entry((route.to_owned(), status)).or_default() += 1;
    }

    pub(crate) fn refused(&self, queries: usize) {
        self.refused.fetch_add(queries as u64, Ordering::Relaxed);
    }

    pub(crate) fn batch(&self, queries: usize) {
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.batched.fetch_add(queries as u64, Ordering::Relaxed);
    }

    /// A query with its time in the queue and in the search.
    pub(crate) fn searched(&self, time: Duration, ok: bool) {
        self.searched.fetch_add(1, Ordering::Relaxed);
        if !ok {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
        let seconds = time.as_secs_f64();
        if let Some(at) = BUCKETS.iter().position(|bound| seconds <= *bound) {
            self.buckets[at].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The counters and the given gauges as text.
    pub(crate) fn render(&self, traffic: &Traffic, gauges: &[(&str, &str, u64)]) -> String {
        let mut text = String::new();
        head(&mut text, "requests_total", "counter", "Requests by route and status.");
        for ((route, status), n) in self.requests.lock().iter() {
            let labels = format!("{{route=\"{route}\",status=\"{status}\"}}");
            line(&mut text, "requests_total", &labels, n);
        }
        let stalled = "Connections ended because their clients did not read.";
        let counters = [
            ("queries_total", "Queries searched.", &self.searched),
            ("queries_failed_total", "Queries whose search failed.", &self.failed),
            ("queries_refused_total", "Queries that met a full queue.", &self.refused),
            ("batches_total", "Batches searched.", &self.batches),
            ("batched_queries_total", "Queries in those batches.", &self.batched),
            ("stalled_connections_total", stalled, &traffic.stalled),
        ];
        for (name, help, value) in counters {
            head(&mut text, name, "counter", help);
            line(&mut text, name, "", value.load(Ordering::Relaxed));
        }
        for (name, help, value) in gauges {
            head(&mut text, name, "gauge", help);
            line(&mut text, name, "", value);
        }
        self.histogram(&mut text);
        text
    }

    #[expect(clippy::cast_precision_loss, reason = "seconds for people")]
    fn histogram(&self, text: &mut String) {
        let name = "search_seconds";
        head(text, name, "histogram", "Seconds from a query's arrival to its result.");
        let mut below = 0;
        for (bound, n) in BUCKETS.iter().zip(&self.buckets) {
            below += n.load(Ordering::Relaxed);
            line(text, "search_seconds_bucket", &format!("{{le=\"{bound}\"}}"), below);
        }
        let all = self.searched.load(Ordering::Relaxed);
        line(text, "search_seconds_bucket", "{le=\"+Inf\"}", all);
        let seconds = self.micros.load(Ordering::Relaxed) as f64 / 1e6;
        line(text, "search_seconds_sum", "", seconds);
        line(text, "search_seconds_count", "", all);
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _infallible =
        write!(text, "# HELP openscholar_{name} {help}\n# TYPE openscholar_{name} {kind}\n");
}

fn line(text: &mut String, name: &str, labels: &str, value: impl std::fmt::Display) {
    let _infallible = writeln!(text, "openscholar_{name}{labels} {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative_and_the_last_holds_everything() {
        let metrics = Metrics::default();
        for millis in [1, 4, 4, 90_000] {
            metrics.searched(Duration::from_millis(millis), millis != 4);
        }
        metrics.request("/search", 200);
        metrics.refused(3);
        metrics.batch(4);
        let text = metrics.render(&Traffic::default(), &[("queue_size", "Queries that wait.", 7)]);
        for expect in [
            "openscholar_requests_total{route=\"/search\",status=\"200\"} 1",
            "openscholar_queries_total 4",
            "openscholar_queries_failed_total 2",
            "openscholar_queries_refused_total 3",
            "openscholar_batched_queries_total 4",
            "openscholar_queue_size 7",
            "openscholar_search_seconds_bucket{le=\"0.002\"} 1",
            "openscholar_search_seconds_bucket{le=\"0.005\"} 3",
            "openscholar_search_seconds_bucket{le=\"30\"} 3",
            "openscholar_search_seconds_bucket{le=\"+Inf\"} 4",
            "openscholar_search_seconds_sum 90.009",
            "openscholar_search_seconds_count 4",
        ] {
            assert!(text.lines().any(|line| line == expect), "{expect}\n{text}");
        }
    }
}
