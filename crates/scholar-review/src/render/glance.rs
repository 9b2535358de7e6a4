//! The first lines of a document: what was found, what is nearest, what a judge sees.

use scholar_core::AnswerSentence;
use scholar_formats::export::{ReportLine, ReportPart, named};

use super::{contribution, headed, lines};
use crate::report::{
    Bearing, Contribution, MethodReview, Module, PriorWork, Review, ReviewMode, Soundness,
};

/// Words of a claim in the first lines: enough to know it by.
const CLAIM_WORDS: usize = 16;

pub(super) fn part(review: &Review) -> ReportPart {
    let soundness = review.soundness.as_ref().and_then(Module::done);
    let beside = review.contribution.as_ref().and_then(Module::done);
    let mut told = Vec::new();
    if let Some(summary) = soundness.and_then(|one| one.summary.as_ref()) {
        told.extend(lines("Strength", &summary.strengths));
        told.extend(lines("Weakness", &summary.weaknesses));
        told.extend(lines("Suggestion", &summary.suggestions));
    }
    told.extend(super::appraisal::counts(review));
    if review.mode == ReviewMode::Evidence {
        told.push(counts(review, soundness, beside));
        let claims = beside.into_iter().flat_map(|one| one.nearest.iter().enumerate());
        told.extend(claims.map(|(at, work)| claim(review, at, work)));
        told.extend(soundness.and_then(judged));
        told.push(ReportLine::said(
            "All sentences about papers are quotations; “near” is a measured similarity of wording and says nothing about quality.",
        ));
    }
    ReportPart { lines: told, ..headed("At a glance") }
}

fn counts(
    review: &Review,
    soundness: Option<&Soundness>,
    beside: Option<&Contribution>,
) -> ReportLine {
    let of = |letter: char| {
        let all = soundness.iter().flat_map(|one| &one.reviews);
        all.filter(|review| review.method.id.starts_with(letter)).count()
    };
    let claims = beside.map_or(0, |one| one.nearest.len());
    let parts = [
        counted(of('M'), "method", "methods"),
        counted(of('H'), "supposition", "suppositions"),
        counted(claims, "claim of something new", "claims of something new"),
    ];
    let cited = counted(review.references.len(), "paper is", "papers are");
    ReportLine::said(format!(
        "The idea has {}, {} and {}; {cited} cited.",
        parts[0], parts[1], parts[2]
    ))
}

fn counted(n: usize, one: &str, more: &str) -> String {
    match n {
        0 => format!("no {}", if one.ends_with(" is") { more } else { one }),
        1 => format!("1 {one}"),
        n => format!("{n} {more}"),
    }
}

/// A claim in one line: what it says, what nothing speaks of that was read, and the work that is closest, last, as its number stands at
/// the end of a sentence.
fn claim(review: &Review, at: usize, work: &PriorWork) -> ReportLine {
    let words: Vec<&str> = work.statement.split_whitespace().collect();
    let more = if words.len() > CLAIM_WORDS { " …" } else { "" };
    let shown = words[..words.len().min(CLAIM_WORDS)].join(" ");
    let read = counted(work.read, "paper read", "papers read");
    let absent = contribution::in_quotes(&work.not_found).filter(|_| work.read > 0);
    let absent = absent.map(|terms| format!("in none of {read}: {terms}"));
    let paper = work.closest.and_then(|closest| contribution::reference(review, closest));
    let closest = match paper {
        Some(paper) => {
            let shared = contribution::in_quotes(&work.shared);
            let shared = shared.map(|terms| format!(", with {terms} in common,"));
            let title = paper.title.trim_end_matches(['.', ' ']);
            format!("closest{} is {}, “{title}”", shared.unwrap_or_default(), named(paper))
        }
        None => format!("nothing near among {read}"),
    };
    let told: Vec<String> = absent.into_iter().chain([closest]).collect();
    let text = format!("“{shown}{more}”: {}.", told.join("; "));
    let citations = paper.map(|paper| paper.number).into_iter().collect();
    let sentence = AnswerSentence { citations, ..AnswerSentence::uncited(text) };
    ReportLine { label: Some(contribution::claim(at)), sentence }
}

/// What a judge sees of the suppositions.
fn judged(soundness: &Soundness) -> Option<ReportLine> {
    let asked: Vec<&MethodReview> =
        soundness.reviews.iter().filter(|one| one.method.id.starts_with('H')).collect();
    if asked.is_empty() {
        return None;
    }
    let ids = |has: &dyn Fn(&MethodReview) -> bool| -> Option<String> {
        let ids: Vec<&str> = asked
            .iter()
            .filter(|review| has(review))
            .map(|review| review.method.id.as_str())
            .collect();
        (!ids.is_empty()).then(|| ids.join(", "))
    };
    let with = |what: &str, ids: Option<String>| match ids {
        Some(ids) => format!("{what} with {ids}"),
        None => format!("no {what}"),
    };
    let text = format!(
        "{}, {}.",
        with("agreement", ids(&|one| !one.support.is_empty())),
        with("conflict", ids(&|one| !one.contradictions.is_empty()))
    );
    Some(ReportLine::said(text).labelled("On suppositions a judge of single sentences sees"))
}

/// What a judge says of a supposition, for the label of a quotation.
pub(super) fn verdict(bearing: &Bearing) -> &'static str {
    if bearing.conflicts() { "Speaks against it" } else { "Agrees" }
}
