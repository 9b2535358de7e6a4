//! Writing a datastore as Parquet, so that other programs can read everything in it.
//!
//! | file | columns |
//! |---|---|
//! | `papers.parquet` | `id`, `title`, `year`, `published`, `venue`, `url`, `licence`, `retraction`, `citation_count`, `authors` (list), `external_ids` (list), `source` |
//! | `passages.parquet` | `id`, `paper`, `ordinal`, `title`, `section`, `kind`, `text`, `start`, `end` |
//! | `vectors.parquet` | `id` of the passage, `vector` (list of 32-bit floats) |
//! | `edges.parquet` | `citing`, `cited` |
//!
//! Rows go out in groups of bounded size; files are written under another name and renamed when whole.

mod table;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use scholar_core::{Paper, Passage};
use serde::Serialize;

use crate::error::Error;
use crate::merge::{MergeSource, StoredPaper};
use crate::schema::retraction_name;
use table::{Cell, Table};

/// One of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ExportPart {
    /// One row a paper: its metadata.
    Papers,
    /// One row a passage: its text and place in the paper.
    Passages,
    /// One row a passage: its embedding.
    Vectors,
    /// One row a citation: the citing and the cited paper.
    Edges,
}

/// A part nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} cannot be exported (papers, passages, vectors, edges)")]
pub struct UnknownPart(pub String);

impl FromStr for ExportPart {
    type Err = UnknownPart;

    fn from_str(text: &str) -> Result<Self, UnknownPart> {
        Self::ALL
            .into_iter()
            .find(|part| part.name() == text.trim())
            .ok_or_else(|| UnknownPart(text.to_owned()))
    }
}

impl ExportPart {
    /// Every table that can be exported.
    pub const ALL: [Self; 4] = [Self::Papers, Self::Passages, Self::Vectors, Self::Edges];

    /// Its name on the command line and of its file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Papers => "papers",
            Self::Passages => "passages",
            Self::Vectors => "vectors",
            Self::Edges => "edges",
        }
    }

    fn schema(self) -> &'static str {
        match self {
            Self::Papers => {
                "message papers {
                    required binary id (UTF8); required binary title (UTF8); optional int32 year;
                    optional binary published (UTF8); optional binary venue (UTF8);
                    optional binary url (UTF8); optional binary licence (UTF8);
                    required binary retraction (UTF8); optional int64 citation_count;
                    required group authors (LIST) { repeated group list { required binary element (UTF8); } }
                    required group external_ids (LIST) { repeated group list { required binary element (UTF8); } }
                    optional binary source (UTF8);
                }"
            }
            Self::Passages => {
                "message passages {
                    required binary id (UTF8); required binary paper (UTF8); required int64 ordinal;
                    required binary title (UTF8); required binary section (UTF8);
                    required binary kind (UTF8); required binary text (UTF8);
                    required int64 start; required int64 end;
                }"
            }
            Self::Vectors => {
                "message vectors {
                    required binary id (UTF8);
                    required group vector (LIST) { repeated group list { required float element; } }
                }"
            }
            Self::Edges => {
                "message edges { required binary citing (UTF8); required binary cited (UTF8); }"
            }
        }
    }
}

/// A written file and its size in rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportedFile {
    /// The Parquet file that was written.
    pub path: PathBuf,
    /// Number of rows: papers, passages, vectors or citations.
    pub rows: u64,
}

impl MergeSource {
    /// Writes `parts` of this datastore into `folder`. `progress` sees the papers done so far and can stop the work;
    /// nothing is left of it then.
    ///
    /// # Errors
    /// [`Error::Io`] when a file cannot be written, [`Error::Corrupt`] when the datastore cannot be read.
    pub fn export(
        &self,
        folder: &Path,
        parts: &[ExportPart],
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<(), Vec<ExportedFile>>, Error> {
        fs_err::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let mut tables = parts
            .iter()
            .map(|part| Ok((*part, Table::create(folder, part.name(), part.schema())?)))
            .collect::<Result<Vec<_>, Error>>()?;
        let wants_passages =
            parts.iter().any(|part| matches!(part, ExportPart::Passages | ExportPart::Vectors));
        let mut done = 0;
        for address in self.papers_in_order()? {
            let StoredPaper { paper, merged: _, source } = self.paper(address)?;
            let (passages, vectors) =
                if wants_passages { self.passages(&paper.meta.id)? } else { Default::default() };
            for (part, table) in &mut tables {
                match part {
                    ExportPart::Papers => paper_row(table, &paper, source.as_deref())?,
                    ExportPart::Passages => {
                        passages.iter().try_for_each(|passage| passage_row(table, passage))?;
                    }
                    ExportPart::Vectors => {
                        for (passage, vector) in passages.iter().zip(&vectors) {
                            let id = passage.id.to_string();
                            table.row([Cell::text(id), Cell::Floats(vector.clone())])?;
                        }
                    }
                    ExportPart::Edges => {
                        let citing = paper.meta.id.to_string();
                        for cited in &paper.references {
                            table.row([
                                Cell::text(citing.as_str()),
                                Cell::text(cited.to_string()),
                            ])?;
                        }
                    }
                }
            }
            done += 1;
            if progress(done).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let files =
            tables.into_iter().map(|(_, table)| table.finish()).collect::<Result<Vec<_>, _>>()?;
        Ok(ControlFlow::Continue(files))
    }
}

fn paper_row(table: &mut Table, paper: &Paper, source: Option<&str>) -> Result<(), Error> {
    let meta = &paper.meta;
    let optional = |text: Option<&str>| text.map_or(Cell::Null, Cell::text);
    table.row([
        Cell::text(meta.id.to_string()),
        Cell::text(meta.title.as_str()),
        meta.year.map_or(Cell::Null, |year| Cell::Int32(i32::from(year))),
        meta.published.map_or(Cell::Null, |day| Cell::text(day.to_string())),
        optional(meta.venue.as_deref()),
        optional(meta.url.as_deref()),
        optional(meta.licence.as_deref()),
        Cell::text(retraction_name(meta.retraction)),
        meta.citation_count.map_or(Cell::Null, |count| Cell::Int64(i64::from(count))),
        Cell::Texts(meta.authors.clone()),
        Cell::Texts(meta.external_ids.iter().map(ToString::to_string).collect()),
        optional(source),
    ])
}

fn passage_row(table: &mut Table, passage: &Passage) -> Result<(), Error> {
    let place = |at: usize| Cell::Int64(i64::try_from(at).unwrap_or(i64::MAX));
    table.row([
        Cell::text(passage.id.to_string()),
        Cell::text(passage.id.paper.to_string()),
        Cell::Int64(i64::from(passage.id.ordinal)),
        Cell::text(passage.title.as_str()),
        Cell::text(passage.section.as_str()),
        Cell::text(passage.kind.name()),
        Cell::text(passage.text.as_str()),
        place(passage.span.start),
        place(passage.span.end),
    ])
}
