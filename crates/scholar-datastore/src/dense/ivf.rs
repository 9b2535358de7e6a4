//! An inverted index over the rows of a large dense segment: lists of similar vectors, one bit per dimension in each.
//!
//! ```text
//! query ─ rotate ─► tables ─┐
//!    └─ nearest groups ─ nearest lists ─► scan codes, 32 at a time ─► best rows ─► exact scores from the segment
//! ```
//!
//! What a row costs in memory is its code: `dim / 8 + 12` bytes, 108 for 768 dimensions; the exact vectors stay on disk
//! and only the rows that look best are read. Small segments have no such index and are scanned exactly.
//!
//! Source: Jégou et al. 2011 (inverted lists), Gao and Long 2024 (RaBitQ).

mod build;
mod cluster;
mod code;
pub(crate) mod file;
mod fine;
mod rotation;
mod scan;
mod search;

pub(crate) use build::build;
pub use build::{IvfOptions, IvfProgress, IvfStage, OnIvfProgress, Rows};
pub use file::Bits;
pub(crate) use search::IvfSearch;
pub use search::Probe;
