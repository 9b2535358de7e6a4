//! Options of whatever answers questions: `ask` and `bench run`.

use clap::{Args as ClapArgs, ValueEnum};

use super::{LookArgs, SearchModeArg};

/// Which models answer, from what, and what it may cost.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct AnswerArgs {
    /// Which model writes: embedded, server, none. Default: server if a base URL is configured, else embedded.
    #[arg(long, value_enum)]
    pub(crate) generator: Option<GeneratorChoice>,
    /// Model to write with: a catalog name or GGUF file for embedded, the server's model name for server.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Address of an OpenAI-compatible server, for example <http://localhost:8000/v1>.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Treat the model as strong (runs the paper's loop) or small (evidence-first).
    #[arg(long, value_name = "STRENGTH", value_parser = ["small", "strong"])]
    pub(crate) strength: Option<String>,
    /// Who judges support: lexical, embedded, server, a judge from the catalog, or the folder of one.
    #[arg(long, value_name = "NAME")]
    pub(crate) judge: Option<String>,
    /// Datastore to ask.
    #[arg(long, value_name = "NAME")]
    pub(crate) datastore: Option<String>,
    /// Candidates kept of each search.
    #[arg(long, value_name = "N")]
    pub(crate) top_k: Option<usize>,
    /// Passages shown to the writer; for `bench run` in evidence mode, passages that sentences are selected from.
    #[arg(long, value_name = "N")]
    pub(crate) top_n: Option<usize>,
    /// Which indexes are asked.
    #[arg(long, value_enum)]
    pub(crate) search: Option<SearchModeArg>,
    /// Skip reranking.
    #[arg(long, conflicts_with = "reranker")]
    pub(crate) no_rerank: bool,
    /// What reranks the candidates: a reranker or encoder from the catalog, the folder of a reranker, own, auto.
    #[arg(long, value_name = "NAME")]
    pub(crate) reranker: Option<String>,
    /// Change one setting, named as in the config file: `retrieval.dedup=upstream`; can be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Stop before spending more than this many US dollars.
    #[arg(long, value_name = "USD")]
    pub(crate) max_cost: Option<f64>,
    /// Stop before using more than this many model tokens.
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// Stop after this many seconds with the best answer so far.
    #[arg(long, value_name = "S")]
    pub(crate) max_seconds: Option<u64>,
    /// Stop after this many model calls.
    #[arg(long, value_name = "N")]
    pub(crate) max_calls: Option<u64>,
    /// Where papers are looked for.
    #[command(flatten)]
    pub(crate) look: LookArgs,
}

/// Which kind of model writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GeneratorChoice {
    /// The GGUF engine in this process.
    Embedded,
    /// An OpenAI-compatible server.
    Server,
    /// No model: evidence in code only.
    None,
}
