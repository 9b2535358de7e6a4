//! How long a step takes, for comparing engines and machines.

use std::path::Path;
use std::time::Instant;

use scholar_core::SplitMix64;

use crate::backend::{DeviceKind, Precision};
use crate::error::TrainError;
use crate::model::Model;
use crate::network::Packed;
use crate::optimiser::{Accumulated, AdamW, AdamWConfig, grad_norm};
use crate::settings::{Settings, Task};

/// Time of each step that [`measure`] took.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// What computed, in words.
    pub device: String,
    /// Seconds of each step: forward, backward, clipping, `AdamW`.
    pub seconds: Vec<f64>,
}

/// What [`measure`] computes, and on what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workload {
    /// Sequences of a batch.
    pub sequences: usize,
    /// Tokens of each sequence, special tokens included.
    pub tokens: usize,
    /// Optimizer steps, each of one batch.
    pub steps: usize,
    /// What computes: the CPU or a GPU.
    pub device: DeviceKind,
    /// CPU threads; 0 for one per core.
    pub threads: usize,
    /// Precision of products on the CPU.
    pub precision: Precision,
}

/// Times whole steps of a classifier on top of the model in `init` over random token ids: every weight trainable, no dropout.
///
/// # Errors
/// When the folder cannot be opened, or the device failed.
pub fn measure(init: &Path, workload: Workload) -> Result<Speed, TrainError> {
    let Workload { sequences, tokens, steps, device, threads, precision } = workload;
    let settings = Settings {
        init: init.to_owned(),
        max_tokens: tokens,
        device,
        threads,
        precision,
        freeze_embeddings: false,
        freeze_layers: 0,
        ..Settings::paper(Task::Reranker)
    };
    let mut model = Model::open(&settings)?;
    let mut random = SplitMix64::new(settings.seed);
    let config = AdamWConfig {
        learning_rate: 1e-5,
        beta1: settings.beta1,
        beta2: settings.beta2,
        epsilon: settings.epsilon,
        weight_decay: settings.weight_decay,
        max_grad_norm: settings.max_grad_norm,
        warmup_steps: 0,
        total_steps: steps + 1,
    };
    let mut optimiser = AdamW::new(config, &*model.backend, model.parameters.values.len());
    let mut seconds = Vec::new();
    for step in 0..steps {
        let mut batch = Packed::new();
        for _ in 0..sequences {
            let vocabulary = model.parameters.shape.vocabulary;
            let ids: Vec<u32> = (0..tokens).map(|_| random.below(vocabulary) as u32).collect();
            batch.push(&ids, &vec![0; tokens]);
        }
        let began = Instant::now();
        model.clear();
        let logits = model.classify(&batch, None)?;
        model.classify_back(&batch, &logits);
        let Model { threads, backend, parameters, gradient, freeze, .. } = &mut model;
        let backend = &**backend;
        threads.run(|| {
            let norm = grad_norm(backend, parameters, *freeze, gradient)?;
            let accumulated = Accumulated { sum: gradient, passes: 1, grad_norm: norm };
            optimiser.step(backend, parameters, *freeze, accumulated, step);
            // A device that works on meanwhile is waited for.
            backend.squares(&parameters.values, std::slice::from_ref(&(0..1))).map(drop)
        })?;
        seconds.push(began.elapsed().as_secs_f64());
    }
    Ok(Speed { device: model.backend.describe(), seconds })
}
