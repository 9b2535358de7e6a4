//! Papers as pages and programs see them, and what may be done with them.

use std::path::PathBuf;
use std::sync::Arc;

use scholar_core::{PageBox, Paper, PaperId, PaperMeta, Passage, PassageId, Retriever};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{BackendError, CitedPassage};

/// What is said of a file that holds no papers, behind its name.
pub const NO_DOCUMENT: &str = "is no document and no list of papers";

/// Datastores that are searched as one.
#[derive(Clone)]
pub struct SearchedDatastores {
    /// Their names, in the order in which they are preferred.
    pub names: Vec<String>,
    /// Names of those that are served and cannot be searched now.
    pub left_out: Vec<String>,
    /// Searches them. Hits of several say in `found_by` where they are from.
    pub retriever: Arc<dyn Retriever>,
}

/// The papers behind the pages. Its methods may wait for the disk; drawing a page and adding files take seconds.
pub trait Shelf: Send + Sync + 'static {
    /// What searches the datastores called `names`, or all that are served where none is named. The same names give the same
    /// retriever, so that their queries are searched together.
    ///
    /// # Errors
    /// When one of those named is not served, or cannot be opened; or when none can.
    fn searched(&self, names: &[String]) -> Result<SearchedDatastores, BackendError>;

    /// Papers of a datastore whose title, authors or venue have all words of a query.
    ///
    /// # Errors
    /// When there is no such datastore, or it cannot be read.
    fn papers(&self, datastore: &str, query: &PaperQuery) -> Result<PaperList, BackendError>;

    /// A paper with its text and what is known around it.
    ///
    /// # Errors
    /// When there is no such paper.
    fn paper(&self, datastore: &str, paper: &PaperId) -> Result<PaperView, BackendError>;

    /// What is known of a paper, without its text.
    ///
    /// # Errors
    /// When there is no such paper.
    fn meta(&self, datastore: &str, paper: &PaperId) -> Result<PaperMeta, BackendError>;

    /// A stored passage with its paper, where a run's own record does not have it.
    ///
    /// # Errors
    /// When it cannot be read.
    fn passage(
        &self,
        datastore: &str,
        passage: &PassageId,
    ) -> Result<Option<CitedPassage>, BackendError>;

    /// Where words stand on the pages of a paper's PDF; empty if they do not.
    ///
    /// # Errors
    /// When the paper was read from no PDF, its file is not as it was, or the file cannot be read.
    fn marks(
        &self,
        datastore: &str,
        paper: &PaperId,
        words: &str,
    ) -> Result<Vec<MarkedPage>, BackendError>;

    /// One page of a paper's PDF, counted from 1, drawn as SVG with `words` marked.
    ///
    /// # Errors
    /// As [`Self::marks`], or when there is no such page.
    fn drawn_page(
        &self,
        datastore: &str,
        paper: &PaperId,
        page: u32,
        words: Option<&str>,
    ) -> Result<DrawnPage, BackendError>;

    /// The datastore that files are added to.
    fn added_to(&self) -> String;

    /// Whether files may be added to this datastore, asked before any of them is received.
    ///
    /// # Errors
    /// When it is not one of those that are served, nor [`Self::added_to`], or its papers stay as they are.
    fn takes_files(&self, datastore: &str) -> Result<(), BackendError>;

    /// A folder in which files that people send are put until they are read. It is theirs for as long as the paper is: papers
    /// are looked at where they lie.
    ///
    /// # Errors
    /// When it cannot be made.
    fn incoming(&self) -> Result<PathBuf, BackendError>;

    /// Reads files and stores their papers; `tell` hears of each file that is done, in order.
    ///
    /// # Errors
    /// When nothing can be stored.
    fn add(
        &self,
        datastore: &str,
        files: &[PathBuf],
        tell: &dyn Fn(AddedFile),
    ) -> Result<(), BackendError>;

    /// Pairs of papers that may be one work: the first `limit`, and how many there are.
    ///
    /// # Errors
    /// When there is no such datastore, or it is too large to be compared with itself.
    fn doubtful(
        &self,
        datastore: &str,
        limit: usize,
    ) -> Result<(Vec<DoubtfulPair>, usize), BackendError>;

    /// Says of two papers whether they are one work.
    ///
    /// # Errors
    /// When one of them is not there, or the datastore cannot be written.
    fn settle(
        &self,
        datastore: &str,
        papers: [&PaperId; 2],
        are_one: bool,
    ) -> Result<(), BackendError>;
}

/// Which papers of a datastore are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaperQuery {
    /// Words of title, authors or venue; all must be there.
    pub words: String,
    /// How many of those that fit are passed over.
    pub offset: usize,
    /// How many are listed at most.
    pub limit: usize,
}

/// A part of a list of papers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PaperList {
    /// As many as were asked for.
    pub papers: Vec<PaperMeta>,
    /// How many fit.
    pub found: usize,
    /// How many there are.
    pub total: usize,
}

/// A paper with its text and what is known around it.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperView {
    /// Metadata, sections, references, and what each source says of it.
    pub paper: Paper,
    /// How its text was cut.
    pub passages: Vec<Passage>,
    /// What it cites, in order.
    pub references: Vec<CitedWork>,
    /// Papers of the datastore that cite it.
    pub cited_by: Vec<PaperMeta>,
    /// Where runs quoted it, the newest first.
    pub quoted_in: Vec<QuotedIn>,
    /// Whether it was read from a PDF whose pages can be looked at.
    pub has_pdf: bool,
}

/// A work that a paper cites.
#[derive(Debug, Clone, PartialEq)]
pub struct CitedWork {
    /// Its identifier, if it is known.
    pub id: Option<PaperId>,
    /// As the list of references prints it, or its title.
    pub text: String,
    /// Whether the datastore has it.
    pub is_stored: bool,
}

/// A sentence of an answer that quotes a paper.
#[derive(Debug, Clone, PartialEq)]
pub struct QuotedIn {
    /// The run.
    pub run: String,
    /// What it was asked.
    pub question: String,
    /// The quoted words.
    pub quotation: String,
    /// The passage they stand in.
    pub passage: PassageId,
    /// First character of the quotation in the passage.
    pub start: usize,
    /// One past its last character.
    pub end: usize,
}

/// What words cover of one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedPage {
    /// The page, from 1.
    pub page: u32,
    /// One rectangle a line, in points from the page's upper left corner.
    pub boxes: Vec<PageBox>,
}

/// A page of a PDF, drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnPage {
    /// The drawing, a document of its own.
    pub svg: String,
    /// How many pages the file has.
    pub pages: u32,
    /// Width in points.
    pub width: f32,
    /// Height in points.
    pub height: f32,
    /// What the drawing lacks, a clause each.
    pub notices: Vec<String>,
}

/// What became of a file that was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AddedFile {
    /// Its name.
    pub name: String,
    /// Papers it gave.
    pub papers: Vec<AddedPaper>,
    /// What a person should know, a clause each; why it gave no paper.
    pub notices: Vec<String>,
    /// Whether it is stored as it is already.
    pub is_unchanged: bool,
}

/// A paper that a file gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AddedPaper {
    /// Its identifier.
    #[schema(value_type = String, example = "doi:10.1000/x")]
    pub id: PaperId,
    /// Its title.
    pub title: String,
    /// Papers that were stored already and are the same work, and how that is known.
    pub joined: Vec<String>,
}

/// Two papers that may be one work.
#[derive(Debug, Clone, PartialEq)]
pub struct DoubtfulPair {
    /// Both, as they are stored.
    pub papers: [PaperMeta; 2],
    /// Why they were not joined.
    pub why: String,
}
