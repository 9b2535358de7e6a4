//! `papers graph` and `bench graph`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

/// Show the citation graph around a paper.
#[derive(Debug, ClapArgs)]
pub(crate) struct GraphArgs {
    /// The central paper: an identifier, a citation key, the path of its file, or words of its title.
    pub(crate) id: String,
    /// Maximum distance in references.
    #[arg(long, alias = "hops", default_value_t = 1, value_name = "N")]
    pub(crate) depth: u32,
    /// Direction in which references are followed.
    #[arg(long, value_enum, default_value_t = DirectionArg::Both)]
    pub(crate) direction: DirectionArg,
    /// Maximum number of links followed per paper and direction.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) links: usize,
    /// Maximum number of papers.
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub(crate) limit: usize,
    /// Also draw it: an SVG without script, what the paper cites to the left, what cites it to the right.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// Direction in which references are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DirectionArg {
    /// To cited papers.
    References,
    /// To citing papers.
    #[value(alias = "citers")]
    CitedBy,
    /// Both directions.
    Both,
}

impl From<DirectionArg> for scholar_datastore::graph::Direction {
    fn from(direction: DirectionArg) -> Self {
        match direction {
            DirectionArg::References => Self::References,
            DirectionArg::CitedBy => Self::CitedBy,
            DirectionArg::Both => Self::Both,
        }
    }
}

/// Measure a citation graph.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchGraphArgs {
    /// Datastore to measure.
    pub(crate) name: Option<String>,
    /// Number of papers to sample, spread evenly over the datastore.
    #[arg(long, default_value_t = 2_000, value_name = "N")]
    pub(crate) papers: usize,
    /// Also measure a synthetic datastore of N papers, whose numbers of citations follow a power law; it is built once and
    /// kept.
    #[arg(long, value_name = "N")]
    pub(crate) synthetic: Option<u32>,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
