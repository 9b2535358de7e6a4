//! A place in the tree, what was found there, and how prompts number it.

use scholar_core::{NodeState, PaperId, Ranked, TreeNode};

use crate::evidence::{Evidence, EvidenceNumber};

/// A place in the tree where a query is to be explored.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// `2.1`.
    pub(super) id: String,
    /// Queries from the root to here, this one last.
    pub(super) path: Vec<String>,
    /// Levels below the root.
    pub(super) depth: usize,
}

impl Place {
    pub(super) fn query(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// `question -> sub-query`, as prompts say it.
    pub(super) fn written_path(&self) -> String {
        self.path.join(" -> ")
    }
}

/// A node that was explored.
pub(super) struct Explored {
    /// What the answer's tree says of it.
    pub(super) record: TreeNode,
    /// Passages of the papers kept, in the order in which its answer numbers them.
    pub(super) passages: Vec<Ranked>,
    /// Why each paper was kept, in the same order, each paper once.
    pub(super) reasons: Vec<(PaperId, String)>,
    /// Sub-queries that its critic wants explored.
    pub(super) queries: Vec<String>,
}

impl Explored {
    /// Whether it has something to tell its parent.
    pub(super) fn tells(&self) -> bool {
        self.record.state == NodeState::Answered
    }
}

/// Passages under numbers of their own, from 0.
pub(super) fn numbered(passages: &[Ranked]) -> Vec<Evidence> {
    let evidence = |(at, ranked): (usize, &Ranked)| Evidence {
        number: EvidenceNumber(at),
        ranked: ranked.clone(),
    };
    passages.iter().enumerate().map(evidence).collect()
}

/// `[2][3] why the paper of these passages was kept`, a line a paper; empty where nobody said why.
pub(super) fn reasons_text(reasons: &[(PaperId, String)], shown: &[Evidence]) -> String {
    let mut out = String::new();
    for (paper, why) in reasons {
        let of_paper = |one: &&Evidence| one.ranked.retrieved.paper.id == *paper;
        let numbers: String =
            shown.iter().filter(of_paper).map(|one| one.number.to_string()).collect();
        if !numbers.is_empty() {
            out.extend([numbers.as_str(), " ", why, "\n"]);
        }
    }
    if out.is_empty() { out } else { format!("Why they were kept:\n{out}") }
}
