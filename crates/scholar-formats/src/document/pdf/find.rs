//! Where the words of a quotation stand on a page.
//!
//! Letters and figures alone are compared: spaces, hyphens at the ends of lines, accents drawn apart and marks of notes
//! differ between a page and the text that was read of it. A quotation may be broken by what stands between columns or
//! pages, and by marks such as `[12]`, which the text leaves out:
//!
//! 1. the quotation's letters one after the other in the lines' letters; else
//! 2. the place on which most of its short runs of letters agree, and from there on run after run, nearest first.
//!
//! Complexity: linear in both texts, times the few places that one run of letters has.

use std::collections::{BTreeMap, HashMap};

use scholar_core::{PageBox, Place};
use serde::Serialize;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::lines::Line;

/// What a quotation covers of one page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PageMark {
    /// Page of the document, from 1.
    pub page: u32,
    /// One rectangle a line, in reading order, in points from the page's top left corner.
    pub boxes: Vec<PageBox>,
}

/// Letters of one run.
const RUN: usize = 6;

/// Most places of one run that are looked at: "the" and "ation" stand everywhere.
const MOST_PLACES: usize = 64;

/// Letters by which places may differ and still be one.
const BUCKET: usize = 64;

/// Letters that a figure or a table between two parts of a quotation has at most.
const WIDEST_BREAK: usize = 4_000;

/// Most letters of a quotation that are left out to find the next run.
const LONGEST_SKIP: usize = 60;

/// How many letters of what stands between count as much as one letter of the quotation that is left out.
const SKIP_WEIGHT: usize = 8;

/// Part of the letters that has to be found, in hundredths.
const LEAST_FOUND: usize = 75;

/// The lines that stand where one of `places` says.
pub(super) fn lines_at(lines: &[Line], places: &[Place]) -> Vec<Line> {
    let at = |line: &Line, place: &Place| {
        let own = line.bbox();
        line.page == place.page
            && place.bbox.is_none_or(|other| {
                let middle = own.top.midpoint(own.bottom);
                own.left < other.right
                    && other.left < own.right
                    && (other.top..=other.bottom).contains(&middle)
            })
    };
    lines.iter().filter(|line| places.iter().any(|place| at(line, place))).cloned().collect()
}

/// What `quote` covers of the lines, or nothing if too little of it stands there.
pub(super) fn marks(quote: &str, lines: &[Line]) -> Vec<PageMark> {
    let wanted: Vec<char> = letters(quote).collect();
    let page = Letters::of(lines);
    if wanted.is_empty() {
        return Vec::new();
    }
    let whole = page.letters.windows(wanted.len()).position(|window| window == wanted);
    let found: Vec<usize> = match whole {
        Some(start) => (start..start + wanted.len()).collect(),
        None => runs(&wanted, &page.letters),
    };
    if found.len() * 100 < wanted.len() * LEAST_FOUND {
        return Vec::new();
    }
    page.boxes(&found, lines)
}

/// What of a text is compared.
fn letters(text: &str) -> impl Iterator<Item = char> {
    let plain = text.nfkd().filter(|c| c.is_alphanumeric() && !is_combining_mark(*c));
    // Letters of TeX under accents have no dot.
    plain.flat_map(char::to_lowercase).map(|c| if c == '\u{131}' { 'i' } else { c })
}

/// The letters of lines, each with the word it is of.
#[derive(Default)]
struct Letters {
    letters: Vec<char>,
    word: Vec<usize>,
    /// Line and word in it.
    words: Vec<(usize, usize)>,
}

impl Letters {
    fn of(lines: &[Line]) -> Self {
        let mut all = Self::default();
        for (line_at, line) in lines.iter().enumerate() {
            for (word_at, word) in line.words.iter().enumerate() {
                let before = all.letters.len();
                all.letters.extend(letters(&word.text));
                all.word.resize(all.letters.len(), all.words.len());
                if all.letters.len() > before {
                    all.words.push((line_at, word_at));
                }
            }
        }
        all
    }

    /// From the first to the last word found of each line, one box.
    fn boxes(&self, found: &[usize], lines: &[Line]) -> Vec<PageMark> {
        let mut reaches: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        let mut hits: BTreeMap<usize, usize> = BTreeMap::new();
        for at in found {
            *hits.entry(self.word[*at]).or_default() += 1;
        }
        for (word, hits) in hits {
            let (line, word) = self.words[word];
            // A few letters of a long word are chance.
            if hits * 2 < letters(&lines[line].words[word].text).count() {
                continue;
            }
            let word = &lines[line].words[word];
            let reach = reaches.entry(line).or_insert((word.left, word.right));
            *reach = (reach.0.min(word.left), reach.1.max(word.right));
        }
        let mut marks: Vec<PageMark> = Vec::new();
        for (line, (left, right)) in reaches {
            let line = &lines[line];
            let bbox = line.box_of(left, right);
            match marks.last_mut().filter(|mark| mark.page == line.page) {
                Some(mark) => mark.boxes.push(bbox),
                None => marks.push(PageMark { page: line.page, boxes: vec![bbox] }),
            }
        }
        marks
    }
}

/// Where the letters of `wanted` stand in `page`, run after run from the place on which most of them agree.
fn runs(wanted: &[char], page: &[char]) -> Vec<usize> {
    let mut places: HashMap<&[char], Vec<usize>> = HashMap::new();
    for (at, run) in page.windows(RUN).enumerate() {
        places.entry(run).or_default().push(at);
    }
    let mut found = Vec::new();
    let Some(start) = start(wanted, &places) else { return found };
    let (mut at, mut on_page) = (0, start);
    while at + RUN <= wanted.len() {
        let Some((skip, place)) = next(&wanted[at..], &places, on_page) else {
            at += LONGEST_SKIP;
            continue;
        };
        at += skip;
        let same = wanted[at..].iter().zip(&page[place..]).take_while(|(a, b)| a == b).count();
        found.extend(place..place + same);
        at += same;
        on_page = place + same;
    }
    found
}

/// Where the quotation begins: most runs say so, the first of several such places.
fn start(wanted: &[char], places: &HashMap<&[char], Vec<usize>>) -> Option<usize> {
    // How many runs say so, and the first place that one of them says.
    let mut votes: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (at, run) in wanted.windows(RUN).enumerate() {
        for place in places.get(run).into_iter().flatten().take(MOST_PLACES) {
            let shifted = place + wanted.len() - at;
            let (votes, first) = votes.entry(shifted / BUCKET).or_insert((0, shifted));
            *votes += 1;
            *first = shifted.min(*first);
        }
    }
    let best = votes.values().rev().max_by_key(|(votes, _)| *votes)?;
    Some(best.1.saturating_sub(wanted.len()))
}

/// The next run that stands behind `on_page`: how many letters of the quotation come before it, and its place.
fn next(
    wanted: &[char],
    places: &HashMap<&[char], Vec<usize>>,
    on_page: usize,
) -> Option<(usize, usize)> {
    let mut best: Option<(usize, usize, usize)> = None;
    for (skip, run) in wanted.windows(RUN).enumerate().take(LONGEST_SKIP) {
        if best.is_some_and(|(cost, ..)| cost <= skip * SKIP_WEIGHT) {
            break;
        }
        let Some(all) = places.get(run) else { continue };
        let first = all.partition_point(|place| *place < on_page);
        let Some(place) = all.get(first).filter(|place| **place - on_page <= WIDEST_BREAK) else {
            continue;
        };
        let cost = skip * SKIP_WEIGHT + (place - on_page);
        if best.is_none_or(|(least, ..)| cost < least) {
            best = Some((cost, skip, *place));
        }
    }
    best.map(|(_, skip, place)| (skip, place))
}

#[cfg(test)]
mod tests {
    use super::super::lines::Word;
    use super::*;

    /// Lines of words that are ten points wide each, a line every twelve points.
    fn lines(texts: &[(u32, &str)]) -> Vec<Line> {
        let line = |(at, (page, text)): (usize, &(u32, &str))| {
            let y = 100.0 + 12.0 * f64::from(u32::try_from(at).expect("few"));
            let words = text.split(' ').enumerate().map(|(at, text)| {
                let left = 50.0 + 10.0 * f64::from(u32::try_from(at).expect("few"));
                Word { left, right: left + 9.0, text: text.to_owned() }
            });
            let words: Vec<Word> = words.collect();
            let right = words.last().expect("a word").right;
            let (left, size, text) = (50.0, 10.0, (*text).to_owned());
            Line { page: *page, left, right, y, size, text, cells: 1, column: 0, words }
        };
        texts.iter().enumerate().map(line).collect()
    }

    /// Page, first and last edge of each box.
    fn found(quote: &str, texts: &[(u32, &str)]) -> Vec<(u32, u16, u16)> {
        let marks = marks(quote, &lines(texts));
        let boxes = marks.iter().flat_map(|mark| mark.boxes.iter().map(|own| (mark.page, own)));
        boxes.map(|(page, own)| (page, own.left, own.right)).collect()
    }

    #[test]
    fn words_are_found_over_lines_hyphens_and_accents() {
        let page = [
            (1, "Other words stand here. We show that trans-"),
            (1, "lation of na\u{a8}\u{131}ve texts works"),
            (1, "well. More follows."),
        ];
        let quote = "We show that translation of na\u{ef}ve texts works well.";
        assert_eq!(found(quote, &page), [(1, 90, 129), (1, 50, 99), (1, 50, 59)]);
        assert_eq!(found("texts", &page), [(1, 80, 89)]);
        assert_eq!(found("nothing of this is there", &page), []);
        assert_eq!(found("...", &page), []);
        assert_eq!(found("texts", &[]), []);
    }

    #[test]
    fn marks_of_notes_and_what_stands_between_pages_do_not_matter() {
        let page = [
            (3, "The retrieval of passages [12, 13] improves the"),
            (3, "Proceedings of the Meeting, page 3, with many other words in it"),
            (4, "factual precision of answers by ten points."),
        ];
        let quote =
            "The retrieval of passages improves the factual precision of answers by ten points.";
        assert_eq!(found(quote, &page), [(3, 50, 129), (4, 50, 119)]);
    }

    #[test]
    fn of_two_places_the_first_is_taken_unless_lines_are_named() {
        let lines = lines(&[(1, "the same words"), (1, "between them"), (1, "the same words")]);
        let top = |marks: &[PageMark]| marks[0].boxes[0].top;
        let first = marks("the same words", &lines);
        let third = Place { start: 0, page: 1, bbox: Some(lines[2].bbox()) };
        let named = marks("the same words", &lines_at(&lines, &[third]));
        assert_eq!((top(&first), top(&named)), (92, 116));
        assert_eq!(lines_at(&lines, &[Place { bbox: None, ..third }]).len(), 3);
        assert_eq!(lines_at(&lines, &[Place { page: 2, ..third }]).len(), 0);
    }
}
