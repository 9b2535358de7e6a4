//! What belongs to what: nodes by id, papers by their labels, segments by their candidates.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{
    Answer, ContributionChain, ContributionGraph, ContributionSegment, Outline, PaperId, Reference,
    Tree, TreeEvidence, TreeNode,
};

/// Deepest level that is told apart; what is deeper is shown there.
const DEEPEST: usize = 12;

/// How one answer was found.
#[derive(Debug, Clone, Copy)]
pub struct Exploration<'a> {
    /// What was asked.
    pub question: &'a str,
    /// The plan, where there is one.
    pub outline: Option<&'a Outline>,
    /// The tree, where there is one.
    pub tree: Option<&'a Tree>,
    /// References of the answer.
    pub references: &'a [Reference],
}

impl<'a> Exploration<'a> {
    /// That of `answer`; `None` where it has neither outline nor tree.
    pub fn of(answer: &'a Answer) -> Option<Self> {
        let explored = answer.outline.is_some() || answer.tree.is_some();
        explored.then_some(Self {
            question: &answer.question,
            outline: answer.outline.as_ref(),
            tree: answer.tree.as_ref(),
            references: &answer.references,
        })
    }

    /// Nodes of the tree in order of path.
    pub fn nodes(self) -> &'a [TreeNode] {
        self.tree.map_or(&[], |tree| &tree.nodes)
    }

    /// How deep each node is, from 0: by its id, but at most one level below the node before it.
    pub(super) fn depths(self) -> Vec<usize> {
        let mut above = None;
        let nodes = self.nodes().iter();
        nodes
            .map(|node| {
                let by_id = if node.id == "0" { 0 } else { 1 + node.id.matches('.').count() };
                let depth = by_id.min(above.map_or(0, |above: usize| above + 1)).min(DEEPEST);
                above = Some(depth);
                depth
            })
            .collect()
    }

    /// Where a person can read about a candidate: what its reference states, else the address of its registry.
    pub(super) fn link(self, evidence: &TreeEvidence) -> Option<String> {
        let reference = self
            .references
            .iter()
            .find(|one| evidence.reference == Some(one.number) || one.paper_id == evidence.paper);
        let stated = reference.and_then(reference_link);
        stated.or_else(|| evidence.paper.url())
    }
}

/// Where a person can read about a reference: its DOI's address, the stated one, or that of its registry.
pub(super) fn reference_link(reference: &Reference) -> Option<String> {
    let doi = reference.doi.as_ref().and_then(|doi| PaperId::Doi(doi.clone()).url());
    doi.or_else(|| reference.url.clone()).or_else(|| reference.paper_id.url())
}

/// Short names of the papers of a tree: `[2]` for a cited one, else its title.
pub(super) struct Papers<'a>(BTreeMap<&'a PaperId, (&'a TreeEvidence, bool)>);

impl<'a> Papers<'a> {
    /// Those of all nodes.
    pub(super) fn of(exploration: Exploration<'a>) -> Self {
        let mut papers: BTreeMap<&PaperId, (&TreeEvidence, bool)> = BTreeMap::new();
        for evidence in exploration.nodes().iter().flat_map(|node| &node.evidence) {
            let cited = evidence.reference.is_some();
            let known = papers.entry(&evidence.paper).or_insert((evidence, cited));
            if cited && !known.1 {
                *known = (evidence, cited);
            }
        }
        Self(papers)
    }

    /// A name of `paper` that fits into a sentence; its identifier where the tree does not have it.
    pub(super) fn name(&self, paper: &PaperId) -> String {
        match self.0.get(paper) {
            Some((TreeEvidence { reference: Some(number), .. }, _)) => format!("[{}]", number.0),
            Some((evidence, _)) => format!("“{}”", super::shorten::chars(&evidence.title, 50)),
            None => super::shorten::chars(&paper.to_string(), 60),
        }
    }
}

/// What a candidate is called within its node: the number of its reference, else its place, from 1.
pub(super) fn label(node: &TreeNode, at: usize) -> String {
    match node.evidence.get(at).and_then(|evidence| evidence.reference) {
        Some(number) => format!("[{}]", number.0),
        None => format!("#{}", at.saturating_add(1)),
    }
}

/// The query of a node.
pub(super) fn query(node: &TreeNode) -> &str {
    node.path.last().map_or("", String::as_str)
}

/// Segments of the candidate at `at`, with their places.
pub(super) fn segments(
    graph: Option<&ContributionGraph>,
    at: usize,
) -> impl Iterator<Item = (usize, &ContributionSegment)> {
    let all = graph.map_or(&[][..], |graph| &graph.segments[..]);
    all.iter().enumerate().filter(move |(_, segment)| segment.evidence == at)
}

/// A segment in a chain: `[2]E`.
pub(super) fn segment_label(node: &TreeNode, segment: &ContributionSegment) -> String {
    format!("{}{}", label(node, segment.evidence), segment.role.letter())
}

/// A chain as it is written: `[2]E -> [1]M -> Q`; `None` where it names a segment that is not there.
pub(super) fn chain(
    node: &TreeNode,
    graph: &ContributionGraph,
    chain: &ContributionChain,
) -> Option<String> {
    let mut text = String::new();
    for at in &chain.segments {
        text += &segment_label(node, graph.segments.get(*at)?);
        text += " -> ";
    }
    Some(text + "Q")
}

/// Chains that count, as they are written, each once; and for each reason of pruning how many it ended.
pub(super) fn chains(
    node: &TreeNode,
    graph: &ContributionGraph,
) -> (Vec<String>, BTreeMap<String, usize>) {
    let mut counting: Vec<String> = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut pruned: BTreeMap<String, usize> = BTreeMap::new();
    for one in &graph.chains {
        match &one.pruned {
            Some(why) => *pruned.entry(why.clone()).or_default() += 1,
            None => {
                counting.extend(chain(node, graph, one).filter(|text| seen.insert(text.clone())));
            }
        }
    }
    (counting, pruned)
}
