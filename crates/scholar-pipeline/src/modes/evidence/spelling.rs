//! Typing errors of a question, corrected against what was found for it.
//!
//! A word is taken for an error only if neither the vocabulary of scientific papers nor any passage found has it. It becomes
//! the word of the passages that is nearest to it, one or two edits away, and the answer says so. Dense retrieval finds the
//! right papers in spite of most errors, which is why they are a good dictionary.

use std::collections::BTreeMap;

use scholar_core::Passage;
use scholar_core::text::lost_spaces::is_known_word;
use scholar_core::text::words::{is_stop_word, words};

/// Fewest letters of a word that is corrected: shorter ones are near too many others.
const SHORTEST: usize = 5;
/// Fewest letters of a word that may have two errors.
const SHORTEST_OF_TWO: usize = 8;
/// Fewest passages that have a word for it to be a correction.
const FEWEST_PASSAGES: usize = 2;

/// A word and what it is read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Correction {
    pub(crate) written: String,
    pub(crate) read: String,
}

/// The corrections of `question` by `passages`, in order.
pub(crate) fn corrections<'a>(
    question: &str,
    passages: impl Iterator<Item = &'a Passage>,
) -> Vec<Correction> {
    let suspects: Vec<&str> = words(question)
        .into_iter()
        .filter(|word| word.chars().count() >= SHORTEST && is_plain(word) && !is_stop_word(word))
        .filter(|word| !is_known(word))
        .collect();
    if suspects.is_empty() {
        return Vec::new();
    }
    let dictionary = dictionary(passages);
    let mut found: Vec<Correction> = Vec::new();
    for word in suspects {
        let lower = word.to_lowercase();
        if dictionary.contains_key(&lower) || found.iter().any(|known| known.written == word) {
            continue;
        }
        if let Some(read) = nearest(&lower, &dictionary) {
            found.push(Correction { written: word.to_owned(), read });
        }
    }
    found
}

/// `question` with `corrections` made.
pub(crate) fn corrected(question: &str, corrections: &[Correction]) -> String {
    corrections.iter().fold(question.to_owned(), |text, one| text.replace(&one.written, &one.read))
}

/// In small letters, but for the first.
fn is_plain(word: &str) -> bool {
    word.chars().all(char::is_alphabetic) && word.chars().skip(1).all(char::is_lowercase)
}

/// Whether the vocabulary has the word, or the word without an ending.
fn is_known(word: &str) -> bool {
    let lower = word.to_lowercase();
    is_known_word(&lower)
        || ["s", "es", "ed", "d", "ing", "ly"].iter().any(|end| {
            lower.strip_suffix(end).is_some_and(|stem| {
                is_known_word(stem) || (*end == "ing" && is_known_word(&format!("{stem}e")))
            })
        })
}

/// Words of the passages and their titles that several passages have, with the number of these.
fn dictionary<'a>(passages: impl Iterator<Item = &'a Passage>) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for passage in passages {
        let mut own: Vec<String> = words(&passage.title)
            .into_iter()
            .chain(words(&passage.text))
            .filter(|word| {
                word.chars().count() >= SHORTEST - 1 && word.chars().all(char::is_alphabetic)
            })
            .map(str::to_lowercase)
            .collect();
        own.sort_unstable();
        own.dedup();
        for word in own {
            *counts.entry(word).or_default() += 1;
        }
    }
    counts.retain(|word, n| *n >= FEWEST_PASSAGES && is_known_word(word));
    counts
}

/// The nearest word, of equally near ones the most frequent, then the first in order.
fn nearest(word: &str, dictionary: &BTreeMap<String, usize>) -> Option<String> {
    let letters: Vec<char> = word.chars().collect();
    let most = if letters.len() >= SHORTEST_OF_TWO { 2 } else { 1 };
    let near = dictionary.iter().filter_map(|(other, n)| {
        let theirs: Vec<char> = other.chars().collect();
        if theirs.len().abs_diff(letters.len()) > most || theirs[0] != letters[0] {
            return None;
        }
        let distance = edits(&letters, &theirs);
        (distance <= most).then_some((distance, std::cmp::Reverse(*n), other))
    });
    near.min().map(|(_, _, other)| other.clone())
}

/// Insertions, deletions, substitutions and swaps of neighbours that lead from one word to the other.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut least =
                (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        let distance = |a: &str, b: &str| {
            edits(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        assert_eq!(distance("halucination", "hallucination"), 1);
        assert_eq!(distance("hallucniation", "hallucination"), 1, "a swap");
        assert_eq!(distance("cesarian", "caesarean"), 2);
    }

    #[test]
    fn errors_become_words_of_the_passages_and_names_stay() {
        let dictionary: BTreeMap<String, usize> =
            [("hallucination", 5), ("hallucinations", 9), ("depression", 4)]
                .map(|(word, n)| (word.to_owned(), n))
                .into();
        assert_eq!(nearest("halucinations", &dictionary).as_deref(), Some("hallucinations"));
        assert_eq!(nearest("tirzepatide", &dictionary), None);
        assert!(is_known("detected") && is_known("effective"));
        let made = [Correction { written: "depresion".to_owned(), read: "depression".to_owned() }];
        assert_eq!(corrected("depresion in teens", &made), "depression in teens");
    }
}
