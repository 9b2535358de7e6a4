//! The parts that a question itself names.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::words::is_stop_word;

use super::super::pattern::pattern;
use super::super::terms::stems;
use super::focus::is_linking;
use super::{Aspect, Kind, Part, capitalised, is_generic};

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

/// Stems of the words on either side of the last `or`, without those that both have; none where nothing is joined.
pub(super) fn alternatives(question: &str) -> Vec<BTreeSet<String>> {
    static OR: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\s+or\s+"));
    let parts = distinct(beside(question, &OR));
    if parts.len() < 2 { Vec::new() } else { parts.into_iter().map(|part| part.stems).collect() }
}

/// The words beside the last `and`, `or`, `versus`: `cocoa or nut consumption`.
fn joined(question: &str) -> Vec<Part> {
    static SEAM: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\s+(?:and|or|versus|vs\.?|compared? (?:to|with)|rather than|(?:better|worse|more effective) than|(?:superior|inferior) to)\s+",
        )
    });
    beside(question, &SEAM)
}

/// What the words on either side of the last `seam` name.
fn beside(question: &str, seam: &Regex) -> Vec<Part> {
    let Some(seam) = seam.find_iter(question).last() else { return Vec::new() };
    let mut before = near(question[..seam.start()].split_whitespace().rev());
    before.reverse();
    let after = near(question[seam.end()..].split_whitespace());
    [before, after].into_iter().filter_map(|words| part_of_words(&words.join(" "))).collect()
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
    let stems: BTreeSet<String> = stems(&kept.join(" ")).into_iter().collect();
    (!stems.is_empty()).then(|| Part { heading: capitalised(&kept.join(" ")), stems, aspect: None })
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
