//! A graph whose relations lead to one goal, laid out in layers.
//!
//! 1. Relations that close a circle are set aside: those that lead back to a node of the depth-first search's own path.
//! 2. The layer of a node is the length of its longest way to the goal along the others, at most [`FARTHEST`]; a node
//!    that reaches the goal by a relation set aside only has its shortest way. Nodes without a way are one layer
//!    beyond the farthest.
//! 3. A relation across layers gets a place in each, so that it goes around what stands there.
//! 4. Layers are ordered by the mean place of their neighbours, to and fro, and the order with fewest crossings is kept.
//! 5. Places within a layer are as near to their neighbours as order and distances allow (isotonic regression).
//!
//! Source: Sugiyama, Tagawa and Toda 1981, with the barycentre heuristic. Quadratic in the relations.

mod order;
mod place;

use order::Graph;

/// The farthest layer from the goal: chains have at most four relations, and one more is room.
const FARTHEST: usize = 5;

/// One relation of the graph, by the places of its ends; `None` is the goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Relation {
    pub(super) from: usize,
    pub(super) to: Option<usize>,
}

/// A point: layer, counted from the goal's, which is 0; and how far down, in heights of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) layer: usize,
    pub(super) down: f64,
}

/// Where everything is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    /// Centre of each node.
    pub(super) nodes: Vec<Point>,
    /// Points that each relation passes between its ends, from source to target; none for most.
    pub(super) bends: Vec<Vec<Point>>,
    /// How far down the goal is.
    pub(super) goal: f64,
    /// Layers that nodes stand in, the goal's not counted.
    pub(super) n_layers: usize,
    /// The layer of nodes without a way to the goal, where there are any.
    pub(super) apart: Option<usize>,
    /// Height of the highest layer, in heights of a node.
    pub(super) height: f64,
}

/// Lays out `n` nodes. Relations between nodes that are not there have no bends and no effect.
pub(super) fn layout(n: usize, relations: &[Relation]) -> Layout {
    let is_there =
        |one: &Relation| one.from < n && one.to.is_none_or(|to| to < n) && one.to != Some(one.from);
    let usable: Vec<(usize, Relation)> =
        relations.iter().copied().enumerate().filter(|(_, one)| is_there(one)).collect();
    let (layers, apart) = assign(n, &usable);
    let n_layers = layers.iter().copied().max().unwrap_or(0);
    let mut graph = Graph::new(&layers);
    // A relation that does not lead toward the goal goes around outside and pulls nothing.
    for (at, one) in &usable {
        let to = one.to.map_or(0, |to| layers[to]);
        if layers[one.from] > to {
            graph.connect(*at, *one, (layers[one.from], to));
        }
    }
    graph.arrange();
    let (down, height) = place::within(&graph);
    let mut bends = vec![Vec::new(); relations.len()];
    for (relation, places) in &graph.bends {
        bends[*relation] =
            places.iter().map(|at| Point { layer: graph.layer_of[*at], down: down[*at] }).collect();
    }
    Layout {
        nodes: (0..n).map(|at| Point { layer: layers[at], down: down[at] }).collect(),
        bends,
        goal: down[n],
        n_layers,
        apart,
        height,
    }
}

/// The layer of each node, and that of nodes without a way.
fn assign(n: usize, relations: &[(usize, Relation)]) -> (Vec<usize>, Option<usize>) {
    let mut next: Vec<Vec<Option<usize>>> = vec![Vec::new(); n];
    for (_, one) in relations {
        next[one.from].push(one.to);
    }
    let mut distance: Vec<Option<usize>> = longest_ways(&next);
    // Shortest ways of the nodes that the circles cut off: from the goal outwards until nothing changes.
    let mut changed = true;
    while changed {
        changed = false;
        for at in 0..n {
            if distance[at].is_some() {
                continue;
            }
            let nearest = next[at].iter().filter_map(|to| to.map_or(Some(0), |to| distance[to]));
            distance[at] = nearest.min().map(|way| way + 1);
            changed |= distance[at].is_some();
        }
    }
    let farthest = distance.iter().flatten().copied().max().unwrap_or(0).min(FARTHEST);
    let is_apart = distance.iter().any(Option::is_none);
    let layers = distance.iter().map(|way| way.map_or(farthest + 1, |way| way.min(FARTHEST)));
    (layers.collect(), is_apart.then_some(farthest + 1))
}

/// Longest ways to the goal without relations that close a circle; `None` without such a way.
fn longest_ways(next: &[Vec<Option<usize>>]) -> Vec<Option<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        OnPath,
        Done,
    }
    let mut seen = vec![Seen::Not; next.len()];
    let mut longest: Vec<Option<usize>> = vec![None; next.len()];
    for start in 0..next.len() {
        if seen[start] != Seen::Not {
            continue;
        }
        // A stack of its own: models relate as much as they like, and recursion has an end.
        let mut path = vec![(start, 0)];
        seen[start] = Seen::OnPath;
        while let Some((at, nth)) = path.last_mut() {
            let node = *at;
            match next[node].get(*nth).copied() {
                Some(to) => {
                    *nth += 1;
                    match to {
                        None => longest[node] = longest[node].max(Some(1)),
                        Some(to) if seen[to] == Seen::Not => {
                            seen[to] = Seen::OnPath;
                            path.push((to, 0));
                        }
                        Some(to) if seen[to] == Seen::Done => {
                            longest[node] = longest[node].max(longest[to].map(|way| way + 1));
                        }
                        Some(_) => {}
                    }
                }
                None => {
                    seen[node] = Seen::Done;
                    path.pop();
                    if let Some((above, _)) = path.last() {
                        longest[*above] = longest[*above].max(longest[node].map(|way| way + 1));
                    }
                }
            }
        }
    }
    longest
}

#[cfg(test)]
mod tests;
