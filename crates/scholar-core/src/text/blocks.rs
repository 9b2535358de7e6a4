//! Which parts of a section are prose, and which are tables, captions, reference lists or the printer's.
//!
//! Readers of formats that know put captions and table text into sections of their own, whose headings say what they
//! are ([`TABLE_TEXT_HEADING`], `Figure 2`). Text without such knowledge (PDFs, JSON lines) is told apart sentence by
//! sentence ([`sentence_kind`]). The rules are conservative: prose taken for a table is lost to every answer, while a
//! table taken for prose is met by the other checks of a sentence.
//!
//! Linear in the text's length. Source: ours.

use std::ops::Range;

use crate::paper::ABSTRACT_HEADING;
use crate::passage::PassageKind;
use crate::text::sentences::sentences;

mod headings;
mod signs;

pub use headings::TABLE_TEXT_HEADING;

/// Fewest words of tables, captions, references or boilerplate within prose that become a passage of their own. Shorter
/// ones stay in the passage around them, because cutting there would leave pieces too short to be found; they are not
/// quoted either way.
const SHORTEST_BLOCK_WORDS: usize = 20;
/// Fewest words of prose between two blocks of the same other kind: less is a cell or a title with a full stop.
const SHORTEST_PROSE_WORDS: usize = 12;
/// The same between two blocks of references: less are authors and titles of entries.
const SHORTEST_PROSE_AMONG_REFERENCES: usize = 40;

/// A part of a section's text that is of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Bytes of the section's text.
    pub range: Range<usize>,
    /// What it is made of.
    pub kind: PassageKind,
}

/// The parts of a section of `text` under `heading`, in order; together they cover the text, neighbours differ in kind.
pub fn blocks(heading: &str, text: &str) -> Vec<Block> {
    let prose = prose_kind(heading);
    if let Some(kind) = headings::kind(heading, text) {
        return vec![Block { range: 0..text.len(), kind }];
    }
    let mut runs: Vec<(Block, usize)> = Vec::new();
    for (range, kind) in units(text) {
        let words = text[range.clone()].split_whitespace().count();
        let kind = kind.unwrap_or(prose);
        match runs.last_mut().filter(|(open, _)| open.kind == kind) {
            Some((open, so_far)) => {
                open.range.end = range.end;
                *so_far += words;
            }
            None => runs.push((Block { range, kind }, words)),
        }
    }
    settle(runs, prose, text.len())
}

/// The kind of prose that stands under `heading`.
pub(crate) fn prose_kind(heading: &str) -> PassageKind {
    if heading == ABSTRACT_HEADING { PassageKind::Abstract } else { PassageKind::Body }
}

/// What a sentence is when it is not prose; `None` for prose. Rules in this order:
/// 1. *table*: many bare numbers and hardly a function word among twelve words, brackets left out;
/// 2. *caption*: `Figure 3: Title` at its start or behind words that do not end a sentence;
/// 3. *references*: two or more marks such as `2010;12:34`, `pp. 3–9` or `In Proceedings of`, or the end of an entry
///    (`Curr Biol 15: 1616–28.`);
/// 4. *boilerplate*: addresses, correspondence, imprints, licences, declarations.
pub fn sentence_kind(sentence: &str) -> Option<PassageKind> {
    if signs::is_tabular(sentence) {
        Some(PassageKind::Table)
    } else if signs::caption(sentence).is_some() {
        Some(PassageKind::Caption)
    } else if signs::is_reference(sentence) {
        Some(PassageKind::References)
    } else if signs::is_boilerplate(sentence) {
        Some(PassageKind::Boilerplate)
    } else {
        None
    }
}

/// The sentences with their kinds. Where the label of a table or figure is glued to its title and to the sentence before
/// (`… groups.Table 2Baseline`), what follows is a unit of its own: a table or its caption.
fn units(text: &str) -> Vec<(Range<usize>, Option<PassageKind>)> {
    let mut units = Vec::new();
    // Where a label ends that is a sentence of its own.
    let mut label = None;
    for range in sentences(text) {
        let sentence = &text[range.clone()];
        match signs::glued_label(sentence) {
            Some(at) => {
                let rest = &sentence[at..];
                let kind = if signs::is_tabular(rest) || signs::has_glued_cells(rest) {
                    PassageKind::Table
                } else {
                    PassageKind::Caption
                };
                if at > 0 {
                    units.push((range.start..range.start + at, sentence_kind(&sentence[..at])));
                }
                units.push((range.start + at..range.end, Some(kind)));
            }
            None if signs::has_glued_cells(sentence) => {
                units.push((range, Some(PassageKind::Table)));
            }
            None => {
                let kind = sentence_kind(sentence);
                if signs::is_bare_label(sentence) {
                    label = Some(range.end);
                    units.push((range, Some(PassageKind::Caption)));
                } else if let Some(at) = signs::prose_behind_table(sentence) {
                    units.push((range.start..range.start + at, Some(PassageKind::Table)));
                    units.push((range.start + at..range.end, sentence_kind(&sentence[at..])));
                } else if kind.is_none() && goes_on(&units, label, sentence) {
                    units.push((range, Some(PassageKind::Caption)));
                } else {
                    units.push((range, kind));
                }
            }
        }
    }
    units
}

/// Whether a sentence goes on with the caption before it: always behind a label that stands alone and ends at `label`.
fn goes_on(
    units: &[(Range<usize>, Option<PassageKind>)],
    label: Option<usize>,
    sentence: &str,
) -> bool {
    units.last().is_some_and(|(range, kind)| {
        *kind == Some(PassageKind::Caption)
            && (label == Some(range.end) || signs::continues_caption(sentence))
    })
}

/// Joins what is too short to stand alone, and closes the gaps between the blocks.
fn settle(mut runs: Vec<(Block, usize)>, prose: PassageKind, length: usize) -> Vec<Block> {
    // A few words of prose between two blocks of one kind belong to them.
    for at in 1..runs.len().saturating_sub(1) {
        let (before, after) = (runs[at - 1].0.kind, runs[at + 1].0.kind);
        let shortest = if before == PassageKind::References {
            SHORTEST_PROSE_AMONG_REFERENCES
        } else {
            SHORTEST_PROSE_WORDS
        };
        if runs[at].0.kind == prose && runs[at].1 < shortest && before == after {
            runs[at].0.kind = before;
        }
    }
    let mut joined = merge_equal(runs);
    // Other kinds that are short stay in the prose around them.
    if joined.len() > 1 {
        for (block, words) in &mut joined {
            if *words < SHORTEST_BLOCK_WORDS {
                block.kind = prose;
            }
        }
    }
    let mut blocks: Vec<Block> = merge_equal(joined).into_iter().map(|(block, _)| block).collect();
    for at in 0..blocks.len() {
        blocks[at].range.end = blocks.get(at + 1).map_or(length, |next| next.range.start);
    }
    if let Some(first) = blocks.first_mut() {
        first.range.start = 0;
    }
    blocks
}

fn merge_equal(runs: Vec<(Block, usize)>) -> Vec<(Block, usize)> {
    let mut merged: Vec<(Block, usize)> = Vec::new();
    for (block, words) in runs {
        match merged.last_mut().filter(|(open, _)| open.kind == block.kind) {
            Some((open, so_far)) => {
                open.range.end = block.range.end;
                *so_far += words;
            }
            None => merged.push((block, words)),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
