//! CSV (RFC 4180) that spreadsheets open without running anything in it.

use scholar_core::text::normalise::single_spaced;
use scholar_core::text::untrusted;

use super::TableExport;

/// First characters by which a spreadsheet takes a cell for a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

pub(super) fn write(export: &TableExport<'_>) -> String {
    let mut text = String::new();
    let mut head = vec!["paper".to_owned(), "title".to_owned(), "year".to_owned()];
    for column in export.columns {
        head.extend([column.clone(), format!("{column}_quote"), format!("{column}_place")]);
    }
    line(&head, &mut text);
    for row in export.rows {
        let year = row.year.map(|year| year.to_string()).unwrap_or_default();
        let mut fields = vec![row.id.clone(), row.title.clone(), year];
        for cell in &row.cells {
            fields.extend(match cell {
                Some(cell) => [cell.text.clone(), cell.quote.clone(), cell.place.clone()],
                None => Default::default(),
            });
        }
        line(&fields, &mut text);
    }
    text
}

fn line(fields: &[String], text: &mut String) {
    let fields: Vec<String> = fields.iter().map(|one| field(one)).collect();
    text.push_str(&fields.join(","));
    text.push_str("\r\n");
}

/// On one line; an apostrophe in front of what would be a formula, which spreadsheets do not show.
fn field(content: &str) -> String {
    let content = single_spaced(&untrusted(content).line().to_string());
    let content = if content.starts_with(FORMULA) { format!("'{content}") } else { content };
    if content.contains(['"', ',', ';', '\'']) {
        format!("\"{}\"", content.replace('"', "\"\""))
    } else {
        content
    }
}
