//! Size and latency of the citation graph, and what they mean for a large one.

mod synthetic;

use std::time::Instant;

use serde::Serialize;

use super::percentile;
pub use synthetic::SyntheticGraph;

/// Papers of the large graph.
const LARGE_PAPERS: f64 = 45e6;

/// Microseconds of one question over many papers.
#[derive(Debug, Clone, Serialize)]
pub struct GraphTimings {
    /// What is asked, for people.
    pub question: &'static str,
    /// How often it was asked.
    pub asked: usize,
    /// What the answers hold, on average.
    pub mean_found: f64,
    /// Median (nearest rank), in microseconds.
    pub p50_us: f64,
    /// 95th percentile, in microseconds.
    pub p95_us: f64,
    /// The slowest one, in microseconds.
    pub max_us: f64,
}

impl GraphTimings {
    /// Asks `question` of each of `papers`, one after the other; `ask` returns how much was found.
    ///
    /// # Errors
    /// The first of `ask`.
    pub fn measure<P, E>(
        question: &'static str,
        papers: &[P],
        ask: impl Fn(&P) -> Result<usize, E>,
    ) -> Result<Self, E> {
        let mut micros = Vec::with_capacity(papers.len());
        let mut found = 0;
        for paper in papers {
            let began = Instant::now();
            found += ask(paper)?;
            micros.push(began.elapsed().as_secs_f64() * 1e6);
        }
        micros.sort_by(f64::total_cmp);
        Ok(Self {
            question,
            asked: papers.len(),
            mean_found: found as f64 / papers.len().max(1) as f64,
            p50_us: percentile(&micros, 50),
            p95_us: percentile(&micros, 95),
            max_us: percentile(&micros, 100),
        })
    }
}

/// What was measured of one datastore's graph. Sizes are in bytes.
#[derive(Debug, Clone, Serialize)]
pub struct MeasuredGraph {
    /// Name of the datastore.
    pub name: String,
    /// What is to be said of building it.
    pub built: Option<String>,
    /// Number of papers asked about.
    pub sampled: usize,
    /// Papers of the graph.
    pub papers: u64,
    /// References of all papers of the graph.
    pub edges: u64,
    /// Those of them to papers of the graph.
    pub inner_edges: u64,
    /// Its parts with their bytes.
    pub parts: Vec<(&'static str, u64)>,
    /// One row of the table for each question.
    pub timings: Vec<GraphTimings>,
}

/// Graphs beside each other.
#[derive(Debug)]
pub struct GraphReport<'a> {
    /// The command that measured them.
    pub command: String,
    /// The machine and the program's version.
    pub machine: String,
    /// Longest list of citing papers that the question for related papers reads whole.
    pub related_list: usize,
    /// A section for each.
    pub graphs: &'a [MeasuredGraph],
}

impl GraphReport<'_> {
    /// The report as a Markdown document.
    pub fn markdown(&self) -> String {
        let Self { command, machine, related_list, graphs } = self;
        let sections: Vec<String> = graphs.iter().map(MeasuredGraph::section).collect();
        format!(
            "# Citation graph\n\nCommand: `{command}`\n\nMachine: {machine}.\n\n{}\nEach question was asked one after another on one thread, with the files in the page cache. \
             The times grow with what is found, not with the datastore: a question looks up one term per identifier and segment \
             (a dictionary search, logarithmic in the number of identifiers) and reads the lists it names. \
             Related papers read the citing papers of every reference; lists over {related_list} papers are left out or sampled, which bounds a question \
             at 45 million papers too. Neighbours with texts are asked for in both directions, at most 100 of a paper and direction, through the port \
             that answers use: what is found is loaded with its abstract, which takes most of the time.\n",
            sections.join("\n")
        )
    }
}

impl MeasuredGraph {
    fn section(&self) -> String {
        let Self { name, built, sampled, papers, edges, inner_edges, parts, timings } = self;
        let edges_per_paper = *edges as f64 / *papers as f64;
        let total: u64 = parts.iter().map(|(_, bytes)| bytes).sum();
        let large = |bytes: u64| bytes as f64 / *papers as f64 * LARGE_PAPERS / 1e9;
        let part_rows: String = parts
            .iter()
            .chain([&("all", total)])
            .map(|(part, bytes)| {
                format!(
                    "| {part} | {:.2} | {:.1} | {:.1} |\n",
                    *bytes as f64 / 1e6,
                    *bytes as f64 / *edges as f64,
                    large(*bytes)
                )
            })
            .collect();
        let time_rows: String = timings
            .iter()
            .map(|row| {
                format!(
                    "| {} | {} | {:.1} | {:.0} | {:.0} | {:.0} |\n",
                    row.question, row.asked, row.mean_found, row.p50_us, row.p95_us, row.max_us
                )
            })
            .collect();
        let bits = (LARGE_PAPERS / *papers as f64).log2().max(0.0);
        let built = built.as_ref().map(|built| format!(" {built}")).unwrap_or_default();
        format!(
            "## {name}\n\n{papers} papers with {edges} references, {inner_edges} of them to stored papers.{built}\n\n| part | MB here | bytes per reference | GB at 45 million papers |\n|---|---|---|---|\n{part_rows}\nThe last column keeps this datastore's {edges_per_paper:.1} references per paper and its bytes per reference. \
             It errs on the high side for the dictionary, whose entries are shared by ever more references as papers are added, \
             and on the low side for lists and columns, whose numbers grow by a bit whenever papers or identifiers double: \
             from {papers} to 45 million that is {bits:.0} bits, {:.1} bytes, per reference in each.\n\n| question | times asked | found on average | p50 µs | p95 µs | max µs |\n|---|---|---|---|---|---|\n{time_rows}\nAsked about {sampled} papers, evenly spaced in the order of storing.\n",
            bits / 8.0,
        )
    }
}
