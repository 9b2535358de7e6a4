//! Words that lost the space between them: `wecan`, `oftena`, `suchhallucinations`.
//!
//! Line breaks that a PDF or a bibliography's tool removed leave two words run together. A word is divided only if
//! 1. it is rare: fewer than three papers of the vocabulary have it, or its parts are 256 times as frequent;
//! 2. one of its parts is a function word that rarely begins or ends other words, and the other is common, the more so
//!    the shorter it is;
//! 3. it is in small letters, or only its first is not and its first part is one such as `This`;
//! 4. nothing but spaces and punctuation stands beside it (no hyphen, digit, slash or address), it makes no word with the
//!    one beside it (`perfor mance`), it is none of [`ORDINARY`], and the paper does not use it three times, which makes
//!    it a term.
//!
//! Names, species, drugs, compounds and rare technical terms stay, and so does most of what could be divided: a wrong
//! space is worse than a missing one. Counts: `docs/results/clean-text.md`. Linear in the text's length. Source: ours.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::paper::{Paper, Section};

mod lists;

use lists::{AFTER, BEFORE, DETERMINERS, ENDINGS, FIRST_OF_TWO, OPENING, ORDINARY, SECOND_OF_TWO};

/// Word and level of how many papers have it, sorted; made by `count.py` beside it.
const WORDS: &str = include_str!("lost_spaces/words.tsv");

/// Fewest letters of a word that is looked at.
const SHORTEST: usize = 5;
/// Most letters: longer ones are formulas and sequences.
const LONGEST: usize = 30;
/// Fewest letters of a word that is divided into three.
const SHORTEST_OF_THREE: usize = 8;
/// By how many levels both parts must be more frequent than a word that is in the vocabulary itself: 8 is 256 times.
const FAR_MORE_FREQUENT: u8 = 8;
/// The level of the most frequent word.
const MOST_FREQUENT: u8 = 16;
/// How often a paper uses a word that is a term of its own.
const TERM: usize = 3;

static LEVELS: LazyLock<HashMap<&'static str, u8>> = LazyLock::new(|| {
    let entry = |line: &'static str| {
        let (word, level) = line.split_once('\t')?;
        Some((word, level.parse().ok()?))
    };
    WORDS.lines().filter_map(entry).collect()
});

/// A word that is divided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostSpace {
    /// First byte of the word in the text.
    pub start: usize,
    /// The word as it stands in the text.
    pub word: String,
    /// Bytes of the word before which a space is missing, in order: one or two.
    pub splits: Vec<usize>,
}

impl LostSpace {
    /// The word with its spaces.
    pub fn repaired(&self) -> String {
        with_spaces(&self.word, self.splits.iter().copied())
    }
}

/// Whether the vocabulary has `word`, written small: openly licensed papers use it.
pub fn is_known_word(word: &str) -> bool {
    LEVELS.contains_key(word)
}

/// The words of `text` that lost spaces, in order.
pub fn lost_spaces(text: &str) -> Vec<LostSpace> {
    found(text, &term_counts([text]))
}

/// `text` with its lost spaces.
pub fn with_lost_spaces(text: &str) -> String {
    apply(text, &lost_spaces(text))
}

/// Puts lost spaces back into the sections of `paper`, and moves the places of what stands behind them. Returns how
/// many words were divided. Headings and metadata stay as they are.
pub fn repair_paper(paper: &mut Paper) -> usize {
    let found = lost_spaces_of(paper);
    paper.sections.iter_mut().zip(found).map(|(section, all)| repair_section(section, &all)).sum()
}

/// The words that lost spaces, for each section of `paper`; words that the whole paper uses often are terms.
pub fn lost_spaces_of(paper: &Paper) -> Vec<Vec<LostSpace>> {
    let terms = term_counts(paper.sections.iter().map(|section| section.text.as_str()));
    paper.sections.iter().map(|section| found(&section.text, &terms)).collect()
}

fn repair_section(section: &mut Section, all: &[LostSpace]) -> usize {
    if all.is_empty() {
        return 0;
    }
    // Words are ASCII, so that characters behind a word's start are bytes.
    let mut chars = 0;
    let mut byte = 0;
    let mut inserted: Vec<usize> = Vec::new();
    for one in all {
        chars += section.text[byte..one.start].chars().count();
        byte = one.start;
        inserted.extend(one.splits.iter().map(|split| chars + split));
    }
    for place in &mut section.places {
        place.start += inserted.partition_point(|at| *at <= place.start);
    }
    section.text = apply(&section.text, all);
    all.len()
}

fn apply(text: &str, all: &[LostSpace]) -> String {
    with_spaces(text, all.iter().flat_map(|one| one.splits.iter().map(|split| one.start + split)))
}

fn with_spaces(text: &str, before: impl Iterator<Item = usize>) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut from = 0;
    for at in before {
        out.push_str(&text[from..at]);
        out.push(' ');
        from = at;
    }
    out.push_str(&text[from..]);
    out
}

/// How often texts have each word that is in no list: only these can be terms.
fn term_counts<'a>(texts: impl IntoIterator<Item = &'a str>) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for text in texts {
        for (_, word, _) in tokens(text) {
            let lower = word.to_ascii_lowercase();
            if !LEVELS.contains_key(lower.as_str()) {
                *counts.entry(lower).or_default() += 1;
            }
        }
    }
    counts
}

fn found(text: &str, terms: &HashMap<String, usize>) -> Vec<LostSpace> {
    let mut all = Vec::new();
    for (start, word, tail) in tokens(text) {
        let lower = word.to_ascii_lowercase();
        let is_term = terms.get(&lower).is_some_and(|count| *count >= TERM);
        let Some(parts) = parts(&lower) else { continue };
        if is_half(text, start, word) {
            continue;
        }
        if is_term && !parts.iter().all(|part| is_function_word(part)) {
            continue;
        }
        let capital = word.starts_with(|c: char| c.is_ascii_uppercase());
        if capital && (!OPENING.contains(&parts[0]) || parts.iter().any(|part| part.len() < 3)) {
            continue;
        }
        // A mark of a footnote (`patientsa (%)`) is followed by anything but the noun of an article.
        let article = matches!(parts.last(), Some(&("a" | "an")));
        let goes_on =
            || text[start + word.len()..].trim_start().starts_with(|c: char| c.is_lowercase());
        if article && (!tail.is_empty() || !goes_on()) {
            continue;
        }
        let mut end = 0;
        let ends = parts[..parts.len() - 1].iter().map(|part| {
            end += part.len();
            end
        });
        let splits = ends.collect();
        all.push(LostSpace { start, word: word.to_owned(), splits });
    }
    all
}

/// Whether a word is a half of one that a line break parted: `perfor mance`, `Pro- totypical`.
fn is_half(text: &str, start: usize, word: &str) -> bool {
    let before = text[..start].trim_end().rsplit(' ').next().unwrap_or_default();
    let after = text[start + word.len()..].trim_start().split(' ').next().unwrap_or_default();
    let bare = |token: &str| token.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let (before_bare, after_bare) = (bare(before), bare(after));
    let is_word = |joined: String| LEVELS.contains_key(joined.to_ascii_lowercase().as_str());
    before.ends_with('-')
        || (!after_bare.is_empty() && is_word(format!("{word}{after_bare}")))
        || (!before_bare.is_empty() && is_word(format!("{before_bare}{word}")))
}

/// Words of small letters, perhaps the first a capital, that have spaces or punctuation on both sides: byte, word, what
/// follows it up to the next space.
fn tokens(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    text.split(' ')
        .scan(0, |at, token| {
            let start = *at;
            *at += token.len() + 1;
            Some((start, token))
        })
        .filter_map(|(start, token)| {
            let bare = token.trim_start_matches(['(', '\u{201c}', '"', '\u{2018}']);
            let start = start + token.len() - bare.len();
            let word = bare
                .trim_end_matches([',', ';', ':', ')', '\u{201d}', '"', '\u{2019}', '.', '?', '!']);
            let fits = (SHORTEST..=LONGEST).contains(&word.len())
                && word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
                && word.as_bytes()[0].is_ascii_alphabetic();
            fits.then(|| (start, word, &bare[word.len()..]))
        })
}

/// The two or three words that `word`, in small letters, consists of; the most frequent parts win, then the first.
fn parts(word: &str) -> Option<Vec<&str>> {
    if ORDINARY.binary_search(&word).is_ok() {
        return None;
    }
    let known = level(word);
    // Most words of a text: nothing is so much more frequent.
    if known.is_some_and(|known| known + FAR_MORE_FREQUENT > MOST_FREQUENT) {
        return None;
    }
    let pairs = (2..word.len()).map(|at| word.split_at(at)).filter(|(a, b)| is_pair(a, b));
    let two = most_frequent(pairs.map(|(first, second)| vec![first, second]));
    match (two, known) {
        (Some((_, parts)), None) => Some(parts),
        (Some((least, parts)), Some(known)) => {
            (known + FAR_MORE_FREQUENT <= least).then_some(parts)
        }
        (None, None) => three(word),
        (None, Some(_)) => None,
    }
}

/// Two function words and a common one: `algorithmfromthe`, `ofthemodel`; not `informetric`.
fn three(word: &str) -> Option<Vec<&str>> {
    if word.len() < SHORTEST_OF_THREE {
        return None;
    }
    let common = |part: &str| part.len() >= 4 && is_common(part);
    let divisions = (2..word.len() - 3).flat_map(|i| (i + 2..word.len() - 1).map(move |j| (i, j)));
    let fitting = divisions.filter_map(|(i, j)| {
        let (first, second, third) = (&word[..i], &word[i..j], &word[j..]);
        let begins = FIRST_OF_TWO.contains(&first)
            && DETERMINERS.contains(&second)
            && (common(third) || SECOND_OF_TWO.contains(&third));
        let ends = common(first) && AFTER.contains(&second) && SECOND_OF_TWO.contains(&third);
        (begins || ends).then(|| vec![first, second, third])
    });
    most_frequent(fitting).map(|(_, parts)| parts)
}

/// The division whose rarest part is the most frequent, with that part's level; the first of equals.
fn most_frequent<'a>(divisions: impl Iterator<Item = Vec<&'a str>>) -> Option<(u8, Vec<&'a str>)> {
    divisions
        .map(|parts| (parts.iter().filter_map(|part| level(part)).min().unwrap_or(0), parts))
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
}

fn is_pair(first: &str, second: &str) -> bool {
    (FIRST_OF_TWO.contains(&first) && SECOND_OF_TWO.contains(&second))
        || (BEFORE.contains(&first) && second.len() >= 4 && is_common(second))
        || (AFTER.contains(&second) && is_common(first))
        || ENDINGS.iter().any(|(word, endings)| {
            *word == second
                && first.len() >= 5
                && is_common(first)
                && endings.iter().any(|ending| first.ends_with(ending))
        })
}

fn is_function_word(word: &str) -> bool {
    FIRST_OF_TWO.contains(&word) || SECOND_OF_TWO.contains(&word)
}

/// Whether so many papers have a word that a part of another may be taken for it: the shorter, the more.
fn is_common(word: &str) -> bool {
    let least = match word.len() {
        0..=2 => return false,
        3 => 11,
        4 => 10,
        5 => 9,
        _ => 7,
    };
    level(word).is_some_and(|level| level >= least)
}

/// The logarithm to base 2 of how many papers of the vocabulary have `word`; `None` below three papers.
fn level(word: &str) -> Option<u8> {
    LEVELS.get(word).copied()
}

#[cfg(test)]
mod tests;
