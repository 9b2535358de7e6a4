//! Office Open XML: a footnote for each cell.

use super::{ABSENT, PAPERS, TableExport};
use crate::error::FormatError;
use crate::export::docx::{Document, text};

pub(super) fn write(export: &TableExport<'_>) -> Result<Vec<u8>, FormatError> {
    let mut document = Document::default();
    document.paragraph("Title", &text(export.title, ""));
    let heads: Vec<String> = std::iter::once(PAPERS)
        .chain(export.columns.iter().map(String::as_str))
        .map(|head| text(head, "<w:b/>"))
        .collect();
    let mut rows = vec![heads];
    for row in export.rows {
        let mut cells = vec![text(&row.label(), "")];
        for cell in &row.cells {
            cells.push(match cell {
                Some(cell) => {
                    let note = text(&format!("“{}” — {}", cell.quote, cell.place), "");
                    text(&cell.text, "") + &document.note(&note)
                }
                None => text(ABSENT, ""),
            });
        }
        rows.push(cells);
    }
    document.rows(&rows);
    for notice in export.notices {
        document.paragraph("Point", &text(&format!("• {}", notice.message), ""));
    }
    document.paragraph("Footer", &text(export.generated_by, ""));
    document.packed(export.title)
}
