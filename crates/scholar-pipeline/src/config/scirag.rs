//! Choices of `SciRAG` mode, with the presets of its source and ours.

use serde::{Deserialize, Serialize};

use scholar_core::LinkDirection;

use super::{CallSampling, REPORT_TOKENS};
use crate::retrieve::links::{LinkCount, LinkRule};

/// How the tree may grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeShape {
    /// As the critics ask: several sub-queries broaden, one deepens.
    Adaptive,
    /// One sub-query a critic: a chain down to the greatest depth.
    Sequential,
    /// One level of any breadth.
    Parallel,
}

/// What chooses among the candidates of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CandidateRanking {
    /// Roles, relations and reasons, by the model.
    Symbolic,
    /// The reranker's scores.
    Dense,
}

/// When the citation graph is asked for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expansion {
    /// When the hits of its search are not enough.
    Adaptive,
    /// For every node.
    Always,
    /// For none.
    Never,
}

/// Which links of the hits are followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FollowedLinks {
    /// Backward, to what they cite.
    References,
    /// Forward, to what cites them.
    Citations,
    /// Both.
    #[default]
    Both,
}

impl FollowedLinks {
    /// As the citation graph is asked.
    pub(crate) fn directions(self) -> Vec<LinkDirection> {
        match self {
            Self::References => vec![LinkDirection::References],
            Self::Citations => vec![LinkDirection::Citations],
            Self::Both => vec![LinkDirection::References, LinkDirection::Citations],
        }
    }
}

/// Who says whether the hits are enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SufficiencyBy {
    /// The model, in a call of its own.
    Model,
    /// Code: the hits are enough when they are of sufficiently many papers that share the query's words.
    Rule,
}

/// How the critic of the first answer works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapCritic {
    /// Names the unmet requirements of the outline, then turns them into queries: two calls.
    TwoStage,
    /// Both at once.
    OneStage,
}

/// How candidates are judged symbolically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymbolicSteps {
    /// Tag, relate, analyse, decide.
    Four,
    /// Tag, relate, decide.
    Three,
    /// All of it in one reply. Ours.
    One,
}

/// When candidates are judged symbolically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymbolicWhen {
    /// At every node.
    Always,
    /// Only where the citation graph was asked.
    Expanded,
}

/// What a node with evidence gives its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeReport {
    /// A written answer to its query.
    Answer,
    /// Its evidence with the reasons for keeping it; the parent writes. Ours: saves a call a node.
    Evidence,
}

/// Temperature and reply limit of the mode's own calls; the draft is that of every mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SciragSampling {
    /// The outline.
    pub outline: CallSampling,
    /// Each call of a critic.
    pub gaps: CallSampling,
    /// Whether hits are enough.
    pub decide: CallSampling,
    /// Each symbolic step.
    pub symbolic: CallSampling,
    /// The answer of a node.
    pub node: CallSampling,
    /// Merging the answers of children.
    pub merge: CallSampling,
    /// Feedback on the merged answer.
    pub feedback: CallSampling,
    /// Its revision.
    pub edit: CallSampling,
    /// One sentence from a long answer.
    pub compress: CallSampling,
}

impl SciragSampling {
    /// Draws every call at this temperature.
    pub fn at_temperature(&mut self, temperature: f32) {
        let Self { outline, gaps, decide, symbolic, node, merge, feedback, edit, compress } = self;
        for call in [outline, gaps, decide, symbolic, node, merge, feedback, edit, compress] {
            call.temperature = temperature;
        }
    }
}

/// Every choice of the mode. Source of the numbers: arXiv 2511.14362 and its released code; "ours" where so said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SciragConfig {
    /// Whether an outline is planned and given to every step.
    pub planner: bool,
    /// Levels of retrieval below the first answer, 0 to 4.
    pub max_depth: usize,
    /// How the tree may grow.
    pub tree: TreeShape,
    /// What chooses among candidates.
    pub rerank: CandidateRanking,
    /// When the citation graph is asked.
    pub expansion: Expansion,
    /// Who says whether hits are enough.
    pub sufficiency: SufficiencyBy,
    /// How the first critic works.
    pub gap_critic: GapCritic,
    /// How candidates are judged.
    pub symbolic: SymbolicSteps,
    /// When.
    pub symbolic_when: SymbolicWhen,
    /// What nodes give their parents.
    pub node_report: NodeReport,
    /// Hits of a node's search, in passages.
    pub snippets: usize,
    /// Fewest citations of hits and of neighbours; obeyed by papers whose count is known, and only while enough are left.
    pub min_citations: u32,
    /// Neighbours of one paper in one direction.
    pub neighbours: usize,
    /// Which links of the hits are followed. Settings of runs before this choice have both.
    #[serde(default)]
    pub links: FollowedLinks,
    /// Neighbours that are reranked. Ours: those with most links to the hits.
    pub reranked_neighbours: usize,
    /// How hits and their neighbours become one order; `None` ranks all by the reranker's score. Ours.
    #[serde(default)]
    pub link_rule: Option<LinkRule>,
    /// Candidates kept of that order.
    pub dense_keep: usize,
    /// Sub-queries of one critic. Ours: the source has no limit.
    pub max_subqueries: usize,
    /// Nodes explored at once.
    pub concurrency: usize,
    /// Passages shown when answers are merged: those that the answers cite, then the best of the rest. Ours.
    pub merged_passages: usize,
    /// Rounds of feedback and revision of a long answer; of a short one it is at most one.
    pub refine_rounds: usize,
    /// Discards kept papers from which no chain reaches the query, but for the three ranked first. Ours.
    pub chain_gate: bool,
    /// How tokens are drawn.
    pub sampling: SciragSampling,
}

/// Levels below the first answer. Source: §4.3, depth 2 is best.
pub const MAX_DEPTH: usize = 2;
/// The deepest tree that is measured in the source.
pub const DEEPEST: usize = 4;

/// How links count in the preset `lean`. Ours: `openscholar bench expansion` prefers this count and number of seeds for backward
/// links, with a weight of 2, which puts every linked paper before a hit without links. That is right for lists of a hundred
/// papers; of the dozen candidates of a node half are to be what the search found (docs/results/graph-expansion.md).
pub const LEAN_LINKS: LinkRule = LinkRule { seeds: 10, count: LinkCount::Discounted, weight: 1.0 };

impl SciragConfig {
    /// The paper's choices.
    pub fn paper() -> Self {
        let call = |temperature, max_tokens| CallSampling { temperature, max_tokens };
        Self {
            planner: true,
            max_depth: MAX_DEPTH,
            tree: TreeShape::Adaptive,
            rerank: CandidateRanking::Symbolic,
            expansion: Expansion::Adaptive,
            sufficiency: SufficiencyBy::Model,
            gap_critic: GapCritic::TwoStage,
            symbolic: SymbolicSteps::Four,
            symbolic_when: SymbolicWhen::Always,
            node_report: NodeReport::Answer,
            snippets: 5,
            min_citations: 10,
            neighbours: 100,
            links: FollowedLinks::Both,
            reranked_neighbours: 100,
            link_rule: None,
            dense_keep: 10,
            max_subqueries: 5,
            concurrency: 4,
            merged_passages: 60,
            refine_rounds: 2,
            chain_gate: false,
            sampling: SciragSampling {
                outline: call(0.7, 500),
                gaps: call(0.7, 500),
                decide: call(0.7, 20),
                symbolic: call(0.0, 5000),
                node: call(0.7, 1000),
                merge: call(0.7, REPORT_TOKENS),
                feedback: call(0.7, 1000),
                edit: call(0.7, 5000),
                compress: call(0.0, 200),
            },
        }
    }

    /// What the released code does: one level, three symbolic steps after an expansion only, one call of the critic.
    pub fn upstream() -> Self {
        Self {
            max_depth: 1,
            gap_critic: GapCritic::OneStage,
            symbolic: SymbolicSteps::Three,
            symbolic_when: SymbolicWhen::Expanded,
            ..Self::paper()
        }
    }

    /// Ours: the fewest calls. One level of at most three nodes, one call a node, no revision by feedback: what fails the gates
    /// is repaired anyway. Links lead backward and count beside the search, as `openscholar bench expansion` found best.
    pub fn lean() -> Self {
        Self {
            max_depth: 1,
            sufficiency: SufficiencyBy::Rule,
            gap_critic: GapCritic::OneStage,
            symbolic: SymbolicSteps::One,
            node_report: NodeReport::Evidence,
            snippets: 8,
            min_citations: 0,
            links: FollowedLinks::References,
            link_rule: Some(LEAN_LINKS),
            dense_keep: 12,
            max_subqueries: 3,
            merged_passages: 24,
            refine_rounds: 0,
            ..Self::paper()
        }
    }

    /// Levels that the tree may have, by depth and shape.
    pub(crate) fn levels(&self) -> usize {
        match self.tree {
            TreeShape::Parallel => self.max_depth.min(1),
            TreeShape::Adaptive | TreeShape::Sequential => self.max_depth.min(DEEPEST),
        }
    }

    /// Sub-queries that one critic may add.
    pub(crate) fn breadth(&self) -> usize {
        match self.tree {
            TreeShape::Sequential => self.max_subqueries.min(1),
            TreeShape::Adaptive | TreeShape::Parallel => self.max_subqueries,
        }
    }
}

/// What `--mode scirag` does unasked.
impl Default for SciragConfig {
    fn default() -> Self {
        Self::lean()
    }
}
