//! Arguments of `bench generator`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Measure the embedded language model: speed, memory and agreement, optionally against llama-cpp-python.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchGeneratorArgs {
    /// Model to measure: a name from the catalog or a GGUF file.
    #[arg(default_value = crate::config::DEFAULT_GENERATOR)]
    pub(crate) model: String,
    /// Python with llama-cpp-python installed; if omitted, only this program is measured.
    #[arg(long, value_name = "PYTHON")]
    pub(crate) peer_python: Option<PathBuf>,
    /// Lengths of the prompts in tokens; long ones are read once with each number of threads.
    #[arg(long, value_delimiter = ',', default_values_t = [128, 512, 2048], value_name = "N")]
    pub(crate) prompts: Vec<usize>,
    /// Rounds of each measurement; the best and the median are shown.
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) rounds: usize,
    /// Tokens to write after each prompt.
    #[arg(long, default_value_t = 16, value_name = "N")]
    pub(crate) write: usize,
    /// Tokens of the starter papers over which logits are compared; 0 compares nothing.
    #[arg(long, default_value_t = 4000, value_name = "N")]
    pub(crate) text_tokens: usize,
    /// Starter papers whose beginnings are continued by both engines.
    #[arg(long, default_value_t = 50, value_name = "N")]
    pub(crate) continuations: usize,
    /// Questions to answer from the default datastore, once with guessing from prompts and once without; at most 8.
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=8))]
    pub(crate) questions: u8,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
