//! An idea as units that each say one thing: paragraphs and items of lists, with the part of the plan they stand in.

use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::normalise::single_spaced;
use scholar_core::text::sentences::sentence_texts;

use super::cues::pattern;
use crate::idea::Idea;

/// Most units read of an idea. Ours: plans have 20 to 40.
const MOST_UNITS: usize = 200;
/// Longest unit, in characters: the rest of a paragraph without end is not read.
const LONGEST: usize = 4_000;
/// Longest label, in words.
const LABEL_WORDS: usize = 9;

/// Where in the plan a unit stands, by the heading of its section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zone {
    /// What is lacking, asked and supposed.
    Problem,
    /// What is proposed.
    Method,
    /// How it is tried.
    Experiment,
    /// Under no heading, or another one.
    Other,
}

impl Zone {
    fn of(heading: &str) -> Self {
        let lower = heading.to_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
        if has(&["experiment", "evaluation", "analysis", "validation", "study design", "procedure"])
        {
            Self::Experiment
        } else if has(&["method", "approach", "design", "model", "implementation", "proposed"]) {
            Self::Method
        } else if has(&[
            "problem",
            "background",
            "introduction",
            "motivation",
            "question",
            "hypothes",
            "aim",
        ]) {
            Self::Problem
        } else {
            Self::Other
        }
    }
}

/// A paragraph or an item of a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unit {
    pub(super) zone: Zone,
    /// What stands in bold in front of it or of the paragraphs it belongs to.
    pub(super) label: Option<String>,
    /// Its sentences, single-spaced, without marks of Markdown.
    pub(super) sentences: Vec<String>,
    /// Whether it is an item of a list.
    pub(super) item: bool,
    /// Whether the label is its own, and not that of the paragraphs it belongs to.
    pub(super) labelled: bool,
}

/// The units of `idea` in order.
pub(super) fn units(idea: &Idea) -> Vec<Unit> {
    let mut units = Vec::new();
    for section in &idea.sections {
        let zone = Zone::of(&section.heading);
        let mut heading: Option<String> = None;
        for block in blocks(&section.text) {
            if units.len() >= MOST_UNITS {
                return units;
            }
            let (label, rest) = labelled(&block.text);
            if rest.is_empty() {
                heading = label;
                continue;
            }
            let text: String = plain(rest).chars().take(LONGEST).collect();
            let sentences: Vec<String> = sentence_texts(&text)
                .into_iter()
                .map(single_spaced)
                .filter(|text| text.chars().any(char::is_alphabetic))
                .collect();
            if !sentences.is_empty() {
                let labelled = label.is_some();
                let label = label.or_else(|| heading.clone());
                units.push(Unit { zone, label, sentences, item: block.item, labelled });
            }
        }
    }
    units
}

struct Block {
    text: String,
    item: bool,
}

/// Paragraphs and items, line breaks within them removed.
fn blocks(text: &str) -> Vec<Block> {
    static ITEM: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\s*(?:[-*+•–]\s+|\(?(?:\d{1,2}|[a-hA-H]|[ivx]{1,4})[.)]\s+)"));
    static BOLD_LINE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*\*\*[^*]+\*\*:?\s*$"));
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        if line.trim().is_empty() {
            open = false;
        } else if let Some(mark) = ITEM.find(line) {
            blocks.push(Block { text: line[mark.end()..].trim().to_owned(), item: true });
            open = true;
        } else if BOLD_LINE.is_match(line) {
            blocks.push(Block { text: line.trim().to_owned(), item: false });
            open = false;
        } else if let Some(last) = blocks.last_mut().filter(|_| open) {
            last.text.push(' ');
            last.text.push_str(line.trim());
        } else {
            blocks.push(Block { text: line.trim().to_owned(), item: false });
            open = true;
        }
    }
    blocks
}

/// The bold words in front of a block, and what follows them.
fn labelled(text: &str) -> (Option<String>, &str) {
    static LABEL: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^(?:\*\*|__)\s*([^*_]+?)\s*:?\s*(?:\*\*|__)\s*(?:\([^()]{0,60}\))?\s*[:.–—-]?\s*")
    });
    let Some(found) = LABEL.captures(text) else { return (None, text) };
    let label = single_spaced(&plain(&found[1]));
    let short = !label.is_empty() && label.split_whitespace().count() <= LABEL_WORDS;
    if short { (Some(label), &text[found[0].len()..]) } else { (None, text) }
}

/// `text` without the marks of Markdown that a reader does not see.
fn plain(text: &str) -> String {
    static LINK: LazyLock<Regex> = LazyLock::new(|| pattern(r"!?\[([^\[\]]*)\]\([^()]*\)"));
    let text = LINK.replace_all(text, "$1");
    text.replace("**", "").replace("__", "").replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Unit> {
        units(&Idea::read(text).expect("an idea"))
    }

    #[test]
    fn paragraphs_items_and_labels() {
        let units = of(
            "# Research Plan: T\n\n## Problem\n\nModels are dull. We ask why\nthat is so.\n\n## Method\n\n\
             We will implement several metrics:\n- **Lexical**: Using distinct n-grams of the programs\n\
             - plain item of the list\n\n**Experiment 1: Talk**\n\nWe will talk to [ten](http://x) people.\n\n\
             ## Experiment Design\n\n**Data** (Task 1): We collect **many** words.\n",
        );
        let told: Vec<(Zone, Option<&str>, &str, bool)> = units
            .iter()
            .map(|one| (one.zone, one.label.as_deref(), one.sentences[0].as_str(), one.item))
            .collect();
        assert_eq!(
            told,
            [
                (Zone::Problem, None, "Models are dull.", false),
                (Zone::Method, None, "We will implement several metrics:", false),
                (Zone::Method, Some("Lexical"), "Using distinct n-grams of the programs", true),
                (Zone::Method, None, "plain item of the list", true),
                (Zone::Method, Some("Experiment 1: Talk"), "We will talk to ten people.", false),
                (Zone::Experiment, Some("Data"), "We collect many words.", false),
            ]
        );
        assert_eq!(units[0].sentences[1], "We ask why that is so.");
    }

    #[test]
    fn text_without_end_is_read_in_part() {
        let long =
            format!("We study fish and what they do in water. {}", "and the word ".repeat(1_000));
        let units = of(&long);
        assert_eq!(units.len(), 1);
        assert!(units[0].sentences.iter().map(String::len).sum::<usize>() <= LONGEST);
    }
}
