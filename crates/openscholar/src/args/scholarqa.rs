//! Options of `bench run`, `bench score`, `bench report` and `bench convert`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use scholar_bench::scholarqa::System;

use super::{AnswerArgs, GeneratorChoice, LookArgs};

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
    /// Folder of the run; a run that is there is continued.
    #[arg(long, value_name = "RUN")]
    pub(crate) out: PathBuf,
    /// Ask so many items, drawn by the seed.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Seed of the draw and of all sampling.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub(crate) seed: u64,
    /// Name of the run in reports. Default: the folder's.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Items asked at the same time. Default: 1 for a model in this process, else 4.
    #[arg(long, value_name = "N")]
    pub(crate) parallel: Option<usize>,
    /// Keep what is retrieved in this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) save_retrieved: Option<PathBuf>,
    /// Retrieve nothing: every search of an item brings what this file holds for it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["save_retrieved", "datastore", "sources"])]
    pub(crate) retrieved: Option<PathBuf>,
    /// Evidence must be published strictly before this day (YYYY-MM-DD), or `none`. Default: the day after the papers'
    /// datastore ends, 2023-01-04; related work: each item's own day.
    #[arg(long, value_name = "DAY")]
    pub(crate) before: Option<String>,
    /// Leave out predictions of a file that are for no item.
    #[arg(long)]
    pub(crate) skip_unknown: bool,
    /// Which models answer, from what, and what it may cost.
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    /// What is taken out of the system.
    #[command(flatten)]
    pub(crate) less: LessArgs,
}

/// The systems, as the benchmark derives them from the pipeline's modes.
fn system_help() -> String {
    let systems: Vec<String> =
        System::all().into_iter().map(|(name, _, what)| format!("{name} ({what})")).collect();
    format!(
        "System: {}, or predictions:FILE for what another system answered. \
         A task that asks for a label is answered with one draft in generative mode too",
        systems.join(", ")
    )
}

/// Parts taken out of a system.
#[derive(Debug, ClapArgs)]
pub(crate) struct LessArgs {
    /// Take feedback and revision out; in evidence mode, the searches for what is missing.
    #[arg(long)]
    pub(crate) no_feedback: bool,
    /// Take the insertion and verification of citations out.
    #[arg(long)]
    pub(crate) no_verification: bool,
}

/// Predictions to read and the shape to write them in.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchConvertArgs {
    /// A run's folder, or a file of predictions in any shape.
    pub(crate) from: PathBuf,
    /// Shape to write.
    #[arg(long, value_enum)]
    pub(crate) to: ShapeArg,
    /// File to write; left out, standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Task whose items give the records their names.
    #[arg(long, requires = "data", value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Folder of the benchmark's files, or the task's file.
    #[arg(long, requires = "task", value_name = "PATH")]
    pub(crate) data: Option<PathBuf>,
    /// Leave out records that are for no item.
    #[arg(long)]
    pub(crate) skip_unknown: bool,
}

/// Shapes of prediction files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShapeArg {
    /// This project's lines.
    Openscholar,
    /// A list of input, output, ctxs.
    List,
    /// The same list under "data".
    Data,
    /// The same records as lines.
    Lines,
    /// Lines of `case_id` and `answer_text`.
    Rubric,
    /// A list of input, output, `final_passages`.
    Prometheus,
}

/// Predictions to measure, and by which judge.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchScoreArgs {
    /// A run's folder, or a file of predictions in any shape (needs --task and --data).
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// Task of a file of predictions.
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Folder of the benchmark's files, or the task's file. Default: where the run took it from.
    #[arg(long, value_name = "PATH")]
    pub(crate) data: Option<PathBuf>,
    /// Who judges citations: none, lexical, embedded (the model in this process), lm (the model of a server), a judge from
    /// the catalog, the folder of one, or auto for the best that comes with the program.
    #[arg(long, default_value = "auto", value_name = "NAME")]
    pub(crate) judge: String,
    /// Which citations a sentence has: all that it names, or those that upstream's scorer reads.
    #[arg(long, value_enum, default_value_t = CitationsArg::Corrected)]
    pub(crate) citations: CitationsArg,
    /// Also compare with this run, answer by answer in both orders; needs --grade or --judge lm.
    #[arg(long, value_name = "RUN")]
    pub(crate) against: Option<PathBuf>,
    /// Also let a model judge rubrics and grades: the embedded one, or the server's with --base-url; --judge lm does so
    /// always.
    #[arg(long)]
    pub(crate) grade: bool,
    /// Model of the server.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Address of an OpenAI-compatible server.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// File of the 1–5 rubrics. Default: `rubrics/prometheus_rubrics_v8.json` among the benchmark's files.
    #[arg(long, value_name = "FILE")]
    pub(crate) rubrics: Option<PathBuf>,
    /// Datastore in which papers that answers list are looked up. Default, where an answer without passages lists any: the
    /// run's, else that of the config file.
    #[arg(long, value_name = "NAME")]
    pub(crate) titles: Option<String>,
    /// Measure the judge against people: folder that holds `claims/`, `attribution/` and
    /// `retrieval/scifact_test300/`.
    #[arg(long, value_name = "DIR")]
    pub(crate) labels: Option<PathBuf>,
    /// Use at most so many labelled pairs of each set.
    #[arg(long, value_name = "N")]
    pub(crate) labels_limit: Option<usize>,
    /// Leave out predictions of a file that are for no item.
    #[arg(long)]
    pub(crate) skip_unknown: bool,
    /// Stop judging before spending more than this many US dollars.
    #[arg(long, value_name = "USD")]
    pub(crate) max_cost: Option<f64>,
    /// Stop judging after so many model calls.
    #[arg(long, value_name = "N")]
    pub(crate) max_calls: Option<u64>,
    /// Stop judging after so many seconds.
    #[arg(long, value_name = "S")]
    pub(crate) max_seconds: Option<u64>,
    /// Folder for the scores of a file. Default: the file's.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Where papers that answers list are looked up beyond the datastore.
    #[command(flatten)]
    pub(crate) look: LookArgs,
}

/// Which citations a sentence has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CitationsArg {
    /// Every number of groups and ranges, once; those of no shown passage are wrong; inherited ones are not counted.
    Corrected,
    /// As upstream's scorer, to the letter.
    Upstream,
}

/// Runs to set beside one another.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchReportArgs {
    /// Folders of runs.
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// Write Markdown, HTML, CSV, JSON, plots and a page for each item here; left out, Markdown is printed.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Name of the report's files.
    #[arg(long, default_value = "scholarqabench", value_name = "NAME")]
    pub(crate) name: String,
    /// Leave the pages of items out.
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
            ..Self::default()
        }
    }
}
