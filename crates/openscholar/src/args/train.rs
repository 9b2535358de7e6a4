//! Options of `train`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::{
    TrainDataArgs, TrainDecontaminateArgs, TrainExportArgs, TrainFitWeightsArgs,
    TrainScoreTeacherArgs, TrainSentencesArgs,
};

/// Train encoders, rerankers, attributors (judges of support) and sentence classifiers.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainArgs {
    #[command(subcommand)]
    pub(crate) command: TrainCommand,
}

/// Kinds of model, and the steps around a training.
#[derive(Debug, Subcommand)]
pub(crate) enum TrainCommand {
    /// Train an encoder (bi-encoder), by contrastive learning on raw text or on queries with passages.
    Encoder(TrainModelArgs),
    /// Train a reranker, a cross-encoder or late interaction, on queries with positive and negative passages.
    Reranker(TrainModelArgs),
    /// Train an attributor (judge of support): a calibrated three-class classifier of sentence and evidence.
    Attributor(TrainModelArgs),
    /// Train a sentence classifier: heads over an encoder, for sentences that answer a question and for their roles.
    Sentences(TrainSentencesArgs),
    /// Make training data from public collections, decontaminated against evaluation sets.
    Data(TrainDataArgs),
    /// Check training rows for overlap with evaluation sets; fails if there is any.
    #[command(alias = "check")]
    Decontaminate(TrainDecontaminateArgs),
    /// Score the passages of training rows with a larger model, to distill it into a reranker.
    #[command(alias = "teach")]
    ScoreTeacher(TrainScoreTeacherArgs),
    /// Fit score-fusion weights of a trained reranker or judge, on data it was not trained on.
    #[command(alias = "weigh")]
    FitWeights(TrainFitWeightsArgs),
    /// Export rows and a config for another training library.
    Export(TrainExportArgs),
    /// Print all settings of a preset as a config file.
    Presets {
        /// Kind of model.
        task: TrainTaskArg,
        /// Preset: paper or small.
        #[arg(default_value = "small", value_name = "PRESET")]
        preset: String,
    },
}

/// Inputs and output of a training.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainModelArgs {
    /// Output folder for best model, last checkpoint and learning curves; an interrupted training resumes from it.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Config file (TOML): its key `preset` is paper or small, its other keys override settings of the preset.
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Preset without a config file: paper or small.
    #[arg(long, default_value = "small", value_name = "PRESET", conflicts_with = "settings")]
    pub(crate) preset: String,
    /// Pretrained model to start from, a name or a folder [default: the config file's, else all-MiniLM-L6-v2].
    #[arg(long, value_name = "NAME")]
    pub(crate) init: Option<String>,
    /// Training files (JSON lines), instead of the config file's.
    #[arg(long, value_delimiter = ',', value_name = "FILE")]
    pub(crate) rows: Vec<PathBuf>,
    /// Held-out files (JSON lines) [default: some of the training rows are held out].
    #[arg(long, value_delimiter = ',', value_name = "FILE")]
    pub(crate) held_out: Vec<PathBuf>,
    /// Collections in BEIR layout for validation during training; not those you will report test results on.
    #[arg(long, value_delimiter = ',', value_name = "DIRS")]
    pub(crate) collections: Vec<PathBuf>,
    /// Maximum number of optimizer steps.
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<usize>,
    /// Random seed.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Device to train on [default: the config file's, else cpu]. GPUs need a build with the feature of that name.
    #[arg(long, value_enum)]
    pub(crate) device: Option<DeviceArg>,
}

/// Device of a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeviceArg {
    /// The CPU.
    Cpu,
    /// An NVIDIA GPU through CUDA.
    Cuda,
    /// A GPU through Vulkan, Metal or DirectX 12.
    Wgpu,
}

impl From<DeviceArg> for scholar_train::DeviceKind {
    fn from(device: DeviceArg) -> Self {
        match device {
            DeviceArg::Cpu => Self::Cpu,
            DeviceArg::Cuda => Self::Cuda,
            DeviceArg::Wgpu => Self::Wgpu,
        }
    }
}

/// Kind of model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrainTaskArg {
    /// Maps texts to vectors.
    Encoder,
    /// Scores a query with a passage.
    Reranker,
    /// Classifies a sentence with its evidence as supports, contradicts or neither.
    Attributor,
}

impl From<TrainTaskArg> for scholar_train::Task {
    fn from(task: TrainTaskArg) -> Self {
        match task {
            TrainTaskArg::Encoder => Self::Encoder,
            TrainTaskArg::Reranker => Self::Reranker,
            TrainTaskArg::Attributor => Self::Attributor,
        }
    }
}
