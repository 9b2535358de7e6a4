//! Letters to pieces of lines, and pieces to lines.

use scholar_core::PageBox;

use super::page::{Glyph, Page};

/// A word of a line, and from where to where it reaches.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) text: String,
}

/// Letters that follow each other on one base line without a large gap: a line, or a column's part of one.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) left: f64,
    pub(super) right: f64,
    /// The base line.
    pub(super) y: f64,
    pub(super) size: f64,
    pub(super) text: String,
    /// The words of the text, in its order.
    pub(super) words: Vec<Word>,
}

/// One line of a column.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) page: u32,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) y: f64,
    pub(super) size: f64,
    pub(super) text: String,
    /// Pieces that lie apart as words of a line do not: the cells of a row, 1 in running text.
    pub(super) cells: usize,
    /// Which column of which zone it stands in; changes between blocks that are read one after the other.
    pub(super) column: usize,
    /// The words as they are drawn, from left to right. Those of a whole document are not kept.
    pub(super) words: Vec<Word>,
}

#[cfg(test)]
impl Line {
    /// A line of running text on the first page, without its words.
    pub(super) fn sample(text: &str, y: f64, size: f64) -> Self {
        Self {
            page: 1,
            left: 50.0,
            right: 300.0,
            y,
            size,
            text: text.into(),
            cells: 1,
            column: 0,
            words: Vec::new(),
        }
    }
}

impl Line {
    /// The line's box.
    pub(super) fn bbox(&self) -> PageBox {
        self.box_of(self.left, self.right)
    }

    /// The box of what stands on the line from `left` to `right`.
    pub(super) fn box_of(&self, left: f64, right: f64) -> PageBox {
        PageBox {
            left: points(left),
            top: points(self.y - self.size * 0.8),
            right: points(right),
            bottom: points(self.y + self.size * 0.25),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the range before"
)]
fn points(value: f64) -> u16 {
    value.round().clamp(0.0, f64::from(u16::MAX)) as u16
}

/// A gap of this much of the type's size ends a word.
const WORD_GAP: f64 = 0.17;

/// A gap of this much ends a piece: columns lie at least this far apart, words of a justified line do not.
const PIECE_GAP: f64 = 0.95;

/// Pieces of a page in the order in which they are drawn.
pub(super) fn pieces(page: &Page) -> Vec<Piece> {
    runs(page).iter().filter_map(|run| piece(run, append_raised)).collect()
}

/// Stands in the text of [`marked_pieces`] for what is raised: a mark of a footnote or an affiliation.
pub(super) const MARK: char = '\u{e000}';

/// The same pieces with their letters, and [`MARK`] for all that is raised.
pub(super) fn marked_pieces(page: &Page) -> Vec<(Piece, Vec<&Glyph>)> {
    let mark = |text: &mut String, raised: &str| {
        if !raised.is_empty() {
            text.push(MARK);
        }
    };
    let pieces = runs(page).into_iter().filter_map(|run| Some((piece(&run, mark)?, run)));
    pieces.collect()
}

/// Letters that follow each other on a line.
fn runs(page: &Page) -> Vec<Vec<&Glyph>> {
    let mut runs: Vec<Vec<&Glyph>> = Vec::new();
    let mut run: Vec<&Glyph> = Vec::new();
    for glyph in &page.glyphs {
        let goes_on = run.last().is_some_and(|last| follows(last, glyph, type_size(&run)));
        if !goes_on && !run.is_empty() {
            runs.push(std::mem::take(&mut run));
        }
        run.push(glyph);
    }
    runs.push(run);
    runs
}

/// Whether `glyph` goes on where `last` ended, raised or lowered by less than half a line at most.
fn follows(last: &Glyph, glyph: &Glyph, size: f64) -> bool {
    let gap = glyph.x - (last.x + last.width);
    (glyph.y - last.y).abs() < size * 0.5 && gap > -size * 0.6 && gap < size * PIECE_GAP
}

/// Size of the type of a run: the largest stated, else by the width of its letters.
fn type_size(run: &[&Glyph]) -> f64 {
    let tail = &run[run.len().saturating_sub(40)..];
    let stated = tail.iter().map(|glyph| glyph.size).fold(0.0, f64::max);
    if stated > 0.0 {
        return stated;
    }
    let (mut sum, mut count) = (0.0, 0.0);
    for glyph in tail.iter().filter(|glyph| !glyph.text.trim().is_empty()) {
        sum += glyph.width;
        count += 1.0;
    }
    // A letter of running text is a little less than half as wide as its type is high.
    if count > 0.0 && sum > 0.0 { sum / count / 0.46 } else { 10.0 }
}

/// One piece; `append` adds what is raised to the text before it.
fn piece(run: &[&Glyph], append: impl Fn(&mut String, &str)) -> Option<Piece> {
    let first = run.first()?;
    let mut size = median(run.iter().filter(|g| !g.text.trim().is_empty()).map(|g| g.size));
    if size <= 0.0 {
        size = type_size(run);
    }
    let base = median(run.iter().filter(|g| g.size >= size * 0.95).map(|g| g.y));
    let base = if base > 0.0 { base } else { first.y };
    let mut text = String::new();
    let mut end = first.x;
    let mut raised = String::new();
    // From where to where each word reaches, a new one with each space.
    let mut reaches: Vec<(f64, f64)> = vec![(f64::MAX, f64::MIN)];
    let last = run.iter().rposition(|glyph| !glyph.text.trim().is_empty()).unwrap_or(0);
    for (at, glyph) in run.iter().enumerate() {
        // Some writers draw a soft hyphen where a space is; one at the end of a line is a hyphen.
        if glyph.text == "\u{ad}" {
            if at >= last {
                text.push('-');
            }
            continue;
        }
        // TeX draws an accent before its letter, and further to the right.
        let start = match run.get(at + 1) {
            Some(letter) if accent(&glyph.text).is_some() => glyph.x.min(letter.x),
            _ => glyph.x,
        };
        let gap = start - end;
        let blank = glyph.text.trim().is_empty();
        let up = base - glyph.y > size * 0.2 && glyph.size < size * 0.85 && !blank;
        if !up && !raised.is_empty() {
            append(&mut text, &std::mem::take(&mut raised));
        }
        if (gap > size * WORD_GAP || blank)
            && !text.is_empty()
            && !text.ends_with(' ')
            && raised.is_empty()
        {
            text.push(' ');
            reaches.push((f64::MAX, f64::MIN));
        }
        if let Some((left, right)) = reaches.last_mut().filter(|_| !blank) {
            (*left, *right) = (left.min(glyph.x), right.max(glyph.x + glyph.width));
        }
        if up {
            raised.push_str(&glyph.text);
        } else if !blank {
            text.push_str(&glyph.text);
        }
        end = if blank { end.max(glyph.x) } else { glyph.x + glyph.width };
    }
    append(&mut text, &raised);
    let text = text.trim().to_owned();
    let words = text.split(' ').zip(reaches);
    let words = words.map(|(text, (left, right))| Word { left, right, text: text.to_owned() });
    let words = words.collect();
    let right = run
        .iter()
        .filter(|g| !g.text.trim().is_empty())
        .map(|g| g.x + g.width)
        .fold(first.x, f64::max);
    (!text.is_empty()).then_some(Piece { left: first.x, right, y: base, size, text, words })
}

/// Raised figures behind a word are notes or citations and go; behind a number or a short symbol they are exponents.
fn append_raised(text: &mut String, raised: &str) {
    let mark = raised
        .chars()
        .all(|c| c.is_ascii_digit() || ",*\u{2020}\u{2021}\u{a7}\u{b6}-\u{2013} ".contains(c));
    let word = text.chars().rev().take_while(|c| c.is_alphabetic()).count();
    let closes = text.ends_with([',', '.', ')', '\u{201d}', '"', ';', ':']);
    if raised.is_empty() || (mark && (word >= 3 || closes || text.is_empty())) {
        return;
    }
    if text.ends_with(|c: char| c.is_ascii_digit())
        && raised.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '\u{2212}')
    {
        text.push('^');
    }
    text.push_str(raised);
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// Puts the pieces of one column together to lines, top to bottom.
pub(super) fn lines(mut pieces: Vec<Piece>, page: u32, column: usize) -> Vec<Line> {
    pieces.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut rows: Vec<Vec<Piece>> = Vec::new();
    // Height and size of the largest piece of the last row.
    let mut main: Option<(f64, f64)> = None;
    for piece in pieces {
        let joins = main.is_some_and(|(y, size)| (piece.y - y).abs() < size.max(piece.size) * 0.4);
        if !joins || main.is_none_or(|(_, size)| piece.size >= size) {
            main = Some((piece.y, piece.size));
        }
        match rows.last_mut().filter(|_| joins) {
            Some(row) => row.push(piece),
            None => rows.push(vec![piece]),
        }
    }
    rows.into_iter().filter_map(|row| line(row, page, column)).collect()
}

fn line(mut row: Vec<Piece>, page: u32, column: usize) -> Option<Line> {
    row.sort_by(|a, b| a.left.total_cmp(&b.left));
    let main = row.iter().max_by_key(|piece| piece.text.len())?;
    let (y, size) = (main.y, main.size);
    let mut text = String::new();
    let mut end = f64::MIN;
    let mut right = f64::MIN;
    let left = row.first()?.left;
    let mut cells = 1;
    for piece in &row {
        cells += usize::from(!text.is_empty() && piece.left - end > size * PIECE_GAP);
        if !text.is_empty() && piece.left - end > size * WORD_GAP {
            text.push(' ');
        }
        text.push_str(&piece.text);
        end = piece.right;
        right = right.max(piece.right);
    }
    Some(Line {
        page,
        left,
        right,
        y,
        size,
        text: composed(&super::super::prose::single_spaced(&text)),
        cells,
        column,
        words: row.into_iter().flat_map(|piece| piece.words).collect(),
    })
}

/// The combining form of an accent that is drawn apart from the letter that follows.
fn accent(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let (Some(only), None) = (chars.next(), chars.next()) else { return None };
    match only {
        '\u{b4}' => Some('\u{301}'),
        '`' | '\u{2cb}' => Some('\u{300}'),
        '\u{a8}' => Some('\u{308}'),
        '\u{2c6}' => Some('\u{302}'),
        '\u{2dc}' => Some('\u{303}'),
        '\u{2d8}' => Some('\u{306}'),
        '\u{2d9}' => Some('\u{307}'),
        '\u{2c7}' => Some('\u{30c}'),
        '\u{2da}' => Some('\u{30a}'),
        '\u{2dd}' => Some('\u{30b}'),
        _ => None,
    }
}

/// TeX draws accents and letters apart: `Arag\u{a8}ues` is `Arag\u{fc}es`, `Franc\u{b8}ois` is `Fran\u{e7}ois`.
pub(super) fn composed(text: &str) -> String {
    const WITH_CEDILLA: &str = "cCsStT";
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let before = out.chars().next_back();
        if c == '\u{b8}' && before.is_some_and(|before| WITH_CEDILLA.contains(before)) {
            out.push('\u{327}');
            // The cedilla of a capital is wider than what it stands below, and looks like a gap.
            let capital = before.is_some_and(char::is_uppercase);
            let mut rest = chars.clone();
            if capital && rest.next() == Some(' ') && rest.next().is_some_and(char::is_lowercase) {
                chars.next();
            }
            continue;
        }
        let Some(mark) = accent(c.encode_utf8(&mut [0; 4])) else {
            out.push(c);
            continue;
        };
        match chars.next_if(|next| next.is_alphabetic()) {
            Some(letter) => {
                out.push(if letter == '\u{131}' { 'i' } else { letter });
                out.push(mark);
            }
            None => out.push(c),
        }
    }
    super::super::prose::single_spaced(&out)
}

#[cfg(test)]
mod tests {
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
                look: 0,
            })
            .collect()
    }

    #[test]
    fn letters_become_words_and_columns_stay_apart() {
        let mut all = glyphs("left one", 50.0, 100.0, 10.0);
        all.extend(glyphs("right", 150.0, 100.0, 10.0));
        let mut gap = glyphs("far", 50.0, 112.0, 10.0);
        gap.extend(glyphs("near", 68.0, 112.0, 10.0));
        all.extend(gap);
        let texts: Vec<String> =
            pieces(&Page { glyphs: all, ..Page::default() }).into_iter().map(|p| p.text).collect();
        assert_eq!(texts, ["left one", "right", "far near"]);
    }

    #[test]
    fn accents_join_their_letters() {
        assert_eq!(
            composed("P\u{b4}eter Arag\u{a8}ues, na\u{a8}\u{131}ve `x' \u{b4}"),
            "P\u{e9}ter Arag\u{fc}es, na\u{ef}ve x\u{300}' \u{b4}"
        );
        assert_eq!(
            composed("Franc\u{b8}ois C\u{b8} etino\u{2d8}glu 5\u{b8}"),
            "Fran\u{e7}ois \u{c7}etino\u{11f}lu 5\u{b8}"
        );
    }

    #[test]
    fn raised_marks_go_and_exponents_stay() {
        for (before, raised, expect) in [
            ("shown", "12", "shown"),
            ("10", "5", "10^5"),
            ("x", "2", "x2"),
            ("end.", "3,4", "end."),
            ("1", "st", "1st"),
            ("", "1", ""),
        ] {
            let mut text = before.to_owned();
            append_raised(&mut text, raised);
            assert_eq!(text, expect, "{before}");
        }
    }
}
