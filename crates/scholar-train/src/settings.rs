//! What a training is told: one config format for all three, with two presets each.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::arithmetic::{Hardware, Precision};
use crate::error::TrainError;

/// What is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// Texts to vectors.
    Encoder,
    /// Query and passage to one logit.
    Reranker,
    /// Sentence and evidence to three logits.
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

/// What teaches an encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// Two crops of one window of text against a queue of earlier keys (`MoCo`).
    Queue,
    /// Two crops of one window against those of the other windows of the batch.
    Crops,
    /// Query and passage against the other passages of the batch, hard negatives among them.
    Pairs,
}

/// How a reranker reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reads {
    /// Query and passage as one sequence under a classifier: a cross-encoder.
    Together,
    /// Each by itself, compared token by token: late interaction. The result is an encoder.
    Apart,
}

/// Numbers of stored weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Store {
    /// Four bytes each.
    F32,
    /// Two bytes each.
    F16,
}

/// Every setting of a training. A config file states those that differ from its preset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What is trained.
    pub task: Task,
    /// Model folder the weights come from.
    pub init: PathBuf,
    /// Files of rows, JSON lines.
    pub rows: Vec<PathBuf>,
    /// Files of held-out rows; where there are none, `held_out_rows` of `rows` are kept apart.
    pub held_out: Vec<PathBuf>,
    /// Rows for evaluation at most.
    pub held_out_rows: usize,
    /// Folders in BEIR layout that rankings are measured on beside held-out rows; the mean over them decides what is best.
    pub collections: Vec<PathBuf>,
    /// Queries of each collection at most.
    pub collection_queries: usize,
    /// Encoder: documents of each collection at most, the right ones of its queries among them.
    pub collection_documents: usize,
    /// Reranker: passages that a search found for a query and that are read.
    pub collection_depth: usize,
    /// Share of rows that may be unusable before the training does not begin.
    pub rejected_share: f64,

    /// Seed of everything that is drawn.
    pub seed: u64,
    /// What computes.
    #[serde(default)]
    pub device: Hardware,
    /// Threads; 0 for as many as there are.
    pub threads: usize,
    /// Numbers of products.
    pub precision: Precision,
    /// Numbers of stored weights.
    pub store: Store,

    /// Passes over the rows.
    pub epochs: usize,
    /// Most steps, 0 for as many as the epochs have.
    pub max_steps: usize,
    /// Rows, groups or windows of a forward pass.
    pub batch: usize,
    /// Forward passes of a step.
    pub accumulate: usize,
    /// Highest learning rate.
    pub learning_rate: f64,
    /// Steps in which the rate rises.
    pub warmup: usize,
    /// Decay of `AdamW`'s running mean.
    pub beta1: f64,
    /// Decay of its running mean of squares.
    pub beta2: f64,
    /// Added to its roots.
    pub epsilon: f64,
    /// Weight decay.
    pub weight_decay: f64,
    /// Longest gradient, 0 for any.
    pub clip: f64,
    /// Share of numbers dropped.
    pub dropout: f32,
    /// Longest input in tokens.
    pub max_tokens: usize,
    /// Whether the tables of words, positions and types stay as they are.
    pub freeze_embeddings: bool,
    /// How many of the lowest layers stay as they are.
    pub freeze_layers: usize,

    /// Share of the weights it began from in those that are measured and kept.
    ///
    /// What was learnt from few rows helps less where texts are others, and what was known before is not lost. Source:
    /// Wortsman et al. 2022, averaging the weights of a model before and after fine-tuning.
    pub anchor: f32,

    /// Steps between evaluations.
    pub evaluate_every: usize,
    /// Steps between checkpoints.
    pub checkpoint_every: usize,
    /// Evaluations without improvement after which the training ends, 0 for never.
    pub patience: usize,

    /// Reranker: whether it reads query and passage together or apart.
    pub reads: Reads,
    /// Reranker: passages of a group, the right one among them. Encoder on pairs: passages of a query.
    pub group: usize,
    /// Reranker: whether negatives are repeated where a row has too few, as in the published training.
    pub repeat_negatives: bool,
    /// Reranker: share of the loss that is how far a group's shares are from those of the teacher who scored it.
    pub teacher_weight: f32,
    /// Reranker: what the teacher's scores are divided by before softmax.
    pub teacher_temperature: f32,
    /// Attributor: weight of the loss of choosing sentences.
    pub selection_weight: f32,
    /// Attributor: sentences of a passage that compete, at most.
    pub selection_sentences: usize,

    /// Encoder: what teaches it.
    pub objective: Objective,
    /// Encoder, and a reranker that reads apart: what inner products and scores are divided by.
    pub temperature: f32,
    /// Encoder: whether vectors get length 1.
    pub normalise: bool,
    /// Encoder: keys in the queue.
    pub queue: usize,
    /// Encoder: share of the key network that stays in a step.
    pub momentum: f32,
    /// Encoder: tokens of a window.
    pub window: usize,
    /// Encoder: shortest crop as a share of the window.
    pub crop_min: f64,
    /// Encoder: longest crop.
    pub crop_max: f64,
    /// Encoder: share of a crop's tokens that are deleted.
    pub delete: f64,
}

impl Settings {
    /// What the papers state for `task`.
    ///
    /// Source: reranker, `FlagEmbedding`'s training with the paper's numbers; encoder, Contriever's pre-training as
    /// continued by OpenScholar. The papers train no attributor: its settings are ours.
    pub fn paper(task: Task) -> Self {
        let base = Self {
            task,
            init: PathBuf::new(),
            rows: Vec::new(),
            held_out: Vec::new(),
            held_out_rows: 1_000,
            collections: Vec::new(),
            collection_queries: 50,
            collection_documents: 1_000,
            collection_depth: 30,
            rejected_share: 0.01,
            seed: 20,
            device: Hardware::Cpu,
            threads: 0,
            precision: Precision::Mixed,
            store: Store::F32,
            epochs: 5,
            max_steps: 0,
            batch: 1,
            accumulate: 4,
            learning_rate: 6e-5,
            warmup: 0,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.01,
            clip: 1.0,
            dropout: 0.1,
            max_tokens: 512,
            freeze_embeddings: false,
            freeze_layers: 0,
            anchor: 0.0,
            evaluate_every: 1_000,
            checkpoint_every: 500,
            patience: 0,
            reads: Reads::Together,
            group: 16,
            repeat_negatives: true,
            teacher_weight: 0.0,
            teacher_temperature: 1.0,
            selection_weight: 0.5,
            selection_sentences: 8,
            objective: Objective::Queue,
            temperature: 0.05,
            normalise: false,
            queue: 131_072,
            momentum: 0.9995,
            window: 256,
            crop_min: 0.05,
            crop_max: 0.5,
            delete: 0.1,
        };
        match task {
            Task::Reranker => base,
            Task::Attributor => Self {
                batch: 16,
                accumulate: 2,
                learning_rate: 3e-5,
                warmup: 200,
                epochs: 3,
                ..base
            },
            Task::Encoder => Self {
                batch: 64,
                accumulate: 1,
                max_steps: 500_000,
                epochs: 1_000,
                learning_rate: 5e-5,
                warmup: 20_000,
                beta2: 0.98,
                epsilon: 1e-6,
                ..base
            },
        }
    }

    /// What an hour of a laptop can do for `task`.
    pub fn small(task: Task) -> Self {
        let base = Self {
            store: Store::F16,
            held_out_rows: 300,
            epochs: 2,
            batch: 4,
            accumulate: 1,
            learning_rate: 1e-4,
            warmup: 100,
            dropout: 0.0,
            max_tokens: 192,
            freeze_embeddings: true,
            freeze_layers: 1,
            evaluate_every: 200,
            checkpoint_every: 100,
            patience: 8,
            group: 8,
            repeat_negatives: false,
            ..Self::paper(task)
        };
        match task {
            Task::Reranker => base,
            Task::Attributor => Self { batch: 16, max_tokens: 256, ..base },
            Task::Encoder => Self {
                batch: 32,
                learning_rate: 2e-5,
                max_steps: 1_000,
                queue: 4_096,
                momentum: 0.999,
                normalise: true,
                window: 128,
                ..base
            },
        }
    }

    /// The preset of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn preset(name: &str, task: Task) -> Result<Self, TrainError> {
        match name {
            "paper" => Ok(Self::paper(task)),
            "small" => Ok(Self::small(task)),
            other => {
                Err(TrainError::setting("preset", format!("{other:?} is neither paper nor small")))
            }
        }
    }

    /// Reads a config file: its key `preset` names the preset, its other keys are settings. Relative paths count from the
    /// file's folder.
    ///
    /// # Errors
    /// When it cannot be read, a setting is unknown or has an impossible value.
    pub fn read(path: &Path, task: Task) -> Result<Self, TrainError> {
        let text = fs_err::read_to_string(path).map_err(|e| TrainError::read(path, e))?;
        let mut stated: toml::Table =
            text.parse().map_err(|e: toml::de::Error| TrainError::damaged(path, e))?;
        let preset = match stated.remove("preset") {
            None => "small".to_owned(),
            Some(toml::Value::String(name)) => name,
            Some(other) => {
                return Err(TrainError::setting("preset", format!("{other} is no name")));
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
        match (self.task, self.reads) {
            (Task::Encoder, _) | (Task::Reranker, Reads::Apart) => 0,
            (Task::Reranker, Reads::Together) => 1,
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

    /// Checks what does not depend on files.
    ///
    /// # Errors
    /// Names the first setting that cannot be used.
    pub fn check(&self) -> Result<(), TrainError> {
        let positive = [
            ("epochs", self.epochs),
            ("batch", self.batch),
            ("accumulate", self.accumulate),
            ("evaluate_every", self.evaluate_every),
            ("checkpoint_every", self.checkpoint_every),
            ("held_out_rows", self.held_out_rows),
            ("collection_queries", self.collection_queries),
            ("collection_documents", self.collection_documents),
            ("collection_depth", self.collection_depth),
        ];
        if let Some((name, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(TrainError::setting(name, "it must not be 0"));
        }
        if !self.device.is_built() {
            return Err(TrainError::NotBuilt { name: self.device.name() });
        }
        let share = |value: f64| (0.0..1.0).contains(&value);
        let checks = [
            ("init", !self.init.as_os_str().is_empty(), "name a model folder"),
            ("rows", !self.rows.is_empty(), "name a file"),
            (
                "collections",
                self.collections.is_empty() || self.task != Task::Attributor,
                "empty: a judge of support ranks nothing",
            ),
            ("rejected_share", (0.0..=1.0).contains(&self.rejected_share), "between 0 and 1"),
            (
                "learning_rate",
                self.learning_rate > 0.0 && self.learning_rate < 1.0,
                "between 0 and 1",
            ),
            ("beta1", share(self.beta1), "from 0 to below 1"),
            ("beta2", share(self.beta2), "from 0 to below 1"),
            ("epsilon", self.epsilon > 0.0, "above 0"),
            ("weight_decay", self.weight_decay >= 0.0, "not negative"),
            ("clip", self.clip >= 0.0, "not negative"),
            ("dropout", share(f64::from(self.dropout)), "from 0 to below 1"),
            ("max_tokens", self.max_tokens >= 8, "at least 8"),
            ("anchor", share(f64::from(self.anchor)), "from 0 to below 1"),
            ("group", self.group >= 2 || self.task == Task::Attributor, "at least 2"),
            ("teacher_weight", (0.0..=1.0).contains(&self.teacher_weight), "from 0 to 1"),
            ("teacher_temperature", self.teacher_temperature > 0.0, "above 0"),
            ("selection_weight", self.selection_weight >= 0.0, "not negative"),
            ("selection_sentences", self.selection_sentences >= 2, "at least 2"),
            ("temperature", self.temperature > 0.0, "above 0"),
            ("queue", self.queue.is_multiple_of(self.batch), "a multiple of batch"),
            ("momentum", share(f64::from(self.momentum)), "from 0 to below 1"),
            ("window", self.window >= 16, "at least 16"),
            (
                "crop_min",
                self.crop_min > 0.0 && self.crop_min <= self.crop_max,
                "above 0, at most crop_max",
            ),
            ("crop_max", self.crop_max <= 1.0, "at most 1"),
            ("delete", share(self.delete), "from 0 to below 1"),
        ];
        let needed = |name: &str| match name {
            "queue" | "momentum" => {
                self.task == Task::Encoder && self.objective == Objective::Queue
            }
            _ => true,
        };
        match checks.iter().find(|(name, holds, _)| !holds && needed(name)) {
            Some((name, _, wanted)) => {
                Err(TrainError::setting(name, format!("it must be {wanted}")))
            }
            None => Ok(()),
        }
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
            .expect("reads");
        assert_eq!(found.batch, 3);
        assert_eq!(found.group, 16);
        assert!(found.init.is_absolute() && found.init.ends_with("m"));
        assert!(found.check().is_ok());
        let again = read(&found.to_toml().expect("TOML")).expect("reads");
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
        settings.group = 1;
        assert!(settings.check().expect_err("alone").to_string().contains("group"));
    }

    #[test]
    fn the_papers_numbers_are_the_papers() {
        let reranker = Settings::paper(Task::Reranker);
        assert_eq!((reranker.group, reranker.accumulate, reranker.epochs), (16, 4, 5));
        let encoder = Settings::paper(Task::Encoder);
        assert_eq!((encoder.queue, encoder.window, encoder.warmup), (131_072, 256, 20_000));
    }
}
