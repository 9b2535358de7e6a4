//! Papers within a few references of one paper.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::PaperId;
use serde::Serialize;

use super::{Graph, Linked};
use crate::error::Error;

/// Which references are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From citing to cited papers.
    References,
    /// From cited to citing papers.
    CitedBy,
    /// References and citing papers alike.
    Both,
}

/// Where a neighbourhood ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// References away from the paper.
    pub hops: u32,
    /// Links followed from one paper: a handbook cited by everybody is no neighbourhood.
    pub links: usize,
    /// Most papers, the one asked about included.
    pub papers: usize,
}

/// A paper of a neighbourhood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Nearby {
    /// What is stored of the paper.
    #[serde(flatten)]
    pub linked: Linked,
    /// Citations between this paper and the one asked about; 1 is a neighbour.
    pub hops: u32,
}

/// One reference inside a neighbourhood.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Edge {
    /// Paper whose list of references has the link.
    pub from: PaperId,
    /// Paper that the link leads to.
    pub to: PaperId,
}

/// Papers around a paper, nearest first, and the references between them that were followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Neighbourhood {
    /// By distance, then by identifier; the paper itself first.
    pub papers: Vec<Nearby>,
    /// References between [`papers`](Self::papers), ascending by citing, then by cited paper.
    pub edges: Vec<Edge>,
    /// Papers some of whose links were not followed because of a limit.
    pub cut: usize,
}

impl Graph<'_> {
    /// The neighbourhood of `id`, breadth first. `None` when the paper is neither stored nor cited.
    ///
    /// # Errors
    /// As [`Graph::references`].
    pub fn neighbourhood(
        &self,
        id: &PaperId,
        direction: Direction,
        limits: Limits,
    ) -> Result<Option<Neighbourhood>, Error> {
        self.store.reading(|| self.around(id, direction, limits))
    }

    fn around(
        &self,
        id: &PaperId,
        direction: Direction,
        limits: Limits,
    ) -> Result<Option<Neighbourhood>, Error> {
        let start = self.place(id)?;
        if start.address.is_none() && self.citing(&start.names)?.is_empty() {
            return Ok(None);
        }
        let mut known: BTreeMap<PaperId, (bool, u32)> =
            BTreeMap::from([(start.id.clone(), (start.address.is_some(), 0))]);
        let mut edges = BTreeSet::new();
        let mut cut = 0;
        let mut frontier = vec![start.id];
        for hops in 1..=limits.hops {
            let mut next = Vec::new();
            for from in &frontier {
                let (links, all) = self.links(from, direction, limits.links)?;
                let mut is_whole = all;
                for (Linked { id, stored }, edge) in links {
                    let is_new = !known.contains_key(&id);
                    if is_new && known.len() >= limits.papers {
                        is_whole = false;
                        continue;
                    }
                    edges.insert(edge);
                    if is_new {
                        known.insert(id.clone(), (stored, hops));
                        next.push(id);
                    }
                }
                cut += usize::from(!is_whole);
            }
            next.sort();
            frontier = next;
        }
        let mut papers: Vec<Nearby> = known
            .into_iter()
            .map(|(id, (stored, hops))| Nearby { linked: Linked { id, stored }, hops })
            .collect();
        papers.sort_by_key(|paper| paper.hops);
        Ok(Some(Neighbourhood { papers, edges: edges.into_iter().collect(), cut }))
    }

    /// At most `most` links of a paper in each direction, and whether these are all.
    fn links(
        &self,
        id: &PaperId,
        direction: Direction,
        most: usize,
    ) -> Result<(Vec<(Linked, Edge)>, bool), Error> {
        let place = self.place(id)?;
        let mut links = Vec::new();
        let mut all = true;
        if let (Some(address), Direction::References | Direction::Both) = (place.address, direction)
        {
            let references = self.references_at(address)?;
            all &= references.len() <= most;
            links.extend(references.into_iter().take(most).map(|(linked, _)| {
                let edge = Edge { from: place.id.clone(), to: linked.id.clone() };
                (linked, edge)
            }));
        }
        if matches!(direction, Direction::CitedBy | Direction::Both) {
            let citers = self.citing(&place.names)?;
            all &= citers.len() <= most;
            for address in citers.into_iter().take(most) {
                let from = self.paper_at(address)?;
                let edge = Edge { from: from.clone(), to: place.id.clone() };
                links.push((Linked { id: from, stored: true }, edge));
            }
        }
        Ok((links, all))
    }
}
