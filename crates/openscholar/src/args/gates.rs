//! `bench gates`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// What the content gates are measured on.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchGatesArgs {
    /// Folder with `claims/`, `judged/`, `qa/` and `retrieval/scifact_test300/`.
    #[arg(long = "data", value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Measure the training splits, on which the gates were tuned.
    #[arg(long)]
    pub(crate) train: bool,
    /// Also measure how this judge's scores hold across sources: lexical, embedded, a judge from the catalog, or a
    /// judge's folder.
    #[arg(long, value_name = "NAME")]
    pub(crate) judge: Option<String>,
    /// Measure nothing; write a table of tabs for blind judges: all alarms and as many other sentences, shuffled, with
    /// their evidence.
    #[arg(long, value_name = "FILE", requires = "key", group = "blind", conflicts_with_all = ["judge", "out"])]
    pub(crate) sheet: Option<PathBuf>,
    /// What the sentences on the sheet are; written with it, read with the verdicts.
    #[arg(long, value_name = "FILE", requires = "blind")]
    pub(crate) key: Option<PathBuf>,
    /// What judges said of the sheet, a table of tabs with the columns id, judge and verdict (`yes` where the evidence has
    /// all that the sentence states, else `no`): sentences that most of them refuse no longer count as supported.
    #[arg(long, value_name = "FILE", requires = "key", group = "blind")]
    pub(crate) verdicts: Option<PathBuf>,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
