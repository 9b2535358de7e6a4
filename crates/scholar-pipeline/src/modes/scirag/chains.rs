//! Chains of contributions: simple paths of relations that end at the query, and which of them count.
//!
//! Source: arXiv 2511.14362, the algorithm's pruning of contradictory, tangential and weak chains; explicit, ours.

use scholar_core::{ContributionChain, ContributionGraph, ContributionTarget, Relevance};

/// Most relations on a chain. Ours.
const LONGEST: usize = 4;
/// Most chains listed. Ours.
const MOST: usize = 50;
/// Steps of the search for them: a graph of nothing but cycles must end. Ours.
const MOST_STEPS: usize = 20_000;

/// Lists the chains of `graph`, depth first by candidate and role, and prunes those with a discarded candidate, or on
/// which nothing is more than hardly relevant.
pub(super) fn find(graph: &mut ContributionGraph, discarded: &[usize]) {
    let mut order: Vec<usize> = (0..graph.segments.len()).collect();
    order.sort_by_key(|at| {
        let segment = &graph.segments[*at];
        (segment.evidence, segment.role.letter(), *at)
    });
    let mut search = Search { graph, order: &order, found: Vec::new(), steps: 0 };
    for start in &order {
        search.from(&mut vec![*start]);
    }
    let found = search.found;
    graph.chains = found
        .into_iter()
        .map(|segments| {
            let pruned = pruned(graph, &segments, discarded);
            ContributionChain { segments, pruned }
        })
        .collect();
}

struct Search<'a> {
    graph: &'a ContributionGraph,
    order: &'a [usize],
    found: Vec<Vec<usize>>,
    steps: usize,
}

impl Search<'_> {
    fn from(&mut self, path: &mut Vec<usize>) {
        self.steps += 1;
        let Some(last) = path.last().copied() else { return };
        if self.found.len() >= MOST || self.steps > MOST_STEPS || path.len() > LONGEST {
            return;
        }
        let leads = |to: ContributionTarget| {
            self.graph.edges.iter().any(|edge| edge.from == last && edge.to == to)
        };
        if leads(ContributionTarget::Query) {
            self.found.push(path.clone());
        }
        let next: Vec<usize> = self
            .order
            .iter()
            .copied()
            .filter(|at| !path.contains(at) && leads(ContributionTarget::Segment(*at)))
            .collect();
        for at in next {
            path.push(at);
            self.from(path);
            path.pop();
        }
    }
}

fn pruned(graph: &ContributionGraph, chain: &[usize], discarded: &[usize]) -> Option<String> {
    let papers = chain.iter().map(|at| graph.segments[*at].evidence);
    if let Some(gone) = papers.into_iter().find(|evidence| discarded.contains(evidence)) {
        return Some(format!("candidate {} on it is discarded", gone + 1));
    }
    let low = chain.iter().all(|at| graph.segments[*at].relevance == Relevance::Low);
    low.then(|| "nothing on it is more than hardly relevant".to_owned())
}

#[cfg(test)]
mod tests {
    use scholar_core::{Contribution, ContributionEdge, ContributionSegment};

    use super::*;

    fn graph(relevance: &[Relevance], edges: &[(usize, Option<usize>)]) -> ContributionGraph {
        let segment = |(evidence, relevance): (usize, &Relevance)| ContributionSegment {
            evidence,
            role: Contribution::Experiment,
            description: String::new(),
            relevance: *relevance,
        };
        let edge = |(from, to): &(usize, Option<usize>)| ContributionEdge {
            from: *from,
            to: to.map_or(ContributionTarget::Query, ContributionTarget::Segment),
            rationale: String::new(),
        };
        ContributionGraph {
            segments: relevance.iter().enumerate().map(segment).collect(),
            edges: edges.iter().map(edge).collect(),
            ..ContributionGraph::default()
        }
    }

    fn chains(graph: &mut ContributionGraph, discarded: &[usize]) -> Vec<(Vec<usize>, bool)> {
        find(graph, discarded);
        graph.chains.iter().map(|one| (one.segments.clone(), one.pruned.is_some())).collect()
    }

    #[test]
    fn chains_end_at_the_query_and_prune_what_is_discarded_or_low() {
        use Relevance::{High, Low};
        let edges = [(0, Some(1)), (1, None), (2, Some(1)), (3, None), (1, Some(0))];
        let mut graph = graph(&[High, Low, High, Low], &edges);
        let found = chains(&mut graph, &[2]);
        let expected = [(vec![0, 1], false), (vec![1], true), (vec![2, 1], true), (vec![3], true)];
        assert_eq!(found, expected);
        assert!(graph.reaches_query(0) && graph.reaches_query(1) && !graph.reaches_query(3));
    }

    #[test]
    fn no_graph_takes_forever_and_no_chain_is_longer_than_four_relations() {
        let n = 12;
        let all: Vec<(usize, Option<usize>)> = (0..n)
            .flat_map(|from| (0..n).filter(move |to| *to != from).map(move |to| (from, Some(to))))
            .chain([(n - 1, None)])
            .collect();
        let mut dense = graph(&vec![Relevance::High; n], &all);
        find(&mut dense, &[]);
        assert!(!dense.chains.is_empty() && dense.chains.len() <= MOST);
        assert!(dense.chains.iter().all(|chain| chain.segments.len() <= LONGEST));
        let mut line = graph(
            &[Relevance::High; 6],
            &[(0, Some(1)), (1, Some(2)), (2, Some(3)), (3, Some(4)), (4, Some(5)), (5, None)],
        );
        assert_eq!(chains(&mut line, &[]).len(), 4, "from the fourth last on");
    }
}
