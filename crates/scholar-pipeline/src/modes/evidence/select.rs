//! Which sentences are shown: the best ones that do not repeat each other.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{PaperId, Ranked};

use super::config::DigestShape;
use super::facet::Groups;
use super::question::Reading;
use super::score::{Scored, paper_of, similarity};

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
/// A sentence that says less of the topic than this share of what the best one says is about something else: of a topic of up to
/// three terms, of four, of more.
const TOPIC_SHARE: [f32; 3] = [0.75, 0.65, 0.55];
/// The same for one nearly as similar to the question as the most similar one: it may say it in other words.
const PARAPHRASE_TOPIC_SHARE: f32 = 0.72;
const PARAPHRASE: f32 = 0.95;
/// What the best sentence is taken to say at least: a topic that no sentence speaks of does not let in what is beside it.
const LEAST_BEST: f32 = 0.9;
/// Below this a sentence is background, procedure or praise; left out unless there is little else.
const LEAST_INFORMATIVE: f32 = 0.2;
/// So many sentences are little.
const LITTLE: usize = 6;

/// Indices into `scored` (best first) of those chosen among the `eligible`, in order of choice.
pub(crate) fn select(
    scored: &[Scored],
    eligible: &[usize],
    evidence: &[Ranked],
    groups: &Groups,
    nudged: &BTreeSet<usize>,
    shape: &DigestShape,
) -> Vec<usize> {
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
            let alike = chosen.iter().map(|other| similarity(&scored[at], &scored[*other]));
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
pub(crate) fn eligible(scored: &[Scored], shape: &DigestShape, reading: &Reading) -> Vec<usize> {
    let relevance = yardstick(scored);
    let score = scored.first().map_or(0.0, |best| best.score);
    let topic = scored.iter().map(|scored| scored.topic).fold(0.0, f32::max);
    let nearest =
        scored.iter().filter_map(|scored| scored.similarity).fold(f32::MIN_POSITIVE, f32::max);
    let usual = TOPIC_SHARE[reading.topic.len().clamp(3, 5) - 3];
    let on_topic = |scored: &Scored, best: f32| {
        let paraphrase = scored.similarity.is_some_and(|cosine| cosine >= PARAPHRASE * nearest);
        let share = if paraphrase { usual.min(PARAPHRASE_TOPIC_SHARE) } else { usual };
        scored.topic >= share * best
    };
    let says = |scored: &Scored| {
        scored.score >= SCORE_SHARE * score && scored.candidate.informative >= LEAST_INFORMATIVE
    };
    let worth = |best: f32, any: bool| -> Vec<usize> {
        let fits = |scored: &Scored| {
            scored.relevance >= shape.relevance_share * relevance
                && on_topic(scored, best)
                && (any || says(scored))
        };
        (0..scored.len()).filter(|at| fits(&scored[*at])).collect()
    };
    let strict = worth(topic.max(LEAST_BEST), false);
    if strict.len() >= LITTLE {
        return strict;
    }
    let whole = worth(topic.max(LEAST_BEST), true);
    if whole.is_empty() { worth(topic, false) } else { whole }
}

/// Mean relevance of the most relevant sentences: one that repeats the question word for word is no measure for others.
fn yardstick(scored: &[Scored]) -> f32 {
    let mut relevance: Vec<f32> = scored.iter().map(|scored| scored.relevance).collect();
    relevance.sort_by(|a, b| b.total_cmp(a));
    relevance.truncate(YARDSTICK);
    relevance.iter().sum::<f32>() / relevance.len().max(1) as f32
}

/// Whether two candidates share characters: a sentence alone and joined to its successor.
fn overlap(a: &Scored, b: &Scored) -> bool {
    let (a, b) = (&a.candidate, &b.candidate);
    a.passage == b.passage && a.span.start < b.span.end && b.span.start < a.span.end
}
