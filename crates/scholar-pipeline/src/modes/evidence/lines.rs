//! Which sentences of a paper are shown: those that answer, its conclusion and its key result.

use scholar_core::SentenceRole;

use super::config::LineRules;
use super::informative::{
    Role, has_number, is_guess, is_motivation, is_praise, is_procedure, is_promise, speaks_of_harm,
    tells_which_problem,
};
use super::question::{Aspect, Kind, Reading};
use super::score::{Scored, similarity};

/// Probability from which a sentence is preferred to one that is never an answer. Ours.
const LEAST: f32 = 0.15;

/// How far behind the paper's best sentence its conclusion may be to be the one shown first. Of the sentences shown of 67 graded
/// clinical papers 73 % answer by it, and 55 papers are shown with their conclusion; by 0.25 72 % and 35.
const CONCLUSION_BEHIND: f32 = 0.5;
/// How far the conclusion of the abstract may be behind one of the text. Ours: it is the shorter and the whole one.
const ABSTRACT_AHEAD: f32 = 0.1;

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
    // Who asks how many wants numbers, if there are any; who asks for problems wants problems.
    let is_asked =
        |at: &usize| is_figure(&scored[*at], reading) || is_problem(&scored[*at], reading);
    if left.iter().any(is_asked) {
        left.retain(is_asked);
    }
    // What the paper concludes, then what it rests on: numbers alone do not say what they mean.
    if let Some(conclusion) = conclusion(scored, &left) {
        left.retain(|at| *at != conclusion);
        left.insert(0, conclusion);
    }
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

/// The best sentence of a paper that is an answer at all.
pub(crate) fn best_line(scored: &[Scored], members: &[usize], reading: &Reading) -> Option<usize> {
    best(scored, members, &|one| one.probability >= LEAST && !is_barred(one, reading))
}

/// The best sentence of the best paper, whatever it is worth, for an answer that has nothing else: a finding that is no more than
/// praise before what is none.
pub(crate) fn last_resort(
    scored: &[Scored],
    members: &[usize],
    reading: &Reading,
) -> Option<usize> {
    let is_finding = |one: &Scored| one.judged.is_some_and(|judged| judged.role.finding() >= 0.5);
    best(scored, members, &|one| is_finding(one) && !is_guess(&one.candidate.text))
        .or_else(|| best(scored, members, &|one| !says_nothing(one, reading)))
}

fn best(scored: &[Scored], members: &[usize], wanted: &dyn Fn(&Scored) -> bool) -> Option<usize> {
    let order = |a: &usize, b: &usize| {
        scored[*a].probability.total_cmp(&scored[*b].probability).then(b.cmp(a))
    };
    members.iter().copied().filter(|at| wanted(&scored[*at])).max_by(order)
}

/// The best conclusion of `left`, best first, if it is not far behind; the abstract's goes before the text's.
fn conclusion(scored: &[Scored], left: &[usize]) -> Option<usize> {
    let best = scored[*left.first()?].probability;
    let worth = |at: usize| {
        let in_abstract = scored[at].candidate.context.in_abstract;
        scored[at].probability + if in_abstract { ABSTRACT_AHEAD } else { 0.0 }
    };
    // A conclusion within the text may be of another study.
    let near = left.iter().copied().filter(|at| {
        let behind = if scored[*at].candidate.context.in_abstract {
            CONCLUSION_BEHIND
        } else {
            ABSTRACT_AHEAD
        };
        concludes(&scored[*at]) && scored[*at].probability >= best - behind
    });
    near.max_by(|a, b| worth(*a).total_cmp(&worth(*b)).then(b.cmp(a)))
}

/// Whether the sentence is a conclusion.
pub(crate) fn concludes(scored: &Scored) -> bool {
    scored.judged.is_some_and(|judged| judged.role.most_probable() == SentenceRole::Conclusion)
}

/// Whether the sentence is never an answer, however near it is to the question: a promise, praise, a guess, what others lack, what
/// was done, another's finding.
fn is_barred(scored: &Scored, reading: &Reading) -> bool {
    let text = scored.candidate.text.as_str();
    let wants_limits = reading.kind == Kind::Limits || reading.wants(Aspect::Limits);
    let wants_findings = matches!(reading.kind, Kind::Effect | Kind::Comparison | Kind::Quantity);
    // `We collect 1.5 million articles in five languages` answers how many.
    let is_figure = is_figure(scored, reading);
    let is_own_work = is_procedure(text) && reading.kind != Kind::Data;
    let is_offer = wants_findings && Role::of(text) == Role::Approach;
    is_promise(text)
        || is_guess(text)
        || (is_motivation(text) && !wants_limits)
        || ((is_own_work || is_offer) && !is_figure)
        || says_nothing(scored, reading)
        || (wants_findings && scored.candidate.cites)
}

/// Whether the sentence has a number, where one is asked for.
fn is_figure(scored: &Scored, reading: &Reading) -> bool {
    reading.kind == Kind::Quantity && has_number(&scored.candidate.text)
}

/// Whether the sentence tells a problem or limit, where these are asked for. Of 128 graded sentences for nine such questions 37 % of
/// those that do answer, nameless problems counted, 12 % of the others.
fn is_problem(scored: &Scored, reading: &Reading) -> bool {
    reading.kind == Kind::Limits && tells_which_problem(&scored.candidate.text)
}

/// Whether the sentence has nothing of what is asked for: praise, no harm where harm is asked for, no number where one is.
fn says_nothing(scored: &Scored, reading: &Reading) -> bool {
    let text = scored.candidate.text.as_str();
    is_praise(text)
        || (reading.asks_harm && !speaks_of_harm(text))
        || (reading.kind == Kind::Quantity && !is_figure(scored, reading) && !concludes(scored))
}

/// Whether two candidates share characters: a sentence alone and joined to its successor.
fn overlap(a: &Scored, b: &Scored) -> bool {
    let (a, b) = (&a.candidate, &b.candidate);
    a.passage == b.passage && a.span.start < b.span.end && b.span.start < a.span.end
}
