//! What the gates return.

use scholar_core::{CharSpan, Gate, Missing, Notice, Support};

use crate::evidence::EvidenceNumber;

/// What became of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It passed with its own citations.
    Kept,
    /// It passed with other citations.
    Reattributed,
    /// It is shown as unproven.
    Weakened,
    /// It claims nothing that needs a source, or the configuration leaves it alone.
    Uncited,
    /// It failed and no remedy was configured.
    Unproven,
}

/// A quotation in a shown passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedQuote {
    /// Number of the passage.
    pub evidence: EvidenceNumber,
    /// Characters of the passage's text.
    pub span: CharSpan,
    /// Exactly the characters of `span`.
    pub text: String,
}

/// A sentence after the gates.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvenSentence {
    /// Without markers, in the words of the draft.
    pub text: String,
    /// Heading of the part it stands under.
    pub heading: Option<String>,
    /// Starts a new paragraph.
    pub paragraph_start: bool,
    /// The words of its first citation.
    pub verbatim: bool,
    /// Existing evidence only, in order of appearance.
    pub citations: Vec<EvidenceNumber>,
    /// Located quotations, best judged first.
    pub quotes: Vec<LocatedQuote>,
    /// The best judgement among the citations.
    pub support: Option<Support>,
    /// Gates passed, L0 first.
    pub gates: Vec<Gate>,
    /// What of it the texts that it cites do not have; empty where it passed or was not checked.
    pub missing: Vec<Missing>,
    /// What became of it.
    pub fate: Fate,
}

/// How many sentences met which fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProofCounts {
    /// Kept as they were.
    pub kept: usize,
    /// Cited to another passage.
    pub reattributed: usize,
    /// Kept, and shown as unproven.
    pub weakened: usize,
    /// Taken out of the answer.
    pub dropped: usize,
}

/// The sentences of a draft after the gates.
#[derive(Debug, Clone, PartialEq)]
pub struct Proven {
    /// In the order of the draft.
    pub sentences: Vec<ProvenSentence>,
    /// Every change, in order.
    pub notices: Vec<Notice>,
    /// How many sentences met which fate.
    pub counts: ProofCounts,
}
