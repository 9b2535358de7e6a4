//! What stands on every page and belongs to none: running heads, page numbers, imprints.

use std::collections::HashMap;

use super::lines::Line;
use super::page::Page;

/// How far from the upper and lower edge furniture stands, as a part of the page's height.
const MARGIN: f64 = 0.09;

/// Words of imprints, which stand on the first page only.
const IMPRINT: [&str; 9] = [
    "proceedings of",
    "copyright",
    "\u{a9}",
    "permission to make",
    "all rights reserved",
    "association for computational",
    "licensed under",
    "creative commons",
    "downloaded from",
];

/// Takes the furniture out of a document's lines.
pub(super) fn without(lines: Vec<Line>, pages: &[Page]) -> Vec<Line> {
    let heights: HashMap<u32, f64> = pages.iter().map(|page| (page.number, page.height)).collect();
    let in_margin = |line: &Line| {
        let height = heights.get(&line.page).copied().unwrap_or(800.0);
        line.y < height * MARGIN || line.y > height * (1.0 - MARGIN)
    };
    let mut seen: HashMap<String, u32> = HashMap::new();
    for line in lines.iter().filter(|line| in_margin(line)) {
        *seen.entry(pattern(&line.text)).or_default() += 1;
    }
    let often = 3.min(u32::try_from(pages.len()).unwrap_or(3).max(2));
    let is_furniture = |line: &Line| {
        let pattern = pattern(&line.text);
        let lower = line.text.to_lowercase();
        in_margin(line)
            && (seen.get(&pattern).is_some_and(|count| *count >= often)
                || is_page_number(&line.text)
                || (line.page == 1 && IMPRINT.iter().any(|words| lower.contains(words))))
    };
    lines.into_iter().filter(|line| !is_furniture(line)).collect()
}

/// A line with its numbers made alike, so that `Page 3` and `Page 4` are one pattern.
fn pattern(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.extend(c.to_lowercase()),
        }
    }
    out
}

fn is_page_number(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| c.is_whitespace() || "-\u{2013}\u{2014}|".contains(c));
    let bare = bare.strip_prefix("Page ").unwrap_or(bare);
    !bare.is_empty()
        && bare.len() <= 5
        && (bare.bytes().all(|b| b.is_ascii_digit()) || bare.bytes().all(|b| b"ivxlc".contains(&b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeats_at_the_edges_goes_and_the_text_stays() {
        let line = |page, y, text: &str| Line {
            page,
            left: 0.0,
            right: 1.0,
            y,
            size: 10.0,
            text: text.into(),
            cells: 1,
            column: 0,
            words: Vec::new(),
        };
        let pages: Vec<Page> = (1..=3)
            .map(|number| Page { number, width: 600.0, height: 800.0, ..Page::default() })
            .collect();
        let mut lines = Vec::new();
        for page in 1..=3 {
            lines.push(line(page, 30.0, &format!("Journal of Things {page}")));
            lines.push(line(page, 400.0, "the same words"));
            lines.push(line(page, 780.0, &format!("{}", 100 + page)));
        }
        lines.push(line(1, 785.0, "Proceedings of the Meeting, pages 1"));
        lines.push(line(2, 770.0, "A last line of text."));
        let left: Vec<String> = without(lines, &pages).into_iter().map(|line| line.text).collect();
        assert_eq!(
            left,
            ["the same words", "the same words", "the same words", "A last line of text."]
        );
    }
}
