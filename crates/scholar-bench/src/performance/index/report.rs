//! The report of the dense index: a table for each set, growth, and what it means for 236 million passages.

use std::fmt::Write as _;

use super::{IndexMeasurement, IndexPoint, OURS};

/// Passages of the published datastore.
const FULL_ROWS: f64 = 236e6;
/// Rows of one segment at most: `MergePolicy::standard`.
const SEGMENT_ROWS: f64 = 16_777_216.0;
/// The recall that settings are compared at.
const WANTED_RECALL: f64 = 0.95;
const GIB: f64 = 1_073_741_824.0;

/// What was measured, with the command that measured it.
#[derive(Debug)]
pub struct IndexReport<'a> {
    /// Command line that measured it.
    pub command: &'a str,
    /// Its name, from which the plots have theirs; `None` when none are written.
    pub plots: Option<&'a str>,
    /// The machine and the program's version.
    pub machine: &'a str,
    /// Real vectors that there are.
    pub real: usize,
    /// Results of a query.
    pub top_k: usize,
    /// Each in a table.
    pub sets: &'a [IndexMeasurement],
}

impl IndexReport<'_> {
    /// As a document: a table for each set, growth, and what it means for 236 million passages.
    pub fn markdown(&self) -> String {
        let Self { command, plots, machine, real, top_k, sets } = self;
        let mut text = format!(
            "# Dense index\n\nCommand: `{command}`\n\nMachine: {machine}.\n\n\
             {real} real vectors. Recall is the share of the exact first {top_k} that is found. Times are of one query at a time on one \
             thread; builds use all threads. \"Codes only\" is FAISS without exact rescoring: its time is a lower bound, its recall \
             that of the codes.\n",
        );
        for set in *sets {
            table(set, *plots, &mut text);
        }
        growth(sets, &mut text);
        text
    }
}

fn table(set: &IndexMeasurement, plots: Option<&str>, text: &mut String) {
    let IndexMeasurement {
        label,
        rows,
        dim,
        queries,
        lists,
        stages,
        exact_ms,
        resident_bytes,
        points,
        missing,
    } = set;
    let _infallible = writeln!(
        text,
        "\n## {rows} × {dim}, {label}\n\n{queries} queries; {lists} lists; exact scan {exact_ms:.1} ms a query (all threads, all queries in one pass); build {:.1} s \
         (training {:.1}, assigning {:.1}, encoding {:.1}){}.\n\n\
         | engine | setting | recall | p50 ms | p99 ms | bytes/vector | build s |\n|---|---|---|---|---|---|---|",
        stages.total(),
        stages.training,
        stages.assigning,
        stages.encoding,
        resident_bytes.map_or_else(String::new, |bytes| format!(
            "; anonymous memory of the process {:.0} MB",
            bytes as f64 / 1e6
        )),
    );
    for point in points {
        let IndexPoint { engine, setting, build_s, bytes_per_vector, recall, p50_ms, p99_ms } =
            point;
        let _infallible = writeln!(
            text,
            "| {engine} | {setting} | {recall:.4} | {p50_ms:.3} | {p99_ms:.3} | {bytes_per_vector:.0} | {build_s:.1} |"
        );
    }
    let _infallible =
        writeln!(text, "\nFastest setting with recall of at least {WANTED_RECALL}:\n");
    let mut engines: Vec<&str> = points.iter().map(|point| point.engine.as_str()).collect();
    engines.sort_unstable();
    engines.dedup();
    for engine in engines {
        let _infallible = match fastest(points, engine) {
            Some(point) => writeln!(
                text,
                "* {engine}: {:.3} ms ({}, recall {:.4})",
                point.p50_ms, point.setting, point.recall
            ),
            None => writeln!(text, "* {engine}: none"),
        };
    }
    if let Some(report) = plots {
        let _infallible = writeln!(text, "\n![recall against latency]({})", set.plot_name(report));
    }
    for missing in missing {
        let _infallible = writeln!(text, "\nNot measured: {missing}.");
    }
}

fn fastest<'a>(points: &'a [IndexPoint], engine: &str) -> Option<&'a IndexPoint> {
    points
        .iter()
        .filter(|point| point.engine == engine && point.recall >= WANTED_RECALL)
        .min_by(|a, b| a.p50_ms.total_cmp(&b.p50_ms))
}

fn growth(sets: &[IndexMeasurement], text: &mut String) {
    let _infallible = writeln!(
        text,
        "\n## Growth\n\n| rows | numbers | bytes/vector | build s | µs per row | p50 ms at recall ≥ {WANTED_RECALL} | exact scan, ms a query |\n|---|---|---|---|---|---|---|"
    );
    for set in sets {
        let ours = set.points.iter().find(|point| point.engine == OURS);
        let (bytes, build) =
            ours.map_or((0.0, 0.0), |point| (point.bytes_per_vector, point.build_s));
        let p50 = fastest(&set.points, OURS)
            .map_or_else(|| "–".to_owned(), |point| format!("{:.3}", point.p50_ms));
        let _infallible = writeln!(
            text,
            "| {} | {} | {bytes:.0} | {build:.1} | {:.0} | {p50} | {:.1} |",
            set.rows,
            set.dim,
            build * 1e6 / set.rows as f64,
            set.exact_ms
        );
    }
    let Some(largest) = sets.iter().max_by_key(|set| set.rows * set.dim) else { return };
    let (Some(ours), Some(fast)) =
        (largest.points.iter().find(|point| point.engine == OURS), fastest(&largest.points, OURS))
    else {
        return;
    };
    let numbers = 768.0 / largest.dim as f64;
    let codes = ours.bytes_per_vector * numbers * FULL_ROWS;
    let rows = 768.0 * 2.0 * FULL_ROWS;
    let hours = ours.build_s / largest.rows as f64 * numbers * FULL_ROWS / 3_600.0;
    let segments = (FULL_ROWS / SEGMENT_ROWS).ceil();
    // Probing and scanning grow with the square root of the rows of a segment.
    let latency = fast.p50_ms * numbers * (SEGMENT_ROWS / largest.rows as f64).sqrt() * segments;
    let _infallible = writeln!(
        text,
        "\n## 236 million × 768, extrapolated\n\nFrom {} × {}: codes {:.0} GiB (what should be in memory), tables {:.1} GiB, \
         vectors on disk {:.0} GiB, {:.0} h to build, {:.0} ms for a query on one thread over {segments:.0} segments of at most \
         16,777,216 rows when codes are in memory and rescored rows in the page cache. Rests on: bytes and build time growing \
         with the rows, latency of a segment with the square root of its rows (lists are twice that root), and one \
         thread; segments are independent, so threads divide it. Rows that come from disk cost what the disk takes for them.",
        largest.rows,
        largest.dim,
        codes / GIB,
        4.0 * FULL_ROWS / GIB,
        rows / GIB,
        hours,
        latency
    );
}
