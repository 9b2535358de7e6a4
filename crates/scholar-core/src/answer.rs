//! The answer: sentences, each with citations, located quotations and a verdict.

use serde::{Deserialize, Serialize};

use crate::ids::{PaperId, PassageId};
use crate::place::Place;
use crate::support::Support;

/// How an answer was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerMode {
    /// The paper's loop: draft, feedback, revision, citation verification.
    Generative,
    /// Verbatim evidence selected and ordered in code.
    Evidence,
    /// One draft over retrieved passages, no feedback.
    SinglePass,
    /// The model alone. Nothing is proven.
    NoRetrieval,
}

/// A resolved citation: the 1-based number of a [`Reference`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Citation(pub usize);

/// A quotation located in a stored source. `start..end` are characters of the stored passage's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quote {
    /// Number of the reference it comes from.
    pub reference: Citation,
    /// Paper and number of the passage that the quotation was located in.
    pub passage_id: PassageId,
    /// First character in the passage's text.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// Exactly the characters `start..end`.
    pub text: String,
    /// Where it stands on the pages of the source, starts counted from the quotation's own, where the format tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
}

impl Quote {
    /// The page it begins on.
    pub fn page(&self) -> Option<u32> {
        self.places.first().map(|place| place.page)
    }
}

/// The gates a sentence can pass; reported separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Gate {
    /// The cited number exists and its metadata came from a source.
    L0,
    /// An exact span of a stored passage is located.
    L1,
    /// An attributor judges that the span supports the sentence.
    L2,
}

/// One sentence of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerSentence {
    /// The sentence without citation markers.
    pub text: String,
    /// Heading of the part it stands under, if the answer has parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// Starts a new paragraph.
    #[serde(default)]
    pub paragraph_start: bool,
    /// Which references it cites, in order of appearance.
    pub citations: Vec<Citation>,
    /// Verdict of the attributor; `None` for a sentence that cites nothing and claims nothing to cite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support: Option<Support>,
    /// Located quotations, best first.
    pub quotes: Vec<Quote>,
    /// Gates that the sentence has passed.
    pub gates: Vec<Gate>,
    /// The sentence is a stored source's own wording.
    #[serde(default)]
    pub verbatim: bool,
}

/// A cited paper, as the answer's list of references shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Number in the answer, from 1.
    pub number: Citation,
    /// Identifier under which the paper is stored.
    pub paper_id: PaperId,
    /// Title, single-spaced, as its source states it.
    pub title: String,
    /// Names in the order of the paper, as their source prints them.
    pub authors: Vec<String>,
    /// Year of publication, where a source states it.
    pub year: Option<i16>,
    /// Journal, conference or repository, where a source states it.
    pub venue: Option<String>,
    /// Page about the paper, where a source states one.
    pub url: Option<String>,
    /// DOI without an address in front.
    pub doi: Option<String>,
    /// The sources beyond the datastore that found it, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found_by: Vec<String>,
}

/// What the pipeline returns for a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The question, trimmed, in the words of whoever asked.
    pub question: String,
    /// How it was written.
    pub mode: AnswerMode,
    /// The evidence does not suffice; `sentences` may then be empty.
    pub abstained: bool,
    /// Sentences in the order in which they are read.
    pub sentences: Vec<AnswerSentence>,
    /// The cited papers, by number.
    pub references: Vec<Reference>,
}
