//! A table of papers: one row a paper, every cell with the quotation and the place it comes from.

mod csv;
mod docx;
mod html;
mod markdown;

use scholar_core::Notice;

use crate::error::FormatError;

/// What a table of papers is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated values (RFC 4180), three columns a property: `x`, `x_quote`, `x_place`.
    Csv,
    /// A table of GFM with footnotes.
    Markdown,
    /// One HTML file that needs no other.
    Html,
    /// Office Open XML with footnotes, for word processors.
    Docx,
}

/// A table of papers as it leaves the program.
#[derive(Debug, Clone, Copy)]
pub struct TableExport<'a> {
    /// The document's title.
    pub title: &'a str,
    /// What stands over the columns, the papers' left out.
    pub columns: &'a [String],
    /// One for each paper.
    pub rows: &'a [ExportRow],
    /// What a person should know of it.
    pub notices: &'a [Notice],
    /// What made it, for the last line.
    pub generated_by: &'a str,
}

/// A paper and its cells.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportRow {
    /// Its title.
    pub title: String,
    /// Its year, if known.
    pub year: Option<i16>,
    /// Its identifier.
    pub id: String,
    /// A page about it.
    pub link: Option<String>,
    /// One for each column; `None` is absent.
    pub cells: Vec<Option<ExportCell>>,
}

/// A value with where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportCell {
    /// The paper's own words.
    pub text: String,
    /// The sentence around them.
    pub quote: String,
    /// Passage, characters, page, section.
    pub place: String,
}

/// What stands in an absent cell, except in CSV, where it is empty.
const ABSENT: &str = "–";

/// What stands over the papers.
const PAPERS: &str = "Paper";

impl ExportRow {
    /// Title and year, for people.
    fn label(&self) -> String {
        self.year.map_or_else(|| self.title.clone(), |year| format!("{} ({year})", self.title))
    }
}

/// Writes the table.
///
/// # Errors
/// When a DOCX cannot be packed.
pub fn table(export: &TableExport<'_>, format: TableFormat) -> Result<Vec<u8>, FormatError> {
    Ok(match format {
        TableFormat::Csv => csv::write(export).into_bytes(),
        TableFormat::Markdown => markdown::write(export).into_bytes(),
        TableFormat::Html => html::write(export).into_bytes(),
        TableFormat::Docx => docx::write(export)?,
    })
}

#[cfg(test)]
mod tests;
