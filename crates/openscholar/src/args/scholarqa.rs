//! Options of `bench run`, `bench score`, `bench report` and `bench convert`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use scholar_bench::scholarqa::System;

use super::{AnswerArgs, ExplorationArgs, GeneratorChoice, SearchSourceArgs};

/// Which task of the benchmark is asked of which system.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchRunArgs {
    /// Task: scifact, pubmedqa, qasa, cs, multi, bio, neuro, related-work.
    pub(crate) task: String,
    #[arg(long, value_name = "SYSTEM", help = system_help())]
    pub(crate) system: String,
    /// Folder of the benchmark's files, or the task's file.
    #[arg(long, value_name = "PATH")]
    pub(crate) data: PathBuf,
    /// Folder of the run; an existing run is resumed.
    #[arg(long, value_name = "RUN")]
    pub(crate) out: PathBuf,
    /// Sample N items.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Random seed of item sampling and generation.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub(crate) seed: u64,
    /// Name of the run in reports [default: the folder's name].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Number of items answered concurrently [default: 1 for the embedded model, else 4].
    #[arg(long, value_name = "N")]
    pub(crate) parallel: Option<usize>,
    /// Save the retrieved passages of each item to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) save_retrieved: Option<PathBuf>,
    /// Use the retrieved passages saved in this file instead of searching.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["save_retrieved", "datastore", "sources"])]
    pub(crate) retrieved: Option<PathBuf>,
    /// Only evidence published strictly before this date (YYYY-MM-DD), or `none` [default: 2023-01-04, the day after the paper's
    /// datastore ends; for related-work, each item's own date].
    #[arg(long, value_name = "DATE")]
    pub(crate) before: Option<String>,
    /// Skip predictions that match no item.
    #[arg(long)]
    pub(crate) skip_unknown: bool,
    /// Models, retrieval settings and budget.
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    /// Ablations.
    #[command(flatten)]
    pub(crate) less: LessArgs,
    /// Ablations of scirag.
    #[command(flatten)]
    pub(crate) exploration: ExplorationArgs,
}

/// The systems, as the benchmark derives them from the pipeline's modes.
fn system_help() -> String {
    let systems: Vec<String> =
        System::all().into_iter().map(|(name, _, what)| format!("{name} ({what})")).collect();
    format!(
        "System: {}, or predictions:FILE for another system's answers. \
         Classification tasks are answered with a single draft, also in generative mode; only scirag explores them",
        systems.join(", ")
    )
}

/// Ablations.
#[derive(Debug, ClapArgs)]
pub(crate) struct LessArgs {
    /// Disable feedback and revision; in evidence mode, the follow-up searches for gaps.
    #[arg(long)]
    pub(crate) no_feedback: bool,
    /// Disable the insertion and verification of citations.
    #[arg(long)]
    pub(crate) no_verification: bool,
}

/// Predictions to read and the format to write.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchConvertArgs {
    /// Folder of a run, or a file of predictions in any supported format.
    pub(crate) from: PathBuf,
    /// Output format.
    #[arg(long, value_enum)]
    pub(crate) to: ShapeArg,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Task whose items give the records their ids.
    #[arg(long, requires = "data", value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Folder of the benchmark's files, or the task's file.
    #[arg(long, requires = "task", value_name = "PATH")]
    pub(crate) data: Option<PathBuf>,
    /// Skip records that match no item.
    #[arg(long)]
    pub(crate) skip_unknown: bool,
}

/// Formats of prediction files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShapeArg {
    /// This project's JSON lines.
    Openscholar,
    /// A JSON list of objects with input, output, ctxs.
    List,
    /// The same list under the key "data".
    Data,
    /// The same objects as JSON lines.
    Lines,
    /// JSON lines with `case_id` and `answer_text`.
    Rubric,
    /// A JSON list of objects with input, output, `final_passages`.
    Prometheus,
}

/// Predictions to score, and the judge.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchScoreArgs {
    /// Folder of a run, or a file of predictions in any supported format (requires --task and --data).
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// Task, for a file of predictions.
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Folder of the benchmark's files, or the task's file [default: as in the run].
    #[arg(long, value_name = "PATH")]
    pub(crate) data: Option<PathBuf>,
    /// Citation judge: none, lexical, embedded (the built-in language model), lm (a server's model), a judge from the catalog, a
    /// judge's folder, or auto (the best built-in one).
    #[arg(long, default_value = "auto", value_name = "NAME")]
    pub(crate) judge: String,
    /// How the citations of a sentence are counted.
    #[arg(long, value_enum, default_value_t = CitationsArg::Corrected)]
    pub(crate) citations: CitationsArg,
    /// Also compare pairwise with this run, in both orders; requires --grade or --judge lm.
    #[arg(long, value_name = "RUN")]
    pub(crate) against: Option<PathBuf>,
    /// Also score rubrics and grades with a model: the embedded one, or a server's with --base-url; implied by --judge lm.
    #[arg(long)]
    pub(crate) grade: bool,
    /// The server's model.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Base URL of an OpenAI-compatible server.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// File of the 1–5 rubrics [default: `rubrics/prometheus_rubrics_v8.json` of the benchmark's files].
    #[arg(long, value_name = "FILE")]
    pub(crate) rubrics: Option<PathBuf>,
    /// Datastore in which to look up papers that answers list [default, if an answer without passages lists any: the run's,
    /// else that of the config file].
    #[arg(long, value_name = "NAME")]
    pub(crate) titles: Option<String>,
    /// Also measure the judge's agreement with human labels: folder with `claims/`, `attribution/` and
    /// `retrieval/scifact_test300/`.
    #[arg(long, value_name = "DIR")]
    pub(crate) labels: Option<PathBuf>,
    /// Use only the first N labelled pairs of each set.
    #[arg(long, value_name = "N")]
    pub(crate) labels_limit: Option<usize>,
    /// Skip predictions that match no item.
    #[arg(long)]
    pub(crate) skip_unknown: bool,
    /// Stop judging before spending more than USD US dollars.
    #[arg(long, value_name = "USD")]
    pub(crate) max_cost: Option<f64>,
    /// Stop judging after N model calls.
    #[arg(long, value_name = "N")]
    pub(crate) max_calls: Option<u64>,
    /// Stop judging after S seconds.
    #[arg(long, value_name = "S")]
    pub(crate) max_seconds: Option<u64>,
    /// Folder for the scores of a predictions file [default: the file's folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Other sources in which to look up papers that answers list.
    #[command(flatten)]
    pub(crate) search_sources: SearchSourceArgs,
}

/// How the citations of a sentence are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CitationsArg {
    /// Every number in groups and ranges once; numbers of no shown passage are wrong; inherited citations do not count.
    Corrected,
    /// Exactly as the reference scorer.
    Upstream,
}

/// Runs to compare.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchReportArgs {
    /// Folders of runs.
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// Folder for Markdown, HTML, CSV, JSON, plots and a page per item [default: print Markdown].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Base name of the report's files.
    #[arg(long, default_value = "scholarqabench", value_name = "NAME")]
    pub(crate) name: String,
    /// Omit the pages of items.
    #[arg(long)]
    pub(crate) no_pages: bool,
}

impl From<&BenchScoreArgs> for AnswerArgs {
    /// What a judging model is opened with.
    fn from(args: &BenchScoreArgs) -> Self {
        let server = args.judge == "lm" || (args.base_url.is_some() && args.judge != "embedded");
        let generator = if server { GeneratorChoice::Server } else { GeneratorChoice::Embedded };
        Self {
            generator: Some(generator),
            model: args.model.clone(),
            base_url: args.base_url.clone(),
            max_cost: args.max_cost,
            max_seconds: args.max_seconds,
            max_calls: args.max_calls,
            ..Self::default()
        }
    }
}
