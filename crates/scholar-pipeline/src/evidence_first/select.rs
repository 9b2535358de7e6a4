//! Which sentences are shown: the best ones that do not repeat each other.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{PaperId, Ranked};

use super::config::DigestShape;
use super::facet::Groups;
use super::score::{Scored, likeness};

/// How many of the most relevant sentences set the measure of relevance.
const YARDSTICK: usize = 8;
/// Bonus of a sentence for a group that has none, one, two yet.
const GROUP_BONUS: [f32; 3] = [0.12, 0.08, 0.03];
/// Bonus of a sentence whose paper is not shown yet.
const NEW_PAPER: f32 = 0.05;
/// Bonus of a sentence of a high-ranked passage that was left out at first.
const SECOND_LOOK: f32 = 0.02;
/// A sentence below this share of the best one's score is not worth showing.
const SCORE_SHARE: f32 = 0.6;

/// Indices into `scored` (best first) of the chosen sentences, in order of choice.
pub(crate) fn select(
    scored: &[Scored],
    evidence: &[Ranked],
    (groups, nudged): (&Groups, &BTreeSet<usize>),
    shape: &DigestShape,
) -> Vec<usize> {
    let eligible = eligible(scored, shape);
    let paper = |at: usize| paper_of(&scored[at], evidence);
    let mut chosen: Vec<usize> = Vec::new();
    let mut per_paper: BTreeMap<&PaperId, usize> = BTreeMap::new();
    let mut filled = vec![0_usize; groups.headings.len()];
    while chosen.len() < shape.max_sentences {
        let mut best: Option<(f32, usize)> = None;
        for at in eligible.iter().copied() {
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
            let filled = groups.of[at].map_or(usize::MAX, |group| filled[group]);
            let value = scored[at].score - shape.diversity * (alike - 0.5).max(0.0)
                + GROUP_BONUS.get(filled).copied().unwrap_or(0.0)
                + if nudged.contains(&scored[at].candidate.passage) { SECOND_LOOK } else { 0.0 }
                + if of_paper == 0 { NEW_PAPER } else { -NEW_PAPER * of_paper as f32 };
            if best.is_none_or(|(highest, _)| value > highest) {
                best = Some((value, at));
            }
        }
        let Some((_, at)) = best else { break };
        if let Some(group) = groups.of[at] {
            filled[group] += 1;
        }
        *per_paper.entry(paper(at)).or_default() += 1;
        chosen.push(at);
    }
    chosen
}

/// Indices of the sentences worth showing, in order.
pub(crate) fn eligible(scored: &[Scored], shape: &DigestShape) -> Vec<usize> {
    let relevance = yardstick(scored);
    let score = scored.first().map_or(0.0, |best| best.score);
    let worth = |scored: &Scored| {
        scored.relevance >= shape.relevance_share * relevance && scored.score >= SCORE_SHARE * score
    };
    (0..scored.len()).filter(|at| worth(&scored[*at])).collect()
}

/// Mean relevance of the most relevant sentences: one that repeats the question word for word is no measure for others.
fn yardstick(scored: &[Scored]) -> f32 {
    let mut relevance: Vec<f32> = scored.iter().map(|scored| scored.relevance).collect();
    relevance.sort_by(|a, b| b.total_cmp(a));
    relevance.truncate(YARDSTICK);
    relevance.iter().sum::<f32>() / relevance.len().max(1) as f32
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
