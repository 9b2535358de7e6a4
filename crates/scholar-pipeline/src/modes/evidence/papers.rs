//! Which papers answer the question: signs of each, and how probable it is.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{PaperId, PassageKind, Ranked};
use serde::{Deserialize, Serialize};

use super::config::{EvidenceIs, PaperRules};
use super::question::{Kind, Reading, Term};
use super::score::Scored;
use super::terms::stem_set;

/// Probability from which a paper is read although it lacks a core concept of the question. Ours.
const IN_OTHER_WORDS: f32 = 0.6;

/// What speaks for and against a paper.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PaperSigns {
    /// How many papers rank above it.
    pub rank: usize,
    /// Cosine of question and title; 0 without an encoder of unit vectors.
    pub title_similarity: f32,
    /// Highest cosine of the question and a sentence of the paper; 0 likewise.
    pub sentence_similarity: f32,
    /// Highest probability, by the sentence classifier, that one of its sentences answers the question; 0 without one.
    pub answers: f32,
    /// Largest share of the question's weight in title, abstract and one sentence.
    pub coverage: f32,
    /// Share of the weight of the question's core concepts that neither title, abstract nor its best sentence has.
    pub missing: f32,
}

/// A paper of the evidence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Paper {
    pub(crate) id: PaperId,
    pub(crate) signs: PaperSigns,
    /// Probability that it answers the question.
    pub(crate) probability: f32,
    /// Its sentences that may be shown: indices into the scored ones, in their order.
    pub(crate) members: Vec<usize>,
}

/// Intercept and weights of a logistic regression over [`PaperSigns`].
#[derive(Debug, Clone, Copy, PartialEq)]
struct PaperModel {
    intercept: f32,
    /// Of `1 / (1 + rank)`.
    rank: f32,
    title_similarity: f32,
    sentence_similarity: f32,
    answers: f32,
    coverage: f32,
    missing: f32,
}

impl PaperModel {
    /// For passages that were searched for, with encoder and sentence classifier.
    const FOUND: Self = Self {
        intercept: -7.0,
        rank: 1.5,
        title_similarity: 3.0,
        sentence_similarity: 3.0,
        answers: 2.0,
        coverage: 3.5,
        missing: -2.5,
    };

    fn probability(&self, signs: &PaperSigns) -> f32 {
        let Self { intercept, rank, title_similarity, sentence_similarity, answers, coverage, missing } =
            *self;
        let sum = intercept
            + rank / (1.0 + signs.rank as f32)
            + title_similarity * signs.title_similarity
            + sentence_similarity * signs.sentence_similarity
            + answers * signs.answers
            + coverage * signs.coverage
            + missing * signs.missing;
        1.0 / (1.0 + (-sum).exp())
    }
}

/// What all papers are weighed with.
pub(crate) struct Weighing<'a> {
    pub(crate) reading: &'a Reading,
    pub(crate) evidence: &'a [Ranked],
    /// How many passages rank above each.
    pub(crate) ranks: &'a [usize],
    pub(crate) scored: &'a [Scored],
    /// Stems of each paper's title.
    pub(crate) titles: &'a BTreeMap<PaperId, BTreeSet<String>>,
    /// Cosine of the question and each paper's title.
    pub(crate) title_similarity: &'a BTreeMap<PaperId, f32>,
    pub(crate) evidence_is: EvidenceIs,
}

/// The papers of the evidence, the most probable first, ties by rank.
pub(crate) fn papers(weighing: &Weighing<'_>) -> Vec<Paper> {
    let about = abouts(weighing.evidence);
    let everywhere: BTreeSet<String> = about
        .values()
        .flatten()
        .chain(weighing.scored.iter().flat_map(|scored| &scored.candidate.stems))
        .cloned()
        .collect();
    let mut order: Vec<(usize, &PaperId)> = Vec::new();
    for (at, ranked) in weighing.evidence.iter().enumerate() {
        let id = &ranked.retrieved.passage.id.paper;
        match order.iter_mut().find(|(_, known)| *known == id) {
            Some((rank, _)) => *rank = (*rank).min(weighing.ranks[at]),
            None => order.push((weighing.ranks[at], id)),
        }
    }
    order.sort();
    let mut papers: Vec<Paper> = order
        .into_iter()
        .enumerate()
        .map(|(rank, (_, id))| paper(weighing, id, rank, &about[id], &everywhere))
        .collect();
    papers.sort_by(|a, b| {
        b.probability.total_cmp(&a.probability).then(a.signs.rank.cmp(&b.signs.rank))
    });
    papers
}

/// Stems of title and abstract, by paper.
fn abouts(evidence: &[Ranked]) -> BTreeMap<PaperId, BTreeSet<String>> {
    let mut about: BTreeMap<PaperId, BTreeSet<String>> = BTreeMap::new();
    for ranked in evidence {
        let passage = &ranked.retrieved.passage;
        let stems = about
            .entry(passage.id.paper.clone())
            .or_insert_with(|| stem_set(&passage.title));
        if passage.kind == PassageKind::Abstract {
            stems.extend(stem_set(&passage.text));
        }
    }
    about
}

fn paper(
    weighing: &Weighing<'_>,
    id: &PaperId,
    rank: usize,
    about: &BTreeSet<String>,
    everywhere: &BTreeSet<String>,
) -> Paper {
    let Weighing { reading, evidence, scored, .. } = weighing;
    let own = (0..scored.len())
        .filter(|at| evidence[scored[*at].candidate.passage].retrieved.passage.id.paper == *id);
    let own: Vec<usize> = own.collect();
    let has = |at: usize, term: &Term| term.is_in(&scored[at].candidate.stems) || term.is_in(about);
    // What no text at all mentions cannot tell one paper from another; it counts against every one of them, below.
    let title = weighing.titles.get(id);
    let disqualified = |at: usize| {
        let there = |term: &Term| !term.is_in(everywhere) || has(at, term);
        // Papers that prevent something mention that others detect it: what is wanted done stands in sentence or title.
        let done = |term: &Term| {
            !term.is_in(everywhere)
                || term.is_in(&scored[at].candidate.stems)
                || title.is_some_and(|title| term.is_in(title))
        };
        let wants_act = matches!(reading.kind, Kind::Methods | Kind::Data);
        !reading.topic.lacks(there).is_empty() || (wants_act && !reading.topic.acts().all(done))
    };
    let mut members: Vec<usize> = own.iter().copied().filter(|at| !disqualified(*at)).collect();
    let most = |value: &dyn Fn(usize) -> f32, of: &[usize]| {
        of.iter().map(|at| value(*at)).fold(0.0, f32::max)
    };
    let coverage = |at: usize| reading.share(|term| f32::from(u8::from(has(at, term))));
    let lacking = |at: usize| {
        let weight = |terms: Vec<&Term>| terms.iter().map(|term| term.weight).sum::<f32>();
        let all = weight(reading.topic.lacks(|_| false));
        if all > 0.0 { weight(reading.topic.lacks(|term| has(at, term))) / all } else { 0.0 }
    };
    let signs = PaperSigns {
        rank,
        title_similarity: weighing.title_similarity.get(id).copied().unwrap_or(0.0),
        sentence_similarity: most(&|at| scored[at].similarity.unwrap_or(0.0), &own),
        answers: most(&|at| scored[at].judged.map_or(0.0, |one| one.answers), &own),
        coverage: most(&coverage, &own),
        missing: own.iter().map(|at| lacking(*at)).fold(1.0, f32::min),
    };
    let model = match weighing.evidence_is {
        EvidenceIs::Found | EvidenceIs::Given => PaperModel::FOUND,
    };
    let probability = if own.is_empty() { 0.0 } else { model.probability(&signs) };
    // All else says that the paper answers: it has another word for what seems to be missing.
    if members.is_empty() && probability >= IN_OTHER_WORDS {
        members = own;
    }
    Paper { id: id.clone(), signs, probability, members }
}

/// How many of `papers`, most probable first, are clearly ahead of the rest: they are shown.
pub(crate) fn shown(papers: &[Paper], rules: &PaperRules) -> usize {
    let PaperRules { max_papers, show_from, show_share, abstracts: _, whole: _, max_passages: _ } =
        *rules;
    let best = papers.first().map_or(0.0, |best| best.probability);
    let ahead = |(at, paper): &(usize, &Paper)| {
        *at == 0 || paper.probability >= show_from.max(show_share * best)
    };
    papers.iter().enumerate().take(max_papers).take_while(ahead).count()
}
