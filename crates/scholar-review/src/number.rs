//! From items, each with references of its own, to one list of references and one row of sentences.

use scholar_core::{Citation, Reference};

use crate::contribution;
use crate::report::{Contribution, MethodReview, Soundness, Statement, Summary};
use crate::soundness;

/// The references of the review so far, and how many sentences it has.
#[derive(Default)]
pub(crate) struct Numbering {
    pub(crate) references: Vec<Reference>,
    statements: usize,
}

impl Numbering {
    /// Takes in an item's sentences, which lie in `parts` in reading order and follow from each other by their places in it.
    fn item<'s>(&mut self, parts: impl Iterator<Item = &'s mut Statement>, own: &[Reference]) {
        let before = self.statements;
        for statement in parts {
            self.statements += 1;
            let Statement { sentence, rests_on, measured: _ } = statement;
            for citation in &mut sentence.citations {
                *citation = self.number_of(*citation, own);
            }
            for quote in &mut sentence.quotes {
                quote.reference = self.number_of(quote.reference, own);
            }
            for basis in rests_on {
                basis.reference = self.number_of(basis.reference, own);
            }
            for at in &mut sentence.follows {
                *at += before;
            }
        }
    }

    /// The number here of what an item calls `local`.
    fn number_of(&mut self, local: Citation, own: &[Reference]) -> Citation {
        let Some(reference) = own.iter().find(|one| one.number == local) else { return local };
        let known = self.references.iter().find(|one| one.paper_id == reference.paper_id);
        if let Some(known) = known {
            return known.number;
        }
        let number = Citation(self.references.len() + 1);
        self.references.push(Reference { number, ..reference.clone() });
        number
    }

    /// Soundness: the summary comes first and follows from sentences behind it.
    pub(crate) fn soundness(&mut self, draft: soundness::Draft) -> Soundness {
        let soundness::Draft { reviews, mut summary } = draft;
        let summed = summary.as_ref().map_or(0, |summary| summary.statements().count());
        let before = self.statements + summed;
        if let Some(Summary { strengths, weaknesses, suggestions }) = &mut summary {
            for statement in strengths.iter_mut().chain(weaknesses).chain(suggestions) {
                for at in &mut statement.sentence.follows {
                    *at += before;
                }
            }
        }
        self.statements = before;
        let number = |(mut review, own): (MethodReview, Vec<Reference>)| {
            let MethodReview { support, contradictions, suggested_action, .. } = &mut review;
            let all = support.iter_mut().chain(contradictions).chain(suggested_action);
            self.item(all, &own);
            review
        };
        Soundness { summary, reviews: reviews.into_iter().map(number).collect() }
    }

    /// Contribution, dimension by dimension.
    pub(crate) fn contribution(&mut self, draft: contribution::Draft) -> Contribution {
        let contribution::Draft { mut contribution, references } = draft;
        for (review, own) in contribution.reviews.iter_mut().zip(&references) {
            let all = review.strengths.iter_mut().chain(&mut review.weaknesses);
            self.item(all.chain(&mut review.suggestions), own);
        }
        contribution
    }
}
