//! Numbers of references over both modules, in order of first citation.

use scholar_core::{Citation, PaperId, PaperMeta, Reference, Retrieved};
use scholar_pipeline::proof::reference_of;
use scholar_pipeline::{EvidenceRegistry, Frame};

use crate::library;

/// The references of a review as it grows, with what was read of them.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    references: Vec<Reference>,
    read: EvidenceRegistry,
}

impl Numbering {
    /// The number of `paper`, some of whose `passages` were read.
    pub(super) fn of(&mut self, paper: &PaperMeta, passages: &[Retrieved]) -> Citation {
        for passage in passages.iter().filter_map(library::ranked) {
            self.read.add(passage);
        }
        if let Some(known) = self.references.iter().find(|one| one.paper_id == paper.id) {
            return known.number;
        }
        let number = Citation(self.references.len() + 1);
        let found_by = passages.first().map(|hit| hit.found_by.clone()).unwrap_or_default();
        self.references.push(Reference { found_by, ..reference_of(number, paper) });
        number
    }

    /// Whether `paper` has a number.
    pub(super) fn has(&self, paper: &PaperId) -> bool {
        self.references.iter().any(|one| one.paper_id == *paper)
    }

    /// Tells `frame` what was read of them: proofs embed the passages that runs show.
    pub(super) fn show(&self, frame: &Frame<'_>) {
        frame.report_added(&self.read, 0, "evidence of a review");
    }

    pub(super) fn into_references(self) -> Vec<Reference> {
        self.references
    }
}
