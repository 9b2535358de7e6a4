//! A table of GFM, with a footnote for each cell.

use scholar_core::text::normalise::single_spaced;
use scholar_core::text::untrusted::Markdown;

use super::{ABSENT, PAPERS, TableExport};

pub(super) fn write(export: &TableExport<'_>) -> String {
    let mut text = Markdown::new();
    text.markup("# ").text(export.title).markup("\n\n| ").markup(PAPERS).markup(" |");
    for column in export.columns {
        text.markup(" ").text(&plain(column)).markup(" |");
    }
    text.markup("\n|---|");
    for _ in export.columns {
        text.markup("---|");
    }
    let mut notes: Vec<(&str, &str)> = Vec::new();
    for row in export.rows {
        text.markup("\n| ").text(&plain(&row.label())).markup(" |");
        for cell in &row.cells {
            match cell {
                Some(cell) => {
                    notes.push((&cell.quote, &cell.place));
                    text.markup(" ")
                        .text(&plain(&cell.text))
                        .markup("[^")
                        .number(notes.len())
                        .markup("] |");
                }
                None => {
                    text.markup(" ").markup(ABSENT).markup(" |");
                }
            }
        }
    }
    text.markup("\n\n");
    for notice in export.notices {
        text.markup("- ").text(&notice.message).markup("\n");
    }
    if !export.notices.is_empty() {
        text.markup("\n");
    }
    for (at, (quote, place)) in notes.iter().enumerate() {
        text.markup("[^").number(at + 1).markup("]: “").text(&single_spaced(quote)).markup("” — ");
        text.text(place).markup("\n\n");
    }
    text.text(export.generated_by).markup("\n");
    text.into_string()
}

/// On one line, and without what would end a cell: a bar has no escape that every reader of Markdown knows.
fn plain(content: &str) -> String {
    single_spaced(&content.replace('|', "¦"))
}
