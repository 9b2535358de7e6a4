//! Names: systems, data sets, trials, places, abbreviations, drugs, species.

use std::collections::BTreeSet;

use scholar_core::text::words::{is_stop_word, stem};

use super::source::{SourceText, compact, key, tokens};
use crate::proof::stems::science_idf;

/// Names of `sentence` (in plain form) that `source` does not have in any spelling, as printed, each once.
pub fn missing(sentence: &str, source: &SourceText) -> Vec<String> {
    let mut missing: Vec<String> = Vec::new();
    for name in names(sentence) {
        // An abbreviation in parentheses is the sentence's own, for the words in front of it.
        if sentence.contains(&format!("({name}")) {
            continue;
        }
        if !is_named(name, source) && missing.iter().all(|known| known != name) {
            missing.push(name.to_owned());
        }
    }
    missing
}

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

/// Endings of international nonproprietary names. Source: the WHO's stems of such names, the common ones.
const DRUG_ENDINGS: &[&str] = &[
    "mab",
    "nib",
    "statin",
    "pril",
    "sartan",
    "azole",
    "cillin",
    "mycin",
    "vir",
    "platin",
    "taxel",
    "olol",
    "gliptin",
    "gliflozin",
    "glutide",
    "prazole",
    "floxacin",
    "caine",
    "azepam",
    "setron",
    "triptan",
    "parin",
    "oxetine",
    "dronate",
    "lukast",
    "rubicin",
    "afil",
    "formin",
    "cycline",
    "dipine",
    "thiazide",
    "profen",
    "tidine",
    "zepine",
    "pramine",
    "xaban",
    "gatran",
    "semide",
    "terol",
    "sone",
    "olone",
    "idone",
    "apine",
    "azine",
    "amine",
    "idine",
    "oxin",
    "parib",
    "ciclib",
    "limus",
];

/// Whether a rare word ends as drugs' names do.
fn is_drug(word: &str) -> bool {
    let lower = word.to_lowercase();
    lower.len() >= 6
        && lower.chars().all(char::is_alphabetic)
        && DRUG_ENDINGS.iter().any(|ending| lower.ends_with(ending))
        && is_rare(&lower)
}

/// Model organisms and livestock by any of their names.
const SPECIES: &[&[&str]] = &[
    &["mouse", "mice", "murine"],
    &["rat", "rats"],
    &["zebrafish", "danio"],
    &["drosophila", "flies", "melanogaster"],
    &["elegans", "nematode", "nematodes", "worms"],
    &["yeast", "cerevisiae", "saccharomyces", "pombe"],
    &["arabidopsis", "thaliana"],
    &["coli", "escherichia"],
    &["macaque", "macaques", "monkey", "monkeys", "primate", "primates", "rhesus"],
    &["rabbit", "rabbits"],
    &["pig", "pigs", "porcine", "swine"],
    &["dog", "dogs", "canine"],
    &["cattle", "cow", "cows", "bovine"],
    &["sheep", "ovine", "lambs"],
    &["chicken", "chickens", "chick", "avian"],
    &["xenopus", "frog", "frogs"],
    &["hamster", "hamsters"],
    &["ferret", "ferrets"],
];

fn species(word: &str) -> Option<&'static [&'static str]> {
    let lower = word.to_lowercase();
    SPECIES.iter().copied().find(|names| names.contains(&lower.as_str()))
}

/// Abbreviations that texts use without the words, and the words of those who do not abbreviate.
const PAIRS: &[(&str, &[&str])] = &[
    ("llm", &["language model", "gpt"]),
    ("lm", &["language model"]),
    ("plm", &["language model"]),
    ("qa", &["question answering", "question-answering"]),
    ("mt", &["machine translation"]),
    ("nmt", &["machine translation"]),
    ("rag", &["retrieval-augmented", "retrieval augmented", "augmented generation"]),
    ("ai", &["artificial intelligence"]),
    ("ml", &["machine learning"]),
    ("nlp", &["natural language"]),
    ("us", &["united states", "u.s.", "america"]),
    ("usa", &["united states", "u.s.", "america"]),
    ("uk", &["united kingdom", "britain", "england"]),
    ("eu", &["european union", "europe"]),
    ("swiss", &["switzerland"]),
    ("dutch", &["netherlands"]),
    ("french", &["france"]),
    ("danish", &["denmark"]),
    ("british", &["united kingdom", "uk", "england"]),
    ("american", &["united states", "us"]),
    ("tb", &["tuberculosis"]),
    ("bp", &["blood pressure"]),
    ("ci", &["confidence interval"]),
    ("hr", &["hazard ratio"]),
    ("or", &["odds ratio"]),
    ("rr", &["risk ratio", "relative risk"]),
    ("md", &["mean difference"]),
    ("covid-19", &["coronavirus", "sars-cov-2", "covid"]),
    ("sars-cov-2", &["coronavirus", "covid"]),
    ("rct", &["randomi"]),
    ("dna", &["gene", "genom"]),
    ("rna", &["transcript"]),
    ("mrna", &["messenger", "transcript", "rna"]),
    ("hiv", &["human immunodeficiency"]),
    ("aids", &["acquired immun", "hiv"]),
    ("icu", &["intensive care"]),
    ("bmi", &["body mass"]),
    ("ct", &["computed tomography"]),
    ("mri", &["magnetic resonance"]),
];

/// Names of families whose members are numbered, in compact form.
const SPELLED_OUT: &[(&str, &str)] = &[
    ("il", "interleukin"),
    ("pd", "programmeddeath"),
    ("pd", "programmedcelldeath"),
    ("pd", "programmedcelldeathprotein"),
    ("pdl", "programmeddeathligand"),
    ("t", "type"),
    ("ctla", "cytotoxictlymphocyteassociatedantigen"),
];

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
