//! Options of `papers table` and `bench tables`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::{AnswerArgs, FilterArgs, GeneratorChoice, SearchSourceArgs};

/// Papers, columns and output of a table.
#[derive(Debug, ClapArgs)]
pub(crate) struct TableArgs {
    /// The papers: identifiers, citation keys, paths, or words of titles [default: all in the datastore that pass the filters].
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Columns: presets (trial, method, dataset), properties (n, follow-up, licence), and questions as NAME=QUESTION, separated
    /// by commas; or a TOML file of [[column]] tables with `property`, or `name` and `question`.
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
    /// Generator [default: server if a base URL is configured, else none].
    #[arg(long, value_enum)]
    pub(crate) generator: Option<GeneratorChoice>,
    /// Generator's model: a catalog name or GGUF file (embedded), or the server's name for it (server).
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Base URL of an OpenAI-compatible server, for example <http://localhost:8000/v1>.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Treat the model as small (rules fill the cells) or strong (the model does).
    #[arg(long, value_name = "STRENGTH", value_parser = ["small", "strong"])]
    pub(crate) strength: Option<String>,
    /// Stop before spending more than USD US dollars.
    #[arg(long, value_name = "USD")]
    pub(crate) max_cost: Option<f64>,
    /// Stop before using more than N model tokens.
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// Stop after N model calls.
    #[arg(long, value_name = "N")]
    pub(crate) max_calls: Option<u64>,
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

impl TableArgs {
    /// The options of the model as those of an answer.
    pub(crate) fn answer(&self) -> AnswerArgs {
        AnswerArgs {
            generator: self.generator,
            model: self.model.clone(),
            base_url: self.base_url.clone(),
            strength: self.strength.clone(),
            judge: None,
            judge_model: None,
            datastore: None,
            top_k: None,
            top_n: None,
            search: None,
            no_rerank: false,
            reranker: None,
            settings: Vec::new(),
            max_cost: self.max_cost,
            max_tokens: self.max_tokens,
            max_seconds: None,
            max_calls: self.max_calls,
            search_sources: SearchSourceArgs {
                sources: Vec::new(),
                offline: false,
                full_texts: None,
            },
        }
    }
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
