//! Checkpoints: everything a training needs to go on as if it had never stopped, in one safetensors file.
//!
//! Weights, running means, what the task remembers, and in the header the [`State`]. There is no generator of random
//! numbers to save: all that is drawn is drawn from the seed and the number of the pass.

use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::backend::Moments;
use crate::error::TrainError;
use crate::files;
use crate::model::Model;
use crate::network::{Shape, read_numbers};
use crate::settings::Settings;
use crate::task::TrainingTask;

/// Raised when files of earlier versions cannot be read any more.
const VERSION: u32 = 1;
/// The header's key.
const KEY: &str = "openscholar-training";

/// Where a training stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) version: u32,
    pub(crate) settings: Settings,
    pub(crate) shape: Shape,
    /// Digest of the rows.
    pub(crate) rows: String,
    /// Optimizer steps taken.
    pub(crate) step: usize,
    pub(crate) epoch: usize,
    /// Rows of the epoch that are done.
    pub(crate) position: usize,
    pub(crate) tokens: u64,
    /// Score and step of the best evaluation.
    pub(crate) best: Option<(f64, usize)>,
    /// Evaluations without improvement since.
    pub(crate) misses: usize,
    /// Seconds of earlier processes.
    pub(crate) seconds: f64,
}

impl State {
    pub(crate) fn new(settings: &Settings, shape: &Shape, rows: String) -> Self {
        Self {
            version: VERSION,
            settings: settings.clone(),
            shape: shape.clone(),
            rows,
            step: 0,
            epoch: 0,
            position: 0,
            tokens: 0,
            best: None,
            misses: 0,
            seconds: 0.0,
        }
    }

    /// Why a training with `self` cannot be continued as `now`, if it cannot.
    fn differs(&self, now: &Self) -> Option<(&'static str, String)> {
        if self.version != now.version {
            return Some(("version", format!("it is of version {}", self.version)));
        }
        if self.shape != now.shape {
            return Some(("architecture", format!("{:?} is not {:?}", self.shape, now.shape)));
        }
        let table = |settings: &Settings| serde_json::to_value(settings).unwrap_or_default();
        let (was, is) = (table(&self.settings), table(&now.settings));
        // Where files lie, how often is saved and how long nothing may improve changes no number.
        let free = ["init", "rows", "held_out", "checkpoint_every", "patience"];
        for (name, is) in is.as_object().into_iter().flatten() {
            if !free.contains(&name.as_str()) && was.get(name) != Some(is) {
                let was = was.get(name).map_or_else(|| "absent".to_owned(), ToString::to_string);
                return Some(("training", format!("{name} was {was} and is {is}")));
            }
        }
        (self.rows != now.rows).then(|| ("training", "the rows are others".to_owned()))
    }
}

/// Saves a checkpoint, atomically replacing the one before.
///
/// # Errors
/// When the disk does not take it or the device failed; the checkpoint before stays.
pub(crate) fn save(
    path: &Path,
    state: &State,
    model: &Model,
    moments: &Moments,
    task: &dyn TrainingTask,
) -> Result<(), TrainError> {
    let header = serde_json::to_string(state).map_err(|e| TrainError::write(path, e))?;
    let backend = &*model.backend;
    let weights = backend.read(&model.parameters.values)?;
    let (mean, square) = (backend.read(&moments.mean)?, backend.read(&moments.square)?);
    let memory = task.state_dict(backend)?;
    let mut tensors: Vec<(String, &[f32])> = Vec::new();
    for spec in &model.parameters.layout.specs {
        let range = spec.range.clone();
        tensors.push((format!("weight.{}", spec.name), &weights[range.clone()]));
        if !model.freeze.holds(spec.block) {
            tensors.push((format!("mean.{}", spec.name), &mean[range.clone()]));
            tensors.push((format!("square.{}", spec.name), &square[range]));
        }
    }
    tensors.extend(memory.iter().map(|(name, values)| (format!("task.{name}"), &values[..])));
    let views = tensors
        .into_iter()
        .map(|(name, values)| {
            let bytes: &[u8] = bytemuck::cast_slice(values);
            Ok((name, TensorView::new(Dtype::F32, vec![values.len()], bytes)?))
        })
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>();
    let about = HashMap::from([(KEY.to_owned(), header)]);
    let bytes = views
        .and_then(|views| safetensors::serialize(views, Some(about)))
        .map_err(|e| TrainError::write(path, e))?;
    files::replace(path, &bytes)
}

/// Puts a checkpoint into model, moments and task, and returns where it stands; `None` where there is none.
///
/// # Errors
/// When it is damaged, or of another architecture, of other settings or rows than `now`.
pub(crate) fn load(
    path: &Path,
    now: &State,
    model: &mut Model,
    moments: &mut Moments,
    task: &mut dyn TrainingTask,
) -> Result<Option<State>, TrainError> {
    let bytes = match fs_err::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(TrainError::read(path, error)),
    };
    let damaged = |problem: String| TrainError::damaged(path, problem);
    let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|e| damaged(e.to_string()))?;
    let header = header.metadata().as_ref().and_then(|about| about.get(KEY));
    let header = header.ok_or_else(|| damaged("it is not a training checkpoint".to_owned()))?;
    let state: State = serde_json::from_str(header).map_err(|e| damaged(e.to_string()))?;
    if let Some((kind, problem)) = state.differs(now) {
        return Err(TrainError::Other { path: path.to_owned(), kind, problem });
    }
    let saved = SafeTensors::deserialize(&bytes).map_err(|e| damaged(e.to_string()))?;
    let read = |name: String, into: &mut [f32]| {
        let tensor = saved.tensor(&name).map_err(|_| damaged(format!("{name} is missing")))?;
        read_numbers(&tensor, into).map_err(|problem| damaged(format!("{name}: {problem}")))
    };
    let len = model.parameters.values.len();
    let (mut weights, mut mean, mut square) = (vec![0.0; len], vec![0.0; len], vec![0.0; len]);
    for spec in &model.parameters.layout.specs {
        let range = spec.range.clone();
        read(format!("weight.{}", spec.name), &mut weights[range.clone()])?;
        if !model.freeze.holds(spec.block) {
            read(format!("mean.{}", spec.name), &mut mean[range.clone()])?;
            read(format!("square.{}", spec.name), &mut square[range])?;
        }
    }
    let backend = &*model.backend;
    model.parameters.values = backend.put(weights);
    moments.mean = backend.put(mean);
    moments.square = backend.put(square);
    task.load_state_dict(&saved, backend).map_err(damaged)?;
    model.tokens = state.tokens;
    Ok(Some(state))
}
