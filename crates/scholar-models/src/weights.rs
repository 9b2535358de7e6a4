//! Named tensors of a model folder, whatever file they lie in.
//!
//! Reads safetensors and `PyTorch` zip checkpoints, in one file or sharded, with f32, f16 and bf16 numbers or
//! packed to eight bits by [`pack`](crate::quantize::pack), and hands every
//! tensor out as f32. Also digests the weight files for fingerprints.

mod digest;
mod pytorch;
mod tensors;

use std::path::{Path, PathBuf};

use crate::error::ModelError;

pub(crate) use digest::sampled_digest;
pub(crate) use tensors::{SCALE_BLOCK, SCALE_SUFFIX};

/// One tensor, row-major.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

/// Something that yields tensors by name.
trait Source: Send {
    /// `None` when there is no tensor of that name.
    fn read(&self, name: &str) -> Result<Option<Tensor>, ModelError>;
    fn has(&self, name: &str) -> bool;
    /// All names, sorted.
    fn names(&self) -> Vec<String>;
}

/// The weights of one model folder.
pub(crate) struct Weights {
    files: Vec<PathBuf>,
    source: Box<dyn Source>,
    /// What stands before every name, for example `bert.` in checkpoints with a head.
    prefix: String,
}

impl Weights {
    /// Opens `model.safetensors`, its shards, `pytorch_model.bin`, or its shards, in this order of preference.
    ///
    /// `prefixes` are tried with `probe`: the first under which that tensor exists is put before every name.
    ///
    /// # Errors
    /// When there is no weight file, it cannot be read or is damaged, or `probe` exists under no prefix.
    pub(crate) fn open(dir: &Path, prefixes: &[&str], probe: &str) -> Result<Self, ModelError> {
        let (files, source) = Self::source(dir)?;
        let found = prefixes.iter().find(|prefix| source.has(&format!("{prefix}{probe}")));
        match found {
            Some(prefix) => Ok(Self { files, source, prefix: (*prefix).to_owned() }),
            None => Err(ModelError::Tensor {
                path: files[0].clone(),
                tensor: probe.to_owned(),
                problem: "is missing: this is not a model of the kind config.json states"
                    .to_owned(),
            }),
        }
    }

    /// Opens the same files of whatever model.
    ///
    /// # Errors
    /// When there is no weight file, it cannot be read or is damaged.
    pub(crate) fn open_any(dir: &Path) -> Result<Self, ModelError> {
        let (files, source) = Self::source(dir)?;
        Ok(Self { files, source, prefix: String::new() })
    }

    fn source(dir: &Path) -> Result<(Vec<PathBuf>, Box<dyn Source>), ModelError> {
        let single = dir.join("model.safetensors");
        let index = dir.join("model.safetensors.index.json");
        let pickled = dir.join("pytorch_model.bin");
        let pickled_index = dir.join("pytorch_model.bin.index.json");
        let (files, source): (Vec<PathBuf>, Box<dyn Source>) = if single.is_file() {
            let files = vec![single];
            let source = tensors::Safetensors::open(&files)?;
            (files, Box::new(source))
        } else if index.is_file() {
            let files = tensors::shards(&index)?;
            let source = tensors::Safetensors::open(&files)?;
            (files, Box::new(source))
        } else if pickled.is_file() || pickled_index.is_file() {
            let single = pickled.is_file();
            let files = if single { vec![pickled] } else { tensors::shards(&pickled_index)? };
            let source = pytorch::Pytorch::open(&files)?;
            (files, Box::new(source))
        } else {
            return Err(ModelError::MissingFile {
                dir: dir.to_owned(),
                expected: "model.safetensors, model.safetensors.index.json or pytorch_model.bin",
            });
        };
        Ok((files, source))
    }

    /// Names of all tensors as the files have them, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        self.source.names()
    }

    /// The files behind these weights.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Whether the tensor exists, under the model's prefix or bare.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.source.has(&format!("{}{name}", self.prefix)) || self.source.has(name)
    }

    /// The numbers of tensor `name`, which must have `shape`.
    ///
    /// # Errors
    /// When it is absent, has another shape, or its file is damaged.
    pub(crate) fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let tensor = self.get_any(name)?;
        if tensor.shape != shape {
            return Err(self.problem(
                name,
                format!("has shape {:?}, config.json asks for {shape:?}", tensor.shape),
            ));
        }
        if let Some(at) = tensor.values.iter().position(|value| !value.is_finite()) {
            return Err(self.problem(name, format!("holds a number that is not finite at {at}")));
        }
        Ok(tensor.values)
    }

    /// Tensor `name` of any shape.
    ///
    /// # Errors
    /// When it is absent or its file is damaged.
    pub(crate) fn get_any(&self, name: &str) -> Result<Tensor, ModelError> {
        let full = format!("{}{name}", self.prefix);
        let found = match self.source.read(&full)? {
            Some(tensor) => Some(tensor),
            None => self.source.read(name)?,
        };
        found.ok_or_else(|| self.problem(name, "is missing".to_owned()))
    }

    /// What is wrong with a tensor.
    pub(crate) fn problem(&self, name: &str, problem: String) -> ModelError {
        ModelError::Tensor { path: self.files[0].clone(), tensor: name.to_owned(), problem }
    }
}
