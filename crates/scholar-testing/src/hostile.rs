//! Text made to be obeyed: by terminals, Markdown, HTML, LaTeX and the formats of reference managers.
//!
//! [`STRINGS`] has each kind once, under a name; [`papers`] and [`answer`] put them wherever text of strangers can
//! stand; [`obeyed`] finds what a terminal would obey, by a table of its own, not by the one under test.

mod strings;

use scholar_core::{
    Answer, AnswerMode, AnswerSentence, AnswerTable, Citation, Gate, Notice, NoticeKind, Paper,
    PaperId, PaperMeta, PassageId, Quote, Reference, Section, TableCell, TableRow,
};

pub use strings::{Class, Hostile, STRINGS};

/// A word that stands in every text of [`papers`], so that one search finds them all.
pub const WORD: &str = "zebrafish";

/// Characters of a flood.
const FLOOD: usize = 2_000;

impl Hostile {
    /// The text; of a flood, all of it.
    pub fn text(&self) -> String {
        match self.class {
            Class::Flood => self.text.repeat(FLOOD),
            _ => self.text.to_owned(),
        }
    }
}

/// One paper for each hostile string.
pub fn papers() -> Vec<Paper> {
    STRINGS.iter().enumerate().map(|(number, hostile)| paper(number, &hostile.text())).collect()
}

/// A paper with `text` in an identifier, its title, authors, venue, address, licence, headings and sections.
pub fn paper(number: usize, text: &str) -> Paper {
    let id = PaperId::Local(format!("h{number}"));
    // Identifiers of some registries can be any text.
    let other = PaperId::Acl(format!("x{text}x"));
    let mut meta = PaperMeta::new(id, format!("{text} and the {WORD} {number}"));
    meta.authors = vec![format!("Ada {text}"), text.to_owned()];
    meta.external_ids = vec![other];
    meta.year = Some(2020);
    meta.venue = Some(format!("Journal {text}"));
    meta.url = Some(format!("https://example.org/{text}"));
    meta.licence = Some(text.to_owned());
    let says = format!("The {WORD} number {number} says {text} in its own words.");
    let sections = vec![
        Section::new("Abstract", format!("{says} It swims in {number} rivers.")),
        Section::new(format!("{text} heading"), format!("{text} begins. {says}")),
    ];
    Paper { meta, sections, references: Vec::new(), records: Vec::new() }
}

/// An answer with `text` in every place that a paper, a model or a server can fill.
pub fn answer(text: &str) -> Answer {
    let paper = paper(1, text).meta;
    let quote = Quote {
        reference: Citation(1),
        passage_id: PassageId { paper: paper.id.clone(), ordinal: 0 },
        start: 0,
        end: text.chars().count(),
        text: text.to_owned(),
        places: Vec::new(),
    };
    let sentence = |words: String, verbatim: bool| AnswerSentence {
        text: words,
        heading: Some(format!("{text} heading")),
        paragraph_start: true,
        citations: vec![Citation(1)],
        support: None,
        quotes: vec![quote.clone()],
        gates: vec![Gate::L0, Gate::L1],
        verbatim,
        role: None,
        follows: Vec::new(),
        study: Vec::new(),
    };
    Answer {
        question: format!("What is {text}?"),
        mode: AnswerMode::Evidence,
        abstained: false,
        missing: Vec::new(),
        outline: None,
        tree: None,
        sentences: vec![
            sentence(format!("{text} begins here."), true),
            sentence(format!("The {WORD} says {text}."), false),
            sentence(text.to_owned(), true),
        ],
        references: vec![Reference {
            number: Citation(1),
            paper_id: paper.id,
            title: paper.title,
            authors: paper.authors,
            year: paper.year,
            venue: paper.venue,
            url: paper.url,
            doi: None,
            found_by: vec![text.to_owned()],
        }],
        sections: Vec::new(),
        table: Some(AnswerTable {
            columns: vec![text.to_owned()],
            rows: vec![TableRow {
                reference: Citation(1),
                cells: vec![TableCell { text: text.to_owned(), quote: None }],
            }],
        }),
    }
}

/// A notice that quotes `text`.
pub fn notice(text: &str) -> Notice {
    Notice::new(NoticeKind::Skipped, format!("{text} was not read"))
        .with_hint(format!("look at {text}"))
}

/// The characters of `shown` that a terminal or another reader of text would obey, each once.
///
/// Line feeds, tabs, and carriage returns in front of line feeds are allowed.
pub fn obeyed(shown: &str) -> Vec<char> {
    let mut found: Vec<char> = shown
        .replace("\r\n", "\n")
        .chars()
        .filter(|c| {
            let code = u32::from(*c);
            let control = (code < 0x20 && !matches!(code, 9 | 10)) || (0x7f..0xa0).contains(&code);
            let direction = matches!(code, 0x202a..=0x202e | 0x2066..=0x2069);
            let unseen = matches!(code, 0x2028 | 0x2029 | 0x206a..=0x206f | 0xfff9..=0xfffb | 0xe0000..=0xe007f);
            control || direction || unseen || code & 0xfffe == 0xfffe
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The longest run of combining marks and variation selectors of [`STRINGS`] in `shown`.
pub fn longest_run(shown: &str) -> usize {
    let stacked = |c: char| matches!(c, '\u{301}' | '\u{200b}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    shown.split(|c| !stacked(c)).map(|run| run.chars().count()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_string_has_a_name_of_its_own_and_the_finder_sees_the_terminal_ones() {
        let mut names: Vec<&str> = STRINGS.iter().map(|hostile| hostile.name).collect();
        names.sort_unstable();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before);
        let unseen = STRINGS.iter().filter(|h| h.class == Class::Terminal);
        for hostile in unseen.filter(|h| !h.name.starts_with("lines")) {
            assert!(!obeyed(hostile.text).is_empty(), "{}", hostile.name);
        }
        assert!(obeyed("plain\ttext\r\nשלום e\u{301} 👩\u{200d}🔬").is_empty());
        assert_eq!(longest_run(&paper(1, &"\u{301}".repeat(99)).meta.title), 99);
    }
}
