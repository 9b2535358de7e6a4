//! What is known of terms in one commit, so that long lists are walked once and not for every query.

use std::collections::HashMap;

use parking_lot::RwLock;
use tantivy::TantivyError;

use super::Bm25;

/// Terms remembered at most; the vocabulary of questions is far smaller.
const MOST_TERMS: usize = 200_000;

/// A term in a collection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TermFigures {
    /// Passages it occurs in.
    pub(crate) passages: u64,
    /// The most its frequency is worth in any of them, 0 to 1.
    pub(crate) saturation: f32,
}

/// Figures by term and by what they depend on.
#[derive(Debug, Default)]
pub(crate) struct TermStatistics {
    known: RwLock<HashMap<(String, [u32; 3]), TermFigures>>,
}

impl TermStatistics {
    pub(crate) fn get(
        &self,
        term: &str,
        bm25: Bm25,
        count: impl FnOnce() -> Result<TermFigures, TantivyError>,
    ) -> Result<TermFigures, TantivyError> {
        let Bm25 { k1, b, title_weight } = bm25;
        let key = (term.to_owned(), [k1, b, title_weight].map(f32::to_bits));
        if let Some(figures) = self.known.read().get(&key) {
            return Ok(*figures);
        }
        let figures = count()?;
        let mut known = self.known.write();
        if known.len() >= MOST_TERMS {
            known.clear();
        }
        known.insert(key, figures);
        Ok(figures)
    }
}
