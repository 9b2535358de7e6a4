//! Citation links in memory.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_core::{
    CitationGraph, Explanation, LinkDirection, Neighbour, NeighbourRequest, Neighbours, Paper,
    PaperId, PassageKind, PortError, PortErrorKind, RetrievalScore, Retrieved,
};

use crate::corpus::whole_text_passage;

/// Follows the references of given papers both ways, to their whole text as one passage.
///
/// Honours the whole request: order, limit, filter. References to papers that it does not have, and papers without text, are
/// left out and counted. Records what it was asked, and fails when told to.
pub struct MemoryGraph {
    papers: Vec<Paper>,
    requests: Mutex<Vec<NeighbourRequest>>,
    failure: Option<Failure>,
}

struct Failure {
    /// Requests that are answered before it.
    answered: usize,
    kind: PortErrorKind,
    message: String,
}

impl MemoryGraph {
    /// The graph of `papers`, by their references.
    pub fn new(papers: impl IntoIterator<Item = Paper>) -> Self {
        Self {
            papers: papers.into_iter().collect(),
            requests: Mutex::new(Vec::new()),
            failure: None,
        }
    }

    /// Every request fails with this kind and message.
    #[must_use]
    pub fn failing(self, kind: PortErrorKind, message: &str) -> Self {
        self.failing_after(0, kind, message)
    }

    /// Answers this many requests; every later one fails with this kind and message.
    #[must_use]
    pub fn failing_after(mut self, answered: usize, kind: PortErrorKind, message: &str) -> Self {
        self.failure = Some(Failure { answered, kind, message: message.to_owned() });
        self
    }

    /// What it was asked, in order, requests that failed included.
    pub fn requests(&self) -> Vec<NeighbourRequest> {
        self.requests.lock().clone()
    }

    fn named(&self, id: &PaperId) -> Option<&Paper> {
        self.papers.iter().find(|paper| paper.meta.ids().any(|known| known == id))
    }

    /// Papers at the other end of the links of `seed`, each once, and links that lead to none.
    fn linked(&self, seed: &Paper, direction: LinkDirection) -> (Vec<&Paper>, usize) {
        let mut left_out = 0;
        let linked: Vec<&Paper> = match direction {
            LinkDirection::References => seed
                .references
                .iter()
                .filter_map(|id| {
                    let cited = self.named(id);
                    left_out += usize::from(cited.is_none());
                    cited
                })
                .collect(),
            LinkDirection::Citations => self
                .papers
                .iter()
                .filter(|paper| {
                    paper.references.iter().any(|id| seed.meta.ids().any(|own| own == id))
                })
                .collect(),
        };
        let mut seen = BTreeSet::from([&seed.meta.id]);
        let linked = linked.into_iter().filter(|paper| seen.insert(&paper.meta.id)).collect();
        (linked, left_out)
    }
}

#[async_trait]
impl CitationGraph for MemoryGraph {
    fn name(&self) -> &'static str {
        "memory"
    }

    async fn neighbours(&self, request: &NeighbourRequest) -> Result<Neighbours, PortError> {
        let before = {
            let mut requests = self.requests.lock();
            requests.push(request.clone());
            requests.len() - 1
        };
        if let Some(Failure { answered, kind, message }) = &self.failure
            && before >= *answered
        {
            return Err(PortError::new(*kind, message.clone()));
        }
        let NeighbourRequest { papers, directions, per_paper, filter } = request;
        let directions: BTreeSet<LinkDirection> = directions.iter().copied().collect();
        let mut result = Neighbours::default();
        for seed in papers.iter().filter_map(|id| self.named(id).map(|paper| (id, paper))) {
            let (of, seed) = seed;
            for direction in &directions {
                let (mut linked, left_out) = self.linked(seed, *direction);
                let n_linked = linked.len();
                linked
                    .retain(|paper| !paper.text().trim().is_empty() && filter.accepts(&paper.meta));
                result.left_out += left_out + n_linked - linked.len();
                linked.sort_by_key(|paper| {
                    (Reverse(paper.meta.citation_count.unwrap_or(0)), &paper.meta.id)
                });
                result.cut += linked.len().saturating_sub(*per_paper);
                for paper in linked.into_iter().take(*per_paper) {
                    let found = retrieved(paper, of, *direction)?;
                    let (of, direction) = (of.clone(), *direction);
                    result.found.push(Neighbour { of, direction, found, influential: None });
                }
            }
        }
        Ok(result)
    }
}

fn retrieved(
    paper: &Paper,
    of: &PaperId,
    direction: LinkDirection,
) -> Result<Retrieved, PortError> {
    let how = match direction {
        LinkDirection::References => "cited by",
        LinkDirection::Citations => "cites",
    };
    let score = RetrievalScore::new(0.0).map_err(|source| {
        PortError::new(PortErrorKind::Corrupt, "zero is not a number").with_source(source)
    })?;
    let (passage, meta) = whole_text_passage(paper);
    debug_assert_eq!(passage.kind, PassageKind::Abstract);
    Ok(Retrieved {
        passage,
        paper: Arc::clone(&meta),
        score,
        explanation: Explanation::new(0.0, format!("{how} {of}")),
        found_by: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use scholar_core::{PaperMeta, SearchFilter, Section};

    use super::*;

    fn paper(n: u64, citations: Option<u32>, references: &[u64]) -> Paper {
        let mut meta = PaperMeta::new(PaperId::CorpusId(n), format!("Paper {n}"));
        meta.citation_count = citations;
        meta.year = Some(2020);
        Paper {
            meta,
            sections: vec![Section::new("Abstract", format!("What paper {n} is about."))],
            references: references.iter().map(|id| PaperId::CorpusId(*id)).collect(),
            records: Vec::new(),
        }
    }

    fn request(papers: &[u64], per_paper: usize) -> NeighbourRequest {
        NeighbourRequest {
            papers: papers.iter().map(|id| PaperId::CorpusId(*id)).collect(),
            directions: vec![LinkDirection::Citations, LinkDirection::References],
            per_paper,
            filter: SearchFilter::none(),
        }
    }

    #[tokio::test]
    async fn links_both_ways_in_the_order_of_the_contract() {
        let mut bare = paper(5, Some(99), &[]);
        bare.sections.clear();
        let papers = [
            paper(1, None, &[2, 3, 4, 5, 1, 77]),
            paper(2, Some(3), &[1]),
            paper(3, Some(9), &[]),
            paper(4, None, &[]),
            bare,
        ];
        let graph = MemoryGraph::new(papers);
        let got = graph.neighbours(&request(&[1, 42, 3], 2)).await.expect("answers");
        let found: Vec<_> = got
            .found
            .iter()
            .map(|one| (one.of.clone(), one.found.paper.id.clone(), one.direction))
            .collect();
        use LinkDirection::{Citations, References};
        let expected =
            [(1, 3, References), (1, 2, References), (1, 2, Citations), (3, 1, Citations)];
        let id = PaperId::CorpusId;
        assert_eq!(found, expected.map(|(of, linked, way)| (id(of), id(linked), way)));
        assert_eq!((got.left_out, got.cut), (2, 1), "no text, not there; one too many");
        let mut filtered = request(&[1], 9);
        filtered.filter.year_from = Some(2021);
        let got = graph.neighbours(&filtered).await.expect("answers");
        assert!(got.found.is_empty() && got.left_out == 6, "{got:?}");
        assert_eq!(graph.requests().len(), 2);
    }

    #[tokio::test]
    async fn fails_when_told_to() {
        let papers = [paper(1, None, &[2]), paper(2, None, &[])];
        let graph = MemoryGraph::new(papers).failing_after(1, PortErrorKind::Unavailable, "gone");
        assert_eq!(graph.neighbours(&request(&[1], 9)).await.expect("answers").found.len(), 1);
        let error = graph.neighbours(&request(&[1], 9)).await.expect_err("gone");
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (PortErrorKind::Unavailable, "gone")
        );
        assert_eq!(graph.requests().len(), 2);
    }
}
