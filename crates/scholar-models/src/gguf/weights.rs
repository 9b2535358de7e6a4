//! Weight matrices, read where the file has them: nothing is copied or arranged when a model is opened.

use std::sync::Arc;

use memmap2::Mmap;

use super::error::GgufError;
use super::file::{GgufFile, TensorEntry};
use super::formats::{Format, MAX_UNIT, Unit, half_to_f32};
use super::panels::Blocks;

/// A matrix `[outputs, inputs]` in the memory map.
#[derive(Clone)]
pub(super) struct Matrix {
    map: Arc<Mmap>,
    start: usize,
    len: usize,
    format: Format,
    outputs: usize,
    inputs: usize,
}

impl Matrix {
    fn new(file: &GgufFile, entry: &TensorEntry) -> Self {
        let inputs = entry.dims.last().copied().unwrap_or(1);
        Self {
            map: Arc::clone(&file.maps[entry.part]),
            start: entry.start,
            len: entry.len,
            format: entry.format,
            outputs: entry.dims.iter().product::<usize>() / inputs,
            inputs,
        }
    }

    /// The matrix that is a whole file.
    #[cfg(test)]
    pub(super) fn of(map: Arc<Mmap>, format: Format, outputs: usize, inputs: usize) -> Self {
        Self { start: 0, len: map.len(), map, format, outputs, inputs }
    }

    /// The matrix `name`, which must have this shape.
    pub(super) fn load(
        file: &GgufFile,
        name: &str,
        outputs: usize,
        inputs: usize,
    ) -> Result<Self, GgufError> {
        Ok(Self::new(file, file.tensor(name, &[outputs, inputs])?))
    }

    /// `len` of its outputs, from `first` on.
    pub(super) fn outputs(&self, first: usize, len: usize) -> Self {
        assert!(first + len <= self.outputs, "a part has outputs of its matrix");
        let row = self.len / self.outputs;
        Self { start: self.start + first * row, len: len * row, outputs: len, ..self.clone() }
    }

    /// Its blocks; the format may be a dense one.
    pub(super) fn blocks(&self) -> Blocks<'_> {
        Blocks {
            format: self.format,
            bytes: &self.map[self.start..self.start + self.len],
            outputs: self.outputs,
            inputs: self.inputs,
        }
    }

    /// The weights of one output.
    pub(super) fn row(&self, output: usize, out: &mut [f32]) {
        let blocks = self.blocks();
        let len = self.len / self.outputs;
        numbers(self.format, &blocks.bytes[output * len..][..len], out);
    }
}

/// Numbers of any format as f32.
pub(super) fn numbers(format: Format, bytes: &[u8], out: &mut [f32]) {
    match format {
        Format::F32 => {
            for (bytes, out) in bytes.as_chunks::<4>().0.iter().zip(out) {
                *out = f32::from_le_bytes(*bytes);
            }
        }
        Format::F16 => {
            for (bytes, out) in bytes.as_chunks::<2>().0.iter().zip(out) {
                *out = half_to_f32(u16::from_le_bytes(*bytes));
            }
        }
        Format::Bf16 => {
            for (bytes, out) in bytes.as_chunks::<2>().0.iter().zip(out) {
                *out = f32::from_bits(u32::from(u16::from_le_bytes(*bytes)) << 16);
            }
        }
        _ => {
            let (numbers, len) = format.block();
            let mut unit = Unit::ZERO;
            debug_assert!(numbers <= MAX_UNIT);
            for (block, out) in bytes.chunks_exact(len).zip(out.chunks_exact_mut(numbers)) {
                unit.read(format, block);
                unit.weights(format, out);
            }
        }
    }
}

/// A vector of `len` numbers, whatever its format in the file.
pub(super) fn vector(file: &GgufFile, name: &str, len: usize) -> Result<Vec<f32>, GgufError> {
    let matrix = Matrix::new(file, file.tensor(name, &[len])?);
    let mut out = vec![0.0; len];
    numbers(matrix.format, matrix.blocks().bytes, &mut out);
    Ok(out)
}

/// As [`vector`], where the file has it.
pub(super) fn vector_opt(
    file: &GgufFile,
    name: &str,
    len: usize,
) -> Result<Option<Vec<f32>>, GgufError> {
    file.tensors.contains_key(name).then(|| vector(file, name, len)).transpose()
}

/// `y = W x (+ b)`.
#[derive(Clone)]
pub(super) struct Linear {
    pub(super) matrix: Matrix,
    pub(super) bias: Option<Vec<f32>>,
}

impl Linear {
    /// The matrix `{name}.weight` of shape `[outputs, inputs]`, with `{name}.bias` where the file has one.
    pub(super) fn load(
        file: &GgufFile,
        name: &str,
        outputs: usize,
        inputs: usize,
    ) -> Result<Self, GgufError> {
        Ok(Self {
            matrix: Matrix::load(file, &format!("{name}.weight"), outputs, inputs)?,
            bias: vector_opt(file, &format!("{name}.bias"), outputs)?,
        })
    }

    /// `len` of its outputs, from `first` on.
    pub(super) fn outputs(&self, first: usize, len: usize) -> Self {
        let bias = self.bias.as_ref().map(|bias| bias[first..first + len].to_vec());
        Self { matrix: self.matrix.outputs(first, len), bias }
    }

    pub(super) fn width(&self) -> usize {
        self.matrix.outputs
    }
}
