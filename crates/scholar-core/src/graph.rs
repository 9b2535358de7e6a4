//! One step through the citation graph, from papers to the papers that they cite and that cite them.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::PortError;
use crate::filter::SearchFilter;
use crate::ids::PaperId;
use crate::notice::Notice;
use crate::retrieval::Retrieved;

/// Which way a citation is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkDirection {
    /// Backward: to a paper that the first one cites.
    References,
    /// Forward: to a paper that cites the first one.
    Citations,
}

/// What a [`CitationGraph`] is asked in one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NeighbourRequest {
    /// The papers to start from, each once.
    pub papers: Vec<PaperId>,
    /// Directions to follow, each once.
    pub directions: Vec<LinkDirection>,
    /// At most this many neighbours of one paper in one direction: those with most citations, ties by identifier.
    pub per_paper: usize,
    /// Which neighbours may come back.
    pub filter: SearchFilter,
}

/// A paper one citation away from another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    /// The paper that was started from.
    pub of: PaperId,
    /// How it is linked to that.
    pub direction: LinkDirection,
    /// Its abstract, or the first prose of it, with its metadata.
    pub found: Retrieved,
    /// Whether the source calls the citation influential; `None` where it says nothing about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub influential: Option<bool>,
}

/// What a step brought.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Neighbours {
    /// In the order of the request's papers; of one paper by direction, then by citations, then by identifier. A paper that
    /// is linked to several is there once for each.
    pub found: Vec<Neighbour>,
    /// Links that led nowhere: papers without a text here, or that the filter refuses.
    pub left_out: usize,
    /// Links beyond [`NeighbourRequest::per_paper`].
    pub cut: usize,
    /// Sources that were skipped or limited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// Who cites whom, with texts to read.
#[async_trait]
pub trait CitationGraph: Send + Sync {
    /// Name that notices give it.
    fn name(&self) -> &str;

    /// The papers one citation away from those of `request`. A paper that is not known has none.
    ///
    /// # Errors
    /// When no source could be asked.
    async fn neighbours(&self, request: &NeighbourRequest) -> Result<Neighbours, PortError>;
}
