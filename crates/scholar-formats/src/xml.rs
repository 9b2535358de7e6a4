//! XML as a tree, for replies of services that no reader of this crate knows.

use crate::deadline::Bounds;
pub use crate::document::tree::{Element, Tree};
use crate::document::xml;
use crate::error::FormatError;

/// Reads XML; elements are found by their local names.
///
/// # Errors
/// [`FormatError`] for broken XML with its line, and for what is larger, deeper or slower than `bounds` and the tree allow.
pub fn read(bytes: &[u8], bounds: &Bounds) -> Result<Tree, FormatError> {
    Ok(xml::read(bytes, "XML", bounds)?.tree)
}
