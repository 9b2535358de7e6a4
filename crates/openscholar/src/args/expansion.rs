//! `bench expansion`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Measure whether citation links find papers that search misses.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchExpansionArgs {
    /// OpenAlex works as JSON lines, plain or compressed: a work's title and abstract ought to find what it cites among them.
    #[arg(long, value_name = "FILE", required_unless_present = "cited")]
    pub(crate) works: Option<PathBuf>,
    /// Collection in BEIR layout whose documents are OpenAlex works of that file: topics of systematic reviews.
    #[arg(long, value_name = "DIR", requires = "works")]
    pub(crate) topics: Option<PathBuf>,
    /// Collection in BEIR layout whose queries are abstracts of papers, and what is relevant to them what they cite.
    #[arg(long, value_name = "DIR")]
    pub(crate) cited: Option<PathBuf>,
    /// Of that collection use the documents that are relevant to a query, and N others, drawn at random [default: all].
    #[arg(long, value_name = "N", requires = "cited")]
    pub(crate) others: Option<usize>,
    /// Use only the first N queries of each set, after shuffling.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
