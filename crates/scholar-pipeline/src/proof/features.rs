//! What a lexical judge sees in a (sentence, evidence) pair.

use scholar_core::text::markers::{strip_author_year, strip_citations, strip_foreign_markers};
use scholar_core::text::sentences::sentence_texts;
use scholar_core::text::words::{fold, is_stop_word, stem, words};

use super::stems::science_idf;

/// How many features there are.
pub const N_FEATURES: usize = 12;

/// Their names, in order.
pub const FEATURE_NAMES: [&str; N_FEATURES] = [
    "bias",
    "coverage",
    "coverage over one half",
    "coverage by one sentence",
    "coverage of neighbouring pairs",
    "heaviest missing stem",
    "share of numbers missing",
    "negation on one side only",
    "opposite directions",
    "content stems (log)",
    "evidence stems (log)",
    "share of the evidence used",
];

/// The features of one pair and what the verdict needs beside them.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// In the order of [`FEATURE_NAMES`].
    pub values: [f32; N_FEATURES],
    /// Share of the sentence's weight found in the best single evidence sentence.
    pub best_coverage: f32,
    /// Exactly one of sentence and best evidence sentence is negated.
    pub negation_differs: bool,
    /// One speaks only of increase, the other only of decrease.
    pub direction_differs: bool,
}

/// A word with what is needed to match it.
struct Term {
    stem: String,
    weight: f32,
    /// As printed, for acronyms.
    printed: String,
}

struct Text {
    terms: Vec<Term>,
    numbers: Vec<String>,
    initials: String,
    negated: bool,
    rises: bool,
    falls: bool,
}

impl Text {
    fn of(text: &str) -> Self {
        let idf = science_idf();
        let words = words(text);
        let folded: Vec<String> = words.iter().map(|word| fold(word)).collect();
        let has =
            |list: &[&str]| folded.iter().any(|word| list.binary_search(&word.as_str()).is_ok());
        let has_start = |list: &[&str]| {
            folded.iter().any(|word| list.iter().any(|start| word.starts_with(start)))
        };
        let mut terms: Vec<Term> = Vec::new();
        for (printed, word) in words.iter().zip(&folded) {
            let number = word.starts_with(|c: char| c.is_ascii_digit());
            if number || is_stop_word(word) || NEGATIONS.binary_search(&word.as_str()).is_ok() {
                continue;
            }
            let stem = stem(word);
            if terms.iter().all(|term| term.stem != stem) {
                let weight = idf.weight(&stem);
                terms.push(Term { stem, weight, printed: (*printed).to_owned() });
            }
        }
        Self {
            terms,
            numbers: numbers(text),
            initials: folded.iter().filter_map(|word| word.chars().next()).collect(),
            negated: has(NEGATIONS) || has_start(&["lack", "fail", "absen", "unable"]),
            rises: has(RISE_WORDS) || has_start(RISE_STARTS),
            falls: has(FALL_WORDS) || has_start(FALL_STARTS),
        }
    }

    fn weight(&self) -> f32 {
        self.terms.iter().map(|term| term.weight).sum()
    }

    /// How well `term` is found here, in `[0, 1]`.
    fn match_of(&self, term: &Term) -> f32 {
        if self.terms.iter().any(|own| own.stem == term.stem) {
            return 1.0;
        }
        if self.abbreviates(term) {
            return 0.9;
        }
        let alike = |own: &Term| {
            let common =
                own.stem.chars().zip(term.stem.chars()).take_while(|(a, b)| a == b).count();
            let longest = own.stem.chars().count().max(term.stem.chars().count());
            common >= 5 && common * 10 >= longest * 6
        };
        if self.terms.iter().any(alike) { 0.7 } else { 0.0 }
    }

    /// `LMWH` beside `low molecular weight heparin`.
    fn abbreviates(&self, term: &Term) -> bool {
        let letters: Vec<char> = term.printed.chars().collect();
        let acronym = letters.len() >= 3 && letters.iter().all(char::is_ascii_uppercase);
        acronym && self.initials.contains(&term.printed.to_ascii_lowercase())
    }

    fn coverage_by(&self, other: &Self) -> f32 {
        let all = self.weight();
        let found: f32 = self.terms.iter().map(|term| term.weight * other.match_of(term)).sum();
        if all > 0.0 { found / all } else { 0.0 }
    }
}

/// The features of `sentence` beside `evidence`; citation markers count on neither side.
pub fn features(sentence: &str, evidence: &str) -> Features {
    let claim = Text::of(&strip_author_year(&strip_citations(sentence)));
    let evidence = strip_foreign_markers(evidence);
    let whole = Text::of(&evidence);
    let parts: Vec<Text> = sentence_texts(&evidence).into_iter().map(Text::of).collect();
    let best =
        parts.iter().map(|part| (claim.coverage_by(part), part)).max_by(|a, b| a.0.total_cmp(&b.0));
    let (best_coverage, closest) = best.map_or((0.0, &whole), |(coverage, part)| (coverage, part));

    let coverage = claim.coverage_by(&whole);
    let missing = claim
        .terms
        .iter()
        .filter(|term| whole.match_of(term) <= 0.0)
        .map(|term| term.weight)
        .fold(0.0, f32::max);
    let negation_differs = claim.negated != closest.negated;
    let direction_differs = (claim.rises && !claim.falls && closest.falls && !closest.rises)
        || (claim.falls && !claim.rises && closest.rises && !closest.falls);
    let flag = |on: bool| if on { coverage } else { 0.0 };
    let values = [
        1.0,
        coverage,
        (coverage - 0.5).max(0.0),
        best_coverage,
        pair_coverage(&claim, closest),
        missing / 10.0,
        missing_numbers(&claim.numbers, &whole.numbers),
        flag(negation_differs),
        flag(direction_differs),
        (1.0 + claim.terms.len() as f32).ln(),
        (1.0 + whole.terms.len() as f32).ln(),
        closest.coverage_by(&claim),
    ];
    Features { values, best_coverage, negation_differs, direction_differs }
}

/// Share of the sentence's neighbouring content stems that are near each other in the evidence too.
fn pair_coverage(claim: &Text, evidence: &Text) -> f32 {
    let place = |stem: &str| evidence.terms.iter().position(|term| term.stem == stem);
    let pairs = claim.terms.len().saturating_sub(1);
    if pairs == 0 {
        return 0.0;
    }
    let near = claim
        .terms
        .windows(2)
        .filter(|pair| match (place(&pair[0].stem), place(&pair[1].stem)) {
            (Some(a), Some(b)) => a.abs_diff(b) <= 3,
            _ => false,
        })
        .count();
    near as f32 / pairs as f32
}

fn missing_numbers(claimed: &[String], evidence: &[String]) -> f32 {
    if claimed.is_empty() {
        return 0.0;
    }
    let missing = claimed.iter().filter(|number| !evidence.contains(number)).count();
    missing as f32 / claimed.len() as f32
}

/// Numbers in one spelling: no thousands separators, no trailing zeros after the point, number words up to twelve.
fn numbers(text: &str) -> Vec<String> {
    words(text)
        .into_iter()
        .filter_map(|word| {
            if let Some(n) = NUMBER_WORDS.iter().position(|name| word.eq_ignore_ascii_case(name)) {
                return Some((n + 2).to_string());
            }
            let digits: String = word.chars().filter(|c| *c != ',').collect();
            let numeric = digits.chars().all(|c| c.is_ascii_digit() || c == '.')
                && digits.starts_with(|c: char| c.is_ascii_digit());
            let trimmed = if digits.contains('.') {
                digits.trim_end_matches('0').trim_end_matches('.')
            } else {
                &digits
            };
            numeric.then(|| trimmed.to_owned())
        })
        .collect()
}

const NUMBER_WORDS: [&str; 11] =
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// Sorted.
const NEGATIONS: &[&str] = &[
    "aren't", "can't", "cannot", "didn't", "doesn't", "don't", "hardly", "isn't", "neither",
    "never", "no", "none", "nor", "not", "wasn't", "weren't", "without",
];

const RISE_WORDS: &[&str] = &["better", "greater", "higher", "longer", "more", "rise", "rises"];
const RISE_STARTS: &[&str] = &[
    "activat",
    "elevat",
    "enhanc",
    "gain",
    "improv",
    "increas",
    "induc",
    "promot",
    "rais",
    "stimulat",
    "upregulat",
    "augment",
    "accelerat",
    "facilitat",
];
const FALL_WORDS: &[&str] =
    &["fall", "falls", "fewer", "less", "lower", "lowered", "lowers", "shorter", "worse"];
const FALL_STARTS: &[&str] = &[
    "attenuat",
    "block",
    "declin",
    "decreas",
    "diminish",
    "downregulat",
    "impair",
    "inhibit",
    "prevent",
    "reduc",
    "repress",
    "suppress",
    "abolish",
    "worsen",
    "impede",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn value(pair: (&str, &str), name: &str) -> f32 {
        let at = FEATURE_NAMES.iter().position(|n| *n == name).expect("a feature");
        features(pair.0, pair.1).values[at]
    }

    #[test]
    fn the_lists_can_be_searched() {
        for list in [NEGATIONS, RISE_WORDS, FALL_WORDS] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }

    #[test]
    fn each_feature_sees_what_it_names() {
        let same = ("Vitamin D lowers risk by 3.50 [0].", "Vitamin D lowers risk by 3.5 [12].");
        assert!(value(same, "coverage") > 0.99);
        assert!(value(same, "share of numbers missing") < 0.01);
        assert!(value(same, "coverage of neighbouring pairs") > 0.99);
        assert!(!features(same.0, same.1).negation_differs);
        let other =
            ("LMWH reduced two deaths.", "Low molecular weight heparin did not raise deaths.");
        assert!(value(other, "coverage") > 0.6, "{}", value(other, "coverage"));
        assert!(value(other, "share of numbers missing") > 0.99);
        let seen = features(other.0, other.1);
        assert!(seen.negation_differs);
        assert!(features("A raises B.", "B was reduced by A.").direction_differs);
        assert!(features("", "").values.iter().all(|v| v.is_finite()));
    }
}
