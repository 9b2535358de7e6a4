//! Vectors by the document or the ordinal they belong to.

use std::sync::Arc;

use tantivy::DocAddress;
use tantivy::columnar::Column;

use super::file::DenseSegment;
use super::kernel::{Kernel, decoded};
use crate::error::Error;
use crate::schema::column;
use crate::store::commit::OpenCommit;

/// Looks vectors up by the document they belong to.
pub(crate) struct Vectors<'a> {
    pub(super) commit: &'a OpenCommit,
    /// For each lexical segment, the ordinal of each document.
    ordinals: Vec<Column<u64>>,
    pub(super) kernel: Kernel,
}

impl<'a> Vectors<'a> {
    pub(crate) fn new(commit: &'a OpenCommit) -> Result<Self, tantivy::TantivyError> {
        let ordinals = commit
            .searcher
            .segment_readers()
            .iter()
            .map(|reader| reader.fast_fields().u64(column::ORDINAL))
            .collect::<Result<_, _>>()?;
        Ok(Self { commit, ordinals, kernel: Kernel::detect() })
    }

    /// The commit whose vectors these are.
    pub(crate) fn commit(&self) -> &'a OpenCommit {
        self.commit
    }

    /// The stored row of a passage; `None` for a document that is no passage.
    pub(crate) fn row(&self, address: DocAddress) -> Result<Option<&'a [u8]>, Error> {
        self.ordinal(address).map(|ordinal| self.row_of(ordinal)).transpose()
    }

    /// The ordinal of a passage's vector; `None` for a document that is no passage.
    pub(crate) fn ordinal(&self, address: DocAddress) -> Option<u64> {
        self.ordinals[address.segment_ord as usize].first(address.doc_id)
    }

    /// The vector of a passage in 32 bits.
    pub(crate) fn vector(&self, address: DocAddress) -> Result<Option<Vec<f32>>, Error> {
        Ok(self.row(address)?.map(decoded))
    }

    /// Inner product of `query` with the vector of a passage.
    pub(crate) fn dot(&self, query: &[f32], address: DocAddress) -> Result<Option<f32>, Error> {
        Ok(self.row(address)?.map(|row| self.kernel.dot(query, row)))
    }

    fn row_of(&self, ordinal: u64) -> Result<&'a [u8], Error> {
        find_row(&self.commit.dense, ordinal).ok_or_else(|| missing_vector(ordinal))
    }
}

/// The row of an ordinal in segments that come in ascending order.
pub(crate) fn find_row(segments: &[Arc<DenseSegment>], ordinal: u64) -> Option<&[u8]> {
    find_segment(segments, ordinal)?.row(ordinal)
}

/// The segment that an ordinal lies in, if it lies in any.
pub(crate) fn find_segment(
    segments: &[Arc<DenseSegment>],
    ordinal: u64,
) -> Option<&Arc<DenseSegment>> {
    let after = segments.partition_point(|segment| segment.range().0 <= ordinal);
    segments.get(after.checked_sub(1)?)
}

fn missing_vector(ordinal: u64) -> Error {
    Error::corrupt(std::path::Path::new("dense"), format!("no segment holds vector {ordinal}"))
}
