//! Numbers, references, quotations: from chosen sentences to an answer.

use scholar_core::paper::display_title;
use scholar_core::place::places_within;
use scholar_core::{
    AnswerSentence, Citation, Gate, Notice, NoticeKind, Quote, Reference, Support, Verdict,
};

use super::direction::{agreement, difference};
use super::facet::{Facet, facets};
use super::state::DigestState;
use crate::proof::reference_to;

/// Most pairs of differing findings that get a part of their own.
const MAX_DIFFERENCES: usize = 2;
/// Name of the judge of sentences that are their source's own words.
pub(crate) const VERBATIM_JUDGE: &str = "verbatim";

/// The parts of the digest in order, differences and agreement made visible.
pub(crate) fn parts(state: &DigestState<'_>) -> Vec<Facet> {
    let mut chosen = state.chosen.clone();
    chosen.sort_unstable();
    let DigestState { scored, evidence, groups, reading, shape, .. } = state;
    let mut parts = facets(scored, &chosen, evidence, groups, reading, shape);
    let shown: Vec<usize> = parts.iter().flat_map(|part| part.members.clone()).collect();
    let mut pool = state.eligible.clone();
    let mut left: Vec<usize> = {
        let mut sorted = shown;
        sorted.sort_unstable();
        sorted
    };
    for _ in 0..MAX_DIFFERENCES {
        let same_paper = |a: usize, b: usize| state.paper(a) == state.paper(b);
        let found = difference(&state.scored, &left, &pool, same_paper, &state.reading);
        let Some(found) = found else { break };
        let members = vec![found.first, found.second];
        left.retain(|at| !members.contains(at));
        pool.retain(|at| !members.contains(at));
        let home = parts.iter().position(|part| part.members.contains(&found.first));
        for part in &mut parts {
            part.members.retain(|at| !members.contains(at));
        }
        let heading = format!(
            "Findings differ: {} {} or {}",
            found.thing,
            found.directions.0.word(),
            found.directions.1.word()
        );
        parts.insert(home.unwrap_or(0), Facet { heading, members });
    }
    parts.retain(|part| !part.members.is_empty());
    for part in parts.iter_mut().filter(|part| !part.heading.starts_with("Findings differ")) {
        let agreed = agreement(&state.scored, &part.members, |at| state.paper(at), &state.reading);
        if let Some((thing, n)) = agreed {
            part.heading = format!("{} ({n} papers agree: {thing})", part.heading);
        }
    }
    parts
}

/// A digest with its references, numbered from 1 in order of appearance.
pub(crate) struct Digest {
    pub(crate) sentences: Vec<AnswerSentence>,
    pub(crate) references: Vec<Reference>,
    /// Relevance of each sentence to the question, in `[0, 1]`.
    pub(crate) relevance: Vec<f32>,
    /// Which of the scored sentences each one is.
    pub(crate) origins: Vec<usize>,
}

/// Writes the parts down.
pub(crate) fn digest(state: &DigestState<'_>, parts: &[Facet]) -> Digest {
    let mut digest = Digest {
        sentences: Vec::new(),
        references: Vec::new(),
        relevance: Vec::new(),
        origins: Vec::new(),
    };
    for part in parts {
        for at in &part.members {
            let number = reference(state, *at, &mut digest.references);
            digest.sentences.push(sentence(state, *at, number, &part.heading));
            digest.relevance.push(state.scored[*at].relevance);
            digest.origins.push(*at);
        }
    }
    digest
}

fn reference(state: &DigestState<'_>, at: usize, references: &mut Vec<Reference>) -> Citation {
    let retrieved = &state.evidence[state.scored[at].candidate.passage].retrieved;
    let known = references.iter().find(|known| known.paper_id == retrieved.paper.id);
    if let Some(known) = known {
        return known.number;
    }
    let number = Citation(references.len() + 1);
    references.push(reference_to(number, retrieved));
    number
}

fn sentence(state: &DigestState<'_>, at: usize, number: Citation, heading: &str) -> AnswerSentence {
    AnswerSentence {
        text: state.scored[at].candidate.text.clone(),
        heading: Some(heading.to_owned()),
        paragraph_start: true,
        citations: vec![number],
        support: Some(Support {
            verdict: Verdict::Supported,
            score: 1.0,
            judge: VERBATIM_JUDGE.to_owned(),
        }),
        quotes: vec![quote(state, at, number)],
        gates: vec![Gate::L0, Gate::L1, Gate::L2],
        verbatim: true,
        role: None,
        follows: Vec::new(),
    }
}

/// The exact stored characters of a sentence.
pub(crate) fn quote(state: &DigestState<'_>, at: usize, number: Citation) -> Quote {
    let candidate = &state.scored[at].candidate;
    let passage = &state.evidence[candidate.passage].retrieved.passage;
    Quote {
        reference: number,
        passage_id: passage.id.clone(),
        start: candidate.span.start,
        end: candidate.span.end,
        text: candidate.quote.clone(),
        places: places_within(&passage.places, candidate.span.start, candidate.span.end),
    }
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
