//! Options of `bench annotate`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::ReachArgs;

/// Run a blind pairwise comparison of two systems' answers by experts, on web pages.
#[derive(Debug, ClapArgs)]
pub(crate) struct AnnotateArgs {
    #[command(subcommand)]
    pub(crate) command: AnnotateCommand,
}

/// What to do with a study.
#[derive(Debug, Subcommand)]
pub(crate) enum AnnotateCommand {
    /// Pair the predictions of two systems into comparisons.
    Import(AnnotateImportArgs),
    /// Make a study or add to it, and print each annotator's address, for `openscholar serve --study` to serve.
    Create {
        #[command(flatten)]
        study: StudyArgs,
        /// What the printed addresses begin with.
        #[arg(long, default_value = "http://127.0.0.1:5006/annotate", value_name = "URL")]
        url: String,
    },
    /// Serve the pages, and print each annotator's address.
    Serve(AnnotateServeArgs),
    /// Export all submissions, including superseded ones.
    Export {
        /// Database of the study.
        #[arg(long, value_name = "FILE")]
        db: PathBuf,
        /// Output format.
        #[arg(long, value_enum, default_value_t = AnnotateFormat::Jsonl)]
        format: AnnotateFormat,
        /// Write to this file instead of standard output.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Summarise mean scores, preferences, inter-annotator agreement and the effect of length.
    Summary {
        /// Database of the study.
        #[arg(long, value_name = "FILE", required_unless_present = "records")]
        db: Option<PathBuf>,
        /// Files written by `export --format jsonl`, instead of or in addition to a study.
        #[arg(value_name = "FILE")]
        records: Vec<PathBuf>,
        /// System whose effect is told, in a study of reports on research ideas [default: the first by name].
        #[arg(long, value_name = "NAME")]
        system: Option<String>,
        /// Folder for experts.md and experts.json.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Formats of submissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnnotateFormat {
    /// JSON lines, one submission per line, lossless.
    Jsonl,
    /// A CSV table for spreadsheets; cells that look like formulas are escaped.
    Csv,
    /// A table with the columns of the original's database, which its scripts read.
    UpstreamCsv,
}

/// Pair the predictions of two systems into comparisons.
#[derive(Debug, ClapArgs)]
pub(crate) struct AnnotateImportArgs {
    /// Predictions of two systems (files, or folders of `bench run`), or one instances file of the original application.
    #[arg(required = true, num_args = 1..=2, value_name = "PATH")]
    pub(crate) predictions: Vec<PathBuf>,
    /// The paths are folders of two systems' reports on the ideas of DATA (as for `bench scholarideas`): each annotator sees one report an
    /// idea, and answers the items of `ScholarEval`'s user study.
    #[arg(long, value_name = "DATA")]
    pub(crate) reviews: Option<PathBuf>,
    /// Comma-separated names of the systems, never shown to annotators [default: taken from the paths].
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) names: Vec<String>,
    /// Number of an item's first passage, 0 or 1 [default: detected].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=1))]
    pub(crate) numbered_from: Option<u8>,
    /// Sample N comparisons.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Random seed for sampling.
    #[arg(long, default_value_t = 42, value_name = "S")]
    pub(crate) seed: u64,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// A study, and what is added to it.
#[derive(Debug, ClapArgs)]
pub(crate) struct StudyArgs {
    /// Database of the study, created if absent. It holds the annotators' secret addresses.
    #[arg(long, value_name = "FILE")]
    pub(crate) db: PathBuf,
    /// Comparisons to add: a file from `import` or from the original application.
    #[arg(long, value_name = "FILE")]
    pub(crate) instances: Option<PathBuf>,
    /// Annotators to add: a file with one name per line, or a number.
    #[arg(long, value_name = "FILE|N")]
    pub(crate) annotators: Option<String>,
    /// Annotators per comparison [default: everyone judges everything except their own answers].
    #[arg(long, value_name = "N")]
    pub(crate) per_instance: Option<usize>,
    /// Random seed, fixed when the study is created [default: 42].
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
}

/// Serve the pages, and print each annotator's address.
#[derive(Debug, ClapArgs)]
pub(crate) struct AnnotateServeArgs {
    #[command(flatten)]
    pub(crate) study: StudyArgs,
    /// Address to listen on; port 0 picks a free port. An address that other machines can reach needs an https --url or --insecure.
    #[arg(long, default_value = "127.0.0.1:5001", value_name = "ADDRESS")]
    pub(crate) address: SocketAddr,
    /// Base URL of the printed addresses, for example <https://compare.example.org>.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}
