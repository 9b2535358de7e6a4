//! The English parameters: `data/punkt/english.tsv.gz`, made by the script beside it.

use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::sync::OnceLock;

use flate2::read::GzDecoder;

/// The packed file.
const PACKED: &[u8] = include_bytes!("../../../data/punkt/english.tsv.gz");

/// Where a word was seen, and in which case: bits of a set.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Contexts(u8);

impl Contexts {
    const MID_UPPER: u8 = 1 << 2;
    const UPPER: u8 = (1 << 1) | Self::MID_UPPER | (1 << 3);
    const BEGIN_LOWER: u8 = 1 << 4;
    const LOWER: u8 = Self::BEGIN_LOWER | (1 << 5) | (1 << 6);

    /// Capitalised anywhere.
    pub(super) fn upper(self) -> bool {
        self.0 & Self::UPPER != 0
    }

    /// Capitalised inside a sentence.
    pub(super) fn upper_inside(self) -> bool {
        self.0 & Self::MID_UPPER != 0
    }

    /// In lower case anywhere.
    pub(super) fn lower(self) -> bool {
        self.0 & Self::LOWER != 0
    }

    /// In lower case at the beginning of a sentence.
    pub(super) fn lower_at_start(self) -> bool {
        self.0 & Self::BEGIN_LOWER != 0
    }
}

/// What training found out about English.
pub(super) struct Parameters {
    abbreviations: HashSet<&'static str>,
    starters: HashSet<&'static str>,
    collocations: HashSet<(&'static str, &'static str)>,
    contexts: HashMap<&'static str, Contexts>,
}

impl Parameters {
    /// The English ones, unpacked on first use.
    pub(super) fn english() -> &'static Self {
        static TEXT: OnceLock<String> = OnceLock::new();
        static ENGLISH: OnceLock<Parameters> = OnceLock::new();
        ENGLISH.get_or_init(|| Self::read(TEXT.get_or_init(unpack)))
    }

    fn read(text: &'static str) -> Self {
        let mut read = Self {
            abbreviations: HashSet::new(),
            starters: HashSet::new(),
            collocations: HashSet::new(),
            contexts: HashMap::new(),
        };
        let mut flags = Contexts::default();
        for line in text.lines() {
            let Some((kind, entry)) = line.split_once('\t') else { continue };
            match kind {
                "a" => _ = read.abbreviations.insert(entry),
                "s" => _ = read.starters.insert(entry),
                "c" => read.collocations.extend(entry.split_once('\t')),
                "o" => flags = Contexts(entry.parse().unwrap_or_default()),
                _ => _ = read.contexts.insert(entry, flags),
            }
        }
        read
    }

    /// Whether the word, in lower case and without its full stop, is an abbreviation.
    pub(super) fn is_abbreviation(&self, word: &str) -> bool {
        self.abbreviations.contains(word)
    }

    /// Whether the word often begins sentences.
    pub(super) fn is_starter(&self, word: &str) -> bool {
        self.starters.contains(word)
    }

    /// Whether the two often stand together with a full stop between them.
    pub(super) fn is_collocation(&self, first: &str, second: &str) -> bool {
        self.collocations.contains(&(first, second))
    }

    /// Where the word was seen; nowhere if unknown.
    pub(super) fn contexts(&self, word: &str) -> Contexts {
        self.contexts.get(word).copied().unwrap_or_default()
    }

    #[cfg(test)]
    pub(super) fn counts(&self) -> [usize; 4] {
        [
            self.abbreviations.len(),
            self.collocations.len(),
            self.starters.len(),
            self.contexts.len(),
        ]
    }
}

fn unpack() -> String {
    let mut text = String::new();
    GzDecoder::new(PACKED)
        .read_to_string(&mut text)
        .expect("the file compiled in is gzip of UTF-8, as its test reads it");
    text
}
