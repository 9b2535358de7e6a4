//! The proof beside an answer, and checking it again later.

use scholar_core::text::hex;
use scholar_core::{
    Answer, CharSpan, Gate, PaperMeta, PassageId, PortError, PortErrorKind, Quote, Reference,
    Retriever, Support,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::finalise::reference_of;

/// Schema of [`ProofFile`].
pub const PROOF_SCHEMA: &str = "openscholar.proof/1";

/// What an answer rests on: enough to check every quotation and reference against the datastore later, offline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProofFile {
    /// [`PROOF_SCHEMA`].
    pub schema: String,
    /// What was asked.
    pub question: String,
    /// One entry per sentence that cites, in order.
    pub sentences: Vec<ProofSentence>,
    /// The cited papers as they were printed.
    pub references: Vec<Reference>,
    /// The quoted passages, by identifier.
    pub passages: Vec<ProofPassage>,
}

/// One sentence of the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProofSentence {
    /// Position in the answer, from 0.
    pub index: usize,
    /// The sentence without markers.
    pub text: String,
    /// Located quotations.
    pub quotes: Vec<Quote>,
    /// The verdict it got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support: Option<Support>,
    /// The gates it passed.
    pub gates: Vec<Gate>,
}

/// A quoted passage as it was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofPassage {
    /// Its name.
    pub passage_id: PassageId,
    /// SHA-256 of its text, hexadecimal.
    pub text_sha256: String,
}

impl ProofFile {
    /// The proof of `answer`. Passages the retriever no longer has are left out of `passages`; [`verify_proof`] then
    /// reports their quotations.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn of(answer: &Answer, retriever: &dyn Retriever) -> Result<Self, PortError> {
        let sentences: Vec<ProofSentence> = answer
            .sentences
            .iter()
            .enumerate()
            .filter(|(_, sentence)| !sentence.citations.is_empty() || sentence.support.is_some())
            .map(|(index, sentence)| ProofSentence {
                index,
                text: sentence.text.clone(),
                quotes: sentence.quotes.clone(),
                support: sentence.support.clone(),
                gates: sentence.gates.clone(),
            })
            .collect();
        let mut ids: Vec<PassageId> = sentences
            .iter()
            .flat_map(|sentence| sentence.quotes.iter().map(|quote| quote.passage_id.clone()))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let mut passages = Vec::with_capacity(ids.len());
        for id in ids {
            if let Some((passage, _)) = retriever.passage(&id).await? {
                let text_sha256 = sha256(&passage.text);
                passages.push(ProofPassage { passage_id: id, text_sha256 });
            }
        }
        Ok(Self {
            schema: PROOF_SCHEMA.to_owned(),
            question: answer.question.clone(),
            sentences,
            references: answer.references.clone(),
            passages,
        })
    }
}

/// What no longer holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub enum ProofProblem {
    /// The datastore does not have the passage.
    PassageMissing {
        /// Which.
        passage_id: PassageId,
    },
    /// The passage's text is not the one that was quoted.
    PassageChanged {
        /// Which.
        passage_id: PassageId,
    },
    /// The passage does not have these characters at this place.
    QuoteDiffers {
        /// Of which sentence, from 0.
        sentence: usize,
        /// The quotation.
        quote: Quote,
        /// What stands there now; `None` when the place is past the end.
        found: Option<String>,
    },
    /// A quotation names a reference that the list does not have, or that is another paper.
    QuoteOfOtherPaper {
        /// Of which sentence, from 0.
        sentence: usize,
        /// The quotation.
        quote: Quote,
    },
    /// The datastore says something else of a cited paper.
    ReferenceDiffers {
        /// As printed.
        printed: Reference,
        /// As stored now.
        stored: Reference,
    },
    /// A cited paper that no quotation leads to: nothing to check it against.
    ReferenceUnchecked {
        /// As printed.
        printed: Reference,
    },
    /// A sentence passed a gate in the proof without what the gate requires.
    GateUnfounded {
        /// Which sentence, from 0.
        sentence: usize,
        /// Which gate.
        gate: Gate,
    },
}

/// The result of checking a proof.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProofReport {
    /// Sentences in the proof.
    pub sentences: usize,
    /// Quotations checked.
    pub quotes: usize,
    /// Of which still hold exactly.
    pub quotes_hold: usize,
    /// References compared with stored metadata.
    pub references: usize,
    /// Everything that does not hold.
    pub problems: Vec<ProofProblem>,
}

impl ProofReport {
    /// Whether everything holds. A reference that could not be compared is no failure.
    pub fn holds(&self) -> bool {
        self.problems
            .iter()
            .all(|problem| matches!(problem, ProofProblem::ReferenceUnchecked { .. }))
    }
}

/// Checks every quotation and reference of `proof` against the stored passages. No judge is asked: verdicts are records.
///
/// # Errors
/// When the store cannot be read or the file is of another schema.
pub async fn verify_proof(
    proof: &ProofFile,
    retriever: &dyn Retriever,
) -> Result<ProofReport, PortError> {
    let ProofFile { schema, question: _, sentences, references, passages } = proof;
    if schema != PROOF_SCHEMA {
        let message = format!("proof has schema {schema:?}, this program reads {PROOF_SCHEMA:?}");
        return Err(PortError::new(PortErrorKind::Rejected, message)
            .with_hint("verify it with the version of openscholar that wrote it"));
    }
    let mut problems = Vec::new();
    let mut stored: Vec<(PassageId, String, PaperMeta)> = Vec::new();
    let mut ids: Vec<&PassageId> = sentences
        .iter()
        .flat_map(|sentence| sentence.quotes.iter().map(|quote| &quote.passage_id))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        let Some((passage, paper)) = retriever.passage(id).await? else {
            problems.push(ProofProblem::PassageMissing { passage_id: id.clone() });
            continue;
        };
        let known = passages.iter().find(|known| &known.passage_id == id);
        if known.is_none_or(|known| known.text_sha256 != sha256(&passage.text)) {
            problems.push(ProofProblem::PassageChanged { passage_id: id.clone() });
        }
        stored.push((id.clone(), passage.text, paper));
    }
    let (mut quotes, mut quotes_hold) = (0, 0);
    for sentence in sentences {
        for quote in &sentence.quotes {
            quotes += 1;
            let before = problems.len();
            check_quote(sentence.index, quote, &stored, references, &mut problems);
            quotes_hold += usize::from(problems.len() == before && is_stored(quote, &stored));
        }
        check_gates(sentence, &mut problems);
    }
    for printed in references {
        match stored.iter().find(|(_, _, paper)| paper.id == printed.paper_id) {
            Some((_, _, paper)) => {
                // Who found it is a matter of the run, not of the store.
                let found_by = printed.found_by.clone();
                let now = Reference { found_by, ..reference_of(printed.number, paper) };
                if &now != printed {
                    problems.push(ProofProblem::ReferenceDiffers {
                        printed: printed.clone(),
                        stored: now,
                    });
                }
            }
            None => problems.push(ProofProblem::ReferenceUnchecked { printed: printed.clone() }),
        }
    }
    Ok(ProofReport {
        sentences: sentences.len(),
        quotes,
        quotes_hold,
        references: references.len(),
        problems,
    })
}

fn is_stored(quote: &Quote, stored: &[(PassageId, String, PaperMeta)]) -> bool {
    stored.iter().any(|(id, _, _)| id == &quote.passage_id)
}

fn check_quote(
    sentence: usize,
    quote: &Quote,
    stored: &[(PassageId, String, PaperMeta)],
    references: &[Reference],
    problems: &mut Vec<ProofProblem>,
) {
    let Some((_, text, paper)) = stored.iter().find(|(id, _, _)| id == &quote.passage_id) else {
        return;
    };
    let found = CharSpan::new(quote.start, quote.end).slice(text);
    if found != Some(quote.text.as_str()) || quote.text.is_empty() {
        let found = found.map(str::to_owned);
        problems.push(ProofProblem::QuoteDiffers { sentence, quote: quote.clone(), found });
    }
    let cited = references.iter().find(|reference| reference.number == quote.reference);
    if cited.is_none_or(|reference| reference.paper_id != paper.id) {
        problems.push(ProofProblem::QuoteOfOtherPaper { sentence, quote: quote.clone() });
    }
}

/// L1 and L2 need a quotation; L2 needs a verdict too.
fn check_gates(sentence: &ProofSentence, problems: &mut Vec<ProofProblem>) {
    let unfounded = |gate: &Gate| match gate {
        Gate::L0 => false,
        Gate::L1 => sentence.quotes.is_empty(),
        Gate::L2 => sentence.quotes.is_empty() || sentence.support.is_none(),
    };
    for gate in sentence.gates.iter().filter(|gate| unfounded(gate)) {
        problems.push(ProofProblem::GateUnfounded { sentence: sentence.index, gate: *gate });
    }
}

fn sha256(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests;
