//! What exists already beside every claim, and the map of it.

use std::collections::BTreeMap;

use scholar_core::paper::display_title;
use scholar_core::text::normalise::capitalised;
use scholar_core::{AnswerTable, Citation, Reference, TableCell, TableRow};
use scholar_formats::exploration::{NoveltyMap, NoveltyRow};
use scholar_formats::export::{ReportLine, ReportPart, named};

use super::repeats::CLOSEST;
use super::{failed, failure, headed, lines};
use crate::report::{
    Contribution, DimensionReview, Module, PriorWork, Review, ReviewMode, ScoredPaper, Statement,
};

const HEADING: &str = "What exists already";
/// Papers of the map.
const MAPPED: usize = 40;

/// The short name of the claim at `at`.
pub(super) fn claim(at: usize) -> String {
    format!("C{}", at + 1)
}

/// The short name of the claim that is `sentence`, where it stands beside earlier work.
pub(super) fn claimed(contribution: &Contribution, sentence: &str) -> Option<String> {
    contribution.nearest.iter().position(|work| work.statement == sentence).map(claim)
}

pub(super) fn parts(review: &Review) -> Vec<ReportPart> {
    let Some(module) = &review.contribution else { return Vec::new() };
    let Some(contribution) = module.done() else {
        return failure(module, HEADING).into_iter().collect();
    };
    let mut parts = vec![headed(HEADING)];
    match review.mode {
        ReviewMode::Evidence => {
            let all = contribution.nearest.iter().enumerate();
            parts.extend(all.map(|(at, work)| beside(review, contribution, at, work)));
        }
        ReviewMode::Generative => parts.extend(contribution.reviews.iter().map(told)),
    }
    if parts.len() == 1 {
        parts[0].lines.push(ReportLine::said("No claim of something new was recognised."));
    }
    parts
}

/// A dimension as a model reviewed it.
fn told(review: &DimensionReview) -> ReportPart {
    let mut all: Vec<ReportLine> = failed(&review.state).into_iter().collect();
    all.extend(lines("Strength", &review.strengths));
    all.extend(lines("Weakness", &review.weaknesses));
    all.extend(lines("Suggestion", &review.suggestions));
    ReportPart {
        below: true,
        about: Some(review.dimension.statements.join(" ")),
        lines: all,
        ..headed(&review.dimension.heading())
    }
}

/// A claim beside the nearest work.
fn beside(review: &Review, contribution: &Contribution, at: usize, work: &PriorWork) -> ReportPart {
    let dimension = contribution.reviews.iter().find(|one| one.dimension.id == work.dimension);
    let name = dimension.map_or("claim", |one| one.dimension.name.as_str());
    let mut all = Vec::new();
    match work.closest {
        None => {
            let text = match work.read {
                0 => "Nothing was found.".to_owned(),
                read => format!("Nothing near was found among {read} papers read for it."),
            };
            all.push(ReportLine::said(text).labelled(CLOSEST));
        }
        Some(closest) => all.extend(quoted(dimension, work, closest)),
    }
    if let Some(paper) = work.closest.and_then(|number| reference(review, number)) {
        let text = match in_quotes(&work.shared) {
            None => format!("no term with {}.", named(paper)),
            Some(terms) => format!("with {}: {terms}.", named(paper)),
        };
        all.push(ReportLine::said(text).labelled("Shared"));
    }
    if let (Some(terms), true) = (in_quotes(&work.not_found), work.read > 0) {
        let papers = if work.read == 1 { "paper was" } else { "papers were" };
        let text = format!("{terms} ({} {papers} read for it).", work.read);
        all.push(ReportLine::said(text).labelled("Not found in the literature searched"));
    }
    ReportPart {
        below: true,
        about: Some(work.statement.clone()),
        lines: all,
        ..headed(&format!("{} · {}", claim(at), capitalised(name)))
    }
}

/// `“a”, “b”`; `None` of none.
pub(super) fn in_quotes(terms: &[String]) -> Option<String> {
    let all: Vec<String> = terms.iter().map(|term| format!("“{term}”")).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The sentences that stand beside a claim, those of the closest paper first.
fn quoted(
    dimension: Option<&DimensionReview>,
    work: &PriorWork,
    closest: Citation,
) -> Vec<ReportLine> {
    let all = dimension.iter().flat_map(|review| &review.weaknesses);
    let own = |one: &&Statement| one.sentence.heading.as_deref() == Some(work.statement.as_str());
    let line = |statement: &Statement| {
        let is_closest = statement.sentence.citations.first() == Some(&closest);
        let label = if is_closest { CLOSEST } else { "Near" };
        ReportLine { label: Some(label.to_owned()), sentence: statement.sentence.clone() }
    };
    all.filter(own).map(line).collect()
}

pub(super) fn reference(review: &Review, number: Citation) -> Option<&Reference> {
    review.references.iter().find(|one| one.number == number)
}

/// The map of novelty as a part with its drawing, and as a table for documents that show none. Only of what was measured.
pub(super) fn map(review: &Review) -> Option<(ReportPart, AnswerTable)> {
    let contribution = review.contribution.as_ref().and_then(Module::done)?;
    let measured = |one: &&ScoredPaper| one.cosine.is_some();
    let mut cells: BTreeMap<Citation, Vec<Option<f32>>> = BTreeMap::new();
    let columns = contribution.nearest.len();
    for (at, work) in contribution.nearest.iter().enumerate() {
        for overlap in &work.overlaps {
            let row = cells.entry(overlap.quote.reference).or_insert_with(|| vec![None; columns]);
            row[at] = greater(row[at], overlap.cosine);
        }
    }
    let mut rows: Vec<(NoveltyRow, Option<Citation>)> = contribution
        .papers
        .iter()
        .filter(measured)
        .map(|scored| {
            let cited = review.references.iter().find(|one| one.paper_id == scored.paper.id);
            let number = cited.map(|one| one.number);
            let in_list = scholar_pipeline::proof::reference_of(Citation(0), &scored.paper);
            let row = NoveltyRow {
                name: named(&in_list),
                title: display_title(&scored.paper.title, &scored.paper.id).into_owned(),
                number: number.map(|number| number.0),
                whole: scored.cosine,
                cells: number
                    .and_then(|number| cells.get(&number).cloned())
                    .unwrap_or_else(|| vec![None; columns]),
            };
            (row, number)
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    rows.truncate(MAPPED);
    let names: Vec<(String, String)> = contribution
        .nearest
        .iter()
        .enumerate()
        .map(|(at, work)| (claim(at), work.statement.clone()))
        .collect();
    let table = table(&names, &rows);
    let map = NoveltyMap {
        title: review.idea.name(),
        columns: names,
        rows: rows.into_iter().map(|(row, _)| row).collect(),
    };
    let line = ReportLine::said(
        "Cosines of the nearest sentence of each paper with each claim, and of its title and abstract with the claims together.",
    );
    let part = ReportPart { map: Some(map), lines: vec![line], ..headed("Map of what is near") };
    Some((part, table))
}

/// The papers of the map that are cited, as a table.
fn table(columns: &[(String, String)], rows: &[(NoveltyRow, Option<Citation>)]) -> AnswerTable {
    let cell = |value: Option<f32>| TableCell {
        text: value.map(|value| format!("{value:.2}")).unwrap_or_default(),
        quote: None,
    };
    let row = |(row, number): &(NoveltyRow, Option<Citation>)| {
        let of_claims = (0..columns.len()).map(|at| cell(row.cells.get(at).copied().flatten()));
        let cells = of_claims.chain([cell(row.whole)]).collect();
        Some(TableRow { reference: (*number)?, cells })
    };
    let names = columns.iter().map(|(name, _)| name.clone());
    AnswerTable {
        columns: names.chain(["whole".to_owned()]).collect(),
        rows: rows.iter().filter_map(row).collect(),
    }
}

/// The greater of two values, either of which may be absent.
fn greater(a: Option<f32>, b: Option<f32>) -> Option<f32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (one, other) => one.or(other),
    }
}
