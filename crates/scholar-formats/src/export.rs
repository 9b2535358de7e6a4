//! Lists and answers in the formats of others.
//!
//! Lists go out as `BibTeX`, RIS and CSL-JSON, and what [`crate::library`] reads of them is what went out. Answers go
//! out as Markdown, HTML, LaTeX and DOCX, with citations and references by any CSL style, each sentence with the
//! quotations that prove it.

mod bibtex;
mod comparison;
mod csl;
mod docx;
mod html;
mod item;
mod lead;
mod markdown;
mod outline;
mod report;
mod ris;
mod style;
mod tex;

use scholar_core::text::untrusted;
use scholar_core::{Answer, Notice, Paper, PaperId, Reference};

use crate::error::FormatError;
use item::Item;

pub use comparison::{ExportCell, ExportRow, TableExport, TableFormat, table};
pub use lead::{Lead, named};
pub use report::{ReportExport, ReportLine, ReportPart};
pub use style::{CitationStyle, STYLES};

/// What a list of references is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ListFormat {
    /// `BibTeX`.
    Bibtex,
    /// RIS.
    Ris,
    /// CSL-JSON.
    CslJson,
}

impl ListFormat {
    /// Ending of such a file's name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Bibtex => "bib",
            Self::Ris => "ris",
            Self::CslJson => "json",
        }
    }
}

/// What an answer is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExportFormat {
    /// Markdown with footnotes.
    Markdown,
    /// One HTML file that needs no other.
    Html,
    /// One LaTeX file that `pdflatex` compiles.
    Latex,
    /// Office Open XML, for word processors.
    Docx,
}

impl ExportFormat {
    /// Ending of such a file's name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Latex => "tex",
            Self::Docx => "docx",
        }
    }
}

/// An answer as it leaves the program.
#[derive(Debug, Clone, Copy)]
pub struct AnswerExport<'a> {
    /// The document's title, usually the question.
    pub title: &'a str,
    /// The answer whose references are written.
    pub answer: &'a Answer,
    /// What a person should know about it.
    pub notices: &'a [Notice],
    /// What made it, for the last line: program, version, model, run.
    pub generated_by: &'a str,
}

/// Writes papers as a list of references, with their abstracts.
pub fn papers<'a>(papers: impl IntoIterator<Item = &'a Paper>, format: ListFormat) -> String {
    let items: Vec<Item> = papers.into_iter().map(Item::of_paper).collect();
    list(&items, format)
}

/// Writes the references of an answer as a list.
pub fn references(references: &[Reference], format: ListFormat) -> String {
    let items: Vec<Item> = references.iter().map(Item::of_reference).collect();
    list(&items, format)
}

fn list(items: &[Item], format: ListFormat) -> String {
    match format {
        ListFormat::Bibtex => bibtex::write(items),
        ListFormat::Ris => ris::write(items),
        ListFormat::CslJson => untrusted::json(&format!("{:#}\n", csl::write(items))).into_owned(),
    }
}

/// Writes an answer with its citations, quotations and references.
///
/// # Errors
/// When the style cannot be applied, or a DOCX cannot be packed.
pub fn answer(
    export: &AnswerExport<'_>,
    format: ExportFormat,
    style: &CitationStyle,
) -> Result<Vec<u8>, FormatError> {
    document(&outline::Outline::new(export, style)?, format)
}

/// Writes a report with its citations, quotations, references and drawings.
///
/// # Errors
/// When the style cannot be applied, or a DOCX cannot be packed.
pub fn report(
    export: &ReportExport<'_>,
    format: ExportFormat,
    style: &CitationStyle,
) -> Result<Vec<u8>, FormatError> {
    document(&outline::Outline::of_report(export, style)?, format)
}

fn document(outline: &outline::Outline, format: ExportFormat) -> Result<Vec<u8>, FormatError> {
    Ok(match format {
        ExportFormat::Markdown => markdown::write(outline).into_bytes(),
        ExportFormat::Html => html::write(outline).into_bytes(),
        ExportFormat::Latex => tex::write(outline).into_bytes(),
        ExportFormat::Docx => docx::write(outline)?,
    })
}

/// An identifier as a line of a note, which reference managers understand.
fn note_line(id: &PaperId) -> String {
    let line = match id {
        PaperId::Doi(doi) => format!("DOI: {doi}"),
        PaperId::Arxiv(number) => format!("arXiv: {number}"),
        PaperId::Pmid(number) => format!("PMID: {number}"),
        PaperId::Pmcid(number) => format!("PMCID: PMC{number}"),
        PaperId::CorpusId(number) => format!("CorpusID: {number}"),
        PaperId::OpenAlex(number) => format!("OpenAlex: W{number}"),
        PaperId::Acl(name) => format!("ACL: {name}"),
        PaperId::Local(name) => format!("local: {name}"),
    };
    item::one_line(&line)
}
