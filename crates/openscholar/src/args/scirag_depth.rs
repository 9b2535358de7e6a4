//! Arguments of `bench scirag-depth`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// What a question costs by depth.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchSciragDepthArgs {
    /// Table of questions, as for `bench answerable`.
    #[arg(value_name = "FILE")]
    pub(crate) questions: PathBuf,
    /// Use only the answerable questions of this split.
    #[arg(long, default_value = "dev", value_name = "SPLIT")]
    pub(crate) split: String,
    /// Use at most this many questions, evenly spaced.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
    /// Datastore to ask.
    #[arg(long, value_name = "NAME")]
    pub(crate) datastore: Option<String>,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
