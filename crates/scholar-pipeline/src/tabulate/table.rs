//! A whole table, as it is printed, kept and shown.

use scholar_core::{Notice, PaperMeta};
use serde::{Deserialize, Serialize};

use super::{Cell, Column};

/// Name and version of the format.
pub const TABLE_SCHEMA: &str = "openscholar.table/1";

/// A table with everything a reader should know of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// [`TABLE_SCHEMA`].
    pub schema: String,
    /// Where its papers are stored.
    pub datastore: String,
    /// What filled the cells.
    pub method: String,
    /// What stands over the cells.
    pub columns: Vec<Column>,
    /// One for each paper.
    pub rows: Vec<TableRow>,
    /// What a person should know.
    pub notices: Vec<Notice>,
}

/// A paper and its cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    /// The paper.
    pub paper: PaperMeta,
    /// In the order of the columns; `None` is absent.
    pub cells: Vec<Option<Cell>>,
    /// What a person should know of this paper's cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

impl Table {
    /// How many cells have something in them, and how many there are.
    pub fn filled(&self) -> (usize, usize) {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        let filled = cells.filter(|cell| cell.is_some()).count();
        (filled, self.rows.len() * self.columns.len())
    }
}
