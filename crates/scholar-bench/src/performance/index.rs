//! The dense index by itself: recall against exact search, latency, size and time to build, beside other libraries.

mod plot;
mod report;

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::{milliseconds, percentile};

pub use plot::recall_latency;
pub use report::IndexReport;

/// The engine of this program in [`IndexPoint::engine`].
pub const OURS: &str = "ours";

/// One setting of one engine on one set.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IndexPoint {
    /// Whose index it is: [`OURS`] or another library's name.
    pub engine: String,
    /// How it was searched.
    pub setting: String,
    /// Seconds to build it.
    pub build_s: f64,
    /// Of the index, without the vectors themselves.
    pub bytes_per_vector: f64,
    /// Share of the exact results that are found, from 0 to 1.
    pub recall: f64,
    /// Median milliseconds of a query.
    pub p50_ms: f64,
    /// 99th percentile, in milliseconds.
    pub p99_ms: f64,
}

/// Seconds of the stages of a build.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct BuildStages {
    /// Finding centroids, in seconds.
    pub training: f64,
    /// Assigning rows to lists, in seconds.
    pub assigning: f64,
    /// Writing codes, in seconds.
    pub encoding: f64,
}

impl BuildStages {
    /// Seconds of all stages together.
    pub fn total(&self) -> f64 {
        self.training + self.assigning + self.encoding
    }
}

/// Everything measured on one set of vectors.
#[derive(Debug, Serialize)]
pub struct IndexMeasurement {
    /// Where the vectors come from: `real` or `synthetic`.
    pub label: String,
    /// Number of vectors indexed.
    pub rows: usize,
    /// Numbers of a vector.
    pub dim: usize,
    /// Number of vectors searched for.
    pub queries: usize,
    /// Number of inverted lists.
    pub lists: usize,
    /// Times of building this program's index.
    pub stages: BuildStages,
    /// Milliseconds a query of exact search with all threads.
    pub exact_ms: f64,
    /// Anonymous memory of the process, where the system tells.
    pub resident_bytes: Option<u64>,
    /// One row of the table for each engine and setting.
    pub points: Vec<IndexPoint>,
    /// What was not measured, and why.
    pub missing: Vec<String>,
}

impl IndexMeasurement {
    /// File name of its plot in the report called `report`.
    pub fn plot_name(&self, report: &str) -> String {
        format!("{report}-{}-{}x{}.svg", self.label, self.rows, self.dim)
    }
}

/// How well and how fast queries were answered.
#[derive(Debug, Clone, Copy)]
pub struct RecallLatency {
    /// Share of the exact results that are found, from 0 to 1.
    pub recall: f64,
    /// Median of a query, in milliseconds.
    pub p50_ms: f64,
    /// 99th percentile, in milliseconds.
    pub p99_ms: f64,
}

impl RecallLatency {
    /// Times `search` of each query, one after the other. `found` is what it finds and `truth` what exact search finds, as
    /// rows by query in the order of `queries`.
    pub fn measure<R>(
        queries: &[Vec<f32>],
        found: &[Vec<u32>],
        truth: &[Vec<u32>],
        search: impl Fn(&[f32]) -> R,
    ) -> Self {
        let hits: usize = found
            .iter()
            .zip(truth)
            .map(|(found, truth)| found.iter().filter(|row| truth.contains(row)).count())
            .sum();
        let wanted: usize = truth.iter().map(Vec::len).sum();
        let mut times: Vec<f64> = queries
            .iter()
            .map(|query| {
                let began = Instant::now();
                std::hint::black_box(search(query));
                milliseconds(began)
            })
            .collect();
        times.sort_by(f64::total_cmp);
        Self {
            recall: hits as f64 / wanted.max(1) as f64,
            p50_ms: percentile(&times, 50),
            p99_ms: percentile(&times, 99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_counts_the_exact_results_that_are_found() {
        let queries = [vec![1.0], vec![2.0]];
        let (found, truth) = ([vec![1, 9], vec![4]], [vec![1, 2], vec![3, 4]]);
        let measured = RecallLatency::measure(&queries, &found, &truth, <[f32]>::len);
        assert_eq!(measured.recall.to_bits(), 0.5_f64.to_bits());
    }
}
