//! Tables of papers: one row a paper, one column a property, every cell the paper's own words at a known place.
//!
//! - [`mod@column`]: the properties that have rules, the presets made of them, and columns that are questions;
//! - [`sheet`]: the sentences of a paper with the part of the paper they stand in;
//! - [`rules`]: cues in a sentence and the span beside them;
//! - [`features`] and [`fitted`]: what speaks for a span, and how much;
//! - [`extract`]: rules and small models together, with a threshold below which a cell is absent;
//! - [`generate`]: a language model reads a paper once; only what it copied word for word is taken.
//!
//! A cell is a [`Cell`] that lies in a stored passage, or it is absent. Nothing is inferred, converted or completed.

pub mod cell;
pub mod column;
pub mod extract;
pub mod features;
pub mod fitted;
pub mod generate;
mod prior;
pub mod questions;
pub mod rules;
pub mod sheet;
mod table;

pub use cell::{Cell, PaperCells};
pub use column::{Column, Preset, Property};
pub use extract::{RULES_VERSION, tabulate};
pub use questions::CellModels;
pub use table::{TABLE_SCHEMA, Table, TableRow};
