//! One commit with its files open.

use std::sync::Arc;

use tantivy::Searcher;
use tantivy::store::StoreReader;

use super::guard::Guarded;
use crate::dense::DenseSegment;
use crate::dense::ordinals::Ordinals;
use crate::lexical::statistics::TermStatistics;
use crate::manifest::Manifest;

/// The index and the dense segments of one commit.
pub(crate) struct OpenCommit {
    pub(crate) searcher: Guarded<Searcher>,
    /// What each lexical segment stores, in the order of `searcher`'s segments.
    pub(crate) documents: Guarded<Vec<StoreReader>>,
    pub(crate) manifest: Manifest,
    /// In ascending order of their ordinals.
    pub(crate) dense: Vec<Arc<DenseSegment>>,
    pub(crate) ordinals: Ordinals,
    pub(crate) terms: TermStatistics,
}
