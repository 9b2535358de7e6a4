//! The two presets of each task: the papers' settings, and what a laptop trains in an hour.

use std::path::PathBuf;

use super::{Objective, RerankerArchitecture, SaveDtype, Settings, Task};
use crate::backend::{DeviceKind, Precision};
use crate::error::TrainError;

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
            max_rejected_fraction: 0.01,
            seed: 20,
            device: DeviceKind::Cpu,
            threads: 0,
            precision: Precision::Mixed,
            save_dtype: SaveDtype::F32,
            epochs: 5,
            max_steps: 0,
            batch_size: 1,
            gradient_accumulation_steps: 4,
            learning_rate: 6e-5,
            warmup_steps: 0,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.01,
            max_grad_norm: 1.0,
            dropout: 0.1,
            max_tokens: 512,
            freeze_embeddings: false,
            freeze_layers: 0,
            weight_interpolation: 0.0,
            evaluate_every: 1_000,
            checkpoint_every: 500,
            patience: 0,
            architecture: RerankerArchitecture::CrossEncoder,
            group_size: 16,
            repeat_negatives: true,
            teacher_weight: 0.0,
            teacher_temperature: 1.0,
            selection_weight: 0.5,
            selection_sentences: 8,
            objective: Objective::Queue,
            temperature: 0.05,
            normalise: false,
            queue_size: 131_072,
            momentum: 0.9995,
            window: 256,
            crop_min: 0.05,
            crop_max: 0.5,
            token_deletion: 0.1,
        };
        match task {
            Task::Reranker => base,
            Task::Attributor => Self {
                batch_size: 16,
                gradient_accumulation_steps: 2,
                learning_rate: 3e-5,
                warmup_steps: 200,
                epochs: 3,
                ..base
            },
            Task::Encoder => Self {
                batch_size: 64,
                gradient_accumulation_steps: 1,
                max_steps: 500_000,
                epochs: 1_000,
                learning_rate: 5e-5,
                warmup_steps: 20_000,
                beta2: 0.98,
                epsilon: 1e-6,
                ..base
            },
        }
    }

    /// What an hour of a laptop can do for `task`.
    pub fn small(task: Task) -> Self {
        let base = Self {
            save_dtype: SaveDtype::F16,
            held_out_rows: 300,
            epochs: 2,
            batch_size: 4,
            gradient_accumulation_steps: 1,
            learning_rate: 1e-4,
            warmup_steps: 100,
            dropout: 0.0,
            max_tokens: 192,
            freeze_embeddings: true,
            freeze_layers: 1,
            evaluate_every: 200,
            checkpoint_every: 100,
            patience: 8,
            group_size: 8,
            repeat_negatives: false,
            ..Self::paper(task)
        };
        match task {
            Task::Reranker => base,
            Task::Attributor => Self { batch_size: 16, max_tokens: 256, ..base },
            Task::Encoder => Self {
                batch_size: 32,
                learning_rate: 2e-5,
                max_steps: 1_000,
                queue_size: 4_096,
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
}
