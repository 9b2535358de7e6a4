//! How long a step takes, for comparing engines and machines.

use std::path::Path;
use std::time::Instant;

use scholar_core::SplitMix64;

use crate::arithmetic::{Hardware, Precision};
use crate::error::TrainError;
use crate::model::Model;
use crate::network::Packed;
use crate::optimiser::{self, Moments, Rule};
use crate::settings::{Settings, Task};

/// What [`measure`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// What computed, in words.
    pub device: String,
    /// Seconds of each step: forward, backward, clipping, `AdamW`.
    pub seconds: Vec<f64>,
}

/// Takes `steps` whole steps of a classifier on top of the model in `init`: `sequences` of `tokens` random ids, every weight
/// learning, no dropout.
///
/// # Errors
/// When the folder cannot be opened.
pub fn measure(
    init: &Path,
    (sequences, tokens): (usize, usize),
    steps: usize,
    (device, threads, precision): (Hardware, usize, Precision),
) -> Result<Speed, TrainError> {
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
    let mut moments = Moments::new(&*model.device, model.parameters.values.len());
    let mut random = SplitMix64::new(settings.seed);
    let rule = Rule {
        learning_rate: 1e-5,
        beta1: settings.beta1,
        beta2: settings.beta2,
        epsilon: settings.epsilon,
        weight_decay: settings.weight_decay,
        clip: settings.clip,
        warmup: 0,
        steps: steps + 1,
    };
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
        let Model { threads, device, parameters, gradient, freeze, .. } = &mut model;
        let device = &**device;
        threads.run(|| {
            let length = optimiser::length(device, parameters, *freeze, gradient)?;
            let from = (&*gradient, length, 1.0);
            optimiser::step(device, parameters, (&rule, step), *freeze, from, &mut moments);
            // A device that works on meanwhile is waited for.
            device.squares(&parameters.values, std::slice::from_ref(&(0..1))).map(drop)
        })?;
        seconds.push(began.elapsed().as_secs_f64());
    }
    Ok(Speed { device: model.device.describe(), seconds })
}
