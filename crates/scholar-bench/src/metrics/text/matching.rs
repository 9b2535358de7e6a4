//! Is the expected answer in the output?

use serde::{Deserialize, Serialize};

use super::{citations, python};

/// Where the expected answer counts as found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchRule {
    /// As whole words. Ours: `no` is not in `know`, nor `true` in `untrue`.
    Words,
    /// Anywhere. The reference scorer's form, which the paper reports as accuracy.
    Substring,
}

/// Whether `expected` occurs in `output`, both lower-cased and without citations.
///
/// `None` when the expected answer is empty and words are asked for; as a substring it is in every output.
pub fn matches(output: &str, expected: &str, rule: MatchRule) -> Option<bool> {
    let output = citations::remove(output).to_lowercase();
    let expected = citations::remove(expected).to_lowercase();
    match rule {
        MatchRule::Substring => Some(output.contains(&expected)),
        MatchRule::Words if expected.is_empty() => None,
        MatchRule::Words => Some(contains_words(&output, &expected)),
    }
}

fn contains_words(text: &str, words: &str) -> bool {
    let word = |c: Option<char>| c.is_some_and(python::is_word);
    let opens = word(words.chars().next());
    let closes = word(words.chars().next_back());
    let mut from = 0;
    while let Some(found) = text[from..].find(words) {
        let at = from + found;
        let end = at + words.len();
        let cut_before = opens && word(text[..at].chars().next_back());
        let cut_after = closes && word(text[end..].chars().next());
        if !cut_before && !cut_after {
            return true;
        }
        from = at + words.chars().next().map_or(1, char::len_utf8);
    }
    false
}

/// The label that `output` begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Labelled {
    /// The expected label, whatever its case.
    Right,
    /// Another of the labels.
    Wrong,
    /// Its first alphabetic word is no label. Scored as wrong, and counted apart.
    NoLabel,
}

/// Compares the first alphabetic word of `output`, without citations and response markers, with `expected`.
pub fn label(output: &str, expected: &str, labels: &[&str]) -> Labelled {
    let bare = citations::remove(&scholar_core::text::markers::remove_markers(output));
    let first = bare.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty());
    let first = first.unwrap_or("").to_lowercase();
    if first == expected.trim().to_lowercase() {
        Labelled::Right
    } else if labels.iter().any(|label| label.to_lowercase() == first) {
        Labelled::Wrong
    } else {
        Labelled::NoLabel
    }
}
