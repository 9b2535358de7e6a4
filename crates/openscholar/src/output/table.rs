//! Tables for people.

use std::fmt;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use scholar_core::text::untrusted;

/// Rows under a header. Each cell is one line, whatever it holds: a title cannot look like rows of its own.
#[derive(Debug)]
pub(crate) struct Table(comfy_table::Table);

impl Table {
    /// A table without rows.
    pub(crate) fn with_header<'a>(header: impl IntoIterator<Item = &'a str>) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(UTF8_HORIZONTAL_ONLY).set_header(header.into_iter().map(cell));
        Self(table)
    }

    /// Adds a row.
    pub(crate) fn add_row(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.0.add_row(cells.into_iter().map(|text| cell(text.as_ref())));
    }
}

fn cell(text: &str) -> String {
    untrusted(text).line().to_string()
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
