//! The tasks: their rows, loss and metrics. The loop around them is [`crate::train()`].

mod attributor;
mod encoder;
mod reranker;
mod rows;

use std::borrow::Cow;

use safetensors::SafeTensors;
use scholar_core::SplitMix64;

use crate::backend::{Backend, Dropout};
use crate::error::TrainError;
use crate::metrics::Calibration;
use crate::model::Model;
use crate::settings::{Objective, Settings, Task};
pub use rows::Rejected;

/// Where in a training a forward pass stands; all randomness in it derives from this.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepContext {
    pub(crate) seed: u64,
    pub(crate) epoch: u64,
    /// Forward passes before this one.
    pub(crate) pass: u64,
}

impl StepContext {
    pub(crate) fn random(self) -> SplitMix64 {
        SplitMix64::stream(self.seed ^ 0x5e1e_c7ed, self.pass)
    }

    pub(crate) fn dropout(self, probability: f32) -> Option<Dropout> {
        Dropout::new(self.seed ^ 0x0d20_9017, self.pass, probability)
    }
}

/// State of a task that a checkpoint keeps: tensors by name.
pub(crate) type StateDict<'a> = Vec<(String, Cow<'a, [f32]>)>;

/// Name and value of a metric.
pub type Measure = (String, f64);

/// Metrics on held-out data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evaluation {
    /// What selects the best weights; higher is better.
    pub(crate) score: f64,
    /// All metrics, the score among them.
    pub(crate) values: Vec<Measure>,
    pub(crate) calibration: Option<Calibration>,
}

/// `values` with owned names.
fn measures<const N: usize>(values: [(&str, f64); N]) -> Vec<Measure> {
    values.map(|(name, value)| (name.to_owned(), value)).into()
}

/// How much a task learns from and is evaluated on, in rows or, where it reads running text, in windows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskData<'a> {
    /// Items of one epoch.
    pub(crate) training: usize,
    pub(crate) held_out: usize,
    /// Unusable rows, of either.
    pub(crate) rejected: &'a [Rejected],
}

/// A task with its data.
pub(crate) trait TrainingTask {
    /// What it learns from and is evaluated on.
    fn data(&self) -> TaskData<'_>;

    /// Forward and backward pass over `items`, numbers below [`TaskData::training`]: adds the gradient of their mean loss, and returns that loss.
    ///
    /// # Errors
    /// When a text cannot be tokenised, or the device failed.
    fn training_step(
        &mut self,
        model: &mut Model,
        items: &[usize],
        context: StepContext,
    ) -> Result<f64, TrainError>;

    /// Evaluates on the held-out rows.
    ///
    /// # Errors
    /// When a text cannot be tokenised, or the device failed.
    fn evaluate(&mut self, model: &mut Model) -> Result<Evaluation, TrainError>;

    /// What the task itself keeps between steps.
    ///
    /// # Errors
    /// When the device failed.
    fn state_dict(&self, _device: &dyn Backend) -> Result<StateDict<'_>, TrainError> {
        Ok(Vec::new())
    }

    /// Restores what [`TrainingTask::state_dict`] returned.
    ///
    /// # Errors
    /// When something is missing.
    fn load_state_dict(
        &mut self,
        _saved: &SafeTensors<'_>,
        _device: &dyn Backend,
    ) -> Result<(), String> {
        Ok(())
    }

    /// Training rows without teacher scores, where a teacher is wanted.
    fn unscored(&self) -> usize {
        0
    }
}

/// Reads the rows that `settings` name.
///
/// # Errors
/// When they cannot be read or cannot teach the task.
pub(crate) fn open(
    settings: &Settings,
    model: &mut Model,
) -> Result<Box<dyn TrainingTask>, TrainError> {
    Ok(match (settings.task, settings.objective) {
        (Task::Reranker, _) => Box::new(reranker::Ranking::open(settings)?),
        (Task::Attributor, _) => Box::new(attributor::Judging::open(settings)?),
        (Task::Encoder, Objective::Pairs) => Box::new(encoder::Pairs::open(settings)?),
        (Task::Encoder, Objective::Queue | Objective::Crops) => {
            Box::new(encoder::Crops::open(settings, model)?)
        }
    })
}

/// Training rows, held-out rows, and the unusable ones of both.
struct Split<T> {
    rows: Vec<T>,
    held_out: Vec<T>,
    rejected: Vec<Rejected>,
}

impl<T> Split<T> {
    fn data(&self) -> TaskData<'_> {
        let Self { rows, held_out, rejected } = self;
        TaskData { training: rows.len(), held_out: held_out.len(), rejected }
    }
}

impl<T: serde::de::DeserializeOwned> Split<T> {
    /// Held-out rows come from their own files, else from the rows, grouped by `key`. `check` says what is wrong with a row.
    fn read(
        settings: &Settings,
        key: impl Fn(&T) -> &str,
        check: impl Fn(&T) -> Result<(), String>,
    ) -> Result<Self, TrainError> {
        let mut read = rows::read(&settings.rows, settings.max_rejected_fraction, &check)?;
        let wanted = settings.held_out_rows;
        let mut random = SplitMix64::stream(settings.seed, 0xe7a1);
        let held_out = if settings.held_out.is_empty() {
            let mut keys: Vec<&str> = read.rows.iter().map(&key).collect();
            keys.sort_unstable();
            keys.dedup();
            random.shuffle(&mut keys);
            // A fifth at most, so that few rows still teach something.
            let count = wanted.min(keys.len() / 5);
            let kept: std::collections::BTreeSet<String> =
                keys[..count].iter().map(|key| (*key).to_owned()).collect();
            let (mut held_out, rows): (Vec<T>, Vec<T>) =
                read.rows.into_iter().partition(|row| kept.contains(key(row)));
            read.rows = rows;
            held_out.truncate(wanted);
            held_out
        } else {
            let mut apart = rows::read(&settings.held_out, settings.max_rejected_fraction, &check)?;
            read.rejected.append(&mut apart.rejected);
            random.shuffle(&mut apart.rows);
            apart.rows.truncate(wanted);
            apart.rows
        };
        if held_out.is_empty() || read.rows.len() < settings.batch_size {
            let what = format!(
                "{} training rows and {} held-out rows are too few for batches of {}",
                read.rows.len(),
                held_out.len(),
                settings.batch_size
            );
            return Err(TrainError::Useless { what });
        }
        Ok(Self { rows: read.rows, held_out, rejected: read.rejected })
    }
}
