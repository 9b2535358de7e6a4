//! Proof: every sentence of an answer passes three gates, or the reader is told that it did not.
//!
//! * L0: the cited number exists and its metadata came from a source ([`EvidenceRegistry`](crate::EvidenceRegistry));
//! * L1: an exact span of the cited passage is located ([`select`], [`scholar_core::text::locate()`]);
//! * L2: an [`Attributor`](scholar_core::Attributor) judges that the span supports the sentence ([`lexical`],
//!   [`generator`]).
//!
//! [`DraftSentence`] is what is to be proven, however it was written; [`prove`] runs the gates and the configured remedies, [`finalise()`] numbers the
//! references, [`ProofFile`] is what remains on disk, [`verify_proof`] checks it again and [`compare_answers`] names what
//! was changed.
//!
//! Source: Nature article, "citation verification"; the gates, remedies and verdicts are ours.

pub mod canonical;
pub mod compare;
pub mod config;
pub mod content;
pub mod draft;
pub mod ensemble;
pub mod features;
pub mod file;
pub mod finalise;
pub mod gates;
pub mod generator;
pub mod lexical;
pub mod section_judge;
pub mod select;
pub mod sentence;
pub mod stems;
pub mod verify;

pub use compare::{Difference, DifferenceKind, compare_answers, compare_lines, compare_values};
pub use config::{JudgeFailure, ProofConfig, Remedy, UncitedRule};
pub use draft::DraftSentence;
pub use ensemble::{EnsembleAttributor, JudgeEnsemble};
pub use file::{
    PROOF_SCHEMA, ProofDatastore, ProofDigests, ProofFile, ProofPassage, ProofRecord,
    ProofSentence, UNBOUND_PROOF_SCHEMA,
};
pub use finalise::{finalise, reference_of};
pub(crate) use finalise::{number_of, reference_to};
pub use gates::{believed, prove};
pub use generator::GeneratorAttributor;
pub use lexical::LexicalAttributor;
pub use section_judge::SectionAttributor;
pub use sentence::{Fate, LocatedQuote, ProofCounts, Proven, ProvenSentence};
pub use verify::{ProofProblem, ProofRemark, ProofReport, Sources, verify_proof};
