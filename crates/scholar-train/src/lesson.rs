//! What a task teaches: which rows, which loss, which measure. The loop around it is [`crate::train()`].

mod attributor;
mod encoder;
mod reranker;
mod rows;

use std::borrow::Cow;

use safetensors::SafeTensors;
use scholar_core::SplitMix64;

use crate::arithmetic::{Device, Noise};
use crate::error::TrainError;
use crate::metrics::Calibration;
use crate::model::Model;
use crate::settings::{Objective, Settings, Task};
pub use rows::Rejected;

/// Where in a training a forward pass stands; everything drawn in it is drawn from this.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) seed: u64,
    pub(crate) epoch: u64,
    /// Forward passes before this one.
    pub(crate) pass: u64,
}

impl Moment {
    pub(crate) fn random(self) -> SplitMix64 {
        SplitMix64::stream(self.seed ^ 0x5e1e_c7ed, self.pass)
    }

    pub(crate) fn noise(self, probability: f32) -> Option<Noise> {
        Noise::new(self.seed ^ 0x0d20_9017, self.pass, probability)
    }
}

/// Name and numbers of something a task remembers.
pub(crate) type Memory<'a> = (String, Cow<'a, [f32]>);

/// Name and value of what was measured.
pub type Measure = (String, f64);

/// What held-out rows say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evaluation {
    /// Higher is better.
    pub(crate) score: f64,
    /// The score among them.
    pub(crate) values: Vec<Measure>,
    pub(crate) calibration: Option<Calibration>,
}

/// `values` with names of their own.
fn measures<const N: usize>(values: [(&str, f64); N]) -> Vec<Measure> {
    values.map(|(name, value)| (name.to_owned(), value)).into()
}

/// A task with its rows.
pub(crate) trait Lesson {
    /// Rows, groups or windows of an epoch.
    fn items(&self) -> usize;

    /// Adds the gradient of the mean loss of `items`, and returns that loss.
    ///
    /// # Errors
    /// When a text cannot be tokenised, or the device failed.
    fn learn(&mut self, model: &mut Model, items: &[usize], at: Moment) -> Result<f64, TrainError>;

    /// Measures on held-out rows.
    ///
    /// # Errors
    /// When a text cannot be tokenised, or the device failed.
    fn evaluate(&mut self, model: &mut Model) -> Result<Evaluation, TrainError>;

    /// What the task itself remembers between steps.
    ///
    /// # Errors
    /// When the device failed.
    fn memory(&self, _device: &dyn Device) -> Result<Vec<Memory<'_>>, TrainError> {
        Ok(Vec::new())
    }

    /// Takes back what [`Lesson::memory`] gave.
    ///
    /// # Errors
    /// When something is missing.
    fn recall(&mut self, _saved: &SafeTensors<'_>, _device: &dyn Device) -> Result<(), String> {
        Ok(())
    }

    /// Rows that were left out.
    fn rejected(&self) -> &[Rejected] {
        &[]
    }

    /// Rows that a teacher was wanted for and has not scored.
    fn untaught(&self) -> usize {
        0
    }

    /// Rows learnt from and rows kept apart.
    fn counts(&self) -> (usize, usize);
}

/// Reads the rows that `settings` name.
///
/// # Errors
/// When they cannot be read or cannot teach the task.
pub(crate) fn open(settings: &Settings, model: &mut Model) -> Result<Box<dyn Lesson>, TrainError> {
    Ok(match (settings.task, settings.objective) {
        (Task::Reranker, _) => Box::new(reranker::Ranking::open(settings)?),
        (Task::Attributor, _) => Box::new(attributor::Judging::open(settings)?),
        (Task::Encoder, Objective::Pairs) => Box::new(encoder::Pairs::open(settings)?),
        (Task::Encoder, Objective::Queue | Objective::Crops) => {
            Box::new(encoder::Crops::open(settings, model)?)
        }
    })
}

/// Rows to learn from, rows to measure on, and what was left out of both.
struct Split<T> {
    rows: Vec<T>,
    held_out: Vec<T>,
    rejected: Vec<Rejected>,
}

impl<T: serde::de::DeserializeOwned> Split<T> {
    /// Held-out rows come from their own files, else from the rows: all rows with the same `key` stay together. `check` says
    /// what is wrong with a row.
    fn read(
        settings: &Settings,
        key: impl Fn(&T) -> &str,
        check: impl Fn(&T) -> Result<(), String>,
    ) -> Result<Self, TrainError> {
        let mut read = rows::read(&settings.rows, settings.rejected_share, &check)?;
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
            let mut apart = rows::read(&settings.held_out, settings.rejected_share, &check)?;
            read.rejected.append(&mut apart.rejected);
            random.shuffle(&mut apart.rows);
            apart.rows.truncate(wanted);
            apart.rows
        };
        if held_out.is_empty() || read.rows.len() < settings.batch {
            let what = format!(
                "{} rows to learn from and {} to measure on are too few for batches of {}",
                read.rows.len(),
                held_out.len(),
                settings.batch
            );
            return Err(TrainError::Useless { what });
        }
        Ok(Self { rows: read.rows, held_out, rejected: read.rejected })
    }
}
