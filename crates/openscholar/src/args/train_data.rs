//! Options of `train data` and `train export`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::SearchModeArg;

/// Which training data is made, and of what.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainDataArgs {
    /// What the data is to train.
    pub(crate) trains: TrainsArg,
    /// Folder for train.jsonl, dev.jsonl, rejects.jsonl, card.json and card.md.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Folder with the collections, laid out as docs/data-formats.md says.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// Collections, separated by commas: scifact, citint, clscisumm, bioasq, pubmedqa, evinf, pmc, openalex, acl, arxiv, starter. Left out, all that are in the folder.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) source: Vec<String>,
    /// What models are measured on, and nothing of which is trained on: folders in BEIR layout, files of JSON lines, or folders of such. Left out, retrieval, claims and scholarqabench of the data folder.
    #[arg(long, value_delimiter = ',', value_name = "PATHS")]
    pub(crate) evaluation: Vec<PathBuf>,
    /// Make rows although nothing is known of evaluation.
    #[arg(long, conflicts_with = "evaluation")]
    pub(crate) no_evaluation: bool,
    /// Sizes: paper for models that are shipped, small for a minute of training.
    #[arg(long, value_enum, default_value = "paper")]
    pub(crate) preset: DataPresetArg,
    /// At most so many papers of each collection, in the place of the preset's number.
    #[arg(long, value_name = "N")]
    pub(crate) max_papers: Option<usize>,
    /// Seed of everything that is drawn.
    #[arg(long, default_value_t = 7, value_name = "N")]
    pub(crate) seed: u64,
    /// Share of a file's rows that may be unusable before the file is refused.
    #[arg(long, default_value_t = 0.01, value_name = "SHARE")]
    pub(crate) bad_rows: f64,
    /// Which indexes are asked for hard negatives (reranker).
    #[arg(long, value_enum, default_value = "hybrid")]
    pub(crate) mode: SearchModeArg,
    /// Who grades candidates (reranker).
    #[arg(long, value_enum, default_value = "rules")]
    pub(crate) grade: GradeArg,
    /// Who writes the questions that papers answer (reranker).
    #[arg(long, value_enum, default_value = "templates")]
    pub(crate) questions: QuestionsArg,
}

/// Which rows are held against which evaluation sets.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainCheckArgs {
    /// Files of rows (JSON lines).
    #[arg(required = true, value_name = "FILE")]
    pub(crate) rows: Vec<PathBuf>,
    /// Folders in BEIR layout, files of JSON lines, or folders of such, whose training splits are passed over.
    #[arg(long, required = true, value_delimiter = ',', value_name = "PATHS")]
    pub(crate) evaluation: Vec<PathBuf>,
}

/// Which model is weighed, and on what.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainWeighArgs {
    /// Folder of the model, as `train attributor` or `train reranker` leaves it in best; the weights are written into it.
    #[arg(value_name = "DIR")]
    pub(crate) model: PathBuf,
    /// For a judge: rows it was not trained on (JSON lines).
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "collections",
        conflicts_with = "collections"
    )]
    pub(crate) rows: Option<PathBuf>,
    /// Only rows of these collections, each of which counts equally; left out, all rows.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", requires = "rows")]
    pub(crate) source: Vec<String>,
    /// Share of the rows that may be unusable.
    #[arg(long, default_value_t = 0.01, value_name = "SHARE")]
    pub(crate) bad_rows: f64,
    /// For a reranker: folders in BEIR layout with queries it was not trained on, each of which counts equally.
    #[arg(long, value_delimiter = ',', value_name = "DIRS")]
    pub(crate) collections: Vec<PathBuf>,
    /// For a judge: folder with `claims/` and `retrieval/scifact_test300/`. Weigh on the pairs that `bench attribution` makes of
    /// its training claims, of those that the rows hold; left out, on the rows themselves.
    #[arg(long, value_name = "DIR", requires = "rows")]
    pub(crate) claims: Option<PathBuf>,
    /// Who counts beside the model by late interaction; left out, nobody. For a reranker, what reads the candidates before it: an
    /// encoder by name, or `own` for the datastore's. For a judge, an encoder whose likeness of sentence and evidence counts.
    #[arg(long, value_name = "NAME")]
    pub(crate) beside: Option<String>,
    /// For a reranker: candidates that are read.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) depth: usize,
}

/// Which rows are scored, and by whom.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainTeachArgs {
    /// Rows for rerankers (JSON lines).
    #[arg(value_name = "FILE")]
    pub(crate) rows: PathBuf,
    /// Who scores: an encoder or a reranker from the catalog, or the folder of one.
    #[arg(long, value_name = "NAME")]
    pub(crate) teacher: String,
    /// File of the scored rows; scoring that was interrupted goes on there.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Share of the rows that may be unusable.
    #[arg(long, default_value_t = 0.01, value_name = "SHARE")]
    pub(crate) bad_rows: f64,
}

/// What training data is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrainsArg {
    /// Groups of a query, passages that answer it and hard ones that do not.
    Reranker,
    /// Statements beside evidence that supports, contradicts or decides nothing.
    Attributor,
    /// Texts for contrastive pre-training.
    Encoder,
}

/// How much data is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataPresetArg {
    /// For models that are shipped.
    Paper,
    /// For a minute of training.
    Small,
}

/// Who says how relevant a candidate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GradeArg {
    /// Rules alone.
    Rules,
    /// The embedded language model behind the rules: grades 1 to 5, of which 1 and 2 stay as negatives.
    Model,
}

/// Who writes questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum QuestionsArg {
    /// Templates around titles.
    Templates,
    /// The embedded language model; templates where it writes no question.
    Model,
}

/// What is written for another trainer.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainExportArgs {
    /// For whom.
    #[arg(long, value_enum)]
    pub(crate) to: TrainerArg,
    /// Rows for training (JSON lines).
    #[arg(long, value_name = "FILE")]
    pub(crate) rows: PathBuf,
    /// Rows held out.
    #[arg(long, value_name = "FILE")]
    pub(crate) held_out: Option<PathBuf>,
    /// Folder for the rows and the config.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The model to be trained on, as the other trainer names it; left out, the paper's.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Share of the rows that may be unusable.
    #[arg(long, default_value_t = 0.01, value_name = "SHARE")]
    pub(crate) bad_rows: f64,
}

/// Other trainers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrainerArg {
    /// Chats and a recipe's config.
    Torchtune,
    /// Chats or prompts with completions, and the config of `trl sft`.
    Trl,
    /// Groups and arguments of its reranker training.
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
