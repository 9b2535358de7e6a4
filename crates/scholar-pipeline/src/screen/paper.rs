//! What screening reads of a paper.

use std::ops::Range;

use scholar_core::place::places_within;
use scholar_core::text::sentences::sentences;
use scholar_core::text::words::words;
use scholar_core::{CharSpan, PaperId, Passage, PassageKind};

use super::decision::ScreenQuote;
use crate::proof::canonical::sha256;

/// Shortest sentence that is read, in words: shorter ones are headings and labels.
const SHORTEST_SENTENCE: usize = 4;

/// A paper to be screened.
#[derive(Debug, Clone, PartialEq)]
pub struct ScreenPaper {
    /// The identifier it is filed under.
    pub id: PaperId,
    /// Title, empty where no source states one.
    pub title: String,
    /// Its passages in order.
    pub passages: Vec<Passage>,
}

/// A sentence of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentence<'a> {
    /// Number of the passage among [`ScreenPaper::passages`].
    pub(crate) passage: usize,
    /// Its bytes in the passage's text.
    pub(crate) range: Range<usize>,
    /// What it says.
    pub(crate) text: &'a str,
}

impl ScreenPaper {
    /// Digest of the title and all passages, 16 hexadecimal digits.
    pub fn digest(&self) -> String {
        let mut text = self.title.clone();
        for passage in &self.passages {
            // A character that no text has, so that a border cannot move unnoticed.
            text.push('\u{0}');
            text.push_str(&passage.text);
        }
        let mut digest = sha256(text.as_bytes());
        digest.truncate(16);
        digest
    }

    /// Whether there is any prose to read: a title alone is none.
    pub fn has_text(&self) -> bool {
        self.prose().next().is_some()
    }

    /// Passages of prose with their numbers.
    pub(crate) fn prose(&self) -> impl Iterator<Item = (usize, &Passage)> {
        let prose = self.passages.iter().enumerate();
        prose.filter(|(_, passage)| passage.kind.is_prose() && !passage.text.trim().is_empty())
    }

    /// Title and abstract, or title and first passage of prose where there is no abstract: what a screener reads first.
    pub fn head(&self) -> String {
        let of = |kind: PassageKind| {
            self.prose()
                .filter(move |(_, passage)| passage.kind == kind)
                .map(|(_, passage)| passage)
        };
        let abstracts: Vec<&str> =
            of(PassageKind::Abstract).map(|passage| passage.text.as_str()).collect();
        let text = if abstracts.is_empty() {
            of(PassageKind::Body).next().map_or("", |passage| passage.text.as_str()).to_owned()
        } else {
            abstracts.join(" ")
        };
        format!("{} {text}", self.title).trim().to_owned()
    }

    /// The sentences of the passages numbered in `among`, in order.
    pub(crate) fn sentences(&self, among: &[usize]) -> Vec<Sentence<'_>> {
        let mut found = Vec::new();
        for (at, passage) in self.prose().filter(|(at, _)| among.contains(at)) {
            for range in sentences(&passage.text) {
                let text = &passage.text[range.clone()];
                if words(text).len() >= SHORTEST_SENTENCE {
                    found.push(Sentence { passage: at, range, text });
                }
            }
        }
        found
    }

    /// The bytes `range` of the passage numbered `at` as a quotation; `None` where there are none.
    pub(crate) fn quote(&self, at: usize, range: Range<usize>) -> Option<ScreenQuote> {
        let passage = self.passages.get(at)?;
        let text = passage.text.get(range.clone())?;
        let span = CharSpan::of_bytes(&passage.text, range.start, range.end);
        Some(quoted(passage, span, text))
    }
}

/// The characters `span` of `passage`, which are `text`, as a quotation.
pub(crate) fn quoted(passage: &Passage, span: CharSpan, text: &str) -> ScreenQuote {
    let places = places_within(&passage.places, span.start, span.end);
    ScreenQuote {
        passage: passage.id.clone(),
        start: span.start,
        end: span.end,
        text: text.to_owned(),
        page: places.first().map(|place| place.page),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use scholar_core::PassageId;

    use super::*;

    /// A paper with this title and one abstract.
    pub(crate) fn paper(n: u64, title: &str, text: &str) -> ScreenPaper {
        let id = PaperId::Pmid(n);
        let passage = Passage {
            id: PassageId { paper: id.clone(), ordinal: 0 },
            title: title.to_owned(),
            section: "Abstract".to_owned(),
            kind: PassageKind::Abstract,
            span: CharSpan::new(0, text.chars().count()),
            text: text.to_owned(),
            places: Vec::new(),
        };
        let passages = if text.is_empty() { Vec::new() } else { vec![passage] };
        ScreenPaper { id, title: title.to_owned(), passages }
    }

    #[test]
    fn quotations_are_exact_spans_of_passages() {
        let paper =
            paper(1, "Doses", "Naïve α-cells were grown. We gave 40 adults the drug daily.");
        let read = paper.sentences(&[0]);
        assert_eq!(read.len(), 2);
        let quote = paper.quote(read[1].passage, read[1].range.clone()).expect("there");
        let span = CharSpan::new(quote.start, quote.end);
        assert_eq!(span.slice(&paper.passages[0].text), Some(quote.text.as_str()));
        assert_eq!(paper.quote(1, 0..2), None);
    }

    #[test]
    fn a_title_alone_is_no_text() {
        assert!(!paper(1, "Doses", "").has_text());
        assert!(paper(1, "", "We gave adults the drug.").has_text());
        assert_ne!(paper(1, "a", "b").digest(), paper(1, "ab", "").digest());
    }
}
