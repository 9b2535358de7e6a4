//! Which sentences of a paper are shown: those that answer, its conclusion and its key result.

use scholar_core::{SentenceRole, SentenceScores};

use super::config::LineRules;
use super::informative::{
    Role, Side, is_guess, is_motivation, is_praise, is_procedure, is_promise, offers_data,
    speaks_of, speaks_of_harm,
};
use super::question::{Aspect, Kind, Reading};
use super::score::{Scored, similarity};

/// Below this a sentence is background, procedure or praise by its wording, where no classifier tells its role.
const LEAST_INFORMATIVE: f32 = 0.2;
/// Probability of a finding from which its wording is not asked.
const SURELY_A_FINDING: f32 = 0.75;
/// Share of the probability of a finding that is enough where no sentence of the paper has it whole.
const UNSURE: f32 = 0.4;
/// For a sentence with a number, where the question wants results.
const NUMBER_BONUS: f32 = 0.06;
/// For a conclusion.
const CONCLUSION_BONUS: f32 = 0.06;
/// For a sentence that takes a side on the effect asked for.
const SIDE_BONUS: f32 = 0.08;
/// For a sentence whose wording is that of the aspect asked for.
const ASPECT_BONUS: f32 = 0.1;
/// For a sentence of the abstract: there a paper says what it stands for.
const ABSTRACT_BONUS: f32 = 0.1;
/// Share of the topic's weight that a sentence with its title should speak of; it loses as much as it lacks.
const WHOLE_TOPIC: f32 = 0.8;
/// The same of a sentence alone, and what a lack of it costs.
const OWN_TOPIC: f32 = 0.6;
const OWN_TOPIC_COST: f32 = 0.4;

/// The sentences of one paper (`members`, indices into `scored`) that are shown, as they are read: the conclusion in front.
pub(crate) fn lines(
    scored: &[Scored],
    members: &[usize],
    reading: &Reading,
    rules: &LineRules,
) -> Vec<usize> {
    let LineRules { per_paper, max_sentences: _, further_share, redundancy, finding_from } = *rules;
    // Of methods and datasets one line each.
    let per_paper = if matches!(reading.kind, Kind::Methods | Kind::Data) { 1 } else { per_paper };
    let fitting = |finding_from: f32| -> Vec<(f32, usize)> {
        let fits = |at: &usize| answers_in_kind(&scored[*at], reading, finding_from);
        let fitting = members.iter().copied().filter(fits);
        fitting.map(|at| (worth(&scored[at], reading), at)).collect()
    };
    // A paper that answers is shown with the sentence nearest to a finding, if the classifier is sure of none.
    let mut left = fitting(finding_from);
    if left.is_empty() {
        left = fitting(finding_from * UNSURE);
    }
    left.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let Some((best, _)) = left.first().copied() else { return Vec::new() };
    let mut chosen: Vec<usize> = Vec::new();
    for (value, at) in left {
        let repeats = chosen.iter().any(|other| {
            overlap(&scored[at], &scored[*other])
                || similarity(&scored[at], &scored[*other]) >= redundancy
        });
        if chosen.len() < per_paper && value >= further_share * best && !repeats {
            chosen.push(at);
        }
    }
    // The conclusion says what the numbers behind it mean.
    chosen.sort_by_key(|at| !concludes(&scored[*at]));
    chosen
}

/// What a sentence is worth to the question.
pub(crate) fn worth(scored: &Scored, reading: &Reading) -> f32 {
    let text = &scored.candidate.text;
    let number = text.contains(|c: char| c.is_ascii_digit());
    let wants_numbers = matches!(reading.kind, Kind::Effect | Kind::Quantity | Kind::Comparison);
    let own = reading.topic.share(|term| f32::from(u8::from(term.is_in(&scored.candidate.stems))));
    let mut worth = scored.score
        - (WHOLE_TOPIC - scored.topic).max(0.0)
        - OWN_TOPIC_COST * (OWN_TOPIC - own).max(0.0);
    worth += if scored.candidate.context.in_abstract { ABSTRACT_BONUS } else { 0.0 };
    worth += if number && wants_numbers { NUMBER_BONUS } else { 0.0 };
    worth += if concludes(scored) { CONCLUSION_BONUS } else { 0.0 };
    let takes_side = reading.kind == Kind::Effect && Side::on(text, reading).is_some();
    worth += if takes_side { SIDE_BONUS } else { 0.0 };
    let aspect = match reading.kind {
        Kind::Limits => Some(Aspect::Limits),
        Kind::Causes => Some(Aspect::Causes),
        Kind::Data => Some(Aspect::Data),
        Kind::Methods => Some(Aspect::Methods),
        _ => None,
    };
    worth + if aspect.is_some_and(|aspect| speaks_of(text, aspect)) { ASPECT_BONUS } else { 0.0 }
}

fn concludes(scored: &Scored) -> bool {
    scored.judged.is_some_and(|judged| judged.role.most_probable() == SentenceRole::Conclusion)
}

/// Whether the sentence is of the kind that the question wants: a finding, unless it asks for methods, data, limits or a
/// definition.
pub(crate) fn answers_in_kind(scored: &Scored, reading: &Reading, finding_from: f32) -> bool {
    let text = scored.candidate.text.as_str();
    let wants_limits = reading.kind == Kind::Limits || reading.wants(Aspect::Limits);
    let approach = Role::of(text) == Role::Approach;
    if is_promise(text)
        || is_praise(text)
        || is_guess(text)
        || (is_motivation(text) && !wants_limits)
    {
        return false;
    }
    if reading.asks_harm && !speaks_of_harm(text) {
        return false;
    }
    let by_role = |judged: &SentenceScores| judged.role.finding() >= finding_from;
    let surely = |judged: &SentenceScores| judged.role.finding() >= SURELY_A_FINDING;
    let finding = scored.judged.as_ref().is_some_and(surely)
        || scored.judged.as_ref().is_none_or(by_role)
            && scored.candidate.informative >= LEAST_INFORMATIVE;
    match reading.kind {
        Kind::Data => offers_data(text) || finding && speaks_of(text, Aspect::Data),
        Kind::Methods => (approach && !offers_data(text)) || finding && !is_procedure(text),
        Kind::Definition => defines(text, reading) || finding || approach,
        Kind::Limits => finding || Role::of(text) == Role::Limit,
        Kind::ProsAndCons | Kind::Causes | Kind::General => finding && !is_procedure(text),
        Kind::Effect | Kind::Comparison | Kind::Quantity => {
            // What a paper cites others for is their finding.
            finding && !approach && !is_procedure(text) && !scored.candidate.cites
        }
    }
}

/// Whether a sentence says what the first thing that the question names is.
pub(crate) fn defines(text: &str, reading: &Reading) -> bool {
    let Some(named) = reading.phrases.first() else { return false };
    let stems = super::terms::stem_set(named);
    let marks = [
        " is a ",
        " is an ",
        " is the ",
        " are ",
        " refers to ",
        " refer to ",
        "defined as",
        " aims to ",
        " which is ",
        ", a ",
        ", an ",
        " combines ",
        " consists of ",
        " involves ",
    ];
    marks.iter().any(|mark| {
        text.find(mark).is_some_and(|at| {
            let before = super::terms::stem_set(&text[..at]);
            !stems.is_empty() && stems.is_subset(&before) && before.len() <= stems.len() + 4
        })
    })
}

/// Whether two candidates share characters: a sentence alone and joined to its successor.
fn overlap(a: &Scored, b: &Scored) -> bool {
    let (a, b) = (&a.candidate, &b.candidate);
    a.passage == b.passage && a.span.start < b.span.end && b.span.start < a.span.end
}
