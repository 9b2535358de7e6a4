//! One commit as it is searched.

use std::ops::Deref;

use super::commit::OpenCommit;
use crate::search::filters::Filters;

/// One commit, open: every search runs on one snapshot from start to end.
pub(crate) struct Snapshot {
    pub(super) commit: OpenCommit,
    /// What was looked up for the filters asked for so far.
    pub(crate) filters: Filters,
}

impl Deref for Snapshot {
    type Target = OpenCommit;

    fn deref(&self) -> &OpenCommit {
        &self.commit
    }
}
