//! Cells without a language model: rules, small models, and a threshold below which a cell is absent.
//!
//! 1. Every sentence of the paper's prose goes through the rules of the wanted properties ([`super::rules`]).
//! 2. A candidate's score is fitted where people's words for the property were at hand ([`super::fitted`]), else the worth of
//!    its rule in that part of the paper.
//! 3. The best candidate is the cell if its score reaches the property's threshold; ties go to the earlier one.
//! 4. Questions without rules are answered by a sentence ([`super::questions`]).
//!
//! Source: ours; thresholds as measured in docs/results/tables.md.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use scholar_core::{Notice, NoticeKind, Passage, PortError};

use super::cell::{Cell, PaperCells};
use super::column::{Column, Property};
use super::features::{Surroundings, share, stems};
use super::questions::{self, CellModels};
use super::rules::{self, Candidate};
use super::sheet::{Line, Zone, lines};
use super::{fitted, prior};

/// Version of rules and thresholds: cells made by another one are not used again.
pub const RULES_VERSION: &str = "rules/1";

/// The cells of one paper, in the order of `columns`. `passages` are all stored passages of the paper, in order.
///
/// # Errors
/// When a model fails.
pub fn tabulate(
    passages: &[Passage],
    columns: &[Column],
    models: &CellModels,
) -> Result<PaperCells, PortError> {
    let lines = lines(passages);
    let mut notices = Vec::new();
    if lines.is_empty() {
        notices.push(Notice::new(
            NoticeKind::InsufficientEvidence,
            "no prose of this paper is stored",
        ));
    } else if lines.iter().all(|line| line.in_abstract) {
        notices.push(Notice::new(
            NoticeKind::InsufficientEvidence,
            "only the abstract of this paper is stored",
        ));
    }
    let wanted: Vec<Property> = columns.iter().filter_map(Column::property).collect();
    let mut chosen = best(&lines, &wanted);
    let mut cells = Vec::with_capacity(columns.len());
    for column in columns {
        cells.push(match column.property() {
            Some(property) => chosen.remove(&property),
            None => questions::answer(&column.question, &lines, models)?,
        });
    }
    Ok(PaperCells { cells, notices })
}

/// A candidate with everything that speaks for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The span and its rule.
    pub candidate: Candidate,
    /// Named values that speak for it or against it.
    pub features: Vec<(String, f32)>,
    /// All together, in `[0, 1]`: of fitted properties the expected overlap with a person's words.
    pub score: f32,
}

/// All candidates for `wanted`, scored, the best of each property first; ties go to the earlier one.
pub fn scored(lines: &[Line<'_>], wanted: &[Property]) -> BTreeMap<Property, Vec<Scored>> {
    let surroundings = Surroundings::of(lines);
    let mut groups: BTreeMap<Property, Vec<(Candidate, BTreeSet<String>)>> = BTreeMap::new();
    let found = lines.iter().enumerate().flat_map(|(at, line)| rules::candidates(line, at, wanted));
    for candidate in found.chain(of_title(lines, wanted)) {
        let candidate = prior::moved(candidate, lines);
        let own = stems(text_of(&candidate, lines));
        groups.entry(candidate.property).or_default().push((candidate, own));
    }
    let mut all: BTreeMap<Property, Vec<Scored>> = BTreeMap::new();
    for (property, group) in groups {
        // A comparator is not the intervention over again.
        let other = match property {
            Property::Comparator => {
                all.get(&Property::Intervention).and_then(|scored| scored.first())
            }
            _ => None,
        };
        let other = other.map(|one| stems(text_of(&one.candidate, lines)));
        let mut counts: BTreeMap<&BTreeSet<String>, usize> = BTreeMap::new();
        for (_, own) in &group {
            *counts.entry(own).or_default() += 1;
        }
        let mut scored: Vec<Scored> = group
            .iter()
            .map(|(candidate, own)| {
                let repeated = counts.get(own).map_or(0, |count| count - 1);
                let line = &lines[candidate.line];
                let text = text_of(candidate, lines);
                let mut features = surroundings.features(candidate, line, text, repeated);
                if let Some(other) = &other {
                    features.push(("like the intervention".to_owned(), share(own, other)));
                }
                let score = fitted::score(property, &features)
                    .unwrap_or_else(|| prior::score(candidate, text, &features));
                Scored { candidate: candidate.clone(), features, score }
            })
            .collect();
        scored.sort_by(|a, b| {
            let place = |one: &Scored| (one.candidate.line, one.candidate.span.start);
            b.score.total_cmp(&a.score).then_with(|| place(a).cmp(&place(b)))
        });
        all.insert(property, scored);
    }
    all
}

fn text_of<'a>(candidate: &Candidate, lines: &[Line<'a>]) -> &'a str {
    &lines[candidate.line].passage.text[candidate.span.clone()]
}

/// What rules find in the title, at the first place where a sentence says it.
fn of_title(lines: &[Line<'_>], wanted: &[Property]) -> Vec<Candidate> {
    let Some(first) = lines.first() else { return Vec::new() };
    let title = Passage { text: first.passage.title.clone(), ..first.passage.clone() };
    let line =
        Line { passage: &title, range: 0..title.text.len(), zone: Zone::Title, ..first.clone() };
    let mut located = Vec::new();
    for candidate in rules::candidates(&line, 0, wanted) {
        let Ok(words) = whole_words(&title.text[candidate.span.clone()]) else { continue };
        let place = lines.iter().enumerate().find_map(|(at, line)| {
            let found = words.find(line.text())?;
            Some((at, line.range.start + found.start()..line.range.start + found.end()))
        });
        located.extend(place.map(|(line, span)| Candidate { line, span, ..candidate }));
    }
    located
}

/// The words as they stand or in another case, not inside longer words.
fn whole_words(text: &str) -> Result<Regex, regex::Error> {
    let edge = |c: Option<char>| if c.is_some_and(char::is_alphanumeric) { r"\b" } else { "" };
    let (before, after) = (edge(text.chars().next()), edge(text.chars().next_back()));
    Regex::new(&format!("(?i){before}{}{after}", regex::escape(text)))
}

fn best(lines: &[Line<'_>], wanted: &[Property]) -> BTreeMap<Property, Cell> {
    let mut cells: BTreeMap<Property, Cell> = BTreeMap::new();
    // The comparator is told from the intervention, and so needs it even where nobody asks for it.
    let mut needed = wanted.to_vec();
    if wanted.contains(&Property::Comparator) && !wanted.contains(&Property::Intervention) {
        needed.push(Property::Intervention);
    }
    for (property, scored) in scored(lines, &needed) {
        let other = match property {
            Property::Comparator => {
                cells.get(&Property::Intervention).map(|cell| stems(&cell.text))
            }
            _ => None,
        };
        let chosen = scored.iter().find(|one| {
            let line = &lines[one.candidate.line];
            let own = stems(&line.passage.text[one.candidate.span.clone()]);
            other.as_ref().is_none_or(|other| *other != own)
        });
        let Some(chosen) = chosen.filter(|one| one.score >= threshold(property)) else { continue };
        let line = &lines[chosen.candidate.line];
        let cell =
            Cell::at(line.passage, chosen.candidate.span.clone(), line.range.clone(), chosen.score);
        cells.extend(cell.map(|cell| (property, cell)));
    }
    cells.retain(|property, _| wanted.contains(property));
    cells
}

/// The score from which a candidate is a cell. Of fitted properties it is an expected overlap.
///
/// Chosen on the development halves of docs/results/tables.md.
fn threshold(property: Property) -> f32 {
    match property {
        Property::Intervention | Property::Comparator | Property::Outcome => 0.2,
        Property::FollowUp | Property::Funding => 0.5,
        _ => 0.45,
    }
}
