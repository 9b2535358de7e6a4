//! More against less, better against worse, an effect against none: of the same things.

use super::source::{SourceText, Tokens};
use crate::proof::stems::science_idf;
use scholar_core::text::words::is_stop_word;

/// What a word compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Amount,
    Quality,
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
    /// `did not increase`, `no difference in`.
    None,
}

const AMOUNT_UP: &[&str] = &[
    "increas",
    "rais",
    "elevat",
    "higher",
    "greater",
    "rose",
    "risen",
    "upregul",
    "activat",
    "promot",
    "induc",
    "stimulat",
    "facilitat",
    "accelerat",
    "augment",
    "exceed",
    "longer",
];
const AMOUNT_DOWN: &[&str] = &[
    "decreas",
    "reduc",
    "lower",
    "declin",
    "diminish",
    "fewer",
    "less",
    "fell",
    "downregul",
    "inhibit",
    "suppress",
    "repress",
    "prevent",
    "abolish",
    "attenuat",
    "block",
    "shorter",
    "imped",
];
const QUALITY_UP: &[&str] = &["improv", "better", "outperform", "superior", "enhanc", "surpass"];
const QUALITY_DOWN: &[&str] =
    &["worse", "worsen", "impair", "degrad", "inferior", "underperform", "deteriorat"];
const NONE: &[&str] = &[
    "no",
    "not",
    "neither",
    "nor",
    "without",
    "unable",
    "fail",
    "failed",
    "fails",
    "cannot",
    "didn",
    "doesn",
    "lack",
    "unchanged",
    "never",
    "insignificant",
    "nonsignificant",
    "unaffected",
];

/// Words before and behind a direction that say what it is of.
const BEFORE: usize = 6;
const BEHIND: usize = 7;
/// Words before a direction within which a negation denies it.
const DENIES: usize = 4;
/// Share of what an opposite direction is of that the sentence's own must name, weighted by rarity. Tuned on the training
/// halves that `openscholar bench gates` leaves out.
const OPPOSITE_SHARE: f32 = 0.6;
/// Share from which the same direction acquits.
const SAME_SHARE: f32 = 0.3;
/// Share of the sentence's words that the opposing sentence has.
const COVERAGE: f32 = 0.55;

/// A direction with what it is of.
#[derive(Debug, Clone)]
struct Turn {
    axis: Axis,
    way: Way,
    word: String,
    of: Vec<String>,
}

/// Directions of `sentence` (in plain form) that `source` turns the other way, with the source's word for it.
pub fn missing(sentence: &str, source: &SourceText) -> Vec<String> {
    let claim = Tokens::of(sentence);
    let own = turns(&claim);
    let theirs: Vec<(f32, Vec<Turn>)> = source
        .sentences
        .iter()
        .filter(|other| !asks(other))
        .map(|other| (coverage(&claim, other), turns(other)))
        .collect();
    let mut missing = Vec::new();
    for turn in &own {
        let opposite = theirs
            .iter()
            .filter(|(coverage, _)| *coverage >= COVERAGE)
            .flat_map(|(_, all)| all)
            .find(|other| {
                other.axis == turn.axis
                    && other.way != turn.way
                    && share(&turn.of, &other.of) >= OPPOSITE_SHARE
            });
        let Some(opposite) = opposite else { continue };
        let acquitted = theirs
            .iter()
            .flat_map(|(_, all)| all)
            .any(|other| other.way == turn.way && share(&turn.of, &other.of) >= SAME_SHARE);
        if !acquitted {
            missing.push(format!("{} (the source: {})", phrase(turn), phrase(opposite)));
        }
    }
    missing.extend(swapped(&claim, source));
    missing.dedup();
    missing
}

fn phrase(turn: &Turn) -> String {
    match turn.way {
        Way::None => format!("no {}", turn.word),
        Way::Up | Way::Down => turn.word.clone(),
    }
}

fn way_of(word: &str) -> Option<(Axis, Way)> {
    let starts = |list: &[&str]| list.iter().any(|start| word.starts_with(start));
    if word.starts_with("lessen") || word.starts_with("lesson") {
        return None;
    }
    if starts(AMOUNT_UP) {
        Some((Axis::Amount, Way::Up))
    } else if starts(AMOUNT_DOWN) {
        Some((Axis::Amount, Way::Down))
    } else if starts(QUALITY_UP) {
        Some((Axis::Quality, Way::Up))
    } else if starts(QUALITY_DOWN) {
        Some((Axis::Quality, Way::Down))
    } else {
        None
    }
}

fn is_content(word: &str) -> bool {
    !is_stop_word(word)
        && way_of(word).is_none()
        && !NONE.contains(&word)
        && word.chars().any(char::is_alphabetic)
}

/// Words of sentences that say what was asked, not what was found.
const ASKS: &[&str] = &[
    "whether",
    "aim",
    "aimed",
    "hypothesis",
    "hypothesized",
    "hypothesised",
    "investigate",
    "investigated",
    "evaluate",
    "examine",
    "determine",
    "assess",
    "does",
    "do",
    "can",
    "is",
];

/// Whether a sentence says what was asked; of verbs of questions only as its first word.
fn asks(tokens: &Tokens) -> bool {
    let first = tokens.words.first().map_or("", String::as_str);
    ASKS[10..].contains(&first)
        || tokens.words.iter().any(|word| ASKS[..11].contains(&word.as_str()))
}

fn turns(tokens: &Tokens) -> Vec<Turn> {
    let mut found = Vec::new();
    for (at, word) in tokens.words.iter().enumerate() {
        let Some((axis, way)) = way_of(word) else { continue };
        let denied = tokens.words[at.saturating_sub(DENIES)..at]
            .iter()
            .any(|word| NONE.contains(&word.as_str()));
        let window = at.saturating_sub(BEFORE)..(at + 1 + BEHIND).min(tokens.words.len());
        let of = window
            .filter(|n| is_content(&tokens.words[*n]))
            .map(|n| tokens.keys[n].clone())
            .collect();
        found.push(Turn {
            axis,
            way: if denied { Way::None } else { way },
            word: word.clone(),
            of,
        });
    }
    found
}

/// Share of `wanted` in `offered`, weighted by rarity.
fn share(wanted: &[String], offered: &[String]) -> f32 {
    let idf = science_idf();
    let weight =
        |keys: &mut dyn Iterator<Item = &String>| keys.map(|key| idf.weight(key)).sum::<f32>();
    let all = weight(&mut wanted.iter());
    let found = weight(&mut wanted.iter().filter(|key| offered.contains(key)));
    if all > 0.0 { found / all } else { 0.0 }
}

fn coverage(claim: &Tokens, other: &Tokens) -> f32 {
    let content: Vec<String> = claim
        .words
        .iter()
        .zip(&claim.keys)
        .filter(|(word, _)| is_content(word))
        .map(|(_, key)| key.clone())
        .collect();
    share(&content, &other.keys)
}

/// Words on either side of `than` that say who is compared.
const SIDE: usize = 5;

/// `A is better than B` where the source has B better than A.
fn swapped(claim: &Tokens, source: &SourceText) -> Option<String> {
    let (word, way, left, right) = comparison(claim)?;
    let mut others = source.sentences.iter().filter_map(comparison);
    let reversed = others.find(|(_, other_way, theirs_left, theirs_right)| {
        let crossed = share(&left, theirs_right).min(share(&right, theirs_left));
        let straight = share(&left, theirs_left).min(share(&right, theirs_right));
        let same = *other_way == way;
        if same {
            crossed >= 0.6 && crossed > straight + 0.3
        } else {
            straight >= 0.6 && straight > crossed + 0.3
        }
    })?;
    Some(format!("{word} than (the source: {} than, the other way round)", reversed.0))
}

type Comparison = (String, Way, Vec<String>, Vec<String>);

fn comparison(tokens: &Tokens) -> Option<Comparison> {
    let than = tokens.words.iter().position(|word| word == "than")?;
    let at = (0..than).rev().take(SIDE).find(|n| way_of(&tokens.words[*n]).is_some())?;
    let (_, way) = way_of(&tokens.words[at])?;
    let keys = |range: std::ops::Range<usize>| -> Vec<String> {
        range.filter(|n| is_content(&tokens.words[*n])).map(|n| tokens.keys[n].clone()).collect()
    };
    let left = keys(at.saturating_sub(SIDE)..at);
    let right = keys(than + 1..(than + 1 + SIDE).min(tokens.words.len()));
    (!left.is_empty() && !right.is_empty()).then(|| (tokens.words[at].clone(), way, left, right))
}
