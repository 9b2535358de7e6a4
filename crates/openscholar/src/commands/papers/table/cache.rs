//! Finished cells on disk, so that an interrupted table continues and one more column costs one column.
//!
//! ```text
//! tables/
//!   <digest of the paper's passages>.json    openscholar.table-cells/1: cells by digest of method and column
//! ```
//!
//! A changed paper has another digest, another model or another version of the rules another method. What is read back is
//! checked against the passages: a cell whose words do not stand at its place is not used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use scholar_core::text::hex;
use scholar_core::{Notice, Passage};
use scholar_pipeline::tabulate::{Cell, Column};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::CommandError;
use crate::runs;

const SCHEMA: &str = "openscholar.table-cells/1";
/// Largest file of one paper's cells, in bytes.
const LARGEST: usize = 16 << 20;

/// The folder of finished cells.
pub(super) struct CellCache {
    folder: PathBuf,
}

/// One column's cell, and what was said of the paper when it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KnownCell {
    pub(super) cell: Option<Cell>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) notices: Vec<Notice>,
}

#[derive(Debug, Serialize, Deserialize)]
struct File {
    schema: String,
    cells: BTreeMap<String, KnownCell>,
}

/// The finished cells of one paper.
pub(super) struct PaperCache {
    path: PathBuf,
    cells: BTreeMap<String, KnownCell>,
    /// Whether the file was there and could not be used.
    pub(super) broken: bool,
}

impl CellCache {
    /// In `folder`, which is made.
    pub(super) fn open(folder: &Path) -> Result<Self, CommandError> {
        crate::private::create_missing(folder)
            .map_err(|source| CommandError::unwritable(folder, source))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// What is known of the paper that `passages` are of.
    pub(super) fn paper(&self, passages: &[Passage]) -> PaperCache {
        let mut digest = Sha256::new();
        for passage in passages {
            for part in [passage.id.to_string().as_str(), &passage.section, &passage.text] {
                digest.update(part.as_bytes());
                digest.update([0]);
            }
        }
        let path = self.folder.join(format!("{}.json", hex(&digest.finalize()[..16])));
        let read = scholar_datastore::files::read_text(&path, LARGEST);
        let absent = read.as_ref().is_err_and(scholar_datastore::files::FileError::is_absent);
        let file = read.ok().and_then(|text| serde_json::from_str::<File>(&text).ok());
        let file = file.filter(|file| file.schema == SCHEMA);
        let broken = file.is_none() && !absent;
        let mut cells = file.map(|file| file.cells).unwrap_or_default();
        cells.retain(|_, known| known.cell.as_ref().is_none_or(|cell| cell.stands_in(passages)));
        PaperCache { path, cells, broken }
    }
}

impl PaperCache {
    /// The cell of `column` by `method`, if it is finished.
    pub(super) fn get(&self, method: &str, column: &Column) -> Option<&KnownCell> {
        self.cells.get(&key(method, column))
    }

    /// Keeps the cells of `columns`, and writes the file in one step.
    pub(super) fn keep(
        &mut self,
        method: &str,
        columns: &[Column],
        cells: &[Option<Cell>],
        notices: &[Notice],
    ) -> Result<(), CommandError> {
        for (column, cell) in columns.iter().zip(cells) {
            let known = KnownCell { cell: cell.clone(), notices: notices.to_vec() };
            self.cells.insert(key(method, column), known);
        }
        let file = File { schema: SCHEMA.to_owned(), cells: self.cells.clone() };
        let text = serde_json::to_string_pretty(&file).map_err(|source| {
            CommandError::new(crate::error::ErrorKind::Bug, "cannot write the cells")
                .with_source(source)
        })?;
        runs::write_atomic(&self.path, text.as_bytes())
    }
}

fn key(method: &str, column: &Column) -> String {
    let mut digest = Sha256::new();
    let property = column.property.as_deref().unwrap_or_default();
    for part in [method, property, &column.question] {
        digest.update(part.as_bytes());
        digest.update([0]);
    }
    hex(&digest.finalize()[..16])
}

#[cfg(test)]
mod tests {
    use scholar_core::{CharSpan, PaperId, PassageId, PassageKind};
    use scholar_pipeline::tabulate::{CellModels, tabulate};

    use super::*;

    fn passages(text: &str) -> Vec<Passage> {
        vec![Passage {
            id: PassageId { paper: PaperId::Pmid(1), ordinal: 0 },
            title: String::new(),
            section: "Abstract".to_owned(),
            kind: PassageKind::Abstract,
            span: CharSpan::new(0, text.chars().count()),
            text: text.to_owned(),
            places: Vec::new(),
        }]
    }

    #[test]
    fn cells_are_found_again_unless_paper_method_or_file_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = CellCache::open(folder.path()).expect("writable");
        let paper = passages("We randomised 120 adults to aspirin or placebo.");
        let columns = Column::read("n,shoe size").expect("columns");
        let made = tabulate(&paper, &columns, &CellModels::default()).expect("no model fails");
        let mut known = cache.paper(&paper);
        assert!(known.get("rules", &columns[0]).is_none() && !known.broken);
        known.keep("rules", &columns, &made.cells, &[]).expect("writable");
        let known = cache.paper(&paper);
        let found = known.get("rules", &columns[0]).and_then(|known| known.cell.as_ref());
        assert_eq!(found.map(|cell| cell.text.as_str()), Some("120 adults"));
        assert!(known.get("rules", &columns[1]).is_some_and(|known| known.cell.is_none()));
        assert!(known.get("a model", &columns[0]).is_none());
        assert!(cache.paper(&passages("We saw 9 mice.")).get("rules", &columns[0]).is_none());
        let text = fs_err::read_to_string(&known.path).expect("the file");
        let forged = text.replace("\"120 adults\"", "\"999 adults\"");
        fs_err::write(&known.path, forged).expect("writable");
        assert!(cache.paper(&paper).get("rules", &columns[0]).is_none(), "not the paper's words");
        fs_err::write(&known.path, "{").expect("writable");
        assert!(cache.paper(&paper).broken);
    }
}
