//! The answer: sentences, each with citations, located quotations and a verdict.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::citation::Citation;
use crate::exploration::{Outline, Tree};
use crate::ids::{PaperId, PassageId};
use crate::place::Place;
use crate::support::{Missing, Support};

/// How an answer was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerMode {
    /// The paper's loop: draft, feedback, revision, citation verification.
    Generative,
    /// `SciRAG`: an outline, a tree of retrievals over the citation graph, merged bottom up.
    Scirag,
    /// Verbatim evidence selected and ordered in code.
    Evidence,
    /// One draft over retrieved passages, no feedback.
    SinglePass,
    /// The model alone. Nothing is proven.
    NoRetrieval,
}

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

/// What a sentence does in an answer, and with that what it owes its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerRole {
    /// Reports what a source says: it cites, and passes the gates or says that it did not.
    Finding,
    /// Follows from cited sentences of the same answer, which [`AnswerSentence::follows`] names.
    Synthesis,
    /// Leads over or sets the scope; claims nothing and never cites.
    Framing,
    /// Says that something is not reported, after it was searched for.
    Gap,
}

/// What a paper says of its own study, its design or its size, in its own words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyDetail {
    /// The words as they are shown: those of the quotation, single-spaced.
    pub text: String,
    /// Where the paper says so.
    pub quote: Quote,
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
    /// What it does in the answer; `None` where the form of the answer has no roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<AnswerRole>,
    /// Positions, from 0, of the cited sentences of the answer that a synthesis follows from, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follows: Vec<usize>,
    /// Design and size of the study that it reports on, in front of the first sentence of a paper.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub study: Vec<StudyDetail>,
}

impl AnswerSentence {
    /// Whether it is shown in quotation marks: a finding of a digest in its source's own words.
    pub fn is_quoted(&self) -> bool {
        self.verbatim && self.role.is_some()
    }

    /// A sentence that cites nothing and stands under no heading.
    pub fn uncited(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            heading: None,
            paragraph_start: false,
            citations: Vec::new(),
            support: None,
            quotes: Vec::new(),
            gates: Vec::new(),
            verbatim: false,
            role: None,
            follows: Vec::new(),
            study: Vec::new(),
        }
    }
}

/// What a part of an answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SectionKind {
    /// The answer in a few sentences, first.
    ShortAnswer,
    /// One facet of the question.
    Facet,
    /// What limits the evidence, last.
    Limits,
}

/// A part of an answer: the sentences `start..end` under one heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerSection {
    /// Its heading; `None` for sentences in front of any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// What it is for.
    pub kind: SectionKind,
    /// Position of its first sentence, from 0.
    pub start: usize,
    /// One past its last.
    pub end: usize,
}

/// Studies or methods side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerTable {
    /// Headings of the cells; what names the paper of a row comes before them.
    pub columns: Vec<String>,
    /// One paper each.
    pub rows: Vec<TableRow>,
}

/// What one paper says to each column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    /// The paper.
    pub reference: Citation,
    /// As many as the table has columns.
    pub cells: Vec<TableCell>,
}

/// One cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TableCell {
    /// What the paper says; empty where that was not found in it.
    pub text: String,
    /// Where it says so; absent with an empty text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<Quote>,
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

/// What a sentence says and the texts that it cites do not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingContent {
    /// Position of the sentence in the answer, from 0.
    pub sentence: usize,
    /// Each thing once.
    pub missing: Vec<Missing>,
}

/// What the pipeline returns for a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The question, trimmed, in the words of whoever asked.
    pub question: String,
    /// How it was written.
    pub mode: AnswerMode,
    /// The evidence does not suffice; `sentences` may then be empty, or what comes nearest.
    pub abstained: bool,
    /// Sentences in the order in which they are read.
    pub sentences: Vec<AnswerSentence>,
    /// The cited papers, by number.
    pub references: Vec<Reference>,
    /// Parts in order, which together have all sentences; empty where the form of the answer has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<AnswerSection>,
    /// Key studies or methods, where at least four compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<AnswerTable>,
    /// What the checks of content miss in the cited papers' texts, of the sentences that are shown all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingContent>,
    /// The plan that it was written along, where its mode makes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outline: Option<Outline>,
    /// How its evidence was found, where its mode explores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Tree>,
}

/// What an abstention says to a reader: another thing where papers that may answer are quoted than where none is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abstention {
    /// Stands out, in front.
    pub heading: &'static str,
    /// The sentence behind it.
    pub message: &'static str,
}

impl Answer {
    /// What an abstention says to a reader; `None` where the question is answered.
    pub fn abstention(&self) -> Option<Abstention> {
        let shows = self.sentences.iter().any(|sentence| !sentence.citations.is_empty());
        self.abstained.then_some(if shows {
            Abstention {
                heading: "No clear answer.",
                message: "No stored paper is certain to answer this question; the nearest are quoted.",
            }
        } else {
            Abstention {
                heading: "Insufficient evidence.",
                message: "No stored paper was found to answer this question.",
            }
        })
    }

    /// The sentence in front of which the table is read: the first of the part about limits, else the end.
    pub fn table_place(&self) -> usize {
        let limits = self.sections.iter().find(|part| part.kind == SectionKind::Limits);
        limits.map_or(self.sentences.len(), |part| part.start)
    }

    /// Quotations of sentences, then of the table's cells.
    pub fn quotes(&self) -> impl Iterator<Item = &Quote> {
        let cells = self.table.iter().flat_map(|table| &table.rows).flat_map(|row| &row.cells);
        let of_cells = cells.filter_map(|cell| cell.quote.as_ref());
        self.sentences.iter().flat_map(|sentence| &sentence.quotes).chain(of_cells)
    }

    /// Numbers of the references that sentences or rows of the table cite. In an answer that follows no other these are all.
    pub fn cited(&self) -> BTreeSet<Citation> {
        let rows = self.table.iter().flat_map(|table| &table.rows).map(|row| row.reference);
        self.sentences.iter().flat_map(|one| &one.citations).copied().chain(rows).collect()
    }

    /// Quotations of what stands in front of sentences about their studies.
    pub fn study_quotes(&self) -> impl Iterator<Item = &Quote> {
        self.sentences.iter().flat_map(|sentence| &sentence.study).map(|detail| &detail.quote)
    }
}
