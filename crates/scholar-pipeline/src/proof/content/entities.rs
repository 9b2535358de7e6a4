//! Names: systems, data sets, trials, places, abbreviations, drugs, species.

mod lists;

use std::collections::BTreeSet;

use scholar_core::text::words::{is_stop_word, stem};

use super::source::{SourceText, compact, key, tokens};
use crate::proof::stems::science_idf;
use lists::{CALENDAR, DRUG_ENDINGS, PAIRS, PRESUPPOSED, SPECIES, SPELLED_OUT};

/// Names of `sentence` (in plain form) that `source` does not have in any spelling, as printed, each once.
pub fn missing(sentence: &str, source: &SourceText) -> Vec<String> {
    let mut missing: Vec<String> = Vec::new();
    for name in names(sentence) {
        // An abbreviation in parentheses is the sentence's own, for the words in front of it.
        if sentence.contains(&format!("({name}")) {
            continue;
        }
        if !is_named(name, source)
            && !is_genus(name, sentence, source)
            && missing.iter().all(|known| known != name)
        {
            missing.push(name.to_owned());
        }
    }
    missing
}

/// Fewest letters and digits of a name: two stand for too many things, and any text has them as initials.
const SHORTEST_NAME: usize = 3;

/// Names as printed, in order.
pub fn names(sentence: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut starts = true;
    for chunk in sentence
        .split(|c: char| c.is_whitespace() || matches!(c, '/' | '(' | ')' | '[' | ']' | ','))
    {
        let bare = chunk.trim_matches(|c: char| !c.is_alphanumeric());
        let bare = bare.strip_suffix("'s").unwrap_or(bare);
        if bare.is_empty() {
            continue;
        }
        let letters = bare.chars().filter(|c| c.is_alphanumeric()).count();
        if letters < SHORTEST_NAME || CALENDAR.contains(&bare) || PRESUPPOSED.contains(&bare) {
            starts = chunk.ends_with([':', '.', '?', '!', ';']);
            continue;
        }
        let quoted = chunk.starts_with(['"', '“']);
        if is_abbreviation(bare) || has_capitals_inside(bare) {
            names.push(bare);
        } else if bare.contains('-') {
            let parts = bare.split('-');
            names.extend(
                parts.filter(|part| {
                    is_abbreviation(part) || is_drug(part) || species(part).is_some()
                }),
            );
        } else if is_drug(bare)
            || species(bare).is_some()
            || (!starts && !quoted && is_proper(bare))
        {
            names.push(bare);
        }
        starts = chunk.ends_with([':', '.', '?', '!', ';']);
    }
    names
}

/// `LLMs`, `IL6`, `T2D`: two capitals or more, or a capital and a digit.
fn is_abbreviation(word: &str) -> bool {
    let capitals = word.chars().filter(|c| c.is_uppercase()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let roman = word.chars().all(|c| matches!(c, 'I' | 'V' | 'X'));
    !word.contains('-')
        && !roman
        && letters >= 1
        && ((capitals >= 2) || (capitals >= 1 && digits >= 1))
}

/// `SelfCheckGPT`, `GPT-4`, `mBERT`.
fn has_capitals_inside(word: &str) -> bool {
    let inside = word.chars().skip(1).zip(word.chars());
    let camel = inside.clone().any(|(c, before)| c.is_uppercase() && before.is_lowercase());
    let numbered = word.contains('-')
        && word.split('-').any(is_abbreviation)
        && word.chars().any(|c| c.is_ascii_digit());
    camel || numbered
}

/// A capitalised word that is rare or unknown in lower case.
fn is_proper(word: &str) -> bool {
    let mut chars = word.chars();
    let capital = chars.next().is_some_and(char::is_uppercase);
    let rest = chars.as_str();
    capital
        && rest.chars().count() >= 2
        && rest.chars().all(char::is_lowercase)
        && !is_stop_word(word)
        && is_rare(word)
}

/// Rarity from which a word is taken for a name: not among the 6,000 most frequent stems of abstracts.
fn is_rare(word: &str) -> bool {
    let idf = science_idf();
    idf.weight(&stem(word)) >= idf.weight("\u{0}")
}

/// Whether a rare word ends as drugs' names do.
fn is_drug(word: &str) -> bool {
    let lower = word.to_lowercase();
    lower.len() >= 6
        && lower.chars().all(char::is_alphabetic)
        && DRUG_ENDINGS.iter().any(|ending| lower.ends_with(ending))
        && is_rare(&lower)
}

fn species(word: &str) -> Option<&'static [&'static str]> {
    let lower = word.to_lowercase();
    SPECIES.iter().copied().find(|names| names.contains(&lower.as_str()))
}

/// `Haemaphysalis longicornis` beside `H. longicornis`.
fn is_genus(name: &str, sentence: &str, source: &SourceText) -> bool {
    let behind = sentence.split_once(name).map_or("", |(_, behind)| behind);
    let epithet = tokens(behind).into_iter().next().unwrap_or_default();
    let initial = name.chars().next().unwrap_or_default();
    is_proper(name)
        && epithet.len() >= PART
        && epithet.chars().all(char::is_lowercase)
        && source.text.contains(&format!("{initial}. {epithet}"))
}

/// Shortest name that may be part of a longer word of the source.
const PART: usize = 4;

fn is_named(name: &str, source: &SourceText) -> bool {
    if let Some(names) = species(name) {
        return names.iter().any(|one| source.keys.contains(&key(one)));
    }
    // `NF-kB-dependent`, `M2-like`: the name is in front.
    let name = match name.rsplit_once('-') {
        Some((front, behind)) if behind.len() >= 3 && behind.chars().all(char::is_lowercase) => {
            front
        }
        _ => name,
    };
    let small = compact(name);
    let singular = small.strip_suffix('s').unwrap_or(&small);
    if misspelt(&small, source) {
        return true;
    }
    let held = |text: &str| {
        source.keys.contains(&key(text))
            || source.pairs.contains(text)
            || (text.len() >= PART && source.compact.contains(text))
            || (text.len() + 1 == PART && borders(text, source))
    };
    let spelled_out = SPELLED_OUT.iter().any(|(short, long)| {
        small.strip_prefix(short).is_some_and(|rest| {
            !rest.is_empty()
                && rest.starts_with(|c: char| c.is_ascii_digit())
                && source.compact.contains(&format!("{long}{rest}"))
        })
    });
    if spelled_out
        || held(&small)
        || held(singular)
        || initials(singular, source)
        || paired(name, source)
    {
        return true;
    }
    if is_proper(name) && same_beginning(&small, source) {
        return true;
    }
    // `GPT-4-based`, `HIV-positive`: each part that is a name.
    let parts: Vec<&str> = name.split('-').filter(|part| part.len() >= 2).collect();
    let inner: BTreeSet<&str> = parts
        .iter()
        .copied()
        .filter(|part| is_abbreviation(part) || has_capitals_inside(part))
        .collect();
    parts.len() >= 2
        && inner.iter().all(|part| is_named(part, source))
        && parts.iter().all(|part| {
            let numeric = part.chars().all(|c| c.is_ascii_digit() || c == '.');
            !numeric || tokens(&source.text).contains(part)
        })
}

/// Fewest letters of a name that one letter more, less or other does not make another name.
const LONG_NAME: usize = 7;

/// Whether a word of the source is the name but for one letter: `Novrtis`. Digits are never misspelt.
fn misspelt(small: &str, source: &SourceText) -> bool {
    let letters: Vec<char> = small.chars().collect();
    letters.len() >= LONG_NAME
        && letters.iter().all(|c| c.is_alphabetic())
        && source.words.iter().any(|word| one_edit(&letters, word))
}

/// Whether `word` differs from `letters` by at most one insertion, deletion or replacement.
fn one_edit(letters: &[char], word: &str) -> bool {
    let word: Vec<char> = word.chars().collect();
    if letters.len().abs_diff(word.len()) > 1 {
        return false;
    }
    let same = letters.iter().zip(&word).take_while(|(a, b)| a == b).count();
    let (a, b) = (&letters[same..], &word[same..]);
    let skip = |rest: &[char], n: usize| rest.get(n..).map(<[char]>::to_vec).unwrap_or_default();
    match letters.len().cmp(&word.len()) {
        std::cmp::Ordering::Less => a == skip(b, 1),
        std::cmp::Ordering::Equal => skip(a, 1) == skip(b, 1),
        std::cmp::Ordering::Greater => skip(a, 1) == b,
    }
}

/// Whether a word of the source begins or ends with `text`: `AMP` beside `AMPK`, `RAS` beside `KRAS`, `LLM` beside `LLMs`.
fn borders(text: &str, source: &SourceText) -> bool {
    source.keys.iter().any(|word| word.starts_with(text) || word.ends_with(text))
}

/// Shortest abbreviation that the first letters of words may spell by themselves.
const SHORTEST_INITIALS: usize = 2;

/// `COPD` beside `chronic obstructive pulmonary disease`.
fn initials(small: &str, source: &SourceText) -> bool {
    small.len() >= SHORTEST_INITIALS
        && source.initials.iter().any(|letters| letters.contains(small))
}

fn paired(name: &str, source: &SourceText) -> bool {
    let lower = name.to_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    let text = source.text.to_lowercase();
    PAIRS
        .iter()
        .filter(|(short, _)| *short == lower || *short == singular)
        .any(|(_, long)| long.iter().any(|words| text.contains(words)))
}

/// `Chinese` beside `China`: names of places and peoples begin alike.
fn same_beginning(small: &str, source: &SourceText) -> bool {
    let start: String = small.chars().take(PART).collect();
    start.chars().count() == PART && source.keys.iter().any(|word| word.starts_with(&start))
}
