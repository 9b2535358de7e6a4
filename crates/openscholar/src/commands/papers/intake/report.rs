//! What an intake took in, for people and programs.

use scholar_core::PaperId;
use scholar_core::paper::display_title;
use serde::Serialize;

use super::{Item, Taken};
use crate::output::table::Table;

/// One paper of an intake.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    origin: String,
    format: String,
    id: PaperId,
    title: String,
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
            references: item.references.len().max(paper.references.len()),
            identified: item.references.iter().filter(|one| !one.ids.is_empty()).count(),
            matched: item.matched,
            bytes: item.cost.0,
            milliseconds: u64::try_from(item.cost.1.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// One line for each paper.
pub(crate) fn lines(taken: &Taken) -> Vec<Line> {
    taken.items.iter().map(Line::of).collect()
}

/// The lines as a table.
pub(crate) fn table(lines: &[Line]) -> String {
    let mut table = Table::with_header([
        "from",
        "as",
        "title",
        "words",
        "sections",
        "pages",
        "references",
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
            line.words.to_string(),
            line.sections.to_string(),
            line.pages.map(|pages| pages.to_string()).unwrap_or_default(),
            format!("{} ({} named, {} matched)", line.references, line.identified, line.matched),
            line.milliseconds.to_string(),
        ]);
    }
    table.to_string()
}
