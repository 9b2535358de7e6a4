//! The table of an answer, as a table of GFM.

use scholar_core::Answer;
use scholar_core::text::normalise::single_spaced;
use scholar_core::text::untrusted::Markdown;
use scholar_formats::export::named;

/// What stands in an empty cell.
const EMPTY: &str = "–";

/// Writes the table, one paper a row, without a line break behind it; nothing where the answer has none.
pub(super) fn write(answer: &Answer, text: &mut Markdown) {
    let Some(table) = &answer.table else { return };
    text.markup("| Study |");
    for column in &table.columns {
        cell(column, text);
    }
    text.markup("\n|---|");
    for _ in &table.columns {
        text.markup("---|");
    }
    for row in &table.rows {
        text.markup("\n|");
        let paper = answer.references.iter().find(|paper| paper.number == row.reference);
        text.markup(" ").text(&plain(&paper.map(named).unwrap_or_default()));
        text.markup(" [").number(row.reference.0).markup("] |");
        for one in &row.cells {
            cell(&one.text, text);
        }
    }
}

fn cell(content: &str, text: &mut Markdown) {
    let content = plain(content);
    text.markup(" ").text(if content.is_empty() { EMPTY } else { &content }).markup(" |");
}

/// On one line, and without what would end a cell: a bar has no escape that every reader of Markdown knows.
fn plain(content: &str) -> String {
    single_spaced(&content.replace('|', "¦"))
}
