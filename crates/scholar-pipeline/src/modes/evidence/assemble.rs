//! Numbers, references, quotations: from chosen sentences to an answer.

use std::collections::BTreeSet;

use scholar_core::paper::display_title;
use scholar_core::{
    AnswerRole, AnswerSentence, Citation, Gate, Notice, NoticeKind, PaperId, Quote, Reference,
    Support, Verdict,
};

use super::checks::empty_slots;
use super::slots::{EffectSide, FINDINGS, outcome_phrase};
use super::state::DigestState;
use super::study::{located, study};
use crate::proof::number_of;

/// Name of the judge of sentences that are their source's own words.
pub(crate) const VERBATIM_JUDGE: &str = "verbatim";
/// Fewest papers of which the sides are counted.
const FEWEST_COUNTED: usize = 2;
/// Heading of what is said in front of the parts.
pub(crate) const SHORT: &str = "In short";
/// Heading of what was looked for and not found.
const NOT_FOUND: &str = "Not found";

/// A digest with its references, numbered from 1 in order of appearance.
pub(crate) struct Digest {
    pub(crate) sentences: Vec<AnswerSentence>,
    pub(crate) references: Vec<Reference>,
    /// Relevance of each sentence to the question, in `[0, 1]`.
    pub(crate) relevance: Vec<f32>,
    /// Which of the scored sentences each one is; `None` for what code says of them.
    pub(crate) origins: Vec<Option<usize>>,
}

/// Writes the chosen sentences down, with what they say together and what is missing.
pub(crate) fn digest(state: &DigestState<'_>) -> Digest {
    let mut digest = chosen(state);
    if let Some(count) = count_of_sides(state, &digest) {
        digest.insert_first(count);
    }
    for gap in empty_slots(state) {
        let gap = AnswerSentence {
            role: Some(AnswerRole::Gap),
            ..said(gap.sentence(), NOT_FOUND, digest.is_last_heading(NOT_FOUND))
        };
        digest.push(gap, 0.0, None);
    }
    digest
}

/// The chosen sentences: part by part, in each paper by paper, the best first.
pub(crate) fn chosen(state: &DigestState<'_>) -> Digest {
    let mut digest = Digest {
        sentences: Vec::new(),
        references: state.frame.registry().earlier().to_vec(),
        relevance: Vec::new(),
        origins: Vec::new(),
    };
    let mut introduced: BTreeSet<&PaperId> = BTreeSet::new();
    // `Further` than nothing would be odd.
    let only_rest = state.chosen.iter().all(|line| state.slots[line.slot].is_rest());
    for (at, slot) in state.slots.iter().enumerate() {
        let heading = if only_rest { FINDINGS } else { slot.heading.as_str() };
        let mut before: Option<&PaperId> = None;
        for line in state.chosen.iter().filter(|line| line.slot == at) {
            let paper = state.paper(line.at);
            let number = reference(state, line.at, &mut digest.references);
            let mut sentence = sentence(state, line.at, number, heading);
            sentence.paragraph_start = before != Some(paper);
            if introduced.insert(paper) {
                sentence.study =
                    state.abstract_of(line.at).map(|one| study(one, number)).unwrap_or_default();
            }
            digest.push(sentence, state.scored[line.at].relevance, Some(line.at));
            before = Some(paper);
        }
    }
    digest
}

impl Digest {
    fn push(&mut self, sentence: AnswerSentence, relevance: f32, origin: Option<usize>) {
        self.sentences.push(sentence);
        self.relevance.push(relevance);
        self.origins.push(origin);
    }

    /// In front of all others, whose places move.
    fn insert_first(&mut self, mut sentence: AnswerSentence) {
        sentence.follows.iter_mut().for_each(|at| *at += 1);
        self.sentences.insert(0, sentence);
        self.relevance.insert(0, 1.0);
        self.origins.insert(0, None);
    }

    fn is_last_heading(&self, heading: &str) -> bool {
        self.sentences.last().is_some_and(|last| last.heading.as_deref() == Some(heading))
    }
}

/// What the papers report of an effect, counted: each on the side that all of its sentences take that take one.
fn count_of_sides(state: &DigestState<'_>, digest: &Digest) -> Option<AnswerSentence> {
    if !state.reading.wants_sides {
        return None;
    }
    let mut sides: Vec<(Citation, EffectSide, usize)> = Vec::new();
    let mut both: Vec<Citation> = Vec::new();
    for (at, sentence) in digest.sentences.iter().enumerate() {
        let (Some(side), Some(citation)) =
            (EffectSide::of(&sentence.text, &state.reading), sentence.citations.first())
        else {
            continue;
        };
        match sides.iter_mut().find(|(known, _, _)| known == citation) {
            // What a paper finds on one outcome and not on another is not for one count.
            Some((_, known, _)) => both.extend((*known != side).then_some(*citation)),
            None => sides.push((*citation, side, at)),
        }
    }
    sides.retain(|(citation, _, _)| !both.contains(citation));
    if sides.len() < FEWEST_COUNTED {
        return None;
    }
    let on = outcome_phrase(&state.reading).map(|on| format!(" on {on}")).unwrap_or_default();
    let count = |side: EffectSide| sides.iter().filter(|(_, one, _)| *one == side).count();
    let verb = |n: usize| if n == 1 { "reports" } else { "report" };
    let named = [
        (count(EffectSide::Effect), format!("an effect{on}")),
        (count(EffectSide::NoEffect), "none or no difference".to_owned()),
        (count(EffectSide::Opposite), "the opposite".to_owned()),
    ];
    let parts: Vec<String> = named
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {} {what}", verb(n)))
        .collect();
    let text = format!("Of {} papers whose wording is plain, {}.", sides.len(), parts.join(", "));
    let follows = sides.into_iter().map(|(_, _, at)| at).collect();
    Some(AnswerSentence { role: Some(AnswerRole::Synthesis), follows, ..said(text, SHORT, false) })
}

/// A sentence of the program's own, which cites nothing.
fn said(text: String, heading: &str, goes_on: bool) -> AnswerSentence {
    AnswerSentence {
        heading: Some(heading.to_owned()),
        paragraph_start: !goes_on,
        ..AnswerSentence::uncited(text)
    }
}

fn reference(state: &DigestState<'_>, at: usize, references: &mut Vec<Reference>) -> Citation {
    let retrieved = &state.evidence[state.scored[at].candidate.passage].retrieved;
    number_of(retrieved, references)
}

fn sentence(state: &DigestState<'_>, at: usize, number: Citation, heading: &str) -> AnswerSentence {
    AnswerSentence {
        citations: vec![number],
        support: Some(Support {
            verdict: Verdict::Supported,
            score: 1.0,
            judge: VERBATIM_JUDGE.to_owned(),
        }),
        quotes: vec![quote(state, at, number)],
        gates: vec![Gate::L0, Gate::L1, Gate::L2],
        verbatim: true,
        role: Some(AnswerRole::Finding),
        ..said(state.scored[at].candidate.text.clone(), heading, false)
    }
}

/// The exact stored characters of a sentence.
pub(crate) fn quote(state: &DigestState<'_>, at: usize, number: Citation) -> Quote {
    let candidate = &state.scored[at].candidate;
    let passage = &state.evidence[candidate.passage].retrieved.passage;
    located(passage, candidate.span, candidate.quote.clone(), number)
}

/// Papers shown that were corrected, doubted or retracted.
pub(crate) fn retractions(state: &DigestState<'_>, references: &[Reference]) -> Vec<Notice> {
    let shown = references.iter().filter_map(|reference| {
        let ranked =
            state.evidence.iter().find(|ranked| ranked.retrieved.paper.id == reference.paper_id)?;
        let what = ranked.retrieved.paper.retraction.happened()?;
        let title = display_title(&reference.title, &reference.paper_id);
        let message = format!("[{}] “{title}” {what}", reference.number.0);
        Some(Notice::new(NoticeKind::Retraction, message))
    });
    shown.collect()
}
