//! Which sentences of a paper are shown: those that answer, its conclusion and its key result.

use scholar_core::SentenceRole;

use super::config::LineRules;
use super::informative::{
    Role, is_guess, is_motivation, is_praise, is_procedure, is_promise, speaks_of_harm,
};
use super::question::{Aspect, Kind, Reading};
use super::score::{Scored, similarity};

/// Probability from which a sentence is preferred to one that is never an answer. Ours.
const LEAST: f32 = 0.15;

/// The sentences of one paper (`members`, indices into `scored`) that are shown, as they are read: the conclusion in front.
pub(crate) fn lines(
    scored: &[Scored],
    members: &[usize],
    reading: &Reading,
    rules: &LineRules,
) -> Vec<usize> {
    let LineRules { per_paper, max_sentences: _, from, further_from, redundancy } = *rules;
    let is_left = |at: &usize| scored[*at].probability >= from && !is_barred(&scored[*at], reading);
    let mut left: Vec<usize> = members.iter().copied().filter(is_left).collect();
    let probability = |at: usize| scored[at].probability;
    left.sort_by(|a, b| probability(*b).total_cmp(&probability(*a)).then(a.cmp(b)));
    let mut chosen: Vec<usize> = Vec::new();
    for at in left {
        let repeats = chosen.iter().any(|other| {
            overlap(&scored[at], &scored[*other])
                || similarity(&scored[at], &scored[*other]) >= redundancy
        });
        let is_wanted = chosen.is_empty() || probability(at) >= further_from;
        if chosen.len() < per_paper && is_wanted && !repeats {
            chosen.push(at);
        }
    }
    // The conclusion says what the numbers behind it mean.
    chosen.sort_by_key(|at| !concludes(&scored[*at]));
    chosen
}

/// The best sentence of the best paper, whatever it is worth: what is never an answer only where there is nothing else.
pub(crate) fn best_line(scored: &[Scored], members: &[usize], reading: &Reading) -> Option<usize> {
    let best = |wanted: &dyn Fn(&Scored) -> bool| {
        let order = |a: &usize, b: &usize| {
            scored[*a].probability.total_cmp(&scored[*b].probability).then(b.cmp(a))
        };
        members.iter().copied().filter(|at| wanted(&scored[*at])).max_by(order)
    };
    best(&|one| one.probability >= LEAST && !is_barred(one, reading))
        .or_else(|| best(&|one| !says_nothing(one, reading)))
}

fn concludes(scored: &Scored) -> bool {
    scored.judged.is_some_and(|judged| judged.role.most_probable() == SentenceRole::Conclusion)
}

/// Whether the sentence is never an answer, however near it is to the question: a promise, praise, a guess, what others lack, what
/// was done, another's finding.
fn is_barred(scored: &Scored, reading: &Reading) -> bool {
    let text = scored.candidate.text.as_str();
    let wants_limits = reading.kind == Kind::Limits || reading.wants(Aspect::Limits);
    let wants_findings = matches!(reading.kind, Kind::Effect | Kind::Comparison | Kind::Quantity);
    is_promise(text)
        || is_guess(text)
        || (is_motivation(text) && !wants_limits)
        || (is_procedure(text) && reading.kind != Kind::Data)
        || says_nothing(scored, reading)
        || (wants_findings && (scored.candidate.cites || Role::of(text) == Role::Approach))
}

/// Whether the sentence has nothing of what is asked for: praise, no harm where harm is asked for, no number where one is.
fn says_nothing(scored: &Scored, reading: &Reading) -> bool {
    let text = scored.candidate.text.as_str();
    is_praise(text)
        || (reading.asks_harm && !speaks_of_harm(text))
        || (reading.kind == Kind::Quantity && !text.contains(|c: char| c.is_ascii_digit()))
}

/// Whether two candidates share characters: a sentence alone and joined to its successor.
fn overlap(a: &Scored, b: &Scored) -> bool {
    let (a, b) = (&a.candidate, &b.candidate);
    a.passage == b.passage && a.span.start < b.span.end && b.span.start < a.span.end
}
