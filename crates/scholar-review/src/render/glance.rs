//! The first lines of a document: what was found, what is nearest, what a judge sees.

use std::collections::BTreeMap;

use scholar_core::{AnswerSentence, Citation};
use scholar_formats::export::{ReportLine, ReportPart, named};

use super::{headed, lines};
use crate::report::{Bearing, Contribution, MethodReview, Module, Review, ReviewMode, Soundness};

/// Papers named as the nearest of all.
const NEAREST: usize = 3;

pub(super) fn part(review: &Review) -> ReportPart {
    let soundness = review.soundness.as_ref().and_then(Module::done);
    let contribution = review.contribution.as_ref().and_then(Module::done);
    let mut told = Vec::new();
    if let Some(summary) = soundness.and_then(|one| one.summary.as_ref()) {
        told.extend(lines("Strength", &summary.strengths));
        told.extend(lines("Weakness", &summary.weaknesses));
        told.extend(lines("Suggestion", &summary.suggestions));
    }
    told.extend(super::appraisal::counts(review));
    if review.mode == ReviewMode::Evidence {
        told.push(counts(review, soundness, contribution));
        told.extend(contribution.and_then(|one| nearest(review, one)));
        told.extend(contribution.and_then(absent));
        told.extend(soundness.and_then(judged));
        told.push(ReportLine::said(
            "All sentences about papers are quotations; “near” is a measured likeness of wording and says nothing about quality.",
        ));
    }
    ReportPart { lines: told, ..headed("At a glance") }
}

fn counts(
    review: &Review,
    soundness: Option<&Soundness>,
    contribution: Option<&Contribution>,
) -> ReportLine {
    let of = |letter: char| {
        let all = soundness.iter().flat_map(|one| &one.reviews);
        all.filter(|review| review.method.id.starts_with(letter)).count()
    };
    let claims = contribution.map_or(0, |one| one.nearest.len());
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

/// The papers that are nearest to most claims, ties by their numbers.
fn nearest(review: &Review, contribution: &Contribution) -> Option<ReportLine> {
    let mut by_paper: BTreeMap<Citation, Vec<String>> = BTreeMap::new();
    for (at, work) in contribution.nearest.iter().enumerate() {
        if let Some(closest) = work.closest {
            by_paper.entry(closest).or_default().push(super::contribution::claim(at));
        }
    }
    let mut papers: Vec<(Citation, Vec<String>)> = by_paper.into_iter().collect();
    papers.sort_by_key(|(_, claims)| std::cmp::Reverse(claims.len()));
    papers.truncate(NEAREST);
    let told: Vec<String> = papers
        .iter()
        .filter_map(|(citation, claims)| {
            let paper = review.references.iter().find(|one| one.number == *citation)?;
            let title = paper.title.trim_end_matches(['.', ' ']);
            Some(format!("{}, “{title}” ({})", named(paper), claims.join(", ")))
        })
        .collect();
    (!told.is_empty()).then(|| {
        let citations = papers.iter().map(|(citation, _)| *citation).collect();
        let text = format!("{}.", told.join("; "));
        let sentence = AnswerSentence { citations, ..AnswerSentence::uncited(text) };
        ReportLine { label: Some("Nearest earlier work".to_owned()), sentence }
    })
}

/// The terms of claims that no paper has which was read for them.
fn absent(contribution: &Contribution) -> Option<ReportLine> {
    let told: Vec<String> = contribution
        .nearest
        .iter()
        .enumerate()
        .filter(|(_, work)| !work.not_found.is_empty() && work.read > 0)
        .map(|(at, work)| {
            let terms: Vec<String> =
                work.not_found.iter().map(|term| format!("“{term}”")).collect();
            format!("{} {}", super::contribution::claim(at), terms.join(", "))
        })
        .collect();
    let text = format!("{}.", told.join("; "));
    (!told.is_empty())
        .then(|| ReportLine::said(text).labelled("Not found in the literature searched"))
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
