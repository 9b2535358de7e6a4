//! Which nodes, candidates and graphs are drawn: all of a tree that can be read, the most important of a larger one.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use scholar_core::{ContributionGraph, Relevance, TreeEvidence, TreeNode};

use crate::exploration::index::Exploration;

/// Nodes with an entry in the tree.
const NODES: usize = 120;
/// Candidates in the tree.
const CANDIDATES: usize = 240;
/// Contribution graphs.
const GRAPHS: usize = 20;
/// Segments of one graph.
const SEGMENTS: usize = 40;
/// Segments of all graphs.
const ALL_SEGMENTS: usize = 320;

/// What is drawn, by place.
pub(super) struct Selection {
    /// Of each node that is drawn, the places of its drawn candidates; `None` for the others.
    pub(super) candidates: Vec<Option<BTreeSet<usize>>>,
    /// Nodes that are not drawn.
    pub(super) nodes_left_out: usize,
    /// Of each drawn graph, the place of its node and the places of its drawn segments, ascending.
    pub(super) graphs: Vec<(usize, Vec<usize>)>,
    /// Graphs that are not drawn.
    pub(super) graphs_left_out: usize,
}

impl Selection {
    /// Nodes near the root come before deeper ones.
    pub(super) fn of(exploration: Exploration<'_>) -> Self {
        let nodes = exploration.nodes();
        let depths = exploration.depths();
        let mut by_depth: Vec<usize> = (0..nodes.len()).collect();
        by_depth.sort_by_key(|at| depths[*at]);
        by_depth.truncate(NODES);
        let mut graphs = Vec::new();
        let mut graphs_left_out = 0;
        let mut room = ALL_SEGMENTS;
        for (at, node) in nodes.iter().enumerate() {
            let Some(graph) = node.contributions.as_ref().filter(|one| !one.segments.is_empty())
            else {
                continue;
            };
            if graphs.len() >= GRAPHS || room == 0 {
                graphs_left_out += 1;
                continue;
            }
            let segments = segments(node, graph, room.min(SEGMENTS));
            room -= segments.len();
            graphs.push((at, segments));
        }
        Self {
            candidates: candidates(nodes, &by_depth),
            nodes_left_out: nodes.len() - by_depth.len(),
            graphs,
            graphs_left_out,
        }
    }
}

/// Cited before kept before discarded, in their nodes' order, so that each node has its best.
fn candidates(nodes: &[TreeNode], drawn: &[usize]) -> Vec<Option<BTreeSet<usize>>> {
    let rank = |one: &TreeEvidence| (!one.kept, one.reference.is_none());
    let mut all: Vec<((bool, bool), usize, usize)> = Vec::new();
    let mut chosen = vec![None; nodes.len()];
    for node in drawn {
        chosen[*node] = Some(BTreeSet::new());
        let evidence = nodes[*node].evidence.iter().enumerate();
        all.extend(evidence.map(|(at, one)| (rank(one), at, *node)));
    }
    all.sort_unstable();
    for (_, at, node) in all.into_iter().take(CANDIDATES) {
        chosen[node].get_or_insert_default().insert(at);
    }
    chosen
}

/// Those on a chain that counts before others, then those of kept candidates, then by relevance.
fn segments(node: &TreeNode, graph: &ContributionGraph, most: usize) -> Vec<usize> {
    let counting = counting(graph);
    let mut order: Vec<usize> = (0..graph.segments.len()).collect();
    order.sort_by_key(|at| {
        let segment = &graph.segments[*at];
        let kept = node.evidence.get(segment.evidence).is_some_and(|one| one.kept);
        let relevance: Relevance = segment.relevance;
        (Reverse(counting.contains(at)), Reverse(kept), Reverse(relevance))
    });
    order.truncate(most);
    order.sort_unstable();
    order
}

/// Places of the segments on chains that count.
fn counting(graph: &ContributionGraph) -> BTreeSet<usize> {
    let chains = graph.chains.iter().filter(|chain| chain.pruned.is_none());
    chains.flat_map(|chain| chain.segments.iter().copied()).collect()
}
