//! What a broad question gets, `What are the open challenges of X?`: an introduction of what it names, then a line each of
//! the papers that speak of it, facet by facet. No single paper answers such a question; many answer a part of it.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{Notice, PaperId, PortError, Query};

use super::checks;
use super::config::{SURE, SurveyRules};
use super::informative::Role;
use super::papers::Paper;
use super::question::{Aspect, Reading};
use super::score::{Scored, similarity};
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
    /// Whether what is chosen now is the survey; too few papers speak of the question otherwise, and nothing is changed.
    pub(crate) is_chosen: bool,
}

/// Searches for what the facets of a broad question want, and chooses.
///
/// # Errors
/// When sentences cannot be encoded. A search that fails is a notice.
pub(crate) async fn survey(state: &mut DigestState<'_>) -> Result<Surveyed, PortError> {
    let mut surveyed = Surveyed::default();
    let Some(rules) = state.config().survey.as_ref() else { return Ok(surveyed) };
    let by_evidence = || state.reading.is_open() && many_speak_of_it(state, rules);
    let wanted = state.reading.is_broad || by_evidence();
    if !wanted {
        return Ok(surveyed);
    }
    let facets = facets(&state.reading, rules);
    // Who switches the searches for gaps off gets the facets of what was found.
    if state.config().checks.rounds > 0 {
        surveyed.searched = facets.iter().filter_map(|facet| facet.query(&state.reading)).collect();
        state.frame.emit(&Event::Queries { queries: surveyed.searched.clone() });
    }
    for query in &surveyed.searched {
        surveyed.notices.extend(checks::search(state, query).await);
    }
    state.choose().await?;
    let chosen = chosen(state, &facets, rules);
    let papers: BTreeSet<&PaperId> = chosen.iter().map(|line| state.paper(line.at)).collect();
    if papers.len() >= rules.fewest_papers {
        surveyed.is_chosen = true;
        state.slots = facets.iter().map(|facet| Slot::headed(&facet.heading)).collect();
        state.chosen = chosen;
    }
    Ok(surveyed)
}

/// The lines of all facets, in order: those that the papers ahead would be shown with, each where it belongs, then the best
/// sentence that each other paper has for a facet.
fn chosen(state: &DigestState<'_>, facets: &[Facet], rules: &SurveyRules) -> Vec<Line> {
    let shares = shares(state);
    let papers = papers(state, &shares, rules);
    let named = Named::all(&state.reading);
    // Words that no paper has are missing in no sentence.
    let most = shares.values().copied().fold(0.0, f32::max);
    let own = |at: usize| named.share(&state.scored[at].candidate.stems) / most.max(rules.named);
    let fits = |at: usize, what: &Tells| is_of_facet(state, at, what, own(at) >= rules.own);
    let of_ahead: Vec<(usize, usize)> = papers
        .iter()
        .filter(|paper| state.is_ahead(paper))
        .flat_map(|paper| state.lines_of(paper))
        .filter(|at| !is_talk(&state.scored[*at].candidate.text))
        .filter_map(|at| Some((at, home(state, at, facets)?)))
        .collect();
    let mut chosen: Vec<Line> = Vec::new();
    let mut spare = 0;
    for (slot, facet) in facets.iter().enumerate() {
        let is_new = |at: &usize| chosen.iter().all(|line| line.at != *at);
        let worth = |at: usize| worth(&state.scored[at]) + OF_MENTION * own(at);
        let mut found: Vec<(f32, usize)> = match &facet.tells {
            Tells::WhatItIs(name) => introductions(state, name).collect(),
            Tells::Rest => Vec::new(),
            what => {
                let best_of = |paper: &&Paper| {
                    let of_paper = state.of_paper(&paper.id);
                    let fitting = of_paper.filter(is_new).filter(|at| fits(*at, what));
                    let best = fitting.max_by(|a, b| worth(*a).total_cmp(&worth(*b)))?;
                    Some((worth(best) + paper.probability, best))
                };
                papers.iter().filter_map(best_of).collect()
            }
        };
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let ahead = of_ahead.iter().filter(|(_, home)| *home == slot).map(|(at, _)| *at);
        let found = found.into_iter().map(|(_, at)| at);
        let candidates: Vec<usize> = ahead.chain(found).collect();
        let room = facet.most.max(spare);
        let before = chosen.len();
        let mut quoted: BTreeSet<&PaperId> = BTreeSet::new();
        for at in candidates {
            let repeats = |line: &Line| {
                let alike = similarity(&state.scored[at], &state.scored[line.at]);
                line.at == at || alike >= state.config().lines.redundancy
            };
            let paper = state.paper(at);
            let has_room = quoted.len() < room || quoted.contains(paper);
            if has_room && !chosen.iter().any(repeats) {
                quoted.insert(paper);
                chosen.push(Line { at, slot });
            }
        }
        // Trials propose nothing: what an empty facet leaves the next one has.
        let is_empty = chosen.len() == before && !facet.is_introduction();
        spare = if is_empty { room } else { 0 };
    }
    chosen
}

/// The facet that a sentence of a paper ahead is shown in: what was proposed and what limits it apart, what was found together;
/// none for data that nobody asked for.
fn home(state: &DigestState<'_>, at: usize, facets: &[Facet]) -> Option<usize> {
    let is_of = |facet: &&Facet| is_of_facet(state, at, &facet.tells, true);
    let of = |what: &Tells| facets.iter().position(|facet| facet.tells == *what);
    let told = facets.iter().find(is_of).and_then(|facet| of(&facet.tells));
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

/// How much of what the question names each paper mentions.
fn shares<'a>(state: &'a DigestState<'_>) -> BTreeMap<&'a PaperId, f32> {
    let mut said: BTreeMap<&PaperId, BTreeSet<String>> = BTreeMap::new();
    for passage in state.evidence.iter().map(|ranked| &ranked.retrieved.passage) {
        let of_paper = said.entry(&passage.id.paper).or_default();
        of_paper.extend(stem_set(&passage.title));
        of_paper.extend(stem_set(&passage.text));
    }
    let named = Named::all(&state.reading);
    said.into_iter().map(|(id, said)| (id, named.share(&said))).collect()
}

/// The most probable papers that mention what the question names, measured by the one that mentions most of it.
fn papers<'a>(
    state: &'a DigestState<'_>,
    shares: &BTreeMap<&PaperId, f32>,
    rules: &SurveyRules,
) -> Vec<&'a Paper> {
    let most = shares.values().copied().fold(0.0, f32::max);
    let is_about = |paper: &&Paper| {
        let share = shares.get(&paper.id).copied().unwrap_or(0.0);
        paper.probability >= rules.sure || most >= rules.named && share >= rules.of_most * most
    };
    let best = state.papers.first().map_or(0.0, |paper| paper.probability);
    // Where none is sure the ones behind are seldom about the question at all.
    let share = if best >= SURE { rules.share } else { rules.share_unsure };
    let least = rules.from.max(share * best);
    let probable = state.papers.iter().take_while(|paper| paper.probability >= least);
    probable.filter(is_about).take(rules.papers).collect()
}

/// Whether so many papers mention most of what an open question names that no single one can be its answer.
fn many_speak_of_it(state: &DigestState<'_>, rules: &SurveyRules) -> bool {
    let shares = shares(state);
    let most = shares.values().copied().fold(0.0, f32::max);
    let mentions_it = |paper: &&&Paper| {
        let share = shares.get(&paper.id).copied().unwrap_or(0.0);
        share >= rules.many_mention * most
    };
    most >= rules.many_mention
        && papers(state, &shares, rules).iter().filter(mentions_it).count() >= rules.many
}

/// How much a sentence is worth within its facet.
fn worth(scored: &Scored) -> f32 {
    scored.similarity.unwrap_or(scored.relevance) + OF_PROBABILITY * scored.probability
}
