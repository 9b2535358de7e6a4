//! Throughput of the search service, and its memory under clients that do not read.

pub mod site;

use serde::Serialize;

/// One server under one load; `load` is what the load generator counted.
#[derive(Debug, Clone, Serialize)]
pub struct ServerTimings<L> {
    /// How it takes queries: `batched` or `one at a time`.
    pub server: &'static str,
    /// Clients at the same time.
    #[serde(skip)]
    pub clients: usize,
    /// Successful replies in a second.
    pub per_second: f64,
    /// Requests without a successful reply.
    pub errors: u64,
    /// Median latency in milliseconds.
    pub p50_ms: f64,
    /// 95th percentile of the latency, in milliseconds.
    pub p95_ms: f64,
    /// 99th percentile of the latency, in milliseconds.
    pub p99_ms: f64,
    /// Mean number of queries that were searched together.
    pub queries_per_batch: f64,
    /// The load generator's report: replies by status, and latencies.
    pub load: L,
}

/// What was measured: the batched server first, then the one that answers one query after the other.
#[derive(Debug)]
pub struct ServeReport<'a, L> {
    /// Name of the datastore.
    pub name: &'a str,
    /// The machine and the program's version.
    pub machine: &'a str,
    /// Clients at the same time.
    pub clients: usize,
    /// Requests of each measurement.
    pub requests: usize,
    /// Passages of a reply.
    pub passages: usize,
    /// One row of the table for each server.
    pub timings: &'a [ServerTimings<L>],
}

impl<L> ServeReport<'_, L> {
    /// The report as a Markdown document.
    pub fn markdown(&self) -> String {
        let Self { name, machine, clients, requests, passages, timings } = self;
        let rows: String = timings
            .iter()
            .map(|row| {
                format!(
                    "| {} | {} | {:.0} | {} | {:.1} | {:.1} | {:.1} | {:.1} |\n",
                    row.server,
                    row.clients,
                    row.per_second,
                    row.errors,
                    row.p50_ms,
                    row.p95_ms,
                    row.p99_ms,
                    row.queries_per_batch
                )
            })
            .collect();
        let ratio = match timings {
            [batched, single, ..] => batched.per_second / single.per_second.max(1e-9),
            _ => 0.0,
        };
        format!(
            "# Search service\n\nCommand: `openscholar bench serve {name} --clients {clients} --requests {requests}`\n\nMachine: {machine}.\n\n\
             Clients and server share the machine. Each client waits for its reply, then asks for {passages} passages for the next title; \
             nobody pauses. *One at a time* is the same server with one worker and batches of one, as the original serves.\n\n\
             | server | clients | replies/s | errors | p50 ms | p95 ms | p99 ms | queries per batch |\n|---|---|---|---|---|---|---|---|\n{rows}\n\
             With {clients} clients the batched server answers {ratio:.2} times as many requests per second.\n",
        )
    }
}

/// A number of a Prometheus text, 0 if it is not there.
pub fn metric(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_default()
}

/// Queries and passages of a request.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RequestSize {
    /// Queries of one request.
    pub queries: usize,
    /// Passages asked for with each query.
    pub top_k: usize,
}

/// What clients that ask for as much as they may and read nothing came to.
#[derive(Debug, Clone, Serialize)]
pub struct StalledClients<L> {
    /// Clients that do not read, and as many that do.
    pub clients: usize,
    /// The largest request that is answered.
    #[serde(flatten)]
    pub size: RequestSize,
    /// A request for more than one may ask.
    #[serde(skip)]
    pub refused: RequestSize,
    /// The status of its reply.
    pub refused_with: u16,
    /// Resident bytes of the server before the requests.
    pub before_bytes: Option<u64>,
    /// The most that was resident at any time.
    pub peak_bytes: Option<u64>,
    /// Clients that did not read and were disconnected.
    pub disconnected: f64,
    /// Those who read: replies with success.
    #[serde(skip)]
    pub answered: u64,
    /// Those who read: the slowest reply in seconds.
    #[serde(skip)]
    pub slowest_seconds: f64,
    /// Those who read: statuses and latencies.
    pub load: L,
}

impl<L> StalledClients<L> {
    /// As a part of a document.
    pub fn markdown(&self) -> String {
        let Self { clients, size, refused, refused_with, disconnected, answered, .. } = self;
        let mega = |bytes: Option<u64>| {
            bytes.map_or_else(
                || "unknown".to_owned(),
                |bytes| format!("{:.0} MB", bytes as f64 / 1e6),
            )
        };
        format!(
            "\n## Clients that do not read\n\n\
             {clients} clients ask for as much as one request may ({} queries with {} passages each) and read \
             nothing; at the same time {clients} others ask for as much and read.\n\n\
             | largest size of the process | before | answered of {clients} | slowest s | disconnected of {clients} | \
             {} queries with {} explained passages each |\n|---|---|---|---|---|---|\n\
             | {} | {} | {answered} | {:.1} | {disconnected:.0} | refused with {refused_with} |\n",
            size.queries,
            size.top_k,
            refused.queries,
            refused.top_k,
            mega(self.peak_bytes),
            mega(self.before_bytes),
            self.slowest_seconds,
        )
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_metric_is_found_by_its_whole_name() {
        let text = "# TYPE batches counter\nbatches_total 3\nbatches 7\n";
        assert_eq!(super::metric(text, "batches").to_bits(), 7.0_f64.to_bits());
        assert_eq!(super::metric(text, "batch").to_bits(), 0.0_f64.to_bits());
    }
}
