//! Options of `papers table` and `bench tables`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::{FilterArgs, PaperModelArgs};

/// Papers, columns and output of a table.
#[derive(Debug, ClapArgs)]
pub(crate) struct TableArgs {
    /// The papers: identifiers, citation keys, paths, or words of titles [default: all in the datastore that pass the filters].
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Columns: presets (trial, method, dataset), properties (n, follow-up, licence), and questions as NAME=QUESTION, separated
    /// by commas; or a TOML file of `column` tables with `property`, or `name` and `question`.
    #[arg(long, value_name = "COLUMNS", default_value = "trial")]
    pub(crate) columns: String,
    /// Only the papers that a search for this text finds, best first.
    #[arg(long, value_name = "TEXT", conflicts_with = "ids")]
    pub(crate) query: Option<String>,
    /// Number of papers of the search.
    #[arg(long, default_value_t = 10, value_name = "N", requires = "query", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) top: usize,
    /// What fills the cells.
    #[arg(long, value_enum, default_value_t = TableMode::Auto)]
    pub(crate) mode: TableMode,
    /// The language model, if one fills the cells.
    #[command(flatten)]
    pub(crate) reader: PaperModelArgs,
    /// Output format [default: a table for the terminal].
    #[arg(long, value_enum)]
    pub(crate) format: Option<TableFormatArg>,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Folder in which finished cells are kept, to continue an interrupted table [default: `tables` in the home folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Which papers of the datastore.
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

/// What fills the cells of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableMode {
    /// The model if there is a strong one, rules otherwise; the table says which.
    Auto,
    /// A language model reads each paper once; only words that it copied exactly are taken.
    Generative,
    /// Rules and the built-in models.
    Evidence,
}

/// Formats of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormatArg {
    /// Comma-separated values, with a column for each quotation and place.
    Csv,
    /// Markdown with footnotes.
    Markdown,
    /// One HTML file.
    Html,
    /// A DOCX file with footnotes.
    Docx,
}

/// Measure the cells of tables.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchTablesArgs {
    /// Full texts in the format pmc: articles of Evidence Inference and of the labelled cells.
    #[arg(long, value_name = "FILE")]
    pub(crate) articles: PathBuf,
    /// Prompts of Evidence Inference as JSON lines with pmcid, intervention, comparator and outcome.
    #[arg(long, value_name = "FILE")]
    pub(crate) prompts: PathBuf,
    /// Labelled cells as JSON lines with paper, column, value (null where absent) and alternatives.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Also write the candidates of the development half with their features, as JSON lines for fitting.
    #[arg(long, value_name = "FILE")]
    pub(crate) candidates: Option<PathBuf>,
    /// Use only the first N articles.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
