//! Numbers of references over both modules, in order of first citation.

use scholar_core::{Citation, PaperId, PaperMeta, Reference, Retrieved};
use scholar_pipeline::proof::reference_of;

/// The references of a review as it grows.
#[derive(Debug, Default)]
pub(super) struct Numbering(Vec<Reference>);

impl Numbering {
    /// The number of `paper`, some of whose `passages` were read.
    pub(super) fn of(&mut self, paper: &PaperMeta, passages: &[Retrieved]) -> Citation {
        if let Some(known) = self.0.iter().find(|one| one.paper_id == paper.id) {
            return known.number;
        }
        let number = Citation(self.0.len() + 1);
        let found_by = passages.first().map(|hit| hit.found_by.clone()).unwrap_or_default();
        self.0.push(Reference { found_by, ..reference_of(number, paper) });
        number
    }

    /// Whether `paper` has a number.
    pub(super) fn has(&self, paper: &PaperId) -> bool {
        self.0.iter().any(|one| one.paper_id == *paper)
    }

    pub(super) fn into_references(self) -> Vec<Reference> {
        self.0
    }
}
