//! Candidates of a node: papers with the passages found of them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use scholar_core::text::markers::strip_foreign_markers;
use scholar_core::text::normalise::single_spaced;
use scholar_core::{
    EvidenceOrigin, LinkDirection, Neighbour, PaperId, PaperMeta, PassageKind, Ranked, Retrieved,
    TreeEvidence,
};

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

/// The neighbours worth reranking: each paper once, those with most links to `seeds` first, then those cited most, then by
/// identifier; none of `known`, none with fewer than `min_citations` where the count is known.
///
/// Deviation D78: the source asks for ten citations of every paper.
pub(super) fn worth_reading(
    neighbours: &[Neighbour],
    known: &[Candidate],
    min_citations: u32,
    most: usize,
) -> Vec<Retrieved> {
    let mut linked: BTreeMap<&PaperId, Linked<'_>> = BTreeMap::new();
    for neighbour in neighbours {
        let paper = &neighbour.found.paper;
        let is_known = known.iter().any(|candidate| candidate.paper.id == paper.id);
        let too_few = paper.citation_count.is_some_and(|count| count < min_citations);
        if is_known || too_few {
            continue;
        }
        let entry = linked
            .entry(&paper.id)
            .or_insert_with(|| Linked { links: Vec::new(), found: &neighbour.found });
        let link = (&neighbour.of, neighbour.direction);
        if !entry.links.contains(&link) {
            entry.links.push(link);
        }
    }
    let mut ordered: Vec<Linked<'_>> = linked.into_values().collect();
    ordered.sort_by_key(|one| {
        (Reverse(one.links.len()), Reverse(one.found.paper.citation_count.unwrap_or(0)))
    });
    ordered.into_iter().take(most).map(|one| one.found.clone()).collect()
}

/// A neighbour with its links to the papers that were found.
struct Linked<'a> {
    links: Vec<(&'a PaperId, LinkDirection)>,
    found: &'a Retrieved,
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
