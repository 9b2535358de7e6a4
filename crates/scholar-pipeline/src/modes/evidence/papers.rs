//! Which papers answer the question: signs of each, and how probable it is.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{PaperId, PassageKind, Ranked, SentenceRole};
use serde::{Deserialize, Serialize};

use super::config::{EvidenceIs, PaperRules, SURE};
use super::question::{Kind, Reading, Term};
use super::score::Scored;
use super::terms::stem_set;
use crate::z_scores::z_scores;

/// Probability from which a paper is read although it lacks a core concept of the question: all else says that it answers, so it
/// has another word for it. On the development questions 41 of 144 answering papers lack one by our synonyms.
const IN_OTHER_WORDS: f32 = 0.2;

/// What is wanted done to a problem and that papers on doing something else mention in passing, as folded stems.
const REQUIRED_ACTS: [&str; 2] = ["detect", "prevent"];

/// What speaks for and against a paper.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PaperSigns {
    /// How many papers rank above it.
    pub rank: usize,
    /// Cosine of question and title, less the median of the other papers' that rank first: how far it stands out; 0 without an
    /// encoder of unit vectors.
    pub title_lead: f32,
    /// Cosine of question and abstract, title in front; of the passage that ranks first, where no abstract was read; 0 likewise.
    pub abstract_similarity: f32,
    /// `abstract_similarity` less the median of the others', as for the title.
    pub abstract_lead: f32,
    /// Highest cosine of the question and a sentence of the paper; 0 likewise.
    pub sentence_similarity: f32,
    /// Highest probability, by the sentence classifier, that one of its sentences answers the question; 0 without one.
    pub answers: f32,
    /// Largest share of the question's weight in title, abstract and one sentence.
    pub coverage: f32,
    /// Z-score of `coverage` among the papers found: words that no paper has speak against none of them. The usual
    /// one of such a coverage where people chose the papers, or fewer than four were found.
    pub coverage_z: f32,
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
    /// Whether each of these lacks a core concept of the question.
    pub(crate) in_other_words: bool,
}

/// How many papers, the first by rank, a title or abstract is compared with.
const COMPARED: usize = 12;

/// Fewest others that it is compared with; with fewer it is compared with what is usual.
const FEWEST_OTHERS: usize = 3;

/// Median, over the development questions, of the cosine of the question and the titles of the papers that rank first.
const USUAL_TITLE: f32 = 0.3;

/// The same of their abstracts.
const USUAL_ABSTRACT: f32 = 0.35;

/// Coverage that is usual among the papers that a search finds, and what is one standard deviation: the line through all papers
/// listed for the development questions.
const USUAL_COVERAGE: (f32, f32) = (0.18, 0.28);

/// Rank at which what it says for a paper has fallen to a half; of 1, 3 and 6 the one that fits best.
const HALF_RANK: f32 = 6.0;

/// Intercept and weights of a logistic regression over [`PaperSigns`].
#[derive(Debug, Clone, Copy, PartialEq)]
struct PaperModel {
    intercept: f32,
    /// Of `1 / (1 + rank / 6)`.
    rank: f32,
    title_lead: f32,
    abstract_similarity: f32,
    abstract_lead: f32,
    sentence_similarity: f32,
    answers: f32,
    coverage: f32,
    coverage_z: f32,
    missing: f32,
}

impl PaperModel {
    /// With encoder and sentence classifier, both the default ones. Source: `tests/evidence/fit_papers.py` over the development
    /// questions of `docs/results/answerable-questions.tsv` and `docs/results/answerable-development.tsv`. As it prints them: rounded
    /// to tenths they would add up to less. Only the intercept has 0.08 more: its 0.48 answers and abstains about equally often
    /// rightly, as [`SURE`] is to do.
    const WITH_MODELS: Self = Self {
        intercept: -9.68,
        rank: 1.66,
        title_lead: 3.05,
        abstract_similarity: 5.52,
        abstract_lead: 6.15,
        sentence_similarity: 3.20,
        answers: 0.35,
        coverage: 2.36,
        coverage_z: 0.43,
        missing: -0.50,
    };

    /// Without an encoder of unit vectors. Source: the same, `--without-models`, and 0.41 on the intercept, for the same reason.
    const WITHOUT_MODELS: Self = Self {
        intercept: -8.26,
        rank: 4.58,
        title_lead: 0.0,
        abstract_similarity: 0.0,
        abstract_lead: 0.0,
        sentence_similarity: 0.0,
        answers: 0.0,
        coverage: 4.64,
        coverage_z: 0.31,
        missing: -0.18,
    };

    /// For passages that people chose, every paper counts as the first: their order says nothing.
    fn of(evidence_is: EvidenceIs, has_vectors: bool) -> Self {
        let model = if has_vectors { Self::WITH_MODELS } else { Self::WITHOUT_MODELS };
        match evidence_is {
            EvidenceIs::Found => model,
            EvidenceIs::Given => {
                Self { intercept: model.intercept + model.rank, rank: 0.0, ..model }
            }
        }
    }

    fn probability(&self, signs: &PaperSigns) -> f32 {
        let Self {
            intercept,
            rank,
            title_lead,
            abstract_similarity,
            abstract_lead,
            sentence_similarity,
            answers,
            coverage,
            coverage_z,
            missing,
        } = *self;
        let sum = intercept
            + rank / (1.0 + signs.rank as f32 / HALF_RANK)
            + title_lead * signs.title_lead
            + abstract_similarity * signs.abstract_similarity
            + abstract_lead * signs.abstract_lead
            + sentence_similarity * signs.sentence_similarity
            + answers * signs.answers
            + coverage * signs.coverage
            + coverage_z * signs.coverage_z
            + missing * signs.missing;
        1.0 / (1.0 + (-sum).exp())
    }
}

/// What papers are scored by.
pub(crate) struct PaperScoring<'a> {
    pub(crate) reading: &'a Reading,
    pub(crate) evidence: &'a [Ranked],
    /// How many passages rank above each.
    pub(crate) ranks: &'a [usize],
    pub(crate) scored: &'a [Scored],
    /// Cosine of the question and each paper's title.
    pub(crate) title_similarity: &'a BTreeMap<PaperId, f32>,
    /// Cosine of the question and each paper's abstract, or passage that ranks first.
    pub(crate) abstract_similarity: &'a BTreeMap<PaperId, f32>,
    pub(crate) evidence_is: EvidenceIs,
}

/// The papers of the evidence, the most probable first, ties by rank.
pub(crate) fn papers(scoring: &PaperScoring<'_>) -> Vec<Paper> {
    let about = abouts(scoring.evidence);
    let everywhere: BTreeSet<String> = about
        .values()
        .flat_map(|about| &about.all)
        .chain(scoring.scored.iter().flat_map(|scored| &scored.candidate.stems))
        .cloned()
        .collect();
    let mut order: Vec<(usize, &PaperId)> = Vec::new();
    for (at, ranked) in scoring.evidence.iter().enumerate() {
        let id = &ranked.retrieved.passage.id.paper;
        match order.iter_mut().find(|(_, known)| *known == id) {
            Some((rank, _)) => *rank = (*rank).min(scoring.ranks[at]),
            None => order.push((scoring.ranks[at], id)),
        }
    }
    order.sort();
    let title_leads = leads(scoring, scoring.title_similarity, USUAL_TITLE, &order);
    let abstract_leads = leads(scoring, scoring.abstract_similarity, USUAL_ABSTRACT, &order);
    let coverages = coverages(scoring, &about);
    let coverage_zs = match scoring.evidence_is {
        EvidenceIs::Found if coverages.len() > FEWEST_OTHERS => {
            let values: Vec<Option<f32>> = coverages.values().copied().map(Some).collect();
            coverages.keys().copied().zip(z_scores(&values)).collect()
        }
        // Among papers that people chose, or a few, the mean is not that of what a search finds.
        EvidenceIs::Found | EvidenceIs::Given => usual_scores(&coverages),
    };
    let mut papers: Vec<Paper> = order
        .into_iter()
        .enumerate()
        .map(|(rank, (_, id))| {
            let of = |known: &BTreeMap<&PaperId, f32>| known.get(id).copied().unwrap_or(0.0);
            let place = Place {
                rank,
                title_lead: of(&title_leads),
                abstract_lead: of(&abstract_leads),
                coverage: of(&coverages),
                coverage_z: of(&coverage_zs),
            };
            paper(scoring, id, place, &about[id], &everywhere)
        })
        .collect();
    papers.sort_by(|a, b| {
        b.probability.total_cmp(&a.probability).then(a.signs.rank.cmp(&b.signs.rank))
    });
    leave_out_other_subjects(&mut papers, &about, scoring.reading);
    papers
}

/// Takes the sentences from papers that were to be read although they lack a core concept, if the best paper has that very word in
/// its title: here nobody needed another word for it, so they are about something else (falciparum, where vivax is asked for).
fn leave_out_other_subjects(
    papers: &mut [Paper],
    about: &BTreeMap<PaperId, About>,
    reading: &Reading,
) {
    let Some((best, others)) = papers.split_first_mut() else { return };
    let title = &about[&best.id].title;
    for paper in others.iter_mut().filter(|one| one.in_other_words && one.probability < SURE) {
        let all = &about[&paper.id].all;
        if reading.topic.lacks(|term| term.is_in(all)).iter().any(|term| term.is_in(title)) {
            paper.members.clear();
        }
    }
}

/// By how much each paper of `order` (first rank first) is nearer to the question, by its title or abstract, than is `usual` among
/// those that rank first; nothing without vectors.
///
/// Ours, because where the store has no answer its first papers are about as near as each other. The median, so that a few papers
/// that all answer do not speak against one another.
fn leads<'a>(
    scoring: &PaperScoring<'_>,
    similarity: &BTreeMap<PaperId, f32>,
    usual: f32,
    order: &[(usize, &'a PaperId)],
) -> BTreeMap<&'a PaperId, f32> {
    let of = |id: &PaperId| similarity.get(id).copied();
    let lead = |id: &'a PaperId| {
        let others = order.iter().filter(|(_, other)| *other != id).take(COMPARED - 1);
        let others: Vec<f32> = others.filter_map(|(_, other)| of(other)).collect();
        // Papers that people chose are not the first of a search: nothing to stand out from.
        let others_are = match scoring.evidence_is {
            EvidenceIs::Found if others.len() >= FEWEST_OTHERS => median(others),
            EvidenceIs::Found | EvidenceIs::Given => usual,
        };
        Some((id, of(id)? - others_are))
    };
    order.iter().filter_map(|(_, id)| lead(id)).collect()
}

/// Of each paper with sentences the largest share of the question's weight in title, abstract and one sentence.
fn coverages<'a>(
    scoring: &PaperScoring<'a>,
    about: &BTreeMap<PaperId, About>,
) -> BTreeMap<&'a PaperId, f32> {
    let mut coverages = BTreeMap::new();
    for scored in scoring.scored {
        let id = &scoring.evidence[scored.candidate.passage].retrieved.passage.id.paper;
        let has = |term: &Term| f32::from(u8::from(has_term(term, scored, &about[id])));
        let coverage = scoring.reading.share(has);
        let most = coverages.entry(id).or_insert(coverage);
        *most = coverage.max(*most);
    }
    coverages
}

/// The z-scores that such coverages usually have.
fn usual_scores<'a>(coverages: &BTreeMap<&'a PaperId, f32>) -> BTreeMap<&'a PaperId, f32> {
    let (mean, deviation) = USUAL_COVERAGE;
    coverages.iter().map(|(id, coverage)| (*id, (coverage - mean) / deviation)).collect()
}

/// Whether the term is in the sentence, or in title or abstract of its paper.
fn has_term(term: &Term, scored: &Scored, about: &About) -> bool {
    term.is_in(&scored.candidate.stems) || term.is_in(&about.all)
}

/// Median of `values`, which are not empty; of an even number the mean of the middle two.
fn median(mut values: Vec<f32>) -> f32 {
    values.sort_by(f32::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f32::midpoint(values[middle - 1], values[middle])
    }
}

/// Where a paper stands among the others.
struct Place {
    rank: usize,
    title_lead: f32,
    abstract_lead: f32,
    coverage: f32,
    coverage_z: f32,
}

/// Stems of what a paper is about.
struct About {
    title: BTreeSet<String>,
    /// Of title and abstract.
    all: BTreeSet<String>,
}

fn abouts(evidence: &[Ranked]) -> BTreeMap<PaperId, About> {
    let mut about: BTreeMap<PaperId, About> = BTreeMap::new();
    for ranked in evidence {
        let passage = &ranked.retrieved.passage;
        let of_paper = about.entry(passage.id.paper.clone()).or_insert_with(|| {
            let title = stem_set(&passage.title);
            About { all: title.clone(), title }
        });
        if passage.kind == PassageKind::Abstract {
            of_paper.all.extend(stem_set(&passage.text));
        }
    }
    about
}

fn paper(
    scoring: &PaperScoring<'_>,
    id: &PaperId,
    place: Place,
    about: &About,
    everywhere: &BTreeSet<String>,
) -> Paper {
    let PaperScoring { reading, evidence, scored, .. } = scoring;
    let own = (0..scored.len())
        .filter(|at| evidence[scored[*at].candidate.passage].retrieved.passage.id.paper == *id);
    let mut own: Vec<usize> = own.collect();
    let has = |at: usize, term: &Term| has_term(term, &scored[at], about);
    // What no text at all mentions cannot tell one paper from another; it counts against every one of them, below.
    let lacks_concept = |at: usize| {
        let there = |term: &Term| !term.is_in(everywhere) || has(at, term);
        !reading.topic.lacks(there).is_empty()
    };
    let acts = required_acts(reading);
    let does = |at: usize| {
        let has_act = |term: &&Term| does_act(term, about, &scored[at], everywhere);
        acts.is_empty() || acts.iter().any(has_act)
    };
    if !own.iter().any(|at| does(*at)) {
        own.clear();
    }
    let mut members: Vec<usize> = own.iter().copied().filter(|at| !lacks_concept(*at)).collect();
    let most = |value: &dyn Fn(usize) -> f32, of: &[usize]| {
        of.iter().map(|at| value(*at)).fold(0.0, f32::max)
    };
    let lacking = |at: usize| {
        let weight = |terms: Vec<&Term>| terms.iter().map(|term| term.weight).sum::<f32>();
        let all = weight(reading.topic.lacks(|_| false));
        if all > 0.0 { weight(reading.topic.lacks(|term| has(at, term))) / all } else { 0.0 }
    };
    let Place { rank, title_lead, abstract_lead, coverage, coverage_z } = place;
    let signs = PaperSigns {
        rank,
        title_lead,
        abstract_similarity: scoring.abstract_similarity.get(id).copied().unwrap_or(0.0),
        abstract_lead,
        sentence_similarity: most(&|at| scored[at].similarity.unwrap_or(0.0), &own),
        answers: most(&|at| scored[at].judged.map_or(0.0, |one| one.answers), &own),
        coverage,
        coverage_z,
        missing: own.iter().map(|at| lacking(*at)).fold(1.0, f32::min),
    };
    let has_vectors = !scoring.title_similarity.is_empty();
    let model = PaperModel::of(scoring.evidence_is, has_vectors);
    let probability = if own.is_empty() { 0.0 } else { model.probability(&signs) };
    // All else says that the paper answers: it has another word for what seems to be missing.
    let in_abstract = members.iter().any(|at| scored[*at].candidate.context.in_abstract);
    let in_other_words = members.is_empty();
    if in_other_words && probability >= IN_OTHER_WORDS || !in_abstract && probability >= SURE {
        members.clone_from(&own);
    }
    members.retain(|at| does(*at));
    Paper { id: id.clone(), signs, probability, members, in_other_words }
}

/// What a method is asked for that papers on doing something else mention, too: to detect, say.
fn required_acts(reading: &Reading) -> Vec<&Term> {
    let required = |term: &&Term| REQUIRED_ACTS.contains(&term.stem.as_str());
    let acts = reading.topic.acts().filter(required);
    if reading.kind == Kind::Methods { acts.collect() } else { Vec::new() }
}

/// Whether the paper, as the sentence shows it, does what is asked for.
///
/// Papers that prevent something mention that others detect it: what is wanted done stands in the title, or in the sentence, which is
/// no background. What no text at all mentions is asked of none.
fn does_act(act: &Term, about: &About, scored: &Scored, everywhere: &BTreeSet<String>) -> bool {
    let role = scored.judged.map(|one| one.role.most_probable());
    let is_own = role != Some(SentenceRole::Background);
    !act.is_in(everywhere)
        || act.is_in(&about.title)
        || is_own && act.is_in(&scored.candidate.stems)
}

/// How many of `papers`, most probable first, are clearly ahead of the rest: they are shown.
pub(crate) fn shown(papers: &[Paper], rules: &PaperRules) -> usize {
    let PaperRules { max_papers, show_from, show_share, .. } = *rules;
    // The best one is shown, whatever it is worth.
    let least = papers.len().min(max_papers).min(1);
    ahead(papers, max_papers, show_from, show_share).max(least)
}

/// How many of `papers`, most probable first, come near enough to be quoted beside an abstention.
pub(crate) fn nearest(papers: &[Paper], rules: &PaperRules) -> usize {
    let PaperRules { nearest, nearest_from, nearest_share, .. } = *rules;
    ahead(papers, nearest, nearest_from, nearest_share)
}

/// How many of `papers`, most probable first and at most `most`, have a probability of `from` and of `share` of the best one's.
fn ahead(papers: &[Paper], most: usize, from: f32, share: f32) -> usize {
    let best = papers.first().map_or(0.0, |best| best.probability);
    let least = from.max(share * best);
    papers.iter().take(most).take_while(|paper| paper.probability >= least).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper(probability: f32) -> Paper {
        let signs = PaperSigns {
            rank: 0,
            title_lead: 0.2,
            abstract_similarity: 0.5,
            abstract_lead: 0.2,
            sentence_similarity: 0.6,
            answers: 0.3,
            coverage: 0.8,
            coverage_z: 1.0,
            missing: 0.0,
        };
        Paper {
            id: PaperId::Pmid(1),
            signs,
            probability,
            members: Vec::new(),
            in_other_words: false,
        }
    }

    #[test]
    fn papers_clearly_ahead_are_shown_and_the_best_always() {
        let rules =
            PaperRules { max_papers: 3, show_from: 0.2, show_share: 0.5, ..PaperRules::digest() };
        let n = |probabilities: &[f32]| {
            shown(&probabilities.iter().map(|one| paper(*one)).collect::<Vec<_>>(), &rules)
        };
        assert_eq!(n(&[0.8, 0.5, 0.39, 0.3]), 2, "half of the best");
        assert_eq!(n(&[0.3, 0.22, 0.19]), 2, "a fifth");
        assert_eq!(n(&[0.1, 0.1]), 1);
        assert_eq!(n(&[0.9, 0.9, 0.9, 0.9]), 3);
        assert_eq!(n(&[]), 0);
    }

    #[test]
    fn no_other_word_is_needed_for_what_the_best_title_says() {
        let reading = Reading::of(
            "Is chloroquine effective against vivax malaria?",
            &super::super::terms::Abbreviations::default(),
        );
        let left = |title: &str, probability: f32| {
            let other = Paper {
                id: PaperId::Pmid(2),
                members: vec![7],
                in_other_words: true,
                ..paper(probability)
            };
            let mut papers = [paper(0.9), other];
            let about = |text: &str| About { title: stem_set(text), all: stem_set(text) };
            let abouts = BTreeMap::from([
                (PaperId::Pmid(1), about("Chloroquine against vivax malaria in Afghanistan")),
                (PaperId::Pmid(2), about(title)),
            ]);
            leave_out_other_subjects(&mut papers, &abouts, &reading);
            papers[1].members.len()
        };
        assert_eq!(left("Chloroquine against falciparum malaria", 0.4), 0);
        assert_eq!(left("Chloroquine against vivax malaria in Asia", 0.4), 1);
        assert_eq!(left("Chloroquine against falciparum malaria", 0.6), 1, "all else says it");
    }

    #[test]
    fn the_median_is_the_middle() {
        assert!((median(vec![0.5, 0.1, 0.3]) - 0.3).abs() < 1e-6);
        assert!((median(vec![0.4, 0.1, 0.2, 0.9]) - 0.3).abs() < 1e-6);
    }

    #[test]
    fn what_speaks_for_a_paper_raises_its_probability() {
        let model = PaperModel::of(EvidenceIs::Found, true);
        let signs = paper(0.0).signs;
        let better = model.probability(&signs);
        let worse = [
            PaperSigns { rank: 9, ..signs },
            PaperSigns { title_lead: 0.0, ..signs },
            PaperSigns { abstract_similarity: 0.2, ..signs },
            PaperSigns { abstract_lead: 0.0, ..signs },
            PaperSigns { sentence_similarity: 0.3, ..signs },
            PaperSigns { coverage: 0.3, ..signs },
            PaperSigns { coverage_z: 0.0, ..signs },
            PaperSigns { missing: 0.7, ..signs },
        ];
        assert!(worse.iter().all(|signs| model.probability(signs) < better));
        // The place in a list that people made says nothing.
        let given = PaperModel::of(EvidenceIs::Given, true);
        let close = |a: f32, b: f32| (a - b).abs() < 1e-6;
        assert!(close(given.probability(&PaperSigns { rank: 9, ..signs }), better));
    }
}
