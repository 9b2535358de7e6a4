//! What an intake took in, for people and programs.

use scholar_core::PaperId;
use scholar_core::paper::display_title;
use scholar_formats::library::works::SameBy;
use serde::Serialize;

use super::{Item, Taken};
use crate::output::table::Table;

/// One paper of an intake.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    origin: String,
    format: String,
    id: PaperId,
    /// Its title, as it states it.
    pub(crate) title: String,
    authors: Vec<String>,
    year: Option<i16>,
    words: usize,
    sections: usize,
    pages: Option<u32>,
    /// References in all.
    references: usize,
    /// Those that state an identifier.
    identified: usize,
    /// Those matched to a paper by what they say.
    matched: usize,
    bytes: u64,
    milliseconds: u64,
    /// The paper it became, if it became one.
    pub(crate) paper: Option<PaperId>,
    /// Stored papers that it is one work with, and how that is known.
    pub(crate) joined: Vec<Joined>,
}

/// A stored paper that a thing that was read is one work with.
#[derive(Debug, Serialize)]
pub(crate) struct Joined {
    /// Which one.
    pub(crate) paper: PaperId,
    /// How that is known.
    pub(crate) by: String,
}

impl Line {
    fn of(item: &Item) -> Self {
        let paper = &item.paper;
        let places = paper.sections.iter().flat_map(|section| &section.places);
        Self {
            origin: item.origin.clone(),
            format: item.format.clone(),
            id: paper.meta.id.clone(),
            title: paper.meta.title.clone(),
            words: paper.sections.iter().map(|s| s.text.split_whitespace().count()).sum(),
            sections: paper.sections.len(),
            pages: places.map(|place| place.page).max(),
            authors: paper.meta.authors.clone(),
            year: paper.meta.year,
            references: item.references().count().max(paper.references.len()),
            identified: item.references().filter(|one| !one.ids.is_empty()).count(),
            matched: 0,
            bytes: item.cost.0,
            milliseconds: u64::try_from(item.cost.1.as_millis()).unwrap_or(u64::MAX),
            paper: None,
            joined: Vec::new(),
        }
    }

    /// The file, entry or identifier it is.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// Notes what became of it.
    pub(crate) fn set_kept(
        &mut self,
        paper: Option<&PaperId>,
        joined: &[(PaperId, SameBy)],
        matched: usize,
    ) {
        self.matched = matched;
        self.paper = paper.cloned();
        let of =
            |(paper, by): &(PaperId, SameBy)| Joined { paper: paper.clone(), by: by.to_string() };
        self.joined = joined.iter().map(of).collect();
    }
}

/// One line for each paper.
pub(crate) fn lines(taken: &Taken) -> Vec<Line> {
    taken.items.iter().map(Line::of).collect()
}

/// The first author's name, and whether there are others.
fn authors(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one}, {other}"),
        [first, ..] => format!("{first} et al."),
    }
}

/// The lines as a table.
pub(crate) fn table(lines: &[Line]) -> String {
    let mut table = Table::with_header([
        "from",
        "as",
        "title",
        "authors",
        "year",
        "words",
        "pages",
        "references",
        "joined by",
        "ms",
    ]);
    for line in lines {
        let title: String = display_title(&line.title, &line.id).chars().take(50).collect();
        let origin: String = {
            let chars: Vec<char> = line.origin.chars().collect();
            chars[chars.len().saturating_sub(36)..].iter().collect()
        };
        table.add_row([
            origin,
            line.format.clone(),
            title,
            authors(&line.authors),
            line.year.map(|year| year.to_string()).unwrap_or_default(),
            line.words.to_string(),
            line.pages.map(|pages| pages.to_string()).unwrap_or_default(),
            format!("{} ({} named, {} matched)", line.references, line.identified, line.matched),
            line.joined.iter().map(|joined| joined.by.as_str()).take(1).collect(),
            line.milliseconds.to_string(),
        ]);
    }
    table.to_string()
}
