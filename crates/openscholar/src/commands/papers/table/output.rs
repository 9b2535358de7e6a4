//! A table for the terminal, as JSON, and in the formats of others.

use scholar_core::text::normalise::single_spaced;
use scholar_formats::export::{ExportCell, ExportRow, TableExport, TableFormat, table};
use scholar_pipeline::tabulate::{Table as PaperTable, TableRow};

use crate::app::App;
use crate::args::{TableArgs, TableFormatArg};
use crate::error::CommandError;
use crate::output::table::Table;
use crate::runs;

/// Characters of a title on the terminal.
const TITLE_CHARS: usize = 40;
/// Characters of a cell on the terminal; files have all of them.
const CELL_CHARS: usize = 60;
/// What stands in an absent cell.
const ABSENT: &str = "–";

/// Prints the table, or writes it to the file named.
pub(super) fn write(
    document: &PaperTable,
    args: &TableArgs,
    app: &App,
) -> Result<(), CommandError> {
    let by_name = || args.output.as_deref().and_then(of_extension);
    let format = args.format.or_else(by_name);
    if app.printer.json && args.output.is_none() && args.format.is_none() {
        return app.printer.json(document);
    }
    let Some(format) = format else {
        let text = for_terminal(document);
        return match &args.output {
            Some(path) => written(path, text.as_bytes(), app),
            None => {
                app.printer.out(&text)?;
                app.printer.say(&counts(document));
                Ok(())
            }
        };
    };
    let bytes = exported(document, format)?;
    match &args.output {
        Some(path) => written(path, &bytes, app),
        None => app.printer.out(String::from_utf8_lossy(&bytes).trim_end()),
    }
}

fn written(path: &std::path::Path, bytes: &[u8], app: &App) -> Result<(), CommandError> {
    runs::write_file(path, bytes)?;
    app.printer.say(&format!("written to {}", path.display()));
    Ok(())
}

/// The format that a file's name asks for.
fn of_extension(path: &std::path::Path) -> Option<TableFormatArg> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "csv" => Some(TableFormatArg::Csv),
        "md" | "markdown" => Some(TableFormatArg::Markdown),
        "html" | "htm" => Some(TableFormatArg::Html),
        "docx" => Some(TableFormatArg::Docx),
        _ => None,
    }
}

/// The table in a format of others.
pub(crate) fn exported(
    document: &PaperTable,
    format: TableFormatArg,
) -> Result<Vec<u8>, CommandError> {
    let columns: Vec<String> = document.columns.iter().map(|one| one.name.clone()).collect();
    let rows: Vec<ExportRow> = document.rows.iter().map(exported_row).collect();
    let notices = document.rows.iter().flat_map(|row| &row.notices).chain(&document.notices);
    let notices: Vec<_> = notices.cloned().collect();
    let title = format!("{} papers of {}", rows.len(), document.datastore);
    let generated_by =
        format!("openscholar {}; cells by {}", env!("CARGO_PKG_VERSION"), document.method);
    let export = TableExport {
        title: &title,
        columns: &columns,
        rows: &rows,
        notices: &notices,
        generated_by: &generated_by,
    };
    let format = match format {
        TableFormatArg::Csv => TableFormat::Csv,
        TableFormatArg::Markdown => TableFormat::Markdown,
        TableFormatArg::Html => TableFormat::Html,
        TableFormatArg::Docx => TableFormat::Docx,
    };
    table(&export, format).map_err(|error| {
        CommandError::user("the table cannot be written in this format").with_source(error)
    })
}

fn exported_row(row: &TableRow) -> ExportRow {
    ExportRow {
        title: row.paper.display_title().into_owned(),
        year: row.paper.year,
        id: row.paper.id.to_string(),
        link: row.paper.link(),
        cells: row
            .cells
            .iter()
            .map(|cell| {
                cell.as_ref().map(|cell| ExportCell {
                    text: cell.text.clone(),
                    quote: cell.quote.clone(),
                    place: cell.place(),
                })
            })
            .collect(),
    }
}

fn for_terminal(document: &PaperTable) -> String {
    let names = document.columns.iter().map(|column| column.name.as_str());
    let mut table = Table::with_header(["id", "title"].into_iter().chain(names));
    for row in &document.rows {
        let mut cells =
            vec![row.paper.id.to_string(), cut(&row.paper.display_title(), TITLE_CHARS)];
        cells.extend(row.cells.iter().map(|cell| {
            cell.as_ref().map_or_else(|| ABSENT.to_owned(), |cell| cut(&cell.text, CELL_CHARS))
        }));
        table.add_row(cells);
    }
    table.to_string()
}

fn cut(text: &str, chars: usize) -> String {
    let text = single_spaced(text);
    if text.chars().count() <= chars {
        return text;
    }
    let short: String = text.chars().take(chars.saturating_sub(1)).collect();
    format!("{short}…")
}

/// How many cells are filled.
fn counts(document: &PaperTable) -> String {
    let (filled, total) = document.filled();
    format!(
        "{filled} of {total} cells filled; --format csv, markdown, html or docx has quotations and places"
    )
}
