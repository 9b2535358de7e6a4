//! A cell: words of a stored passage with their place.

use std::ops::Range;

use scholar_core::place::places_within;
use scholar_core::{CharSpan, Notice, Passage, PassageId, Place};
use serde::{Deserialize, Serialize};

/// The value of one property of one paper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Exactly the characters `start..end` of the passage's text.
    pub text: String,
    /// The passage it stands in.
    pub passage_id: PassageId,
    /// First character in the passage's text.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// Heading of the passage's section, empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub section: String,
    /// Page it begins on, from 1, where the format tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The sentence around it, exactly as it stands in the passage.
    pub quote: String,
    /// First character of the sentence in the passage's text.
    pub quote_start: usize,
    /// What speaks for it, in `[0, 1]`; of a model's cells 1.
    pub score: f32,
}

impl Cell {
    /// The bytes `span` of `passage`, with the sentence `around` it. `None` where `span` is empty or not within `around`.
    pub fn at(
        passage: &Passage,
        span: Range<usize>,
        around: Range<usize>,
        score: f32,
    ) -> Option<Self> {
        let text = passage.text.get(span.clone())?;
        let quote = passage.text.get(around.clone())?;
        let inside = around.start <= span.start && span.end <= around.end && !text.is_empty();
        inside.then(|| {
            let chars = CharSpan::of_bytes(&passage.text, span.start, span.end);
            let places: Vec<Place> = places_within(&passage.places, chars.start, chars.end);
            Self {
                text: text.to_owned(),
                passage_id: passage.id.clone(),
                start: chars.start,
                end: chars.end,
                section: passage.section.clone(),
                page: places.first().map(|place| place.page),
                quote: quote.to_owned(),
                quote_start: CharSpan::of_bytes(&passage.text, around.start, around.start).start,
                score,
            }
        })
    }

    /// Whether `passages` have its words and its quotation at its place: a cell read from a file is checked so.
    pub fn stands_in(&self, passages: &[Passage]) -> bool {
        let Some(passage) = passages.iter().find(|one| one.id == self.passage_id) else {
            return false;
        };
        let quote_end = self.quote_start + self.quote.chars().count();
        CharSpan::new(self.start, self.end).slice(&passage.text) == Some(self.text.as_str())
            && CharSpan::new(self.quote_start, quote_end).slice(&passage.text)
                == Some(self.quote.as_str())
            && self.quote_start <= self.start
            && self.end <= quote_end
    }

    /// Its sentence before, at and after the cell's own words.
    pub fn within_quote(&self) -> (&str, &str, &str) {
        let byte = |chars: usize| {
            self.quote.char_indices().nth(chars).map_or(self.quote.len(), |(at, _)| at)
        };
        let start = byte(self.start.saturating_sub(self.quote_start));
        let end = byte(self.end.saturating_sub(self.quote_start)).max(start);
        (&self.quote[..start], &self.quote[start..end], &self.quote[end..])
    }

    /// Where it stands, for people: passage, characters, page and section.
    pub fn place(&self) -> String {
        let page = self.page.map(|page| format!(", p. {page}")).unwrap_or_default();
        let section = match self.section.as_str() {
            "" => String::new(),
            section => format!(", {section}"),
        };
        format!("{}, characters {}–{}{page}{section}", self.passage_id, self.start, self.end)
    }
}

/// The cells of one paper, in the order of the columns; `None` is absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PaperCells {
    /// One entry per column.
    pub cells: Vec<Option<Cell>>,
    /// What a person should know of them.
    pub notices: Vec<Notice>,
}

#[cfg(test)]
mod tests {
    use scholar_core::{PaperId, PassageKind};

    use super::*;

    #[test]
    fn a_cell_is_the_passages_own_words_and_notices_a_change() {
        let text = "Ünder way. We enrolled 120 adults. Then we left.";
        let passage = Passage {
            id: PassageId { paper: PaperId::Pmid(1), ordinal: 3 },
            title: String::new(),
            section: "Methods".to_owned(),
            kind: PassageKind::Body,
            span: CharSpan::new(0, text.chars().count()),
            text: text.to_owned(),
            places: vec![Place { start: 0, page: 2, bbox: None }],
        };
        let from = text.find("We").expect("there");
        let to = text.find(" Then").expect("there");
        let span = text.find("120").expect("there")..to - 1;
        let cell = Cell::at(&passage, span.clone(), from..to, 0.9).expect("inside");
        assert_eq!((cell.text.as_str(), cell.page), ("120 adults", Some(2)));
        assert_eq!(cell.quote, "We enrolled 120 adults.");
        assert_eq!(cell.within_quote(), ("We enrolled ", "120 adults", "."));
        assert_eq!(cell.place(), "pmid:1#3, characters 23–33, p. 2, Methods");
        assert!(cell.stands_in(std::slice::from_ref(&passage)));
        let edited = Passage { text: text.replace("120", "121"), ..passage.clone() };
        assert!(!cell.stands_in(&[edited]));
        assert_eq!(Cell::at(&passage, 0..3, from..to, 0.9), None, "outside its sentence");
    }
}
