//! Which sentences are shown: the best ones that do not repeat each other.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{PaperId, Ranked};

use super::config::DigestShape;
use super::facet::part_of;
use super::question::Reading;
use super::score::{Scored, likeness};

/// Bonus of a sentence for a part of the question that has none yet.
const EMPTY_PART: f32 = 0.15;
/// Bonus of a sentence whose paper is not shown yet.
const NEW_PAPER: f32 = 0.03;
/// Bonus of a sentence of a high-ranked passage that was left out at first.
const SECOND_LOOK: f32 = 0.04;
/// A sentence below this share of the best one's score is not worth showing.
const SCORE_SHARE: f32 = 0.6;

/// Indices into `scored` (best first) of the chosen sentences, in order of choice.
pub(crate) fn select(
    scored: &[Scored],
    evidence: &[Ranked],
    (reading, nudged): (&Reading, &BTreeSet<usize>),
    shape: &DigestShape,
) -> Vec<usize> {
    let eligible = eligible(scored, shape);
    let parts: Vec<Option<usize>> =
        eligible.iter().map(|at| part_of(&scored[*at].candidate, reading)).collect();
    let paper = |at: usize| paper_of(&scored[at], evidence);
    let mut chosen: Vec<usize> = Vec::new();
    let mut per_paper: BTreeMap<&PaperId, usize> = BTreeMap::new();
    let mut filled = vec![false; reading.parts.len()];
    while chosen.len() < shape.max_sentences {
        let mut best: Option<(f32, usize, usize)> = None;
        for (nth, at) in eligible.iter().copied().enumerate() {
            let of_paper = per_paper.get(paper(at)).copied().unwrap_or(0);
            if chosen.contains(&at) || of_paper >= shape.per_paper {
                continue;
            }
            let alike = chosen.iter().map(|other| likeness(&scored[at], &scored[*other]));
            let alike = alike.fold(0.0, f32::max);
            let same_passage_span =
                chosen.iter().any(|other| overlap(&scored[at], &scored[*other]));
            if alike >= shape.redundancy || same_passage_span {
                continue;
            }
            let bonus = parts[nth].is_some_and(|part| !filled[part]);
            let value = scored[at].score - shape.diversity * (alike - 0.5).max(0.0)
                + if bonus { EMPTY_PART } else { 0.0 }
                + if nudged.contains(&scored[at].candidate.passage) { SECOND_LOOK } else { 0.0 }
                + if of_paper == 0 { NEW_PAPER } else { -NEW_PAPER * of_paper as f32 };
            if best.is_none_or(|(highest, ..)| value > highest) {
                best = Some((value, at, nth));
            }
        }
        let Some((_, at, nth)) = best else { break };
        if let Some(part) = parts[nth] {
            filled[part] = true;
        }
        *per_paper.entry(paper(at)).or_default() += 1;
        chosen.push(at);
    }
    chosen
}

/// Indices of the sentences worth showing, in order.
pub(crate) fn eligible(scored: &[Scored], shape: &DigestShape) -> Vec<usize> {
    let relevance = scored.iter().map(|scored| scored.relevance).fold(0.0, f32::max);
    let score = scored.first().map_or(0.0, |best| best.score);
    let worth = |scored: &Scored| {
        scored.relevance >= shape.relevance_share * relevance && scored.score >= SCORE_SHARE * score
    };
    (0..scored.len()).filter(|at| worth(&scored[*at])).collect()
}

/// The paper a sentence comes from.
pub(crate) fn paper_of<'a>(scored: &Scored, evidence: &'a [Ranked]) -> &'a PaperId {
    &evidence[scored.candidate.passage].retrieved.passage.id.paper
}

/// Whether two candidates share characters: a sentence alone and joined to its successor.
fn overlap(a: &Scored, b: &Scored) -> bool {
    let (a, b) = (&a.candidate, &b.candidate);
    a.passage == b.passage && a.span.start < b.span.end && b.span.start < a.span.end
}
