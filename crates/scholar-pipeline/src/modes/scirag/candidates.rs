//! Candidates of a node: papers with the passages found of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use scholar_core::text::markers::strip_foreign_markers;
use scholar_core::text::normalise::single_spaced;
use scholar_core::{
    EvidenceOrigin, Neighbour, PaperId, PaperMeta, PassageKind, Ranked, Retrieved, TreeEvidence,
};

use crate::retrieve::links::{Fused, LinkRule, fuse, links};

/// Passages of one paper that a node shows. As of every answer.
const PER_PAPER: usize = 3;

/// A paper that may be kept.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) paper: Arc<PaperMeta>,
    /// Best first.
    pub(super) passages: Vec<Ranked>,
    pub(super) origin: EvidenceOrigin,
    /// Why it is kept.
    pub(super) rationale: Option<String>,
    /// Why it is not.
    pub(super) discarded: Option<String>,
}

impl Candidate {
    fn new(first: Ranked, origin: EvidenceOrigin) -> Self {
        let paper = Arc::clone(&first.retrieved.paper);
        Self { paper, passages: vec![first], origin, rationale: None, discarded: None }
    }

    /// The score of its best passage.
    pub(super) fn score(&self) -> Option<f32> {
        self.passages.first().map(|passage| passage.score.value())
    }

    /// Title, year and passages, as symbolic steps read them: at most `most` characters.
    pub(super) fn text(&self, most: usize) -> String {
        let mut text = format!("Title: {}", single_spaced(&self.paper.display_title()));
        if let Some(year) = self.paper.year {
            // Writing to a string cannot fail.
            let _infallible = write!(text, " ({year})");
        }
        for passage in &self.passages {
            let passage = &passage.retrieved.passage;
            let kind = if passage.kind == PassageKind::Abstract { "Abstract" } else { "Passage" };
            let words = single_spaced(&strip_foreign_markers(&passage.text));
            let _infallible = write!(text, " {kind}: {words}");
        }
        text.chars().take(most).collect()
    }

    /// As the answer's tree tells it.
    pub(super) fn record(&self) -> TreeEvidence {
        TreeEvidence {
            paper: self.paper.id.clone(),
            title: self.paper.display_title().into_owned(),
            year: self.paper.year,
            passages: self.passages.iter().map(|one| one.retrieved.passage.id.clone()).collect(),
            origin: self.origin.clone(),
            score: self.score(),
            kept: self.discarded.is_none(),
            rationale: self.rationale.clone(),
            discarded: self.discarded.clone(),
            reference: None,
        }
    }
}

/// Passages, best first, as papers, best first; at most three passages of each.
pub(super) fn by_paper(ranked: Vec<Ranked>, origins: &Origins) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    for passage in ranked {
        let paper = &passage.retrieved.paper.id;
        match candidates.iter_mut().find(|known| known.paper.id == *paper) {
            Some(known) if known.passages.len() < PER_PAPER => known.passages.push(passage),
            Some(_) => {}
            None => {
                let origin = origins.of(paper);
                candidates.push(Candidate::new(passage, origin));
            }
        }
    }
    candidates
}

/// How papers were found. The first way counts.
#[derive(Debug, Default)]
pub(super) struct Origins(BTreeMap<PaperId, EvidenceOrigin>);

impl Origins {
    /// Links of neighbours, in their order; papers that `found` has were found by searching.
    pub(super) fn of_neighbours(neighbours: &[Neighbour], found: &[Candidate]) -> Self {
        let mut origins = BTreeMap::new();
        for neighbour in neighbours {
            let paper = &neighbour.found.paper.id;
            if found.iter().all(|known| known.paper.id != *paper) {
                let link = EvidenceOrigin::Link {
                    of: neighbour.of.clone(),
                    direction: neighbour.direction,
                };
                origins.entry(paper.clone()).or_insert(link);
            }
        }
        Self(origins)
    }

    fn of(&self, paper: &PaperId) -> EvidenceOrigin {
        self.0.get(paper).cloned().unwrap_or(EvidenceOrigin::Snippet)
    }
}

/// Hits and neighbours in one order.
#[derive(Debug, Default)]
pub(super) struct Linked {
    order: Vec<Fused>,
    /// The neighbours worth reading, best first, each once; none that was a hit.
    pub(super) new: Vec<Retrieved>,
}

impl Linked {
    /// Neighbours of `found`, whose order is the search's. Of the new ones `most` are worth reading, none with fewer than
    /// `min_citations` where the count is known.
    ///
    /// Deviation D78: the source asks for ten citations of every paper.
    pub(super) fn new(
        found: &[Candidate],
        neighbours: &[Neighbour],
        rule: LinkRule,
        min_citations: u32,
        most: usize,
    ) -> Self {
        let hits: Vec<&PaperMeta> = found.iter().map(|one| one.paper.as_ref()).collect();
        let ids: Vec<PaperId> = hits.iter().map(|meta| meta.id.clone()).collect();
        let order = fuse(&ids, &links(&hits, neighbours), rule);
        let passages: BTreeMap<&PaperId, &Retrieved> =
            neighbours.iter().rev().map(|one| (&one.found.paper.id, &one.found)).collect();
        let is_enough =
            |one: &&Retrieved| one.paper.citation_count.is_none_or(|count| count >= min_citations);
        let new = order
            .iter()
            .filter(|one| one.hit.is_none())
            .filter_map(|one| passages.get(&one.paper).copied())
            .filter(is_enough)
            .take(most)
            .cloned()
            .collect();
        Self { order, new }
    }

    /// Orders candidates as links and search together rank them.
    pub(super) fn sort(&self, candidates: &mut [Candidate]) {
        let places: BTreeMap<&PaperId, usize> =
            self.order.iter().enumerate().map(|(at, one)| (&one.paper, at)).collect();
        candidates.sort_by_key(|one| places.get(&one.paper.id).copied().unwrap_or(usize::MAX));
    }

    /// Why a paper has its place, for people.
    pub(super) fn reason(&self, paper: &PaperId) -> Option<String> {
        self.order.iter().find(|one| one.paper == *paper).map(Fused::reason)
    }
}

/// `[1] Title: … Abstract: …`, a line each, numbered from 1 as in the form of symbolic replies, in at most `room`
/// characters altogether.
///
/// Deviation D72: everything else that prompts number begins at 0.
pub(super) fn listed(candidates: &[Candidate], room: usize) -> String {
    let each = room / candidates.len().max(1);
    let mut out = String::new();
    for (nth, candidate) in (1..).zip(candidates) {
        let _infallible = writeln!(out, "[{nth}] {}", candidate.text(each));
    }
    out
}
