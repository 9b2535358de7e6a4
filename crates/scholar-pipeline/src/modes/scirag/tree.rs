//! The tree of retrievals, level by level.

use futures::future::BoxFuture;
use futures::{StreamExt as _, stream};
use scholar_core::text::normalise::match_key;

use super::explored::{Explored, Place};
use super::node::explore;
use crate::frame::Frame;

/// A node with its place in the tree.
pub(super) struct Grown {
    pub(super) place: Place,
    pub(super) explored: Explored,
    /// Places of its children in the list of all nodes, in the order in which they were asked for.
    pub(super) children: Vec<usize>,
}

/// Explores `queries` under the question, and what critics ask for under them. Nodes of one level run side by side in a
/// bounded pool; the order of the result is that of the queries, whoever is ready first.
///
/// Deviation D79: the source explores below the first level one after another.
pub(super) async fn grow(frame: &Frame<'_>, queries: Vec<String>) -> Vec<Grown> {
    let root =
        Place { id: String::new(), path: vec![frame.question.as_str().to_owned()], depth: 0 };
    let mut nodes: Vec<Grown> = Vec::new();
    // Queries that some node has searched for already: another would bring the same evidence.
    let mut asked: Vec<String> = vec![match_key(frame.question.as_str())];
    let mut level: Vec<(Option<usize>, Place)> =
        children(&root, queries, &mut asked).into_iter().map(|place| (None, place)).collect();
    while !level.is_empty() {
        let explored = explore_all(frame, level.iter().map(|(_, place)| place.clone())).await;
        let mut next = Vec::new();
        for ((parent, place), mut explored) in level.into_iter().zip(explored) {
            let at = nodes.len();
            if let Some(parent) = parent {
                nodes[parent].children.push(at);
            }
            let queries = std::mem::take(&mut explored.queries);
            let below = children(&place, queries, &mut asked);
            next.extend(below.into_iter().map(|place| (Some(at), place)));
            nodes.push(Grown { place, explored, children: Vec::new() });
        }
        level = next;
    }
    nodes
}

fn children(parent: &Place, queries: Vec<String>, asked: &mut Vec<String>) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for query in queries {
        let key = match_key(&query);
        if asked.contains(&key) {
            continue;
        }
        asked.push(key);
        let nth = places.len() + 1;
        let id =
            if parent.id.is_empty() { nth.to_string() } else { format!("{}.{nth}", parent.id) };
        let path = [parent.path.as_slice(), &[query]].concat();
        places.push(Place { id, path, depth: parent.depth + 1 });
    }
    places
}

async fn explore_all(frame: &Frame<'_>, places: impl Iterator<Item = Place>) -> Vec<Explored> {
    let futures: Vec<BoxFuture<'_, (usize, Explored)>> = places
        .enumerate()
        .map(|(nth, place)| {
            let explored = async move { (nth, explore(frame, place).await) };
            Box::pin(explored) as BoxFuture<'_, _>
        })
        .collect();
    let concurrency = frame.config.scirag.concurrency.max(1);
    let mut explored: Vec<(usize, Explored)> =
        stream::iter(futures).buffer_unordered(concurrency).collect().await;
    explored.sort_by_key(|(nth, _)| *nth);
    explored.into_iter().map(|(_, explored)| explored).collect()
}
