//! `PyTorch` zip checkpoints (`pytorch_model.bin`).

use std::path::{Path, PathBuf};

use candle_core::DType;
use candle_core::pickle::PthTensors;

use super::{Source, Tensor};
use crate::error::ModelError;

/// An opened checkpoint; tensors are read one by one.
pub(super) struct Pytorch {
    path: PathBuf,
    tensors: PthTensors,
}

impl Pytorch {
    /// Reads the checkpoint's directory. No code in the pickle is run.
    ///
    /// # Errors
    /// When the file is not a zip checkpoint (before `PyTorch` 1.6 it was not) or is damaged.
    pub(super) fn open(path: &Path) -> Result<Self, ModelError> {
        let tensors = PthTensors::new(path, None).map_err(|e| {
            ModelError::damaged(path, format!("it is not a PyTorch zip checkpoint: {e}"))
        })?;
        if tensors.tensor_infos().is_empty() {
            return Err(ModelError::damaged(path, "it names no tensor"));
        }
        Ok(Self { path: path.to_owned(), tensors })
    }
}

impl Source for Pytorch {
    fn read(&self, name: &str) -> Result<Option<Tensor>, ModelError> {
        let damaged = |e: candle_core::Error| {
            ModelError::damaged(&self.path, format!("tensor {name} cannot be read: {e}"))
        };
        let Some(tensor) = self.tensors.get(name).map_err(damaged)? else { return Ok(None) };
        let shape = tensor.dims().to_vec();
        let values = tensor
            .to_dtype(DType::F32)
            .and_then(|t| t.flatten_all())
            .and_then(|t| t.to_vec1::<f32>())
            .map_err(damaged)?;
        Ok(Some(Tensor { shape, values }))
    }

    fn has(&self, name: &str) -> bool {
        self.tensors.tensor_infos().contains_key(name)
    }
}
