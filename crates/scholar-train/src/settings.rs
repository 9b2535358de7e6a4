//! Settings of a training: one format for all three tasks, read from TOML over a preset.

mod check;
mod presets;
mod renamed;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::backend::{DeviceKind, Precision};
use crate::error::TrainError;

/// Which kind of model is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// Bi-encoder: text to one vector.
    Encoder,
    /// Query and passage to one relevance score.
    Reranker,
    /// Sentence and evidence to three logits: supports, contradicts, neither.
    Attributor,
}

impl Task {
    /// Its name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Encoder => "encoder",
            Self::Reranker => "reranker",
            Self::Attributor => "attributor",
        }
    }
}

/// Contrastive objective of an encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// Two crops of one window of text; negatives are a queue of earlier keys from a momentum encoder (`MoCo`).
    Queue,
    /// Two crops of one window; negatives are the other windows of the batch.
    Crops,
    /// Query and passage; negatives are the other passages of the batch, hard negatives among them.
    Pairs,
}

/// How a reranker scores a query and a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RerankerArchitecture {
    /// Both as one sequence under a classification head with one logit.
    #[serde(alias = "together")]
    CrossEncoder,
    /// Each encoded by itself; the score is pooled cosine plus `MaxSim`. The result is an encoder's folder.
    #[serde(alias = "apart")]
    LateInteraction,
}

/// Floating-point type of saved weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SaveDtype {
    /// 32-bit float.
    F32,
    /// 16-bit float (IEEE half precision).
    F16,
}

/// Every setting of a training. A config file states those that differ from its preset.
///
/// Names of earlier versions are accepted as aliases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Kind of model that is trained.
    pub task: Task,
    /// Folder of the pretrained model.
    pub init: PathBuf,
    /// Training files, JSON lines.
    pub rows: Vec<PathBuf>,
    /// Held-out files; without any, `held_out_rows` of `rows` are held out.
    pub held_out: Vec<PathBuf>,
    /// Held-out rows at most.
    pub held_out_rows: usize,
    /// Folders in BEIR layout evaluated beside the held-out rows; mean nDCG@10 over them selects the best weights.
    pub collections: Vec<PathBuf>,
    /// Queries of each collection at most.
    pub collection_queries: usize,
    /// Encoder: documents of each collection at most, the relevant ones of its queries among them.
    pub collection_documents: usize,
    /// Reranker: retrieved passages reranked for each query.
    pub collection_depth: usize,
    /// Fraction of a file's rows that may be unusable, 0 to 1; above it the training does not start.
    #[serde(alias = "rejected_share")]
    pub max_rejected_fraction: f64,

    /// Random seed of order, sampling, crops and dropout.
    pub seed: u64,
    /// Device the training runs on.
    #[serde(default)]
    pub device: DeviceKind,
    /// CPU threads; 0 for one per core.
    pub threads: usize,
    /// Precision of matrix products on the CPU.
    pub precision: Precision,
    /// Floating-point type of saved weights.
    #[serde(alias = "store")]
    pub save_dtype: SaveDtype,

    /// Passes over the training rows.
    pub epochs: usize,
    /// Optimizer steps at most, 0 for as many as the epochs have.
    pub max_steps: usize,
    /// Rows, groups or windows of one forward pass.
    #[serde(alias = "batch")]
    pub batch_size: usize,
    /// Forward and backward passes of one optimizer step; the effective batch is `batch_size` times this.
    #[serde(alias = "accumulate")]
    pub gradient_accumulation_steps: usize,
    /// Peak learning rate, reached after the warm-up.
    pub learning_rate: f64,
    /// Steps of linear warm-up from 0.
    #[serde(alias = "warmup")]
    pub warmup_steps: usize,
    /// `AdamW`: decay of the first moment.
    pub beta1: f64,
    /// `AdamW`: decay of the second moment.
    pub beta2: f64,
    /// `AdamW`: added to the root of the second moment.
    pub epsilon: f64,
    /// `AdamW`: decoupled weight decay; biases and normalisations are exempt.
    pub weight_decay: f64,
    /// Maximum L2 norm of the gradient, to which it is clipped; 0 disables clipping.
    #[serde(alias = "clip")]
    pub max_grad_norm: f64,
    /// Dropout probability, 0 to below 1.
    pub dropout: f32,
    /// Maximum length of an input in tokens, special tokens included.
    pub max_tokens: usize,
    /// Whether the embedding tables (words, positions, token types) are frozen.
    pub freeze_embeddings: bool,
    /// How many of the lowest layers are frozen; with any, so are the embeddings.
    pub freeze_layers: usize,

    /// Weight of the initial weights in the average with the fine-tuned ones that is evaluated and saved, 0 to below 1.
    ///
    /// Interpolation keeps accuracy on texts unlike the training rows. Source: Wortsman et al. 2022, *Robust fine-tuning of
    /// zero-shot models* (WiSE-FT); this is their 1 − α.
    #[serde(alias = "anchor")]
    pub weight_interpolation: f32,

    /// Optimizer steps between evaluations on held-out rows.
    pub evaluate_every: usize,
    /// Optimizer steps between checkpoints, from which a run resumes.
    pub checkpoint_every: usize,
    /// Early stopping: evaluations without improvement after which the training ends, 0 for never.
    pub patience: usize,

    /// Reranker: cross-encoder or late interaction.
    #[serde(alias = "reads")]
    pub architecture: RerankerArchitecture,
    /// Reranker: passages of a group, one of them positive. Encoder on pairs: passages of a query.
    #[serde(alias = "group")]
    pub group_size: usize,
    /// Reranker: whether negatives are repeated where a row has too few, as in the published training.
    pub repeat_negatives: bool,
    /// Reranker: weight of the distillation loss (KL divergence to the teacher) on rows a teacher scored, 0 to 1.
    pub teacher_weight: f32,
    /// Reranker: temperature of the teacher's softmax.
    pub teacher_temperature: f32,
    /// Attributor: weight of the loss of evidence-sentence selection.
    pub selection_weight: f32,
    /// Attributor: sentences of a passage that compete, at most.
    pub selection_sentences: usize,

    /// Encoder: the contrastive objective.
    pub objective: Objective,
    /// Encoder, and late-interaction reranker: temperature that similarities are divided by.
    pub temperature: f32,
    /// Encoder: whether vectors are normalised to unit length.
    pub normalise: bool,
    /// Encoder with the objective `queue`: keys in the queue.
    #[serde(alias = "queue")]
    pub queue_size: usize,
    /// Encoder with the objective `queue`: momentum of the key encoder.
    pub momentum: f32,
    /// Encoder on text: tokens of a window.
    pub window: usize,
    /// Encoder on text: shortest crop as a fraction of the window.
    pub crop_min: f64,
    /// Encoder on text: longest crop as a fraction of the window.
    pub crop_max: f64,
    /// Encoder on text: probability that a token of a crop is deleted.
    #[serde(alias = "delete")]
    pub token_deletion: f64,
}

impl Settings {
    /// Reads a config file: its key `preset` names the preset, its other keys are settings. Relative paths count from the
    /// file's folder.
    ///
    /// # Errors
    /// When it cannot be read, a setting is unknown or has an impossible value.
    pub fn read(path: &Path, task: Task) -> Result<Self, TrainError> {
        let text = fs_err::read_to_string(path).map_err(|e| TrainError::read(path, e))?;
        let mut stated: toml::Table =
            text.parse().map_err(|e: toml::de::Error| TrainError::damaged(path, e))?;
        renamed::modernise(&mut stated)?;
        let preset = match stated.remove("preset") {
            None => "small".to_owned(),
            Some(toml::Value::String(name)) => name,
            Some(other) => {
                return Err(TrainError::setting(
                    "preset",
                    format!("{other} is not the name of a preset"),
                ));
            }
        };
        if stated.get("task").is_some_and(|stated| stated.as_str() != Some(task.name())) {
            let problem = format!("{} is for another task than {}", path.display(), task.name());
            return Err(TrainError::setting("task", problem));
        }
        let preset = Self::preset(&preset, task)?;
        let mut all =
            toml::Table::try_from(&preset).map_err(|e| TrainError::setting("preset", e))?;
        all.extend(stated);
        let mut settings: Self = all.try_into().map_err(|e| TrainError::damaged(path, e))?;
        let base = path.parent().unwrap_or(Path::new(""));
        for path in settings.paths() {
            if path.is_relative() && !path.as_os_str().is_empty() {
                *path = base.join(&*path);
            }
        }
        Ok(settings)
    }

    /// All files and folders.
    pub fn paths(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        std::iter::once(&mut self.init)
            .chain(&mut self.rows)
            .chain(&mut self.held_out)
            .chain(&mut self.collections)
    }

    /// Logits of the classifier; 0 where there is none.
    pub(crate) fn labels(&self) -> usize {
        match (self.task, self.architecture) {
            (Task::Encoder, _) | (Task::Reranker, RerankerArchitecture::LateInteraction) => 0,
            (Task::Reranker, RerankerArchitecture::CrossEncoder) => 1,
            (Task::Attributor, _) => crate::data::EvidenceLabel::ALL.len(),
        }
    }

    /// As a config file that states everything.
    ///
    /// # Errors
    /// When a path is not UTF-8.
    pub fn to_toml(&self) -> Result<String, TrainError> {
        toml::to_string_pretty(self).map_err(|e| TrainError::setting("settings", e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, TrainError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("train.toml");
        fs_err::write(&path, text).expect("written");
        Settings::read(&path, Task::Reranker)
    }

    #[test]
    fn files_state_what_differs_from_their_preset() {
        let found = read("preset = \"paper\"\nbatch = 3\ninit = \"m\"\nrows = [\"r.jsonl\"]")
            .expect("architecture");
        assert_eq!(found.batch_size, 3);
        assert_eq!(found.group_size, 16);
        assert!(found.init.is_absolute() && found.init.ends_with("m"));
        assert!(found.check().is_ok());
        let again = read(&found.to_toml().expect("TOML")).expect("architecture");
        assert_eq!(again, found);
    }

    #[test]
    fn presets_go_together_once_model_and_rows_are_named() {
        for task in [Task::Encoder, Task::Reranker, Task::Attributor] {
            for preset in [Settings::paper(task), Settings::small(task)] {
                let named = Settings { init: "m".into(), rows: vec!["r".into()], ..preset };
                named.check().expect("nothing contradicts");
                let fits = task != Task::Encoder || named.window + 2 <= named.max_tokens;
                assert!(fits, "{named:?}");
            }
        }
    }

    #[test]
    fn wrong_files_are_refused_with_the_setting() {
        for (text, part) in [
            ("bathc = 3", "bathc"),
            ("preset = \"big\"", "neither paper nor small"),
            ("task = \"encoder\"", "another task"),
            ("batch = \"many\"", "batch"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.to_string().contains(part), "{error}");
        }
        let mut settings = Settings::small(Task::Reranker);
        settings.init = "m".into();
        settings.rows = vec!["r".into()];
        assert!(settings.check().is_ok());
        settings.group_size = 1;
        assert!(settings.check().expect_err("alone").to_string().contains("group_size"));
    }

    #[test]
    fn the_papers_numbers_are_the_papers() {
        let reranker = Settings::paper(Task::Reranker);
        assert_eq!(
            (reranker.group_size, reranker.gradient_accumulation_steps, reranker.epochs),
            (16, 4, 5)
        );
        let encoder = Settings::paper(Task::Encoder);
        assert_eq!(
            (encoder.queue_size, encoder.window, encoder.warmup_steps),
            (131_072, 256, 20_000)
        );
    }
}
