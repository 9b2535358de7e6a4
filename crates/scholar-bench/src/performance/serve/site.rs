//! `openscholar serve` under load: searches, event streams, pages, memory, and clients that dawdle.

use std::collections::BTreeMap;

use serde::Serialize;

/// Latencies in milliseconds.
#[derive(Debug, Clone, Serialize)]
pub struct Latencies {
    /// Requests that were answered with success.
    pub answered: u64,
    /// Requests that were not.
    pub errors: u64,
    /// Median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
}

/// Everything at the same time: streams, searches, and one question after the other.
#[derive(Debug, Clone, Serialize)]
pub struct Together {
    /// Streams of events that are to be open.
    pub streams: usize,
    /// The fewest that were open in between two questions: they all change to the next run at once.
    pub fewest_open: usize,
    /// The share of the looks at which all were open.
    pub all_open: f64,
    /// Megabytes that came over them.
    pub stream_mb: f64,
    /// Searches a second.
    pub rate: f64,
    /// Seconds for which it went on.
    pub seconds: f64,
    /// The searches, from the time at which each was due.
    pub searches: Latencies,
    /// Questions that were answered meanwhile.
    pub questions: usize,
    /// Mean seconds of one.
    pub question_s: f64,
    /// The page of an answer, meanwhile.
    pub answer_page: Latencies,
}

/// A page at rest.
#[derive(Debug, Clone, Serialize)]
pub struct PageTimings {
    /// Which.
    pub page: &'static str,
    /// Its latencies, one request after the other.
    pub latencies: Latencies,
}

/// Clients of one kind that dawdle or send too much.
#[derive(Debug, Clone, Serialize)]
pub struct Rude {
    /// What they do.
    pub kind: &'static str,
    /// How many.
    pub clients: usize,
    /// Connections that the server ended.
    pub ended: usize,
    /// Seconds until the last of these.
    pub slowest_s: f64,
    /// What they were told, by status.
    pub statuses: BTreeMap<u16, usize>,
}

/// What was measured of a server with pages.
#[derive(Debug, Clone, Serialize)]
pub struct SiteReport {
    /// How busy the machine was before, as the system tells: processes that ran or waited, over a minute.
    pub load_before: Option<f64>,
    /// Everything at once.
    pub together: Together,
    /// Pages at rest.
    pub pages: Vec<PageTimings>,
    /// Requests so far, and the server's resident bytes then.
    pub memory: Vec<(usize, Option<u64>)>,
    /// Clients that dawdle, where there were any.
    pub dawdling: Option<Dawdling>,
}

/// Clients that dawdle, all at the same time.
#[derive(Debug, Clone, Serialize)]
pub struct Dawdling {
    /// Of every kind.
    pub rude: Vec<Rude>,
    /// Searches by somebody polite, meanwhile.
    pub polite: Latencies,
    /// The server's resident bytes before them, and the most at any time.
    pub bytes: [Option<u64>; 2],
}

fn megabytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "unknown".to_owned(), |bytes| format!("{:.0} MB", bytes as f64 / 1e6))
}

impl Latencies {
    fn cells(&self) -> String {
        let Self { answered, errors, p50_ms, p95_ms, p99_ms } = self;
        format!("{answered} | {errors} | {p50_ms:.1} | {p95_ms:.1} | {p99_ms:.1}")
    }
}

impl Dawdling {
    fn markdown(&self) -> String {
        let Self { rude, polite: _, bytes } = self;
        let kinds: String = rude
            .iter()
            .map(|Rude { kind, clients, ended, slowest_s, statuses }| {
                let told: Vec<String> =
                    statuses.iter().map(|(status, n)| format!("{status} × {n}")).collect();
                let told = if told.is_empty() { "nothing".to_owned() } else { told.join(", ") };
                format!("| {kind} | {clients} | {ended} | {slowest_s:.0} | {told} |\n")
            })
            .collect();
        let [before, peak] = bytes.map(megabytes);
        format!(
            "\n### Clients that dawdle\n\n\
             All at the same time. Memory of the server: {before} before, {peak} at most.\n\n\
             | what they do | clients | connections ended | the last after s | told |\n|---|---|---|---|---|\n{kinds}",
        )
    }
}

impl SiteReport {
    /// As a part of a document.
    pub fn markdown(&self) -> String {
        let Self { load_before, together, pages, memory, dawdling } = self;
        let Together {
            streams,
            fewest_open,
            all_open,
            stream_mb,
            rate,
            seconds,
            searches,
            questions,
            question_s,
            answer_page,
        } = together;
        let load = load_before.map_or_else(String::new, |load| {
            format!(" {load:.1} other processes wanted to run on average in the minute before.")
        });
        let mut rows = vec![format!("| searches beside it | {} |\n", searches.cells())];
        rows.push(format!("| page of an answer beside it | {} |\n", answer_page.cells()));
        for PageTimings { page, latencies } in pages {
            rows.push(format!("| {page}, at rest | {} |\n", latencies.cells()));
        }
        if let Some(Dawdling { polite, .. }) = dawdling {
            rows.push(format!("| searches beside clients that dawdle | {} |\n", polite.cells()));
        }
        let rows = rows.concat();
        let steps: String = memory
            .iter()
            .map(|(requests, bytes)| format!("| {requests} | {} |\n", megabytes(*bytes)))
            .collect();
        let dawdling = dawdling.as_ref().map_or_else(String::new, Dawdling::markdown);
        format!(
            "\n## Pages and questions\n\n\
             `openscholar serve` in a process of its own, without a language model; clients share the machine.{load}\n\n\
             For {seconds:.0} s, {streams} streams of events are open, {rate:.0} searches a second come in, each counted from the time \
             at which it was due, and one evidence question is answered after the other: {questions} in that time, {question_s:.1} s \
             each. All streams change to the next question when one ends: {all_open:.0} % of the time all were open, at least \
             {fewest_open}; {stream_mb:.0} MB came over them.\n\n\
             | requests | answered | errors | p50 ms | p95 ms | p99 ms |\n|---|---|---|---|---|---|\n{rows}\n\
             Memory is that after as many requests again, so that what a process keeps from its first ones is not counted as growth.\n\n\
             | requests of pages and searches | memory of the server |\n|---|---|\n{steps}{dawdling}",
            all_open = all_open * 100.0,
        )
    }
}
