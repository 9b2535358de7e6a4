//! Whether citation links find papers that search misses.
//!
//! A query has papers that ought to be found. Search alone is compared, at the same length of list, with search whose best
//! hits' links are followed: backward to what they cite, forward to what cites them, both, or two links far (papers cited
//! together with a hit, papers that share a reference with one).
//!
//! 1. [`gather`]: the hits, the reranked hits, and the links of the best, once for each query.
//! 2. [`tune`]: the rule that fuses links and hits best on the development half.
//! 3. [`measure`]: that rule on the test half, beside search, and with the reranker after the links.
//!
//! The caller sees to it that no link which is used tells of a paper that is measured.

mod material;
mod report;
mod rules;

use std::collections::BTreeSet;

use scholar_core::{CitationGraph, PaperId, Query, Reranker, Retriever};
use serde::{Deserialize, Serialize};

pub use material::{Material, gather, reranked_with_links};
pub use report::{Measured, SetReport, Wide, markdown, measure};
pub use rules::{RULES, Tuned, rated, tune, tune_by_seeds, tune_together};

/// Lists that are compared have this many papers.
pub const BUDGET: usize = 100;
/// Where recall is measured.
pub const CUTS: [usize; 3] = [20, 50, BUDGET];

/// Which links of the best hits are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// To what they cite.
    Backward,
    /// To what cites them.
    Forward,
    /// Both.
    Both,
    /// To what is cited together with them: forward, then backward.
    CoCited,
    /// To what cites the same papers: backward, then forward.
    Coupled,
}

impl Way {
    /// All, as they are reported.
    pub const ALL: [Self; 5] =
        [Self::Backward, Self::Forward, Self::Both, Self::CoCited, Self::Coupled];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Backward => "backward",
            Self::Forward => "forward",
            Self::Both => "both",
            Self::CoCited => "co-citation",
            Self::Coupled => "coupling",
        }
    }

    /// Whether it is one link far.
    pub fn is_one_hop(self) -> bool {
        matches!(self, Self::Backward | Self::Forward | Self::Both)
    }
}

/// Something to find papers for.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpansionQuery {
    /// Its name.
    pub id: String,
    /// What is searched for.
    pub query: Query,
    /// What ought to be found, by the identifiers of the datastore.
    pub gold: BTreeSet<PaperId>,
    /// What must be found nowhere, links included: the paper itself.
    pub exclude: BTreeSet<PaperId>,
}

/// What finds, links and ranks papers.
#[derive(Clone, Copy)]
pub struct Engines<'a> {
    /// Searches the datastore.
    pub retriever: &'a dyn Retriever,
    /// Its links.
    pub graph: &'a dyn CitationGraph,
    /// What ranks the first hits anew.
    pub reranker: &'a dyn Reranker,
}

/// The share of `gold` among the first `cut` of `ranking`, which has each paper once.
pub fn recall(ranking: &[PaperId], gold: &BTreeSet<PaperId>, cut: usize) -> f64 {
    let found = ranking.iter().take(cut).filter(|id| gold.contains(id)).count();
    crate::statistics::ratio(found, gold.len().max(1))
}

#[cfg(test)]
mod tests;
