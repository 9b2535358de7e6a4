//! Options of whatever answers questions: `ask` and `bench run`.

use clap::{Args as ClapArgs, ValueEnum};

use super::{SearchModeArg, SearchSourceArgs};

/// Models, retrieval settings and budget.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct AnswerArgs {
    /// Generator [default: server if a base URL is configured, else embedded].
    #[arg(long, value_enum)]
    pub(crate) generator: Option<GeneratorChoice>,
    /// Generator's model: a catalog name or GGUF file (embedded), or the server's name for it (server).
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Base URL of an OpenAI-compatible server, for example <http://localhost:8000/v1>.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Treat the model as small (evidence-first) or strong (the paper's loop).
    #[arg(long, value_name = "STRENGTH", value_parser = ["small", "strong"])]
    pub(crate) strength: Option<String>,
    /// Judge of support: lexical, embedded, server, a judge from the catalog, or a judge's folder.
    #[arg(long, value_name = "NAME")]
    pub(crate) judge: Option<String>,
    /// Model of the same server that judges support [default: the model that writes, where it is capable].
    #[arg(long, value_name = "NAME", conflicts_with = "judge")]
    pub(crate) judge_model: Option<String>,
    /// Datastore to search.
    #[arg(long, value_name = "NAME")]
    pub(crate) datastore: Option<String>,
    /// Number of candidates retrieved per search.
    #[arg(long, value_name = "N")]
    pub(crate) top_k: Option<usize>,
    /// Number of passages shown to the generator; with `bench run` in evidence mode, passages from which sentences are selected.
    #[arg(long, value_name = "N")]
    pub(crate) top_n: Option<usize>,
    /// Indexes to search.
    #[arg(long, value_enum)]
    pub(crate) search: Option<SearchModeArg>,
    /// Skip reranking.
    #[arg(long, conflicts_with = "reranker")]
    pub(crate) no_rerank: bool,
    /// Reranker: a reranker or encoder from the catalog, a reranker's folder, datastore-encoder, or auto.
    #[arg(long, value_name = "NAME")]
    pub(crate) reranker: Option<String>,
    /// Override a setting by its name in the config file, for example `retrieval.dedup=upstream`; repeatable.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Stop before spending more than USD US dollars.
    #[arg(long, value_name = "USD")]
    pub(crate) max_cost: Option<f64>,
    /// Stop before using more than N model tokens.
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// Stop after S seconds, with the best answer so far.
    #[arg(long, value_name = "S")]
    pub(crate) max_seconds: Option<u64>,
    /// Stop after N model calls.
    #[arg(long, value_name = "N")]
    pub(crate) max_calls: Option<u64>,
    /// Where papers are looked for.
    #[command(flatten)]
    pub(crate) search_sources: SearchSourceArgs,
}

/// Kind of generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GeneratorChoice {
    /// The built-in GGUF engine.
    Embedded,
    /// An OpenAI-compatible server.
    Server,
    /// No model; evidence is selected by code only.
    None,
}
