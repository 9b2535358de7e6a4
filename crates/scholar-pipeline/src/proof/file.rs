//! The proof beside an answer: everything that a check needs when the datastore has changed or is gone.

use std::collections::BTreeMap;

use scholar_core::{
    Answer, AnswerMode, AnswerRole, AnswerSection, AnswerSentence, AnswerTable, CharSpan, Citation,
    Gate, Passage, PassageId, Quote, Reference, StudyDetail, Support,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::canonical::{digest, sha256};
use crate::event::Event;

/// Value of [`ProofFile::schema`] in files that this program writes.
pub const PROOF_SCHEMA: &str = "openscholar.proof/2";

/// Schema of the files that hold quotations and digests of their passages only: nothing binds them to an answer.
pub const UNBOUND_PROOF_SCHEMA: &str = "openscholar.proof/1";

/// What an answer rests on. The fields that [`UNBOUND_PROOF_SCHEMA`] does not have are empty there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProofFile {
    /// [`PROOF_SCHEMA`] or [`UNBOUND_PROOF_SCHEMA`].
    pub schema: String,
    /// Name of the run's folder.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// Version of the program that wrote it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The question, trimmed.
    pub question: String,
    /// How the answer was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<AnswerMode>,
    /// The evidence did not suffice.
    #[serde(default)]
    pub abstained: bool,
    /// Where the passages were stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datastore: Option<ProofDatastore>,
    /// Every sentence of the answer in order; in [`UNBOUND_PROOF_SCHEMA`] those that cite.
    pub sentences: Vec<ProofSentence>,
    /// The cited papers as they were printed.
    pub references: Vec<Reference>,
    /// The parts of the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<AnswerSection>,
    /// The table of the answer, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<AnswerTable>,
    /// The quoted passages, by identifier.
    pub passages: Vec<ProofPassage>,
    /// What the caller recorded beside the answer: clock, wallet, notices of what stands behind the ports.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub recorded: Value,
    /// What ties the parts and files of the run together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digests: Option<ProofDigests>,
}

/// A datastore at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofDatastore {
    /// Name of the datastore.
    pub name: String,
    /// The number of its newest commit when the question was asked.
    pub commit: u64,
}

/// One sentence of the answer, as [`AnswerSentence`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProofSentence {
    /// Position in the answer, from 0.
    pub index: usize,
    /// The sentence without markers.
    pub text: String,
    /// Heading of the part it stands under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// Starts a new paragraph.
    #[serde(default)]
    pub paragraph_start: bool,
    /// Which references it cites.
    #[serde(default)]
    pub citations: Vec<Citation>,
    /// Located quotations, best judged first.
    pub quotes: Vec<Quote>,
    /// The verdict it got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support: Option<Support>,
    /// The gates it passed.
    pub gates: Vec<Gate>,
    /// The words of its first quotation.
    #[serde(default)]
    pub verbatim: bool,
    /// What it does in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<AnswerRole>,
    /// The sentences that it follows from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follows: Vec<usize>,
    /// What stands in front of it about the study.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub study: Vec<StudyDetail>,
}

impl ProofSentence {
    fn of(index: usize, sentence: &AnswerSentence) -> Self {
        let AnswerSentence {
            text,
            heading,
            paragraph_start,
            citations,
            support,
            quotes,
            gates,
            verbatim,
            role,
            follows,
            study,
        } = sentence.clone();
        Self {
            index,
            text,
            heading,
            paragraph_start,
            citations,
            quotes,
            support,
            gates,
            verbatim,
            role,
            follows,
            study,
        }
    }

    /// The sentence as it stands in the answer.
    pub fn sentence(&self) -> AnswerSentence {
        let Self {
            index: _,
            text,
            heading,
            paragraph_start,
            citations,
            quotes,
            support,
            gates,
            verbatim,
            role,
            follows,
            study,
        } = self.clone();
        AnswerSentence {
            text,
            heading,
            paragraph_start,
            citations,
            support,
            quotes,
            gates,
            verbatim,
            role,
            follows,
            study,
        }
    }
}

/// A quoted passage as it was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofPassage {
    /// Paper and ordinal of the passage.
    pub passage_id: PassageId,
    /// SHA-256 of its text, hexadecimal.
    pub text_sha256: String,
    /// The section it was cut from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub section: String,
    /// Where in the paper's text it lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<CharSpan>,
    /// Its text; quotations are characters of it. Absent in [`UNBOUND_PROOF_SCHEMA`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The sources beyond the datastore that found it; none: it came from the datastore.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found_by: Vec<String>,
}

/// SHA-256, hexadecimal, over canonical JSON ([`canonical`](super::canonical::canonical)) of values and over bytes of
/// other files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofDigests {
    /// Of the whole answer document.
    pub answer: String,
    /// Of the list `references` of the answer document.
    pub references: String,
    /// Of the list of each sentence's `quotes`.
    pub quotations: String,
    /// Of the list of each sentence's `support`, null where there is none.
    pub verdicts: String,
    /// Of the run's resolved settings.
    pub settings: String,
    /// Of the bytes of the run's other files, by name.
    pub files: BTreeMap<String, String>,
}

/// What the caller knows and the answer does not say.
#[derive(Debug, Clone)]
pub struct ProofRecord {
    /// Name of the run's folder.
    pub run: String,
    /// Version of the program.
    pub version: String,
    /// Where the passages are stored.
    pub datastore: Option<ProofDatastore>,
    /// What becomes [`ProofFile::recorded`].
    pub recorded: Value,
    /// Digest of the answer document.
    pub answer: String,
    /// Digest of the settings.
    pub settings: String,
    /// Digests of the other files.
    pub files: BTreeMap<String, String>,
}

impl ProofFile {
    /// The proof of `answer`. Its passages are those that `trace` shows; one that is quoted and not shown is left out,
    /// and a check then says so.
    ///
    /// # Errors
    /// Never in practice: everything in an answer has a JSON form.
    pub fn of(answer: &Answer, trace: &[Event], record: ProofRecord) -> serde_json::Result<Self> {
        // What the checks of content miss is no part of the proof: it follows from the sentences and the passages. Outline and
        // tree tell how the evidence was found, not what it proves; the digest of the answer binds them.
        let Answer {
            question,
            mode,
            abstained,
            sentences,
            references,
            sections,
            table,
            missing: _,
            outline: _,
            tree: _,
        } = answer;
        let proven = answer;
        let ProofRecord { run, version, datastore, recorded, answer, settings, files } = record;
        let sentences: Vec<ProofSentence> =
            sentences.iter().enumerate().map(|(at, one)| ProofSentence::of(at, one)).collect();
        let digests = ProofDigests {
            answer,
            references: digest(references)?,
            quotations: digest(&quotations(&sentences))?,
            verdicts: digest(&verdicts(&sentences))?,
            settings,
            files,
        };
        Ok(Self {
            schema: PROOF_SCHEMA.to_owned(),
            run,
            version,
            question: question.clone(),
            mode: Some(*mode),
            abstained: *abstained,
            datastore,
            passages: quoted_passages(proven, trace),
            sentences,
            references: references.clone(),
            sections: sections.clone(),
            table: table.clone(),
            recorded,
            digests: Some(digests),
        })
    }

    /// The answer it proves; `None` of a file that is not bound to one.
    pub fn answer(&self) -> Option<Answer> {
        Some(Answer {
            question: self.question.clone(),
            mode: self.mode.filter(|_| self.is_bound())?,
            abstained: self.abstained,
            sentences: self.sentences.iter().map(ProofSentence::sentence).collect(),
            references: self.references.clone(),
            sections: self.sections.clone(),
            table: self.table.clone(),
            missing: Vec::new(),
            outline: None,
            tree: None,
        })
    }

    /// Whether it is of the schema that binds answer, references, quotations and verdicts.
    pub fn is_bound(&self) -> bool {
        self.schema == PROOF_SCHEMA
    }
}

pub(super) fn quotations(sentences: &[ProofSentence]) -> Vec<&[Quote]> {
    sentences.iter().map(|sentence| sentence.quotes.as_slice()).collect()
}

pub(super) fn verdicts(sentences: &[ProofSentence]) -> Vec<Option<&Support>> {
    sentences.iter().map(|sentence| sentence.support.as_ref()).collect()
}

fn quoted_passages(answer: &Answer, trace: &[Event]) -> Vec<ProofPassage> {
    let mut shown: BTreeMap<&PassageId, (&Passage, &[String])> = BTreeMap::new();
    for event in trace {
        let Event::Ranked { evidence, .. } = event else { continue };
        for retrieved in evidence.iter().map(|one| &one.ranked.retrieved) {
            let passage = &retrieved.passage;
            shown.entry(&passage.id).or_insert((passage, &retrieved.found_by));
        }
    }
    let mut ids: Vec<&PassageId> =
        answer.quotes().chain(answer.study_quotes()).map(|quote| &quote.passage_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let passage = |id: &PassageId| {
        let (passage, found_by) = shown.get(id)?;
        Some(ProofPassage {
            passage_id: id.clone(),
            text_sha256: sha256(passage.text.as_bytes()),
            section: passage.section.clone(),
            span: Some(passage.span),
            text: Some(passage.text.clone()),
            found_by: found_by.to_vec(),
        })
    };
    ids.into_iter().filter_map(passage).collect()
}
