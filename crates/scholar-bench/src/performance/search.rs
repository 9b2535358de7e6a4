//! Latency and memory of searching a datastore, one query at a time on one thread.

use scholar_core::SearchMode;
use serde::Serialize;

use super::{or_dash, percentile};

/// What one query took.
#[derive(Debug, Clone, Copy)]
pub struct QueryTime {
    /// Wall-clock time, in milliseconds.
    pub ms: f64,
    /// Milliseconds of CPU time of the thread, where the system tells.
    pub cpu_ms: Option<f64>,
}

/// All queries once, in one mode with one filter.
#[derive(Debug, Clone, Default)]
pub struct SearchRound {
    /// One for each query, in their order.
    pub times: Vec<QueryTime>,
    /// Names of the passages of each query, best first.
    pub found: Vec<Vec<String>>,
}

impl SearchRound {
    /// The fraction of the results of `exact`, over the same queries, that are among these, from 0 to 1; `None` where the
    /// exact search found nothing, because no passage passes the filter.
    pub fn shared_with(&self, exact: &Self) -> Option<f64> {
        let (mut same, mut all) = (0, 0);
        for (found, exact) in self.found.iter().zip(&exact.found) {
            same += exact.iter().filter(|id| found.contains(id)).count();
            all += exact.len();
        }
        (all > 0).then(|| same as f64 / all as f64)
    }
}

/// Times of one kind of search in milliseconds.
#[derive(Debug, Clone, Serialize)]
pub struct SearchTimings {
    /// `lexical`, `dense` or `hybrid`.
    pub search: &'static str,
    /// The filter, for people.
    pub filter: &'static str,
    /// Median (nearest rank), in milliseconds.
    pub p50_ms: f64,
    /// 90th percentile, in milliseconds.
    pub p90_ms: f64,
    /// 99th percentile, in milliseconds.
    pub p99_ms: f64,
    /// Mean CPU time, which other work on the machine lengthens less. The system counts it in steps that may be longer
    /// than a query.
    #[serde(rename = "processor_mean_ms")]
    pub cpu_mean_ms: Option<f64>,
    /// Mean share of the results of exact search that are found, where that was asked.
    pub same_as_exact: Option<f64>,
}

impl SearchTimings {
    /// Sums up `round`; `exact` is the same queries with exact search.
    pub fn new(
        mode: SearchMode,
        filter: &'static str,
        round: &SearchRound,
        exact: Option<&SearchRound>,
    ) -> Self {
        let cpu: Option<Vec<f64>> = round.times.iter().map(|time| time.cpu_ms).collect();
        let mut times: Vec<f64> = round.times.iter().map(|time| time.ms).collect();
        times.sort_by(f64::total_cmp);
        let search = match mode {
            SearchMode::Lexical => "lexical",
            SearchMode::Dense => "dense",
            SearchMode::Hybrid => "hybrid",
        };
        Self {
            search,
            filter,
            p50_ms: percentile(&times, 50),
            p90_ms: percentile(&times, 90),
            p99_ms: percentile(&times, 99),
            cpu_mean_ms: cpu.map(|times| times.iter().sum::<f64>() / times.len().max(1) as f64),
            same_as_exact: exact.and_then(|exact| round.shared_with(exact)),
        }
    }
}

/// Resident bytes of a process.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ResidentMemory {
    /// Its own: allocations and stacks.
    pub anonymous_bytes: u64,
    /// Pages of mapped files it touched, which the system takes back when others need the room.
    pub mapped_bytes: u64,
}

/// What is estimated of a search's memory beside what it took.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryComparison {
    /// Before the datastore was opened: the program, and what is left of the encoder.
    pub before: ResidentMemory,
    /// After all searches that use inverted indexes.
    pub after: ResidentMemory,
    /// Estimated: allocated once and for one query at a time.
    pub allocated_bytes: u64,
    /// Estimated: mapped files that every query reads all over.
    pub hot_bytes: u64,
    /// Estimated: mapped files of which a query reads a little.
    pub cold_bytes: u64,
    /// Estimated by `datastore plan` for as many passages: index and program.
    pub planned_bytes: f64,
}

impl MemoryComparison {
    fn markdown(&self) -> String {
        let Self { before, after, allocated_bytes, hot_bytes, cold_bytes, planned_bytes } = self;
        let mega = |bytes: u64| format!("{:.0} MB", bytes as f64 / 1e6);
        let grown = |of: fn(&ResidentMemory) -> u64| mega(of(after).saturating_sub(of(before)));
        format!(
            "\n| memory | estimated | measured |\n|---|---|---|\n\
             | allocated for the datastore and a query | {} | {} more than before it was opened |\n\
             | its files, mapped | {} that every query reads, a part of {} besides | {} more than before |\n\
             | the process in all, as `datastore plan` has it: its own and what every query reads | {:.0} MB | {} of its own, and {} of \
             mapped files, which the system takes back when others need the room |\n",
            mega(*allocated_bytes),
            grown(|resident| resident.anonymous_bytes),
            mega(*hot_bytes),
            mega(*cold_bytes),
            grown(|resident| resident.mapped_bytes),
            planned_bytes / 1e6,
            mega(after.anonymous_bytes),
            mega(after.mapped_bytes),
        )
    }
}

/// What was measured of one datastore.
#[derive(Debug)]
pub struct SearchReport<'a> {
    /// The command that measured it.
    pub command: &'a str,
    /// The machine and the program's version.
    pub machine: &'a str,
    /// Whether the passages are synthetic.
    pub is_synthetic: bool,
    /// Papers of the datastore.
    pub papers: u64,
    /// Passages of these papers.
    pub passages: u64,
    /// Number of dense segments.
    pub dense_segments: usize,
    /// Bytes of inverted indexes of vectors.
    pub index_bytes: u64,
    /// Bytes of the lexical index with its texts.
    pub lexical_bytes: u64,
    /// One row of the table for each kind of search.
    pub timings: &'a [SearchTimings],
    /// Where the system tells.
    pub memory: Option<&'a MemoryComparison>,
}

impl SearchReport<'_> {
    /// The report as a Markdown document.
    pub fn markdown(&self) -> String {
        let synthetic = if self.is_synthetic {
            " Passages are runs of 50 words of real ones under their papers' metadata, vectors real ones moved by a share of the \
             difference of two others."
        } else {
            ""
        };
        let row = |timings: &SearchTimings| {
            let SearchTimings { search, filter, p50_ms, p90_ms, p99_ms, .. } = timings;
            let cpu = or_dash(timings.cpu_mean_ms, |ms| format!("{ms:.2}"));
            let same = or_dash(timings.same_as_exact, |same| format!("{same:.4}"));
            format!(
                "| {search} | {filter} | {p50_ms:.2} | {p90_ms:.2} | {p99_ms:.2} | {cpu} | {same} |\n"
            )
        };
        format!(
            "# Searching a datastore\n\nCommand: `{}`\n\nMachine: {}. One query at a time on one thread; warm; without \
             encoding the query. A filter is remembered, unless it was never asked before.{synthetic}\n\n\
             {} papers, {} passages, {} dense segments, {:.0} MB of inverted indexes, {:.0} MB of lexical index.\n\n\
             | search | filter | p50 ms | p90 ms | p99 ms | mean CPU ms | results shared with exact search |\n\
             |---|---|---|---|---|---|---|\n{}{}",
            self.command,
            self.machine,
            self.papers,
            self.passages,
            self.dense_segments,
            self.index_bytes as f64 / 1e6,
            self.lexical_bytes as f64 / 1e6,
            self.timings.iter().map(row).collect::<String>(),
            self.memory.map(MemoryComparison::markdown).unwrap_or_default(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_a_share_of_the_exact_results() {
        let round = |found: &[&[&str]]| SearchRound {
            times: vec![QueryTime { ms: 1.0, cpu_ms: None }; found.len()],
            found: found
                .iter()
                .map(|ids| ids.iter().map(|id| (*id).to_owned()).collect())
                .collect(),
        };
        let quick = round(&[&["a", "b"], &["c"]]);
        let exact = round(&[&["a", "x"], &["c", "y"]]);
        let timings = SearchTimings::new(SearchMode::Dense, "none", &quick, Some(&exact));
        assert_eq!(timings.same_as_exact, Some(0.5));
        assert_eq!(quick.shared_with(&round(&[&[], &[]])), None, "nothing passes the filter");
        assert_eq!((timings.search, timings.cpu_mean_ms), ("dense", None));
    }
}
