//! How an answer was found, for people: outline, tree of retrievals and contribution graphs.
//!
//! [`text()`] writes lines for a terminal, [`svg()`] draws, [`page()`] writes a web page with the drawing and all texts, [`fragment()`] the texts for a page that has more, and
//! [`steps`] has the lines that are shown while a tree grows. Pure functions from an [`Exploration`] to text. All of
//! them show text of papers and models, so everything passes [`mod@scholar_core::text::untrusted`]; nothing they write has
//! a script or an address that is loaded. Places within a [`scholar_core::ContributionGraph`] that do not exist are left out: a run
//! folder may have been edited.
//!
//! Source: arXiv 2511.14362 (`SciRAG`), whose outline, tree and chains these are; how they look is ours.

mod index;
mod layers;
mod page;
mod shorten;
pub mod steps;
mod svg;
mod text;
mod words;

pub use index::Exploration;
pub use page::{fragment, page};
pub use svg::{NoveltyMap, NoveltyRow, svg};
pub use text::{node, reference, text};
