//! The first page as rows of cells, with the marks and the fonts that tell names from addresses.
//!
//! Lines of running text lose both: what is raised behind a word is left out of a quotation, and what stands beside each
//! other is joined. On a title page the mark behind a name and the gap beside it are what separates one name from the next.

use std::collections::BTreeMap;

use super::lines::{self, MARK, Piece};
use super::page::Page;

/// What stands next to each other on a line without a large gap.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) left: f64,
    pub(super) right: f64,
    /// The base line.
    pub(super) y: f64,
    pub(super) size: f64,
    /// Single-spaced, with [`MARK`] for what is raised.
    pub(super) text: String,
    /// How each letter is drawn.
    looks: BTreeMap<char, u64>,
}

/// Cells of one line, left to right.
pub(super) type Row = Vec<Cell>;

/// Most pieces that are looked at, from the top: a title page has a tenth of them, and each is compared with the others.
const MOST_PIECES: usize = 1_000;

/// A gap of this much of the type's size ends a cell, as it ends a piece of a line.
const CELL_GAP: f64 = 0.95;

/// A gap of this much ends a word.
const WORD_GAP: f64 = 0.17;

/// How much of the larger type's size a mark may be raised when it is drawn on its own, and a line of the same type lower.
const RAISED: f64 = 0.55;
const LEVEL: f64 = 0.4;

impl Cell {
    /// Whether both are set in the same type: the same size, and letters that both have drawn alike. Without a letter in
    /// common, or without fonts that tell, the size decides.
    pub(super) fn same_type(&self, other: &Self) -> bool {
        let larger = self.size.max(other.size);
        if (self.size - other.size).abs() > larger * 0.06 {
            return false;
        }
        let mut votes = 0_i32;
        for (letter, look) in &self.looks {
            if let Some(there) = other.looks.get(letter) {
                votes += if look == there { 1 } else { -1 };
            }
        }
        votes >= 0
    }

    /// Whether one stands above the other.
    pub(super) fn shares_column(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right
    }

    /// The cell without its marks.
    pub(super) fn plain(&self) -> String {
        self.text.replace(MARK, "")
    }

    /// A cell for tests: `font` tells apart what is set differently.
    #[cfg(test)]
    pub(super) fn of(text: &str, at: (f64, f64), size: f64, font: u64) -> Self {
        let letters = u32::try_from(text.chars().count()).expect("short");
        let looks = text.chars().filter(|c| c.is_alphabetic()).map(|c| (c, font)).collect();
        let right = at.0 + f64::from(letters) * size * 0.5;
        Self { left: at.0, right, y: at.1, size, text: text.to_owned(), looks }
    }
}

/// Rows of a page, top to bottom.
pub(super) fn rows(page: &Page) -> Vec<Row> {
    let mut pieces: Vec<(Piece, BTreeMap<char, u64>)> = Vec::new();
    for (piece, glyphs) in lines::marked_pieces(page) {
        let mut looks = BTreeMap::new();
        for glyph in glyphs {
            let letter = glyph.text.chars().next().filter(|c| c.is_alphabetic());
            if let Some(letter) = letter.filter(|_| glyph.look != 0) {
                looks.entry(letter).or_insert(glyph.look);
            }
        }
        pieces.push((piece, looks));
    }
    pieces.sort_by(|(a, _), (b, _)| a.y.total_cmp(&b.y));
    pieces.truncate(MOST_PIECES);
    let mut rows: Vec<Vec<(Piece, BTreeMap<char, u64>)>> = Vec::new();
    // Height and size of the largest piece of the last row.
    let mut main: Option<(f64, f64)> = None;
    for (piece, looks) in pieces {
        let joins = main.is_some_and(|(y, size)| {
            let larger = size.max(piece.size);
            let differ = size.min(piece.size) < larger * 0.85;
            (piece.y - y).abs() < larger * if differ { RAISED } else { LEVEL }
        });
        if !joins || main.is_none_or(|(_, size)| piece.size >= size) {
            main = Some((piece.y, piece.size));
        }
        match rows.last_mut().filter(|_| joins) {
            Some(row) => row.push((piece, looks)),
            None => rows.push(vec![(piece, looks)]),
        }
    }
    rows.into_iter().map(row).filter(|row| !row.is_empty()).collect()
}

/// Pieces of one line to cells.
fn row(mut pieces: Vec<(Piece, BTreeMap<char, u64>)>) -> Row {
    pieces.sort_by(|(a, _), (b, _)| a.left.total_cmp(&b.left));
    let largest = pieces.iter().map(|(piece, _)| piece.size).fold(0.0, f64::max);
    let base =
        pieces.iter().filter(|(piece, _)| piece.size > largest * 0.85).map(|(piece, _)| piece.y);
    let base = base.fold(0.0, f64::max);
    let mut cells: Row = Vec::new();
    for (piece, looks) in pieces {
        let raised = piece.size < largest * 0.85 && base - piece.y > piece.size * 0.2;
        let text = if raised { MARK.to_string() } else { piece.text };
        match cells.last_mut() {
            Some(cell) if piece.left - cell.right < largest * CELL_GAP => {
                if piece.left - cell.right > cell.size * WORD_GAP && !raised {
                    cell.text.push(' ');
                }
                cell.text.push_str(&text);
                cell.right = cell.right.max(piece.right);
                if !raised {
                    cell.size = cell.size.max(piece.size);
                    for (letter, look) in looks {
                        cell.looks.entry(letter).or_insert(look);
                    }
                }
            }
            _ => {
                let looks = if raised { BTreeMap::new() } else { looks };
                let Piece { left, right, y, size, .. } = piece;
                cells.push(Cell { left, right, y, size, text, looks });
            }
        }
    }
    for cell in &mut cells {
        cell.text = lines::composed(&cell.text);
        cell.y = cell.y.max(base - largest * LEVEL);
    }
    cells.retain(|cell| cell.text.chars().any(|c| c != MARK && !c.is_whitespace()));
    cells
}

#[cfg(test)]
mod tests {
    use super::super::page::Glyph;
    use super::*;

    fn glyphs(text: &str, x: f64, y: f64, size: f64) -> Vec<Glyph> {
        let letters = text.chars().enumerate();
        letters
            .map(|(at, c)| Glyph {
                x: x + f64::from(u32::try_from(at).expect("short")) * size * 0.5,
                y,
                width: size * 0.5,
                size,
                text: c.to_string(),
                look: u64::from(u32::from(c)),
            })
            .collect()
    }

    #[test]
    fn marks_are_kept_and_gaps_part_cells() {
        let mut all = glyphs("Ada Ng", 50.0, 100.0, 10.0);
        all.extend(glyphs("1,2", 80.0, 96.0, 6.0));
        all.extend(glyphs("Bo Li", 140.0, 100.0, 10.0));
        all.extend(glyphs("2", 60.0, 118.0, 6.0));
        all.extend(glyphs("A place", 64.0, 122.0, 10.0));
        let rows = rows(&Page { glyphs: all, ..Page::default() });
        let texts: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| cell.text.clone()).collect()).collect();
        assert_eq!(
            texts,
            [vec![format!("Ada Ng{MARK}"), "Bo Li".to_owned()], vec![format!("{MARK}A place")]]
        );
    }

    #[test]
    fn types_differ_in_size_or_in_how_letters_are_drawn() {
        let name = Cell::of("Ada Ng", (0.0, 0.0), 12.0, 1);
        assert!(name.same_type(&Cell::of("Bo Nada", (0.0, 0.0), 12.0, 1)));
        assert!(!name.same_type(&Cell::of("A band", (0.0, 0.0), 12.0, 2)));
        assert!(!name.same_type(&Cell::of("A band", (0.0, 0.0), 10.0, 1)));
        assert!(name.same_type(&Cell::of("xyz", (0.0, 0.0), 12.0, 2)));
    }
}
