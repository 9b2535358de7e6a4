//! Options of `train`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::{TrainCheckArgs, TrainDataArgs, TrainExportArgs, TrainTeachArgs, TrainWeighArgs};

/// Train models of your own.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainArgs {
    #[command(subcommand)]
    pub(crate) command: TrainCommand,
}

/// What can be trained.
#[derive(Debug, Subcommand)]
pub(crate) enum TrainCommand {
    /// Train an encoder: texts to vectors, from raw text or from queries with passages.
    Encoder(TrainModelArgs),
    /// Train a reranker: query and passage to one score, from queries with right and wrong passages.
    Reranker(TrainModelArgs),
    /// Train a judge of support: sentence and evidence to three classes, calibrated.
    Attributor(TrainModelArgs),
    /// Make training data of public collections, without anything that models are measured on.
    Data(TrainDataArgs),
    /// Refuse rows that repeat what models are measured on.
    Check(TrainCheckArgs),
    /// Score the passages of rows by a larger model, for a reranker to learn from.
    Teach(TrainTeachArgs),
    /// Fit how much a trained judge or reranker counts beside what is known without it, on data it was not trained on.
    Weigh(TrainWeighArgs),
    /// Write rows and a config for another trainer.
    Export(TrainExportArgs),
    /// Print all settings of a preset as a config file.
    Presets {
        /// What is trained.
        task: TrainTaskArg,
        /// paper or small.
        #[arg(default_value = "small", value_name = "PRESET")]
        preset: String,
    },
}

/// What a training begins with and where it goes.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrainModelArgs {
    /// Output folder: the best model, the last checkpoint, the curves. A training that was interrupted goes on from there.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Config file; its key `preset` is paper or small, its other keys are the settings that differ.
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Preset, where there is no config file: paper or small.
    #[arg(long, default_value = "small", value_name = "PRESET", conflicts_with = "settings")]
    pub(crate) preset: String,
    /// Model the weights come from, a name or a folder; left out, the config file's, else all-MiniLM-L6-v2.
    #[arg(long, value_name = "NAME")]
    pub(crate) init: Option<String>,
    /// Files of rows (JSON lines), in the place of the config file's.
    #[arg(long, value_delimiter = ',', value_name = "FILE")]
    pub(crate) rows: Vec<PathBuf>,
    /// Files of rows to measure on; left out, some rows are kept apart.
    #[arg(long, value_delimiter = ',', value_name = "FILE")]
    pub(crate) held_out: Vec<PathBuf>,
    /// Folders in BEIR layout to measure rankings on while training: not those the model is judged by in the end.
    #[arg(long, value_delimiter = ',', value_name = "DIRS")]
    pub(crate) collections: Vec<PathBuf>,
    /// Most steps.
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<usize>,
    /// Seed of everything that is drawn.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// What computes; left out, the config file's, else the processor. Cards need a build with the feature of that name.
    #[arg(long, value_enum)]
    pub(crate) device: Option<DeviceArg>,
}

/// What a training computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeviceArg {
    /// The processor.
    Cpu,
    /// A graphics card through CUDA.
    Cuda,
    /// A graphics card through Vulkan, Metal or DirectX 12.
    Wgpu,
}

impl From<DeviceArg> for scholar_train::Hardware {
    fn from(device: DeviceArg) -> Self {
        match device {
            DeviceArg::Cpu => Self::Cpu,
            DeviceArg::Cuda => Self::Cuda,
            DeviceArg::Wgpu => Self::Wgpu,
        }
    }
}

/// What is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrainTaskArg {
    /// Texts to vectors.
    Encoder,
    /// Query and passage to one score.
    Reranker,
    /// Sentence and evidence to three classes.
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
