//! How a question was explored: the outline of its answer, the tree of retrievals, and why each paper was kept or not.
//!
//! Source: arXiv 2511.14362 (`SciRAG`).

use serde::{Deserialize, Serialize};

use crate::citation::Citation;
use crate::generation::TokenUsage;
use crate::graph::LinkDirection;
use crate::ids::{PaperId, PassageId};

/// Whether a model or the program decided something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The language model.
    Model,
    /// A rule of the program, because there is no capable model or the configuration says so.
    Rule,
    /// A rule, because the model's reply could not be used.
    Fallback,
}

/// The plan of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// As the model wrote it; as the program did where no model planned.
    pub text: String,
    /// Its sections in order; empty where the text could not be read as a list.
    pub sections: Vec<OutlineSection>,
    /// Who planned.
    pub by: DecidedBy,
    /// The total of the shares before they were made to come to 100, where they did not (tolerance 5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renormalised_from: Option<f32>,
}

/// One section of an outline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutlineSection {
    /// Its heading.
    pub heading: String,
    /// What it must tell; may be empty.
    pub content: String,
    /// Its share of the answer, in percent.
    pub share: f32,
}

/// The tree of retrievals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// In order of path: the root, its first child with all below it, and so on.
    pub nodes: Vec<TreeNode>,
}

/// What became of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    /// It has an answer of its own.
    Answered,
    /// It was searched, and nothing fits.
    NoEvidence,
    /// A search or a model call failed; [`TreeNode::reason`] says which.
    Failed,
    /// The budget ended before it.
    Skipped,
}

/// Whether the hits of a node's search were enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpansionDecision {
    /// The hits suffice; the citation graph is not asked.
    Sufficient,
    /// References and citing papers of the hits are candidates too.
    Expanded,
}

/// One sub-query with what was found for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeNode {
    /// Its place: `0` for the root, `2` for its second child, `2.1` for the first child of that.
    pub id: String,
    /// Queries from the root to this node, this one last.
    pub path: Vec<String>,
    /// What became of it.
    pub state: NodeState,
    /// Why it has no answer, or what it did without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the citation graph was asked; `None` for the root and where nothing was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<ExpansionDecision>,
    /// Who decided that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<DecidedBy>,
    /// Who chose among the candidates; `None` where only their scores did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_by: Option<DecidedBy>,
    /// Candidates: those kept by rank, then the discarded ones by score.
    pub evidence: Vec<TreeEvidence>,
    /// How the candidates contribute and relate; `None` where that was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contributions: Option<ContributionGraph>,
    /// Its own answer, with marks `[n]` that count the passages of its kept evidence from 0. Not part of the final answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// What its critic found missing; empty where it found nothing or was not asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
    /// Model calls made for this node alone.
    pub calls: u64,
    /// Their tokens.
    pub usage: TokenUsage,
    /// Milliseconds from its first step to its last, those of its children not included.
    pub milliseconds: u64,
}

impl TreeNode {
    /// A node of which nothing is known but its place: skipped, until something is found for it.
    pub fn new(id: impl Into<String>, path: Vec<String>) -> Self {
        Self {
            id: id.into(),
            path,
            state: NodeState::Skipped,
            reason: None,
            decision: None,
            decided_by: None,
            selected_by: None,
            evidence: Vec::new(),
            contributions: None,
            answer: None,
            gaps: Vec::new(),
            calls: 0,
            usage: TokenUsage::default(),
            milliseconds: 0,
        }
    }
}

/// Where a candidate came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum EvidenceOrigin {
    /// Retrieved for the question itself.
    Initial,
    /// Found by the search for the node's query.
    Snippet,
    /// One citation away from a paper that was found.
    Link {
        /// The paper that was found.
        of: PaperId,
        /// `references`: cited by it; `citations`: cites it.
        direction: LinkDirection,
    },
}

/// A candidate of a node: one paper with the passages that were shown of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeEvidence {
    /// The paper.
    pub paper: PaperId,
    /// Its title.
    pub title: String,
    /// Year of publication, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i16>,
    /// The passages shown of it.
    pub passages: Vec<PassageId>,
    /// The first way in which it was found.
    pub origin: EvidenceOrigin,
    /// Score of the reranker for the node's query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// Whether the node kept it.
    pub kept: bool,
    /// Why it was kept, in the words of whoever decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// Why it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discarded: Option<String>,
    /// Its number among the references of the answer, where the answer cites it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Citation>,
}

/// What a part of a paper contributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Contribution {
    /// Theory.
    #[serde(rename = "T")]
    Theory,
    /// Experiment, with its methods and results.
    #[serde(rename = "E")]
    Experiment,
    /// Application.
    #[serde(rename = "A")]
    Application,
    /// Method that is not purely experimental.
    #[serde(rename = "M")]
    Method,
    /// Anything else.
    #[serde(rename = "other")]
    Other,
}

impl Contribution {
    /// In order of the letters that the source lists.
    pub const ALL: [Self; 5] =
        [Self::Theory, Self::Experiment, Self::Application, Self::Method, Self::Other];

    /// `T`, `E`, `A`, `M`, `other`.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Theory => "T",
            Self::Experiment => "E",
            Self::Application => "A",
            Self::Method => "M",
            Self::Other => "other",
        }
    }

    /// `theory`, `experiment`, …, for legends.
    pub fn name(self) -> &'static str {
        match self {
            Self::Theory => "theory",
            Self::Experiment => "experiment",
            Self::Application => "application",
            Self::Method => "method",
            Self::Other => "other",
        }
    }
}

/// How relevant a part of a paper is to the node's query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relevance {
    /// Hardly.
    Low,
    /// In part.
    Medium,
    /// Directly.
    High,
}

impl Relevance {
    /// `low`, `medium`, `high`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A part of a candidate with its role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContributionSegment {
    /// Place of the candidate in [`TreeNode::evidence`], from 0.
    pub evidence: usize,
    /// What it contributes.
    pub role: Contribution,
    /// In one or two sentences; may be empty.
    pub description: String,
    /// To the node's query.
    pub relevance: Relevance,
}

/// Where a relation leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContributionTarget {
    /// To a segment, by its place in [`ContributionGraph::segments`].
    Segment(usize),
    /// To the node's query.
    Query,
}

/// One relation between segments, or of a segment to the query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContributionEdge {
    /// Place of the segment it begins at.
    pub from: usize,
    /// Where it leads.
    pub to: ContributionTarget,
    /// Why, in the words of whoever related them; may be empty.
    pub rationale: String,
}

/// A simple path from a segment to the query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContributionChain {
    /// Places of its segments, the one next to the query last.
    pub segments: Vec<usize>,
    /// Why it does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<String>,
}

/// Tagged candidates, their relations, and the chains that reach the query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ContributionGraph {
    /// By candidate, then in the order in which they were tagged.
    pub segments: Vec<ContributionSegment>,
    /// In the order in which they were named.
    pub edges: Vec<ContributionEdge>,
    /// By first segment, depth first; at most 50, none longer than four edges.
    pub chains: Vec<ContributionChain>,
    /// Relations that name a candidate that is not there, or lead from a segment to itself.
    pub dropped_edges: usize,
    /// The analysis between relating and deciding, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<String>,
}

impl ContributionGraph {
    /// Whether a chain that counts leads from a segment of this candidate to the query.
    pub fn reaches_query(&self, evidence: usize) -> bool {
        self.chains
            .iter()
            .filter(|chain| chain.pruned.is_none())
            .any(|chain| chain.segments.iter().any(|at| self.segments[*at].evidence == evidence))
    }
}
