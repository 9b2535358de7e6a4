//! The weights of a network: reading, writing, freezing.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use scholar_core::SplitMix64;

use super::Shape;
use super::layout::{Block, Layout};
use crate::backend::{Backend, Buffer};
use crate::error::TrainError;

/// Standard deviation of weights that start at random, as published for BERT.
const INITIAL: f64 = 0.02;

/// Which lower parts stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Freeze {
    /// The tables of words, positions and types.
    pub(crate) embeddings: bool,
    /// The lowest layers; frozen layers freeze the embeddings.
    pub(crate) layers: usize,
}

impl Freeze {
    /// Whether `block` stays as it is.
    pub(crate) fn holds(self, block: Block) -> bool {
        match block {
            Block::Embeddings => self.embeddings || self.layers > 0,
            Block::Layer(layer) => layer < self.layers,
            Block::Head => false,
        }
    }
}

/// All weights of a network in one buffer.
pub(crate) struct Parameters {
    pub(crate) shape: Shape,
    pub(crate) labels: usize,
    pub(crate) layout: Layout,
    pub(crate) values: Buffer,
}

impl Parameters {
    /// Reads a model folder. A head it lacks, or one of another number of `labels`, starts at random; but a reranker that
    /// begins from an attributor starts with what that knows of evidence.
    ///
    /// # Errors
    /// When the folder is damaged or of another architecture.
    pub(crate) fn open(dir: &Path, labels: usize, seed: u64) -> Result<Self, TrainError> {
        let shape = Shape::read(dir)?;
        let mut parameters = Self::random(shape, labels, seed);
        let path = dir.join("model.safetensors");
        let bytes = fs_err::read(&path).map_err(|e| TrainError::read(&path, e))?;
        let tensors =
            SafeTensors::deserialize(&bytes).map_err(|e| TrainError::damaged(&path, e))?;
        for at in 0..parameters.layout.specs.len() {
            let spec = parameters.layout.specs[at].clone();
            let names = [format!("bert.{}", spec.name), spec.name.clone()];
            let found = names.iter().find_map(|name| Some((name, tensors.tensor(name).ok()?)));
            let Some((name, tensor)) = found else {
                if spec.block == Block::Head {
                    continue;
                }
                return Err(TrainError::Other {
                    path,
                    kind: "architecture",
                    problem: format!("tensor {} is missing", spec.name),
                });
            };
            if tensor.shape() != spec.shape {
                if spec.name.starts_with("classifier") {
                    let target = &mut parameters.values.host_mut()[spec.range.clone()];
                    evidence_row(&tensor, target)
                        .map_err(|problem| TrainError::damaged(&path, problem))?;
                    continue;
                }
                return Err(TrainError::Other {
                    path,
                    kind: "architecture",
                    problem: format!(
                        "tensor {} has shape {:?}, expected {:?}",
                        spec.name,
                        tensor.shape(),
                        spec.shape
                    ),
                });
            }
            let values = &mut parameters.values.host_mut()[spec.range.clone()];
            let read = match tensor.dtype() {
                Dtype::I8 => read_packed(&tensor, &tensors, name, values),
                _ => read_numbers(&tensor, values),
            };
            read.map_err(|problem| {
                TrainError::damaged(&path, format!("tensor {}: {problem}", spec.name))
            })?;
        }
        Ok(parameters)
    }

    /// Weights at random, as published for BERT.
    pub(crate) fn random(shape: Shape, labels: usize, seed: u64) -> Self {
        let layout = Layout::new(&shape, labels);
        let mut values = vec![0.0; layout.len];
        for (at, spec) in layout.specs.iter().enumerate() {
            if spec.decay {
                let mut random = SplitMix64::stream(seed, at as u64);
                values[spec.range.clone()].fill_with(|| (random.normal() * INITIAL) as f32);
            } else if spec.name.ends_with(".weight") {
                values[spec.range.clone()].fill(1.0);
            }
        }
        Self { shape, labels, layout, values: values.into() }
    }

    /// Brings the weights to where they are computed with.
    pub(crate) fn move_to(&mut self, backend: &dyn Backend) {
        let values = std::mem::take(self.values.host_mut());
        self.values = backend.put(values);
    }

    /// The same network once more.
    pub(crate) fn duplicate(&self, backend: &dyn Backend) -> Self {
        Self {
            shape: self.shape.clone(),
            labels: self.labels,
            layout: self.layout.clone(),
            values: backend.duplicate(&self.values),
        }
    }

    /// The places of all tensors that learn.
    pub(crate) fn trainable(&self, freeze: Freeze) -> Vec<Range<usize>> {
        let learning = self.layout.specs.iter().filter(|spec| !freeze.holds(spec.block));
        learning.map(|spec| spec.range.clone()).collect()
    }

    /// These `values` of all weights as a safetensors file with the names of published checkpoints, in f16 where `half`.
    ///
    /// A network with a classifier has `bert.` before the encoder's names, one without has not.
    ///
    /// # Errors
    /// When the numbers cannot be laid out.
    pub(crate) fn to_safetensors(
        &self,
        values: &[f32],
        half: bool,
    ) -> Result<Vec<u8>, safetensors::SafeTensorError> {
        let rounded: Vec<half::f16> = if half {
            values.iter().map(|value| half::f16::from_f32(*value)).collect()
        } else {
            Vec::new()
        };
        let bytes: &[u8] =
            if half { bytemuck::cast_slice(&rounded) } else { bytemuck::cast_slice(values) };
        let (dtype, width) = if half { (Dtype::F16, 2) } else { (Dtype::F32, 4) };
        let mut views = Vec::new();
        for spec in &self.layout.specs {
            let bare = self.labels == 0 || spec.name.starts_with("classifier");
            let name = if bare { spec.name.clone() } else { format!("bert.{}", spec.name) };
            let bytes = &bytes[spec.range.start * width..spec.range.end * width];
            views.push((name, TensorView::new(dtype, spec.shape.clone(), bytes)?));
        }
        // Readers of published checkpoints ask for the format of the library the tensors come from.
        let about = HashMap::from([("format".to_owned(), "pt".to_owned())]);
        safetensors::serialize(views, Some(about))
    }
}

/// Where `tensor` is of three classes and `target` of one: the mean of supporting and contradicting, less neither, which
/// ranks nearly as [`crate::evidence_score`] does. Other shapes leave the target as it is.
///
/// Ours, because both tasks ask first whether two texts speak of the same thing.
fn evidence_row(tensor: &TensorView<'_>, target: &mut [f32]) -> Result<(), String> {
    let classes = crate::data::EvidenceLabel::ALL.len();
    let width = target.len();
    if tensor.shape().iter().product::<usize>() != classes * width || tensor.shape()[0] != classes {
        return Ok(());
    }
    let mut rows = vec![0.0; classes * width];
    read_numbers(tensor, &mut rows)?;
    for (at, target) in target.iter_mut().enumerate() {
        *target = 0.5 * (rows[at] + rows[width + at]) - rows[2 * width + at];
    }
    Ok(())
}

/// A matrix in eight bits, as models that the program ships have it: blocks of a row, each with a scale in `NAME.scale`.
fn read_packed(
    tensor: &TensorView<'_>,
    tensors: &SafeTensors<'_>,
    name: &str,
    into: &mut [f32],
) -> Result<(), String> {
    let scales = tensors.tensor(&format!("{name}.scale")).map_err(|_| "it has no scales")?;
    let count: usize = scales.shape().iter().product();
    let bytes = tensor.data();
    if count == 0 || bytes.len() != into.len() || !into.len().is_multiple_of(count) {
        return Err(format!("{count} scales for {} numbers", bytes.len()));
    }
    let mut each = vec![0.0; count];
    read_numbers(&scales, &mut each)?;
    let block = into.len() / count;
    for ((values, bytes), scale) in
        into.chunks_exact_mut(block).zip(bytes.chunks_exact(block)).zip(each)
    {
        for (value, byte) in values.iter_mut().zip(bytes) {
            *value = f32::from(i8::from_le_bytes([*byte])) * scale;
        }
    }
    Ok(())
}

/// Copies a tensor's numbers.
///
/// # Errors
/// When they are of a type that is not read here, not as many, or not finite.
pub(crate) fn read_numbers(tensor: &TensorView<'_>, into: &mut [f32]) -> Result<(), String> {
    let bytes = tensor.data();
    let width = match tensor.dtype() {
        Dtype::F32 => 4,
        Dtype::F16 | Dtype::BF16 => 2,
        other => return Err(format!("numbers of type {other:?} are not read")),
    };
    if bytes.len() != into.len() * width {
        return Err(format!("{} bytes for {} numbers", bytes.len(), into.len()));
    }
    for (value, bytes) in into.iter_mut().zip(bytes.chunks_exact(width)) {
        *value = match (tensor.dtype(), bytes) {
            (Dtype::F16, [a, b]) => half::f16::from_le_bytes([*a, *b]).to_f32(),
            (_, [a, b]) => half::bf16::from_le_bytes([*a, *b]).to_f32(),
            (_, [a, b, c, d]) => f32::from_le_bytes([*a, *b, *c, *d]),
            _ => 0.0,
        };
        if !value.is_finite() {
            return Err("holds a number that is not finite".to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_matrices_are_numbers_times_the_scale_of_their_block() {
        let numbers: Vec<u8> = [1_i8, -2, 127, 0].map(|n| n.to_le_bytes()[0]).into();
        let scales: Vec<u8> =
            [0.5, 2.0].iter().flat_map(|s| half::f16::from_f64(*s).to_le_bytes()).collect();
        let views = [
            ("m", TensorView::new(Dtype::I8, vec![1, 4], &numbers).expect("a view")),
            ("m.scale", TensorView::new(Dtype::F16, vec![1, 2], &scales).expect("a view")),
        ];
        let bytes = safetensors::serialize(views, None).expect("a file");
        let tensors = SafeTensors::deserialize(&bytes).expect("read");
        let packed = tensors.tensor("m").expect("there");
        let mut into = [0.0; 4];
        read_packed(&packed, &tensors, "m", &mut into).expect("fits");
        let expect = [0.5_f32, -1.0, 254.0, 0.0];
        assert!(into.iter().zip(expect).all(|(a, b)| (a - b).abs() < 1e-6), "{into:?}");
        let error = read_packed(&packed, &tensors, "other", &mut into).expect_err("no scales");
        assert!(error.contains("no scales"), "{error}");
        assert!(read_packed(&packed, &tensors, "m", &mut [0.0; 3]).is_err(), "three of four");
    }
}
