//! The order in which people read a page.

use super::lines::{Line, Piece, lines, pieces};
use super::page::Page;

/// Columns narrower than this, in points, are not looked for.
const MIN_REGION: f64 = 220.0;

/// Most places in which a gutter is looked for: a page as wide as a poster, point by point.
const PLACES: f64 = 4_000.0;

/// Deepest splitting: two columns, and columns in them.
const MAX_DEPTH: usize = 2;

/// Lines of a page in reading order: where a gutter parts columns, the left one comes before the right one, between
/// lines that cross the gutter.
pub(super) fn read(page: &Page) -> Vec<Line> {
    let mut out = Vec::new();
    let mut column = 0;
    let pieces = pieces(page);
    let left = pieces.iter().map(|piece| piece.left).fold(page.width, f64::min);
    let right = pieces.iter().map(|piece| piece.right).fold(0.0, f64::max);
    let region = Region { left, right: right.min(page.width), depth: 0 };
    split(pieces, region, page.number, &mut column, &mut out);
    out
}

/// A column, or the whole width of a page, in points from its left edge.
#[derive(Debug, Clone, Copy)]
struct Region {
    left: f64,
    right: f64,
    /// How often the page was split to come to it.
    depth: usize,
}

/// Appends the lines of `pieces`, which stand in `region`; `column` counts the blocks that are read one after the other.
fn split(pieces: Vec<Piece>, region: Region, page: u32, column: &mut usize, out: &mut Vec<Line>) {
    let Region { left, right, depth } = region;
    let gutter = if depth < MAX_DEPTH { gutter(&pieces, left, right) } else { None };
    let Some(gutter) = gutter else {
        out.extend(lines(pieces, page, *column));
        *column += 1;
        return;
    };
    let (mut crossing, beside): (Vec<Piece>, Vec<Piece>) = pieces
        .into_iter()
        .partition(|piece| piece.left < gutter - 1.0 && piece.right > gutter + 1.0);
    crossing.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut beside = beside;
    beside.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut beside = beside.into_iter().peekable();
    let mut crossing = crossing.into_iter().peekable();
    loop {
        let until = crossing.peek().map_or(f64::MAX, |piece| piece.y - piece.size * 0.3);
        let mut sides = (Vec::new(), Vec::new());
        while let Some(piece) = beside.next_if(|piece| piece.y < until) {
            if piece.left < gutter - 1.0 { sides.0.push(piece) } else { sides.1.push(piece) }
        }
        let beside_gutter = [(sides.0, left, gutter), (sides.1, gutter, right)];
        for (side, left, right) in beside_gutter {
            if !side.is_empty() {
                split(side, Region { left, right, depth: depth + 1 }, page, column, out);
            }
        }
        let Some(first) = crossing.next() else { break };
        let mut zone = vec![first];
        let next_beside = beside.peek().map_or(f64::MAX, |piece| piece.y);
        // Pieces on the same line as a crossing one belong to it, whichever side they are on.
        while let Some(piece) = crossing.next_if(|piece| piece.y - piece.size * 0.3 <= next_beside)
        {
            zone.push(piece);
        }
        let last = zone.iter().map(|piece| piece.y + piece.size * 0.3).fold(0.0, f64::max);
        while let Some(piece) = beside.next_if(|piece| piece.y <= last) {
            zone.push(piece);
        }
        out.extend(lines(zone, page, *column));
        *column += 1;
    }
}

/// The x at which the fewest letters cross and enough stand on both sides, if this is a gutter.
fn gutter(pieces: &[Piece], left: f64, right: f64) -> Option<f64> {
    let width = right - left;
    if width < MIN_REGION || pieces.len() < 8 {
        return None;
    }
    let letters: Vec<usize> = pieces.iter().map(|piece| piece.text.chars().count()).collect();
    let total: usize = letters.iter().sum();
    let mut best: Option<(usize, f64, f64)> = None;
    // A page of any size is looked at in as many places as one of paper.
    let step = (width / PLACES).max(1.0);
    let mut x = left + width * 0.28;
    while x < left + width * 0.72 {
        let (mut before, mut across, mut behind) = (0, 0, 0);
        for (piece, letters) in pieces.iter().zip(&letters) {
            if piece.right <= x + 1.0 {
                before += letters;
            } else if piece.left >= x - 1.0 {
                behind += letters;
            } else {
                across += letters;
            }
        }
        let balanced = before * 6 > total && behind * 6 > total && across * 5 < total * 3;
        let off = (x - left - width / 2.0).abs();
        if balanced
            && best.is_none_or(|(least, distance, _)| {
                across < least || (across == least && off < distance)
            })
        {
            best = Some((across, off, x));
        }
        x += step;
    }
    let (across, _, x) = best?;
    let beside =
        pieces.iter().filter(|piece| piece.right <= x + 1.0 || piece.left >= x - 1.0).count();
    (across * 5 < total * 3 && beside >= 8).then_some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str, left: f64, right: f64, y: f64) -> Piece {
        Piece { left, right, y, size: 10.0, text: text.to_owned(), words: Vec::new() }
    }

    #[test]
    fn columns_are_read_one_after_the_other_between_what_spans_them() {
        let mut pieces = vec![piece("a title over both of the columns", 100.0, 500.0, 50.0)];
        for row in 0..6_u32 {
            let y = 80.0 + 12.0 * f64::from(row);
            pieces.push(piece(&format!("left {row} with some more words"), 50.0, 290.0, y));
            pieces.push(piece(&format!("right {row} with some more words"), 310.0, 550.0, y + 3.0));
        }
        pieces.push(piece("a table over both of the columns", 100.0, 500.0, 170.0));
        pieces.push(piece("left last", 50.0, 290.0, 190.0));
        pieces.push(piece("right last", 310.0, 550.0, 190.0));
        pieces.reverse();
        let mut out = Vec::new();
        split(pieces, Region { left: 50.0, right: 550.0, depth: 0 }, 1, &mut 0, &mut out);
        let order: Vec<String> = out
            .iter()
            .map(|line| line.text.split(' ').take(2).collect::<Vec<_>>().join(" "))
            .collect();
        let expect = [
            "a title",
            "left 0",
            "left 1",
            "left 2",
            "left 3",
            "left 4",
            "left 5",
            "right 0",
            "right 1",
            "right 2",
            "right 3",
            "right 4",
            "right 5",
            "a table",
            "left last",
            "right last",
        ];
        assert_eq!(order, expect);
    }
}
