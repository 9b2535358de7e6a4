//! From evidence numbers of a run to reference numbers of an answer.

use scholar_core::place::places_within;
use scholar_core::{AnswerSentence, Citation, PaperMeta, Quote, Reference, Retrieved};

use super::sentence::ProvenSentence;
use crate::evidence::{EvidenceNumber, EvidenceRegistry};

/// Numbers papers from 1 in order of first citation, after those of earlier answers of the thread; passages of one paper
/// are one reference. A number that the registry does not have is left out.
pub fn finalise(
    sentences: &[ProvenSentence],
    registry: &EvidenceRegistry,
) -> (Vec<AnswerSentence>, Vec<Reference>) {
    let mut references: Vec<Reference> = registry.earlier().to_vec();
    let answer = sentences
        .iter()
        .map(|sentence| {
            let mut citations: Vec<Citation> = Vec::new();
            for number in &sentence.citations {
                let citation = cite(*number, registry, &mut references);
                citations.extend(citation.filter(|citation| !citations.contains(citation)));
            }
            answer_sentence(sentence, citations, registry, &references)
        })
        .collect();
    (answer, references)
}

fn cite(
    number: EvidenceNumber,
    registry: &EvidenceRegistry,
    references: &mut Vec<Reference>,
) -> Option<Citation> {
    let retrieved = &registry.get(number)?.ranked.retrieved;
    Some(number_of(retrieved, references))
}

/// The number of the paper of a passage, which joins the list where it is not there. One of an earlier answer gets the metadata
/// of now.
pub(crate) fn number_of(retrieved: &Retrieved, references: &mut Vec<Reference>) -> Citation {
    if let Some(known) = references.iter_mut().find(|one| one.paper_id == retrieved.paper.id) {
        let number = known.number;
        let found_by = std::mem::take(&mut known.found_by);
        *known = Reference { found_by, ..reference_of(number, &retrieved.paper) };
        return number;
    }
    let number = Citation(references.len() + 1);
    references.push(reference_to(number, retrieved));
    number
}

/// The reference list entry of the paper of a retrieved passage, with what found it.
pub(crate) fn reference_to(number: Citation, retrieved: &Retrieved) -> Reference {
    Reference { found_by: retrieved.found_by.clone(), ..reference_of(number, &retrieved.paper) }
}

/// The reference list entry of a paper.
pub fn reference_of(number: Citation, paper: &PaperMeta) -> Reference {
    Reference {
        number,
        paper_id: paper.id.clone(),
        title: paper.title.clone(),
        authors: paper.authors.clone(),
        year: paper.year.or_else(|| paper.published.map(jiff::civil::Date::year)),
        venue: paper.venue.clone(),
        url: paper.link(),
        doi: paper.doi().map(str::to_owned),
        found_by: Vec::new(),
    }
}

fn answer_sentence(
    sentence: &ProvenSentence,
    citations: Vec<Citation>,
    registry: &EvidenceRegistry,
    references: &[Reference],
) -> AnswerSentence {
    let quotes = sentence
        .quotes
        .iter()
        .filter_map(|quote| {
            let retrieved = &registry.get(quote.evidence)?.ranked.retrieved;
            let reference = references.iter().find(|r| r.paper_id == retrieved.paper.id)?;
            Some(Quote {
                reference: reference.number,
                passage_id: retrieved.passage.id.clone(),
                start: quote.span.start,
                end: quote.span.end,
                text: quote.text.clone(),
                places: places_within(&retrieved.passage.places, quote.span.start, quote.span.end),
            })
        })
        .collect();
    AnswerSentence {
        text: sentence.text.clone(),
        heading: sentence.heading.clone(),
        paragraph_start: sentence.paragraph_start,
        citations,
        support: sentence.support.clone(),
        quotes,
        gates: sentence.gates.clone(),
        verbatim: sentence.verbatim,
        role: None,
        follows: Vec::new(),
        study: Vec::new(),
    }
}
