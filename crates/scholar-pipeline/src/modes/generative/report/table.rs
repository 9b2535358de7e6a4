//! The table: only what stands in a shown passage of the row's paper is printed.

use scholar_core::place::places_within;
use scholar_core::text::sentences::sentences;
use scholar_core::text::words::content_stems;
use scholar_core::text::{locate, normalise::single_spaced};
use scholar_core::{
    AnswerTable, CharSpan, Citation, Quote, Reference, Retrieved, TableCell, TableRow,
};

use crate::evidence::EvidenceRegistry;
use crate::proof::number_of;
use crate::write::parts::TableDraft;

/// Fewest papers that a table compares.
const FEWEST_ROWS: usize = 4;
/// Most columns beside that of the papers. Ours: more do not fit a page.
const MOST_COLUMNS: usize = 4;

/// The table with every cell located and its papers among `references`, which may grow; `None` where fewer than four
/// papers are left.
pub(super) fn located(
    draft: &TableDraft,
    registry: &EvidenceRegistry,
    references: &mut Vec<Reference>,
) -> Option<AnswerTable> {
    let width = draft.columns.len().min(MOST_COLUMNS);
    let mut rows: Vec<(&Retrieved, Vec<Option<Located<'_>>>)> = Vec::new();
    for row in &draft.rows {
        let Some(shown) = registry.get(row.number) else { continue };
        let retrieved = &shown.ranked.retrieved;
        if rows.iter().any(|(known, _)| known.paper.id == retrieved.paper.id) {
            continue;
        }
        let cells = (0..width).map(|at| find(row.cells.get(at)?, retrieved, registry));
        let cells: Vec<Option<Located<'_>>> = cells.collect();
        if cells.iter().any(Option::is_some) {
            rows.push((retrieved, cells));
        }
    }
    let filled: Vec<usize> =
        (0..width).filter(|at| rows.iter().any(|(_, cells)| cells[*at].is_some())).collect();
    if rows.len() < FEWEST_ROWS || filled.is_empty() {
        return None;
    }
    let columns = filled.iter().map(|at| draft.columns[*at].clone()).collect();
    let rows = rows.into_iter().map(|(retrieved, cells)| {
        let reference = number_of(retrieved, references);
        let cell = |at: &usize| {
            let found = cells[*at].as_ref();
            found.map_or_else(TableCell::default, |found| found.cell(reference))
        };
        TableRow { reference, cells: filled.iter().map(cell).collect() }
    });
    Some(AnswerTable { columns, rows: rows.collect() })
}

/// A cell's text and where it was found.
struct Located<'a> {
    text: String,
    retrieved: &'a Retrieved,
    span: CharSpan,
}

impl Located<'_> {
    fn cell(&self, reference: Citation) -> TableCell {
        let passage = &self.retrieved.passage;
        let CharSpan { start, end } = self.span;
        let quote = self.span.slice(&passage.text).map(|text| Quote {
            reference,
            passage_id: passage.id.clone(),
            start,
            end,
            text: text.to_owned(),
            places: places_within(&passage.places, start, end),
        });
        TableCell { text: self.text.clone(), quote }
    }
}

/// The cell in the row's passage, else in another shown passage of the paper: its words as they stand, else the one
/// sentence that has all of its words and numbers.
fn find<'a>(
    cell: &str,
    retrieved: &'a Retrieved,
    registry: &'a EvidenceRegistry,
) -> Option<Located<'a>> {
    let text = single_spaced(cell.trim_matches(|c: char| c.is_whitespace() || "\"“”".contains(c)));
    if !text.contains(char::is_alphanumeric) {
        return None;
    }
    let others = registry.items().iter().map(|shown| &shown.ranked.retrieved);
    let others = others.filter(|other| {
        other.paper.id == retrieved.paper.id && other.passage.id != retrieved.passage.id
    });
    let passages: Vec<&Retrieved> = std::iter::once(retrieved).chain(others).collect();
    let exact = passages.iter().find_map(|one| Some((*one, locate(&text, &one.passage.text)?)));
    let found = exact.or_else(|| {
        passages.iter().find_map(|one| Some((*one, sentence_with(&text, &one.passage.text)?)))
    });
    found.map(|(retrieved, span)| Located { text, retrieved, span })
}

fn sentence_with(cell: &str, passage: &str) -> Option<CharSpan> {
    let stems = content_stems(cell);
    let numbers = |text: &str| -> Vec<String> {
        let parts = text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','));
        let bare = parts.map(|part| part.trim_matches(['.', ',']).to_owned());
        bare.filter(|part| !part.is_empty()).collect()
    };
    let wanted = numbers(cell);
    let range = sentences(passage).into_iter().find(|range| {
        let sentence = &passage[range.clone()];
        let (own, there) = (content_stems(sentence), numbers(sentence));
        stems.iter().all(|stem| own.contains(stem)) && wanted.iter().all(|n| there.contains(n))
    })?;
    Some(CharSpan::of_bytes(passage, range.start, range.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stands_in_one_sentence() {
        let passage = "We enrolled 120 adults. Mortality fell from 12.5 to 9 %.";
        let there = |cell: &str| sentence_with(cell, passage).and_then(|span| span.slice(passage));
        assert_eq!(there("120 enrolled adults"), Some("We enrolled 120 adults."));
        assert_eq!(there("fell from 12.5 %"), Some("Mortality fell from 12.5 to 9 %."));
        assert_eq!(there("12 %"), None);
        assert_eq!(there("120 adults, mortality"), None);
    }
}
