//! Options of `train data` and `train export`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::SearchModeArg;

/// Sources and sizes of training data.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainDataArgs {
    /// Kind of model the data is for.
    pub(crate) trains: TrainsArg,
    /// Folder for train.jsonl, dev.jsonl, rejects.jsonl, card.json and card.md.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Folder with the collections, in the layout of docs/data-formats.md.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// Comma-separated collections: scifact, citint, clscisumm, bioasq, pubmedqa, evinf, pmc, openalex, acl, arxiv, starter [default: all in the folder].
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) source: Vec<String>,
    /// Evaluation sets to decontaminate against: folders in BEIR layout, files of JSON lines, or folders of such [default: retrieval, claims and scholarqabench of the data folder].
    #[arg(long, value_delimiter = ',', value_name = "PATHS")]
    pub(crate) evaluation: Vec<PathBuf>,
    /// Skip decontamination.
    #[arg(long, conflicts_with = "evaluation")]
    pub(crate) no_evaluation: bool,
    /// Amount of data.
    #[arg(long, value_enum, default_value = "paper")]
    pub(crate) preset: DataPresetArg,
    /// Maximum number of papers per collection [default: the preset's].
    #[arg(long, value_name = "N")]
    pub(crate) max_papers: Option<usize>,
    /// Random seed.
    #[arg(long, default_value_t = 7, value_name = "N")]
    pub(crate) seed: u64,
    /// Maximum fraction of unusable rows per file, from 0 to 1.
    #[arg(long, default_value_t = 0.01, value_name = "FRACTION")]
    pub(crate) bad_rows: f64,
    /// Search mode of hard-negative mining (reranker).
    #[arg(long, value_enum, default_value = "hybrid")]
    pub(crate) mode: SearchModeArg,
    /// Relevance grader of mined candidates (reranker).
    #[arg(long, value_enum, default_value = "rules")]
    pub(crate) grade: GradeArg,
    /// Source of synthetic queries (reranker).
    #[arg(long, value_enum, default_value = "templates")]
    pub(crate) questions: QuestionsArg,
}

/// Rows, settings and output of a training of sentence heads.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainSentencesArgs {
    /// Output folder for the model and for the vectors of the rows, which the next training on the same rows reads.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Settings file (TOML) over those of the built-in model.
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Training rows (JSON lines).
    #[arg(long, value_name = "FILE")]
    pub(crate) rows: PathBuf,
    /// Development rows (JSON lines), for the choice of the epoch and for calibration.
    #[arg(long, value_name = "FILE")]
    pub(crate) held_out: PathBuf,
    /// Encoder under the heads [default: the config file's, else granite-embedding-30m-english].
    #[arg(long, value_name = "NAME")]
    pub(crate) encoder: Option<String>,
    /// Maximum fraction of unusable rows, from 0 to 1.
    #[arg(long, default_value_t = 0.01, value_name = "FRACTION")]
    pub(crate) bad_rows: f64,
}

/// Training rows, and the evaluation sets they must not overlap with.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainDecontaminateArgs {
    /// Files of rows (JSON lines).
    #[arg(required = true, value_name = "FILE")]
    pub(crate) rows: Vec<PathBuf>,
    /// Evaluation sets: folders in BEIR layout, files of JSON lines, or folders of such; their training splits are skipped.
    #[arg(long, required = true, value_delimiter = ',', value_name = "PATHS")]
    pub(crate) evaluation: Vec<PathBuf>,
}

/// The model whose weights are fitted, and the data.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainFitWeightsArgs {
    /// Model folder, such as the `best` folder of a training; the weights are written into it.
    #[arg(value_name = "DIR")]
    pub(crate) model: PathBuf,
    /// Judge: rows it was not trained on (JSON lines).
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "collections",
        conflicts_with = "collections"
    )]
    pub(crate) rows: Option<PathBuf>,
    /// Judge: use the rows of these collections only, each with equal weight [default: all rows].
    #[arg(long, value_delimiter = ',', value_name = "NAMES", requires = "rows")]
    pub(crate) source: Vec<String>,
    /// Maximum fraction of unusable rows, from 0 to 1.
    #[arg(long, default_value_t = 0.01, value_name = "FRACTION")]
    pub(crate) bad_rows: f64,
    /// Reranker: collections in BEIR layout with queries it was not trained on, each with equal weight.
    #[arg(long, value_delimiter = ',', value_name = "DIRS")]
    pub(crate) collections: Vec<PathBuf>,
    /// Judge: folder with `claims/` and `retrieval/scifact_test300/`. Fit on the pairs that `bench attribution` makes from its
    /// training claims, as far as the rows contain them [default: fit on the rows themselves].
    #[arg(long, value_name = "DIR", requires = "rows")]
    pub(crate) claims: Option<PathBuf>,
    /// Encoder whose late interaction joins the model's score. Cross-encoder: the first stage, an encoder by name or
    /// `datastore-encoder`. Judge: the encoder that computes MaxSim of sentence and evidence.
    #[arg(long, value_name = "NAME", alias = "beside")]
    pub(crate) fuse: Option<String>,
    /// Reranker: number of candidates reranked.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) depth: usize,
}

/// Rows to score, and the teacher.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainScoreTeacherArgs {
    /// Reranker rows (JSON lines).
    #[arg(value_name = "FILE")]
    pub(crate) rows: PathBuf,
    /// Teacher: an encoder or a reranker from the catalog, or the folder of one.
    #[arg(long, value_name = "NAME")]
    pub(crate) teacher: String,
    /// Output file; interrupted scoring resumes there.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Maximum fraction of unusable rows, from 0 to 1.
    #[arg(long, default_value_t = 0.01, value_name = "FRACTION")]
    pub(crate) bad_rows: f64,
}

/// Kind of model that training data is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrainsArg {
    /// A query with positive passages and hard negatives.
    Reranker,
    /// Statements with evidence that supports, contradicts or does neither.
    Attributor,
    /// Texts for contrastive pre-training.
    Encoder,
    /// Sentences of papers with their role, and with whether they answer a question; also writes test.jsonl.
    Sentences,
}

impl TrainsArg {
    /// As it is written on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reranker => "reranker",
            Self::Attributor => "attributor",
            Self::Encoder => "encoder",
            Self::Sentences => "sentences",
        }
    }
}

/// Amount of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataPresetArg {
    /// As for the built-in models.
    Paper,
    /// Enough for a minute of training.
    Small,
}

/// Relevance grader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GradeArg {
    /// Rules only.
    Rules,
    /// The embedded language model after the rules: grades 1 to 5, of which 1 and 2 are kept as negatives.
    Model,
}

/// Source of synthetic queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum QuestionsArg {
    /// Templates around titles.
    Templates,
    /// The embedded language model; templates where its reply is not a question.
    Model,
}

/// An export for another training library.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainExportArgs {
    /// Training library.
    #[arg(long, value_enum)]
    pub(crate) to: TrainerArg,
    /// Training rows (JSON lines).
    #[arg(long, value_name = "FILE")]
    pub(crate) rows: PathBuf,
    /// Held-out rows (JSON lines).
    #[arg(long, value_name = "FILE")]
    pub(crate) held_out: Option<PathBuf>,
    /// Output folder for the rows and the config.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Base model, as that library names it [default: the paper's].
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Maximum fraction of unusable rows, from 0 to 1.
    #[arg(long, default_value_t = 0.01, value_name = "FRACTION")]
    pub(crate) bad_rows: f64,
}

/// Training libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrainerArg {
    /// torchtune: chats and a recipe config.
    Torchtune,
    /// TRL: chats or prompts with completions, and the config of `trl sft`.
    Trl,
    /// FlagEmbedding: groups, and the arguments of its reranker training.
    Flagembedding,
}

impl From<TrainerArg> for scholar_train::data::export::Trainer {
    fn from(trainer: TrainerArg) -> Self {
        match trainer {
            TrainerArg::Torchtune => Self::Torchtune,
            TrainerArg::Trl => Self::Trl,
            TrainerArg::Flagembedding => Self::FlagEmbedding,
        }
    }
}
