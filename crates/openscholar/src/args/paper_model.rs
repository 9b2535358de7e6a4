//! The language model of commands that read papers one by one: `papers screen` and `papers table`.

use clap::Args as ClapArgs;

use super::{AnswerArgs, GeneratorChoice};

/// The model that reads papers, and its budget.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct PaperModelArgs {
    /// Generator [default: server if a base URL is configured, else none].
    #[arg(long, value_enum)]
    pub(crate) generator: Option<GeneratorChoice>,
    /// Generator's model: a catalog name or GGUF file (embedded), or the server's name for it (server).
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Base URL of an OpenAI-compatible server, for example <http://localhost:8000/v1>.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Treat the model as small (not asked by --mode auto) or strong.
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
}

impl PaperModelArgs {
    /// The same as options of an answer, which models are opened by.
    pub(crate) fn answer(&self) -> AnswerArgs {
        let Self { generator, model, base_url, strength, max_cost, max_tokens, max_calls } =
            self.clone();
        AnswerArgs {
            generator,
            model,
            base_url,
            strength,
            max_cost,
            max_tokens,
            max_calls,
            ..AnswerArgs::default()
        }
    }
}
