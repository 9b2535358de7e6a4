//! Numbered references of an answer that is put together without sentences to prove.

use scholar_core::{Citation, Reference};

use crate::evidence::{Evidence, EvidenceNumber, EvidenceRegistry};
use crate::proof::reference_to;

/// The papers behind evidence `numbers`, numbered from 1 in order of first use, and the citation of each number.
/// Numbers without evidence are left out of both.
pub(crate) fn references_of(
    registry: &EvidenceRegistry,
    numbers: &[usize],
) -> (Vec<Reference>, Vec<Citation>) {
    let mut references: Vec<Reference> = Vec::new();
    let mut citations = Vec::new();
    let known = numbers.iter().filter_map(|number| registry.get(EvidenceNumber(*number)));
    for Evidence { number: _, ranked } in known {
        let paper = &ranked.retrieved.paper;
        let place = references.iter().position(|reference| reference.paper_id == paper.id);
        let place = place.unwrap_or_else(|| {
            references.push(reference_to(Citation(references.len() + 1), &ranked.retrieved));
            references.len() - 1
        });
        let citation = references[place].number;
        if !citations.contains(&citation) {
            citations.push(citation);
        }
    }
    (references, citations)
}
