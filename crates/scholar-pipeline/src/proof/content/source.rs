//! Text prepared for comparison: one spelling of each word, its sentences, its numbers, its initials.

use std::collections::BTreeSet;

use scholar_core::text::markers::{strip_author_year, strip_citations, strip_foreign_markers};
use scholar_core::text::sentences::sentence_texts;
use scholar_core::text::words::{is_stop_word, stem};
use unicode_normalization::UnicodeNormalization as _;

use super::quantity::{Number, numbers_of};
use crate::proof::stems::science_idf;

/// What the cited passages, the titles and the abstracts of their papers say, prepared once for all checks.
#[derive(Debug, Clone, Default)]
pub struct SourceText {
    /// In [`plain`] form, joined by line breaks.
    pub(super) text: String,
    /// Sentences of `text`.
    pub(super) sentences: Vec<Tokens>,
    /// [`key`]s of all words.
    pub(super) keys: BTreeSet<String>,
    /// All words, lower case.
    pub(super) words: BTreeSet<String>,
    /// Neighbouring words in one, lower case: `il6` of `IL-6`.
    pub(super) pairs: BTreeSet<String>,
    /// Letters and digits of `text`, lower case, nothing between them.
    pub(super) compact: String,
    /// First letters of all words, and of those that are not stop words.
    pub(super) initials: [String; 2],
    /// All numbers.
    pub(super) numbers: Vec<Number>,
}

/// The words of one sentence.
#[derive(Debug, Clone, Default)]
pub(super) struct Tokens {
    /// Lower case.
    pub(super) words: Vec<String>,
    /// [`key`]s, in the order of `words`.
    pub(super) keys: Vec<String>,
}

impl Tokens {
    pub(super) fn of(text: &str) -> Self {
        let words: Vec<String> = tokens(text).into_iter().map(str::to_lowercase).collect();
        let keys = words.iter().map(|word| key(word)).collect();
        Self { words, keys }
    }

    /// [`key`]s of the words that say what the sentence is about: neither stop words nor numbers.
    pub(super) fn content(&self) -> Vec<String> {
        let both = self.words.iter().zip(&self.keys);
        let content =
            both.filter(|(word, _)| !is_stop_word(word) && word.chars().any(char::is_alphabetic));
        content.map(|(_, key)| key.clone()).collect()
    }
}

/// Share of `wanted` keys that are in `offered`, weighted by rarity; 0 of nothing.
pub(super) fn share(wanted: &[String], offered: &[String]) -> f32 {
    let idf = science_idf();
    let weight =
        |keys: &mut dyn Iterator<Item = &String>| keys.map(|key| idf.weight(key)).sum::<f32>();
    let all = weight(&mut wanted.iter());
    let found = weight(&mut wanted.iter().filter(|key| offered.contains(key)));
    if all > 0.0 { found / all } else { 0.0 }
}

impl SourceText {
    /// Of passages, titles and abstracts in any order; the same text twice does no harm.
    pub fn of(texts: &[&str]) -> Self {
        let mut source = Self::default();
        for text in texts {
            let text = uniform(&strip_foreign_markers(text));
            source.sentences.extend(sentence_texts(&text).into_iter().map(Tokens::of));
            source.text.push_str(&text);
            source.text.push('\n');
        }
        let words: Vec<&str> = tokens(&source.text);
        source.keys = words.iter().map(|word| key(word)).collect();
        source.words = words.iter().map(|word| word.to_lowercase()).collect();
        source.pairs = words.windows(2).map(|two| compact(&two.concat())).collect();
        source.compact = compact(&source.text);
        let first = |word: &&str| word.chars().next();
        let initials = |words: &mut dyn Iterator<Item = &&str>| -> String {
            let words = words.filter(|word| **word != "s");
            words.filter_map(first).flat_map(char::to_lowercase).collect()
        };
        let all = initials(&mut words.iter());
        let content = initials(&mut words.iter().filter(|word| !is_stop_word(word)));
        source.initials = [all, content];
        source.numbers = numbers_of(&source.text);
        source
    }
}

/// [`uniform`], without citation markers and author-year citations: how a sentence is compared. Sources keep theirs, for
/// `(June 10, 2016)` looks like one and what it says may be asked for.
pub(super) fn plain(text: &str) -> String {
    uniform(&strip_author_year(&strip_citations(text)))
}

/// In compatibility form without diacritics, Greek letters by name, one kind of hyphen and apostrophe, no emphasis.
fn uniform(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.nfkd() {
        match c {
            '‐' | '‑' | '‒' | '–' | '−' => out.push('-'),
            '’' | '‘' | 'ʼ' => out.push('\''),
            // `CYP2C19*2` is two words, as `**Heading.**` is one.
            '*' => out.push(' '),
            '\u{ad}' | '\u{200b}' | '\u{300}'..='\u{36f}' => {}
            _ => match greek(c) {
                Some(name) => out.push_str(name),
                None => out.push(c),
            },
        }
    }
    out
}

fn greek(c: char) -> Option<&'static str> {
    const NAMES: [(char, &str); 17] = [
        ('α', "alpha"),
        ('β', "beta"),
        ('γ', "gamma"),
        ('δ', "delta"),
        ('Δ', "delta"),
        ('ε', "epsilon"),
        ('ζ', "zeta"),
        ('θ', "theta"),
        ('κ', "kappa"),
        ('λ', "lambda"),
        ('μ', "mu"),
        ('ρ', "rho"),
        ('σ', "sigma"),
        ('τ', "tau"),
        ('φ', "phi"),
        ('χ', "chi"),
        ('ω', "omega"),
    ];
    NAMES.iter().find(|(letter, _)| *letter == c).map(|(_, name)| *name)
}

/// Runs of letters and digits; a point or comma between digits belongs to them.
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start: Option<usize> = None;
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    for (n, (at, c)) in chars.iter().enumerate() {
        let digit = |n: Option<usize>| {
            n.and_then(|n| chars.get(n)).is_some_and(|(_, c)| c.is_ascii_digit())
        };
        let inside = c.is_alphanumeric()
            || (matches!(c, '.' | ',') && digit(n.checked_sub(1)) && digit(Some(n + 1)));
        match (inside, start) {
            (true, None) => start = Some(*at),
            (false, Some(from)) => {
                found.push(&text[from..*at]);
                start = None;
            }
            _ => {}
        }
    }
    found.extend(start.map(|from| &text[from..]));
    found
}

/// One form of a word's spellings: American, singular, stemmed. Blunt, for it is applied to both sides.
pub(super) fn key(word: &str) -> String {
    let word = word.to_lowercase();
    let word = match word.as_str() {
        "mice" | "murine" => "mouse",
        "children" | "paediatric" | "pediatric" | "childhood" => "child",
        "women" | "woman" | "females" => "female",
        "men" | "man" | "males" => "male",
        "people" | "persons" => "person",
        other => other,
    };
    let word = word.replace("ae", "e").replace("oe", "e").replace("our", "or");
    let word = word.replace("isation", "ization").replace("ising", "izing").replace("yse", "yze");
    let word = match word.strip_suffix("ise").or_else(|| word.strip_suffix("ised")) {
        Some(root) if root.len() >= 4 => format!("{root}ize"),
        _ => word,
    };
    stem(&word)
}

/// Letters and digits, lower case, Greek letters by their first: `NF-kB` is `NF-kappaB`.
pub(super) fn compact(text: &str) -> String {
    let bare: String =
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let letters = ["alpha", "beta", "gamma", "delta", "kappa", "zeta"];
    letters.iter().fold(bare, |text, name| text.replace(name, &name[..1]))
}
