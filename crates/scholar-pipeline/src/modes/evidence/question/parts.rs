//! The parts that a question itself names.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Match, Regex};
use scholar_core::text::normalise::capitalised;
use scholar_core::text::words::is_stop_word;

use super::super::pattern::pattern;
use super::super::terms::stems;
use super::focus::{is_linking, phrases};
use super::{Aspect, Kind, Part, is_generic};

/// Sub-questions, else two things compared, else two aspects, else two things joined by `and` or `or`.
pub(super) fn parts(question: &str, aspects: &[Aspect], kind: Kind) -> Vec<Part> {
    let sub_questions = distinct(sub_questions(question));
    if sub_questions.len() >= 2 {
        return sub_questions;
    }
    // `images and text` are one thing to a question about models of both; outcomes and what is compared are two.
    if matches!(kind, Kind::Effect | Kind::Comparison) {
        let joined = distinct(joined(question));
        if joined.len() >= 2 {
            return joined;
        }
    }
    opposed(question, aspects)
}

/// `advantages and disadvantages`, headed as the question calls them.
fn opposed(question: &str, aspects: &[Aspect]) -> Vec<Part> {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(advantages?|benefits|strengths|pros|merits)\b.*\b(disadvantages?|limitations|weaknesses|challenges|risks|harms|cons|drawbacks|pitfalls)\b",
        )
    });
    let both = [Aspect::Effects, Aspect::Limits];
    let Some(named) = NAMED.captures(question) else { return Vec::new() };
    if !both.iter().all(|aspect| aspects.contains(aspect)) {
        return Vec::new();
    }
    let part = |(aspect, word): (Aspect, &str)| Part {
        heading: capitalised(&word.to_lowercase()),
        stems: BTreeSet::new(),
        aspect: Some(aspect),
    };
    both.into_iter().zip([&named[1], &named[2]]).map(part).collect()
}

/// `How …? What …?` and `how … and what …`.
fn sub_questions(question: &str) -> Vec<Part> {
    static SEAM: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\?\s+|[,;]?\s+and\s+(?:what|how|which|why|when|where|who|does|do|is|are|can)\b",
        )
    });
    SEAM.split(question).filter_map(part_of_words).collect()
}

/// What each `or` of the question joins, as stems without those that several have: groups of at least two.
pub(super) fn alternatives(question: &str) -> Vec<Vec<BTreeSet<String>>> {
    static OR: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i),?\s+or\s+"));
    let mut groups: Vec<Vec<BTreeSet<String>>> = Vec::new();
    // The last first: it has the whole of `a, b or c`.
    for seam in OR.find_iter(question).collect::<Vec<_>>().into_iter().rev() {
        let parts = distinct(beside(question, &seam));
        let group: Vec<BTreeSet<String>> = parts.into_iter().map(|part| part.stems).collect();
        let known = |stems: &BTreeSet<String>| {
            groups.iter().flatten().any(|other| !other.is_disjoint(stems))
        };
        if group.len() >= 2 && !group.iter().any(known) {
            groups.push(group);
        }
    }
    groups
}

/// The words beside the last `and`, `or`, `versus`: `cocoa or nut consumption`.
fn joined(question: &str) -> Vec<Part> {
    static SEAM: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i),?\s+(?:and|or|versus|vs\.?|compared? (?:to|with)|rather than|(?:better|worse|more effective) than|(?:superior|inferior) to)\s+",
        )
    });
    let last = SEAM.find_iter(question).last();
    last.map(|seam| beside(question, &seam)).unwrap_or_default()
}

/// The one outcome with a stop word inside that many questions end with.
const OF_LIFE: &str = "quality of life";

/// What the words on either side of `seam` name, and before it each item of a list: three of `a, b or c`.
fn beside(question: &str, seam: &Match<'_>) -> Vec<Part> {
    let after = &question[seam.end()..];
    let life = after.strip_prefix(OF_LIFE).map(|_| OF_LIFE.split_whitespace().collect());
    let mut items = vec![life.unwrap_or_else(|| near(after.split_whitespace()))];
    let mut before = &question[..seam.start()];
    loop {
        let comma = before.rfind(',');
        let item = &before[comma.map_or(0, |comma| comma + 1)..];
        let mut words = near(item.split_whitespace().rev());
        // `In adults, a or b`: what comes before the first comma is no item.
        if items.len() > 1 && (words.is_empty() || begins_with_preposition(item)) {
            break;
        }
        let is_whole = words.len() == item.split_whitespace().count();
        words.reverse();
        items.push(words);
        match comma.filter(|_| is_whole) {
            Some(comma) => before = &before[..comma],
            None => break,
        }
    }
    items.reverse();
    items.into_iter().filter_map(|words| part_of_words(&words.join(" "))).collect()
}

fn begins_with_preposition(words: &str) -> bool {
    const PREPOSITIONS: [&str; 7] = ["after", "among", "during", "for", "in", "on", "with"];
    let first = words.split_whitespace().next().unwrap_or_default().to_lowercase();
    PREPOSITIONS.contains(&first.as_str())
}

/// The first words up to a stop word or one that any question may use, at most three.
fn near<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let bare = |word: &str| is_stop_word(word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.take_while(|word| !bare(word) && !is_generic(word) && !is_linking(word)).take(3).collect()
}

fn part_of_words(text: &str) -> Option<Part> {
    let kept: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty() && !is_stop_word(word) && !is_generic(word))
        .take(5)
        .collect();
    let name = if text == OF_LIFE { OF_LIFE.to_owned() } else { kept.join(" ") };
    let stems: BTreeSet<String> = stems(&name).into_iter().collect();
    (!stems.is_empty()).then(|| Part { heading: heading(text, &name), stems, aspect: None })
}

/// `name`, the words of `text` that say what it is about, where they stand together there; else its longest phrase, the first of
/// equals: words with others left out between them read like a search.
fn heading(text: &str, name: &str) -> String {
    if text.contains(name) {
        return capitalised(name);
    }
    let length = |phrase: &String| phrase.split(' ').count();
    let longest = phrases(text).into_iter().rev().max_by_key(length);
    capitalised(longest.as_deref().unwrap_or(name))
}

/// Parts reduced to the stems only they have; those without any are dropped.
fn distinct(parts: Vec<Part>) -> Vec<Part> {
    let all: Vec<BTreeSet<String>> = parts.iter().map(|part| part.stems.clone()).collect();
    let own = |at: usize, stem: &String| {
        all.iter().enumerate().all(|(other, stems)| other == at || !stems.contains(stem))
    };
    parts
        .into_iter()
        .enumerate()
        .filter_map(|(at, mut part)| {
            part.stems.retain(|stem| own(at, stem));
            (!part.stems.is_empty()).then_some(part)
        })
        .collect()
}
