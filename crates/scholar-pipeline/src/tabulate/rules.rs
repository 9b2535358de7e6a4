//! Rules: a cue in a sentence and the span beside it.
//!
//! A [`Rule`] finds spans in one sentence; where the sentence stands decides how much the rule is worth there. All
//! patterns run on single sentences, so a cue never reaches over a full stop. Source: ours.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::column::Property;
use super::sheet::{Line, Zone};
use crate::modes::evidence::pattern::pattern;
use phrase::PhraseKind;

mod arms;
mod dataset;
mod method;
mod phrase;
mod trial;

/// A span found by a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What it is a value of.
    pub property: Property,
    /// Position of its sentence among the lines.
    pub line: usize,
    /// Bytes of the passage's text.
    pub span: Range<usize>,
    /// Worth of the rule where it matched, in `[0, 1]`.
    pub score: f32,
    /// Name of the rule, for explanations and fits.
    pub rule: &'static str,
    /// Whether the rule matched in the title; the span is where a sentence has the same words.
    pub from_title: bool,
}

/// How a match becomes a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The group `x` as it is.
    Exact,
    /// The phrase that the group `x` begins with.
    Phrase(PhraseKind),
    /// The phrase that the group `x` ends with.
    Behind(PhraseKind),
    /// The whole sentence.
    Sentence,
}

struct Rule {
    property: Property,
    name: &'static str,
    pattern: Regex,
    form: Form,
    /// Worth in `[0, 1]`.
    worth: f32,
    /// Factors of the worth by zone; zones not named have the last factor.
    zones: &'static [(Zone, f32)],
    elsewhere: f32,
}

/// Rules for what stands right behind a label.
const LABELLED: &str = "labelled";

/// Everything a table of rules states of one.
type Stated = (Property, &'static str, Form, f32, &'static [(Zone, f32)], f32, &'static str);

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    [trial::RULES, arms::RULES, method::RULES, dataset::RULES]
        .into_iter()
        .flatten()
        .map(|&(property, name, form, worth, zones, elsewhere, text)| Rule {
            property,
            name,
            pattern: pattern(text),
            form,
            worth,
            zones,
            elsewhere,
        })
        .collect()
});

/// All spans that rules find in `line`, whose position is `at`, for the properties `wanted`.
pub fn candidates(line: &Line<'_>, at: usize, wanted: &[Property]) -> Vec<Candidate> {
    let text = line.text();
    let mut found = Vec::new();
    for rule in RULES.iter().filter(|rule| wanted.contains(&rule.property)) {
        let factor = rule.zones.iter().find(|(zone, _)| *zone == line.zone);
        let factor = factor.map_or(rule.elsewhere, |(_, factor)| *factor);
        // A label in an abstract is followed by the value itself, a heading by an account of it.
        if factor <= 0.0 || (rule.name == LABELLED && !line.in_abstract) {
            continue;
        }
        for captures in rule.pattern.captures_iter(text) {
            let Some(x) = captures.name("x").or_else(|| captures.get(0)) else { continue };
            let span = match rule.form {
                Form::Exact => Some(unspaced(text, x.range())),
                Form::Phrase(kind) => phrase::from_start(text, x.range(), kind),
                Form::Behind(kind) => phrase::from_end(text, x.range(), kind),
                Form::Sentence => Some(0..text.len()),
            };
            let Some(span) = span.filter(|span| trial::accepts(rule.name, line, span)) else {
                continue;
            };
            found.push(Candidate {
                property: rule.property,
                line: at,
                span: line.range.start + span.start..line.range.start + span.end,
                score: (rule.worth * factor).min(1.0),
                rule: rule.name,
                from_title: line.zone == Zone::Title,
            });
        }
    }
    found
}

/// The range without white space at its ends.
fn unspaced(text: &str, range: Range<usize>) -> Range<usize> {
    let words = &text[range.clone()];
    let start = range.start + (words.len() - words.trim_start().len());
    start..(range.start + words.trim_end().len()).max(start)
}

#[cfg(test)]
mod tests;
