//! `PyTorch` zip checkpoints (`pytorch_model.bin`).

use std::path::PathBuf;

use candle_core::DType;
use candle_core::pickle::PthTensors;

use super::{Source, Tensor};
use crate::error::ModelError;

/// An opened checkpoint of one or several files; tensors are read one by one.
pub(super) struct Pytorch {
    shards: Vec<(PathBuf, PthTensors)>,
}

impl Pytorch {
    /// Reads the directories of the files. No code in a pickle is run.
    ///
    /// # Errors
    /// When a file is not a zip checkpoint (before `PyTorch` 1.6 it was not) or is damaged.
    pub(super) fn open(paths: &[PathBuf]) -> Result<Self, ModelError> {
        let mut shards = Vec::with_capacity(paths.len());
        for path in paths {
            let tensors = PthTensors::new(path, None).map_err(|e| {
                ModelError::damaged(path, format!("it is not a PyTorch zip checkpoint: {e}"))
            })?;
            if tensors.tensor_infos().is_empty() {
                return Err(ModelError::damaged(path, "it names no tensor"));
            }
            shards.push((path.clone(), tensors));
        }
        Ok(Self { shards })
    }

    fn holder(&self, name: &str) -> Option<&(PathBuf, PthTensors)> {
        self.shards.iter().find(|(_, tensors)| tensors.tensor_infos().contains_key(name))
    }
}

impl Source for Pytorch {
    fn read(&self, name: &str) -> Result<Option<Tensor>, ModelError> {
        let Some((path, tensors)) = self.holder(name) else { return Ok(None) };
        let damaged = |e: candle_core::Error| {
            ModelError::damaged(path, format!("tensor {name} cannot be read: {e}"))
        };
        let Some(tensor) = tensors.get(name).map_err(damaged)? else { return Ok(None) };
        let shape = tensor.dims().to_vec();
        let values = tensor
            .to_dtype(DType::F32)
            .and_then(|t| t.flatten_all())
            .and_then(|t| t.to_vec1::<f32>())
            .map_err(damaged)?;
        Ok(Some(Tensor { shape, values }))
    }

    fn has(&self, name: &str) -> bool {
        self.holder(name).is_some()
    }

    fn names(&self) -> Vec<String> {
        let all = self.shards.iter().flat_map(|(_, tensors)| tensors.tensor_infos().keys());
        let mut names: Vec<String> = all.cloned().collect();
        names.sort();
        names
    }
}
