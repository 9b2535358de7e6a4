//! What a broad question gets, `What are the open challenges of X?`: an introduction of what it names, then a line each of
//! the papers that speak of it, facet by facet. No single paper answers such a question; many answer a part of it.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{Notice, PaperId, PortError, Query};

use super::checks;
use super::config::SurveyRules;
use super::informative::Role;
use super::papers::Paper;
use super::question::{Aspect, Reading};
use super::score::similarity;
use super::slots::Slot;
use super::state::{DigestState, Line};
use super::terms::stem_set;
use crate::event::Event;

mod facets;
mod named;
mod telling;

use facets::{Facet, Tells, facets};
use named::Named;
use telling::{introduces, is_talk, tells};

/// What the probability of answering counts beside the cosine, within a facet. Ours: both are of one order.
const OF_PROBABILITY: f32 = 0.5;

/// What the share of what the question names counts, in the sentence itself. Ours.
const OF_MENTION: f32 = 0.3;

/// What a survey searched for.
#[derive(Debug, Default)]
pub(crate) struct Surveyed {
    pub(crate) searched: Vec<Query>,
    pub(crate) notices: Vec<Notice>,
    /// Whether what is chosen now is the survey; otherwise too few papers speak of the question, and it is chosen as for any other,
    /// from what was found by then.
    pub(crate) is_chosen: bool,
}

/// Searches for what the facets of a broad question want, and chooses.
///
/// # Errors
/// When sentences cannot be encoded. A search that fails is a notice.
pub(crate) async fn survey(state: &mut DigestState<'_>) -> Result<Surveyed, PortError> {
    let mut surveyed = Surveyed::default();
    let rules = state.config().survey.as_ref().filter(|rules| rules.papers > 0);
    let Some(rules) = rules else { return Ok(surveyed) };
    let by_evidence = || state.reading.is_open() && many_speak_of_it(state, rules);
    let wanted = state.reading.is_broad || by_evidence();
    // `What are?` names nothing.
    if !wanted || Named::all(&state.reading).is_empty() {
        return Ok(surveyed);
    }
    let known = state.evidence.len();
    let facets = facets(&state.reading, rules);
    // Who switches the searches for gaps off gets the facets of what was found.
    if state.config().checks.rounds > 0 {
        surveyed.searched = facets.iter().filter_map(|facet| facet.query(&state.reading)).collect();
        state.frame.emit(&Event::Queries { queries: surveyed.searched.clone() });
    }
    for query in &surveyed.searched {
        surveyed.notices.extend(checks::search(state, query).await);
    }
    if state.evidence.len() > known {
        state.choose().await?;
    }
    let chosen = Choice::of(state, &facets, rules).lines(&facets);
    let papers: BTreeSet<&PaperId> = chosen.iter().map(|line| state.paper(line.at)).collect();
    if papers.len() >= rules.fewest_papers {
        surveyed.is_chosen = true;
        state.slots = facets.iter().map(|facet| Slot::headed(&facet.heading)).collect();
        state.chosen = chosen;
    }
    Ok(surveyed)
}

/// What the lines of a survey are chosen from.
struct Choice<'a> {
    state: &'a DigestState<'a>,
    rules: &'a SurveyRules,
    papers: Vec<&'a Paper>,
    named: Named<'a>,
    /// The largest share of it that one paper mentions: words that no paper has are missing in no sentence.
    most: f32,
    /// Sentences that the papers ahead are shown with, and the facet of each.
    ahead: Vec<(usize, usize)>,
}

impl<'a> Choice<'a> {
    fn of(state: &'a DigestState<'a>, facets: &[Facet], rules: &'a SurveyRules) -> Self {
        let named = Named::all(&state.reading);
        let mentions = Mentions::of(state, &named);
        let papers = papers(state, &mentions, rules);
        let ahead = papers
            .iter()
            .filter(|paper| state.is_ahead(paper))
            .flat_map(|paper| state.lines_of(paper))
            .filter(|at| !is_talk(&state.scored[*at].candidate.text))
            .filter_map(|at| Some((at, home(state, at, facets)?)))
            .collect();
        Self { state, rules, papers, named, most: mentions.most.max(rules.named), ahead }
    }

    /// The lines of all facets, in order.
    fn lines(&self, facets: &[Facet]) -> Vec<Line> {
        let mut chosen: Vec<Line> = Vec::new();
        let mut spare = 0;
        for (slot, facet) in facets.iter().enumerate() {
            let room = facet.most.max(spare);
            let new = self.lines_of((slot, facet), room, &chosen);
            // Trials propose nothing: what an empty facet leaves the next one has.
            spare = if new.is_empty() && !facet.is_introduction() { room } else { 0 };
            chosen.extend(new);
        }
        chosen
    }

    /// Lines of at most `room` papers that are not among the `chosen`, those of one paper together.
    fn lines_of(&self, (slot, facet): (usize, &Facet), room: usize, chosen: &[Line]) -> Vec<Line> {
        let redundancy = self.state.config().lines.redundancy;
        let mut of_papers: Vec<(&PaperId, Vec<Line>)> = Vec::new();
        for at in self.candidates((slot, facet), chosen) {
            let alike =
                |other: usize| similarity(&self.state.scored[at], &self.state.scored[other]);
            let repeats = |line: &Line| line.at == at || alike(line.at) >= redundancy;
            let new = of_papers.iter().flat_map(|(_, lines)| lines);
            if chosen.iter().chain(new).any(repeats) {
                continue;
            }
            let (paper, line) = (self.state.paper(at), Line { at, slot });
            match of_papers.iter().position(|(known, _)| *known == paper) {
                Some(nth) => of_papers[nth].1.push(line),
                None if of_papers.len() < room => of_papers.push((paper, vec![line])),
                None => {}
            }
        }
        of_papers.into_iter().flat_map(|(_, lines)| lines).collect()
    }

    /// What may be shown in a facet: the sentences of the papers ahead, then the best of each paper.
    fn candidates(&self, (slot, facet): (usize, &Facet), chosen: &[Line]) -> Vec<usize> {
        let mut best: Vec<(f32, usize)> = match &facet.tells {
            Tells::WhatItIs(name) => introductions(self.state, name).collect(),
            Tells::Rest => Vec::new(),
            what => {
                let of = |paper: &&Paper| {
                    let (worth, at) = self.best_of(paper, what, chosen)?;
                    Some((worth + paper.probability, at))
                };
                self.papers.iter().filter_map(of).collect()
            }
        };
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let ahead = self.ahead.iter().filter(|(_, home)| *home == slot).map(|(at, _)| *at);
        ahead.chain(best.into_iter().map(|(_, at)| at)).collect()
    }

    /// The sentence of a paper that is worth most of those that fit and are not among the `chosen`.
    fn best_of(&self, paper: &Paper, what: &Tells, chosen: &[Line]) -> Option<(f32, usize)> {
        let is_new = |at: &usize| chosen.iter().all(|line| line.at != *at);
        let fits =
            |at: &usize| is_of_facet(self.state, *at, what, self.mention(*at) >= self.rules.own);
        let fitting = self.state.of_paper(&paper.id).filter(is_new).filter(fits);
        let worth = |at: usize| {
            let scored = &self.state.scored[at];
            let answers = OF_PROBABILITY * scored.probability;
            scored.similarity.unwrap_or(scored.relevance) + answers + OF_MENTION * self.mention(at)
        };
        fitting.map(|at| (worth(at), at)).max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// How much of what the question names a sentence mentions, of what any paper does.
    fn mention(&self, at: usize) -> f32 {
        self.named.share(&self.state.scored[at].candidate.stems) / self.most
    }
}

/// The facet that a sentence of a paper ahead is shown in: what was proposed and what limits it apart, what was found together;
/// none for data that nobody asked for.
fn home(state: &DigestState<'_>, at: usize, facets: &[Facet]) -> Option<usize> {
    let told = facets.iter().position(|facet| is_of_facet(state, at, &facet.tells, true));
    let of = |what: &Tells| facets.iter().position(|facet| facet.tells == *what);
    let found = of(&Tells::Findings).filter(|_| !asks_for_and_against(&state.reading));
    let is_proposal = Role::of(&state.scored[at].candidate.text) == Role::Approach;
    told.or_else(|| found.or_else(|| of(&Tells::Rest)).filter(|_| !is_proposal))
}

/// Whether a sentence belongs to a facet. Where nobody asks for limits, one must name what it limits: abstracts begin with those
/// of what they replace.
fn is_of_facet(state: &DigestState<'_>, at: usize, what: &Tells, names_it: bool) -> bool {
    let for_and_against = asks_for_and_against(&state.reading);
    let needs_name = *what == Tells::Limits && !state.reading.wants(Aspect::Limits);
    tells(&state.scored[at], what, for_and_against) && (names_it || !needs_name)
}

/// `Advantages and limitations`, `strengths and weaknesses`.
fn asks_for_and_against(reading: &Reading) -> bool {
    reading.parts.iter().any(|part| part.aspect == Some(Aspect::Effects))
}

/// Sentences of any paper that say what `name` is, each with how plainly.
fn introductions(state: &DigestState<'_>, name: &str) -> impl Iterator<Item = (f32, usize)> {
    let plain = move |at: usize| {
        let scored = &state.scored[at];
        let plain = introduces(&scored.candidate.text, name, &state.reading)?;
        Some((f32::from(plain) + scored.similarity.unwrap_or(0.0), at))
    };
    (0..state.scored.len()).filter_map(plain)
}

/// How much of what the question names the papers mention.
struct Mentions<'a> {
    shares: BTreeMap<&'a PaperId, f32>,
    /// The largest of them.
    most: f32,
}

impl<'a> Mentions<'a> {
    fn of(state: &'a DigestState<'_>, named: &Named<'_>) -> Self {
        let mut said: BTreeMap<&PaperId, BTreeSet<String>> = BTreeMap::new();
        for passage in state.evidence.iter().map(|ranked| &ranked.retrieved.passage) {
            let of_paper = said.entry(&passage.id.paper).or_default();
            of_paper.extend(stem_set(&passage.title));
            of_paper.extend(stem_set(&passage.text));
        }
        let shares: BTreeMap<&PaperId, f32> =
            said.into_iter().map(|(id, said)| (id, named.share(&said))).collect();
        let most = shares.values().copied().fold(0.0, f32::max);
        Self { shares, most }
    }

    fn share(&self, paper: &Paper) -> f32 {
        self.shares.get(&paper.id).copied().unwrap_or(0.0)
    }
}

/// The papers that are probable enough to be read, best first.
fn probable<'a>(
    state: &'a DigestState<'_>,
    rules: &SurveyRules,
) -> impl Iterator<Item = &'a Paper> {
    let best = state.papers.first().map_or(0.0, |paper| paper.probability);
    // Where none is sure the ones behind are seldom about the question at all.
    let share = if state.is_sure() { rules.share } else { rules.share_unsure };
    let least = rules.from.max(share * best);
    state.papers.iter().take_while(move |paper| paper.probability >= least)
}

/// Those of them that mention what the question names, measured by the one that mentions most of it.
fn papers<'a>(
    state: &'a DigestState<'_>,
    mentions: &Mentions<'_>,
    rules: &SurveyRules,
) -> Vec<&'a Paper> {
    let is_about = |paper: &&Paper| {
        let is_mentioned =
            mentions.most >= rules.named && mentions.share(paper) >= rules.of_most * mentions.most;
        paper.probability >= rules.sure || is_mentioned
    };
    probable(state, rules).filter(is_about).take(rules.papers).collect()
}

/// Whether so many papers mention most of what an open question names that no single one can be its answer.
fn many_speak_of_it(state: &DigestState<'_>, rules: &SurveyRules) -> bool {
    // Told before anything is read: most questions have few probable papers.
    if probable(state, rules).count() < rules.many {
        return false;
    }
    let mentions = Mentions::of(state, &Named::all(&state.reading));
    let least = rules.many_mention * mentions.most;
    let papers = papers(state, &mentions, rules);
    mentions.most >= rules.many_mention
        && papers.into_iter().filter(|paper| mentions.share(paper) >= least).count() >= rules.many
}
