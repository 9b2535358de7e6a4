//! Writing a text that cites evidence numbers, and what every written answer ends with.
//!
//! [`Manuscript::gather`] brings the evidence, [`draft()`] the first text, [`conclude()`] the proven answer. Between them a
//! mode may do with the manuscript what it likes.

pub(crate) mod citations;
mod conclude;
mod draft;
pub(crate) mod label;
pub mod live;
pub(crate) mod manuscript;
pub(crate) mod parts;
pub(crate) mod references;
pub mod roles;
pub mod sentences;

pub use conclude::conclude;
pub use draft::draft;
pub(crate) use draft::{
    answer_text, drafted, no_draft, reference_block, reference_lines, unusable, without_draft,
};
pub use manuscript::Manuscript;
