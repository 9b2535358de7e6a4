//! What a sentence says goes up or down, read off direction words: deliberately blind to everything subtler.
//!
//! A sentence *claims* that something goes up, goes down or does not change when a direction word stands close to the words that
//! name it.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::text::words::{is_stop_word, words};

use super::terms::{stems, weight};

/// Words beside a direction word that may name what it moves.
const REACH: usize = 3;
/// Words before a direction word within which a negation counts for it.
const NEGATION_REACH: usize = 3;
/// Weight of a stem that names a thing.
const THING_WEIGHT: f32 = 3.4;
/// What is claimed of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direction {
    Up,
    Down,
    Unchanged,
}

/// The things a sentence claims something of: stem, direction.
pub(crate) fn claims(text: &str) -> BTreeMap<String, Direction> {
    let mut found: BTreeMap<String, Direction> = BTreeMap::new();
    let mut unclear: BTreeSet<String> = BTreeSet::new();
    for clause in text.split([',', ';', '.', '(', ')', ':']) {
        let words = words(clause);
        for (at, word) in words.iter().enumerate() {
            let Some(mut direction) = direction_of(word) else { continue };
            let negated =
                words[at.saturating_sub(NEGATION_REACH)..at].iter().any(|w| is_negation(w));
            if is_purpose(&words, at) {
                continue;
            }
            if negated {
                direction = Direction::Unchanged;
            }
            for thing in things(&words, at) {
                match found.get(&thing) {
                    Some(known) if *known != direction => {
                        unclear.insert(thing);
                    }
                    _ => {
                        found.insert(thing, direction);
                    }
                }
            }
        }
    }
    found.retain(|thing, _| !unclear.contains(thing));
    found
}

impl Direction {
    /// Up against down.
    pub(crate) fn is_opposite_of(self, other: Self) -> bool {
        matches!((self, other), (Self::Up, Self::Down) | (Self::Down, Self::Up))
    }
}

fn direction_of(word: &str) -> Option<Direction> {
    const UP: &[&str] = &[
        "boost",
        "elev",
        "enhanc",
        "greater",
        "higher",
        "improv",
        "increas",
        "rais",
        "rise",
        "strengthen",
    ];
    const DOWN: &[&str] = &[
        "allevi", "declin", "decreas", "degrad", "deterior", "diminish", "fewer", "impair",
        "lessen", "lower", "mitig", "reduc", "reduct", "suppress", "weaken", "worsen",
    ];
    const UNCHANGED: &[&str] = &["unaffect", "unchang"];
    let stem = stems(word).into_iter().next()?;
    let has = |list: &[&str]| list.contains(&stem.as_str());
    if has(UP) {
        Some(Direction::Up)
    } else if has(DOWN) {
        Some(Direction::Down)
    } else if has(UNCHANGED) || matches!(stem.as_str(), "differ" | "effect" | "affect" | "chang") {
        // `no significant difference`, `did not affect`: only with their negation, see below.
        has(UNCHANGED).then_some(Direction::Unchanged)
    } else {
        None
    }
}

/// `to reduce`, `for reducing`, `focuses on reducing`: says what is wanted, not what was found.
fn is_purpose(words: &[&str], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|at| words[at].to_lowercase()) else { return false };
    let shown = at.checked_sub(2).is_some_and(|at| {
        let word = words[at].to_lowercase();
        matches!(word.as_str(), "shown" | "found" | "helps" | "help" | "helped" | "known")
    });
    let gerund = words[at].to_lowercase().ends_with("ing");
    (before == "to" && !shown)
        || gerund
            && matches!(
                before.as_str(),
                "for" | "on" | "of" | "in" | "at" | "and" | "toward" | "towards"
            )
}

fn is_negation(word: &str) -> bool {
    matches!(
        word.to_lowercase().as_str(),
        "no" | "not"
            | "without"
            | "neither"
            | "nor"
            | "fail"
            | "fails"
            | "failed"
            | "cannot"
            | "never"
    )
}

/// The words that name what moves: behind an active verb, a comparative or `reduction of`, before a passive or intransitive verb.
fn things(words: &[&str], at: usize) -> BTreeSet<String> {
    let lower = |n: usize| words.get(n).map(|word| word.to_lowercase());
    let word = words[at].to_lowercase();
    let noun = ["tion", "tions", "ment", "ments", "increase", "decrease", "rise", "decline"]
        .iter()
        .any(|end| word.ends_with(end));
    let be = ["is", "are", "was", "were", "be", "been", "being"];
    let passive = at > 0 && be.iter().any(|form| lower(at - 1).as_deref() == Some(*form));
    let object = lower(at + 1).is_some_and(|next| {
        !next.ends_with("ly")
            && (!is_stop_word(&next) || matches!(next.as_str(), "the" | "its" | "their" | "both"))
    });
    let of = noun && lower(at + 1).is_some_and(|next| next == "in" || next == "of");
    let range = if of {
        at + 2..at + 2 + REACH
    } else if object && !passive {
        at + 1..at + 1 + REACH
    } else if noun {
        at..at
    } else {
        at.saturating_sub(REACH)..at
    };
    words[range.start.min(words.len())..range.end.min(words.len())]
        .iter()
        .filter(|word| !is_stop_word(word) && direction_of(word).is_none())
        .flat_map(|word| stems(word))
        .filter(|stem| weight(stem) >= THING_WEIGHT)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_name_what_moves_where() {
        let hallucination = |text: &str| claims(text).get("hallucin").copied();
        assert_eq!(
            hallucination("Retrieval augmentation reduces hallucination."),
            Some(Direction::Down)
        );
        assert_eq!(hallucination("Longer contexts increased hallucination."), Some(Direction::Up));
        assert_eq!(
            hallucination("Decoding did not reduce hallucination."),
            Some(Direction::Unchanged)
        );
        assert_eq!(hallucination("Hallucination is a problem."), None);
        assert_eq!(hallucination("To mitigate hallucination, we retrieve."), None, "a purpose");
        assert_eq!(
            hallucination("Retrieval was shown to reduce hallucination."),
            Some(Direction::Down)
        );
        assert_eq!(
            hallucination("Retrieval reduces hallucination, noise increases hallucination."),
            None,
            "claims both"
        );
    }
}
