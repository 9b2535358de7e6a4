//! Weight matrices: quantised blocks read from the memory map by candle's kernels, or dense f32 rows.
//!
//! candle would copy every tensor to the heap. A [`MappedBlocks`] lends it the mapped bytes instead: pages that only
//! served to build a kernel's own packing can be given back to the system.

use std::marker::PhantomData;
use std::sync::Arc;

use candle_core::quantized::k_quants::{self, GgmlType};
use candle_core::quantized::{GgmlDType, QStorage, QTensor, QuantizedType};
use candle_core::{CpuStorage, CustomOp1 as _, Layout, Shape};
use half::{bf16, f16};
use memmap2::Mmap;

use super::error::GgufError;
use super::file::{GgufFile, TensorEntry};
use super::kernels;

/// Output columns per unit of parallel work of a dense product.
const DENSE_COLUMNS: usize = 64;

/// Blocks of type `T` inside a mapped file.
struct MappedBlocks<T> {
    map: Arc<Mmap>,
    start: usize,
    n_blocks: usize,
    block: PhantomData<T>,
}

impl<T: GgmlType> MappedBlocks<T> {
    #[expect(unsafe_code, reason = "reinterprets mapped bytes as quantised blocks")]
    fn blocks(&self) -> &[T] {
        let bytes = &self.map[self.start..self.start + self.n_blocks * size_of::<T>()];
        assert!(
            bytes.as_ptr().cast::<T>().is_aligned(),
            "tensor starts are multiples of general.alignment, which is at least 8"
        );
        // SAFETY: `bytes` has the length of `n_blocks` blocks and is aligned, both checked above. The block types
        // are plain integers and 16-bit floats in C layout, for which every bit pattern is valid. The slice lives no
        // longer than the map.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<T>(), self.n_blocks) }
    }
}

impl<T: GgmlType + Send + Sync> QuantizedType for MappedBlocks<T> {
    fn dtype(&self) -> GgmlDType {
        T::DTYPE
    }

    fn matmul_t(
        &self,
        mkn: (usize, usize, usize),
        lhs: &[f32],
        dst: &mut [f32],
    ) -> candle_core::Result<()> {
        k_quants::matmul(mkn, lhs, self.blocks(), dst)
    }

    fn matmul_t_f16(
        &self,
        mkn: (usize, usize, usize),
        lhs: &[f16],
        dst: &mut [f16],
    ) -> candle_core::Result<()> {
        k_quants::matmul_f16(mkn, lhs, self.blocks(), dst)
    }

    fn embedding(
        &self,
        ids: &[u32],
        rows: usize,
        hidden: usize,
    ) -> candle_core::Result<CpuStorage> {
        let row_blocks = hidden / T::BLCK_SIZE;
        let blocks = self.blocks();
        let mut out = vec![0.0; ids.len() * hidden];
        for (out_row, id) in out.chunks_exact_mut(hidden).zip(ids) {
            let row = *id as usize;
            if row >= rows {
                return Err(candle_core::Error::Msg(format!("token {row} of {rows}")));
            }
            T::to_float(&blocks[row * row_blocks..(row + 1) * row_blocks], out_row);
        }
        Ok(CpuStorage::F32(out))
    }

    fn dequantize(&self, elem_count: usize) -> candle_core::Result<CpuStorage> {
        let mut out = vec![0.0; elem_count];
        T::to_float(self.blocks(), &mut out);
        Ok(CpuStorage::F32(out))
    }

    fn storage_size_in_bytes(&self) -> usize {
        self.n_blocks * size_of::<T>()
    }

    fn as_ptr(&self) -> *const u8 {
        self.blocks().as_ptr().cast()
    }

    fn block_size(&self) -> usize {
        T::BLCK_SIZE
    }

    fn from_float(&mut self, _: &[f32]) {
        unreachable!("candle quantises into storage of its own making, never into a mapped file");
    }

    fn from_float_imatrix(&mut self, _: &[f32], _: &[f32], _: usize) {
        unreachable!("candle quantises into storage of its own making, never into a mapped file");
    }

    fn size(&self) -> usize {
        self.storage_size_in_bytes()
    }
}

fn mapped(file: &GgufFile, entry: &TensorEntry) -> Box<dyn QuantizedType> {
    fn blocks<T: GgmlType + Send + Sync + 'static>(
        file: &GgufFile,
        entry: &TensorEntry,
    ) -> Box<dyn QuantizedType> {
        Box::new(MappedBlocks::<T> {
            map: Arc::clone(&file.map),
            start: entry.start,
            n_blocks: entry.len / size_of::<T>(),
            block: PhantomData,
        })
    }
    match entry.dtype {
        GgmlDType::F32 => blocks::<f32>(file, entry),
        GgmlDType::F16 => blocks::<f16>(file, entry),
        GgmlDType::BF16 => blocks::<bf16>(file, entry),
        GgmlDType::Q4_0 => blocks::<k_quants::BlockQ4_0>(file, entry),
        GgmlDType::Q4_1 => blocks::<k_quants::BlockQ4_1>(file, entry),
        GgmlDType::Q5_0 => blocks::<k_quants::BlockQ5_0>(file, entry),
        GgmlDType::Q5_1 => blocks::<k_quants::BlockQ5_1>(file, entry),
        GgmlDType::Q8_0 => blocks::<k_quants::BlockQ8_0>(file, entry),
        GgmlDType::Q8_1 => blocks::<k_quants::BlockQ8_1>(file, entry),
        GgmlDType::Q2K => blocks::<k_quants::BlockQ2K>(file, entry),
        GgmlDType::Q3K => blocks::<k_quants::BlockQ3K>(file, entry),
        GgmlDType::Q4K => blocks::<k_quants::BlockQ4K>(file, entry),
        GgmlDType::Q5K => blocks::<k_quants::BlockQ5K>(file, entry),
        GgmlDType::Q6K => blocks::<k_quants::BlockQ6K>(file, entry),
        GgmlDType::Q8K => blocks::<k_quants::BlockQ8K>(file, entry),
    }
}

/// A vector of `len` numbers, whatever its format in the file.
pub(super) fn vector(file: &GgufFile, name: &str, len: usize) -> Result<Vec<f32>, GgufError> {
    let entry = file.tensor(name, &[len])?;
    dense(file, name, entry)
}

fn dense(file: &GgufFile, name: &str, entry: &TensorEntry) -> Result<Vec<f32>, GgufError> {
    let n: usize = entry.dims.iter().product();
    let fault = |reason: String| GgufError::Tensor {
        path: file.path.clone(),
        name: name.to_owned(),
        reason,
    };
    match mapped(file, entry).dequantize(n) {
        Ok(CpuStorage::F32(values)) => Ok(values),
        Ok(_) => Err(fault("does not become f32".to_owned())),
        Err(source) => Err(fault(format!("cannot be read: {source}"))),
    }
}

/// The embedding table, of which only the asked rows are ever dequantised.
pub(super) struct EmbeddingTable {
    blocks: Box<dyn QuantizedType>,
    n_rows: usize,
    dim: usize,
}

impl EmbeddingTable {
    /// `[n_rows, dim]`.
    pub(super) fn load(
        file: &GgufFile,
        name: &str,
        n_rows: usize,
        dim: usize,
    ) -> Result<Self, GgufError> {
        let entry = file.tensor(name, &[n_rows, dim])?;
        Ok(Self { blocks: mapped(file, entry), n_rows, dim })
    }

    /// One row after the other.
    pub(super) fn rows(&self, ids: &[u32]) -> candle_core::Result<Vec<f32>> {
        match self.blocks.embedding(ids, self.n_rows, self.dim)? {
            CpuStorage::F32(values) => Ok(values),
            _ => Err(candle_core::Error::Msg("embedding rows are not f32".to_owned())),
        }
    }
}

enum Matrix {
    /// Products quantise the input row and run candle's integer kernels.
    Quantised(QTensor),
    /// `[n_out, n_in]`, from files in F32, F16 or BF16.
    Dense(Vec<f32>),
}

/// `y = W x (+ b)`.
pub(super) struct Linear {
    matrix: Matrix,
    bias: Option<Vec<f32>>,
    n_in: usize,
    n_out: usize,
}

impl Linear {
    /// The matrix `{name}.weight` of shape `[n_out, n_in]`, without bias.
    pub(super) fn load(
        file: &GgufFile,
        name: &str,
        n_out: usize,
        n_in: usize,
    ) -> Result<Self, GgufError> {
        let name = format!("{name}.weight");
        let entry = file.tensor(&name, &[n_out, n_in])?;
        let matrix = match entry.dtype {
            GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16 => {
                Matrix::Dense(dense(file, &name, entry)?)
            }
            _ => {
                let storage = QStorage::Cpu(mapped(file, entry));
                let tensor =
                    QTensor::new(storage, (n_out, n_in)).map_err(|source| GgufError::Tensor {
                        path: file.path.clone(),
                        name,
                        reason: format!("cannot be used: {source}"),
                    })?;
                Matrix::Quantised(tensor)
            }
        };
        Ok(Self { matrix, bias: None, n_in, n_out })
    }

    /// As [`Linear::load`], with `{name}.bias`.
    pub(super) fn load_biased(
        file: &GgufFile,
        name: &str,
        n_out: usize,
        n_in: usize,
    ) -> Result<Self, GgufError> {
        let mut linear = Self::load(file, name, n_out, n_in)?;
        linear.bias = Some(vector(file, &format!("{name}.bias"), n_out)?);
        Ok(linear)
    }

    /// `[n, n_in]` to `[n, n_out]`. The input stays in candle's storage type because its kernels want that and a
    /// copy per product would be a third of a decoding step's overhead.
    pub(super) fn forward(&self, x: &CpuStorage) -> candle_core::Result<Vec<f32>> {
        let n = floats(x)?.len() / self.n_in;
        let mut y = match &self.matrix {
            Matrix::Quantised(tensor) => {
                let layout = Layout::contiguous(Shape::from((n, self.n_in)));
                match tensor.cpu_fwd(x, &layout)?.0 {
                    CpuStorage::F32(y) => y,
                    _ => return Err(candle_core::Error::Msg("product is not f32".to_owned())),
                }
            }
            Matrix::Dense(w) => {
                kernels::product_transposed(floats(x)?, w, self.n_in, DENSE_COLUMNS)
            }
        };
        if let Some(bias) = &self.bias {
            for row in y.chunks_exact_mut(self.n_out) {
                for (y, b) in row.iter_mut().zip(bias) {
                    *y += b;
                }
            }
        }
        Ok(y)
    }

    /// Builds whatever packing the kernels want, for one input row and for many, so that the first prompt does not
    /// pay for it.
    pub(super) fn pack(&self, rows: &[usize]) -> candle_core::Result<()> {
        if let Matrix::Quantised(_) = self.matrix {
            for n in rows {
                self.forward(&CpuStorage::F32(vec![0.0; n * self.n_in]))?;
            }
        }
        Ok(())
    }
}

fn floats(x: &CpuStorage) -> candle_core::Result<&[f32]> {
    match x {
        CpuStorage::F32(x) => Ok(x),
        _ => Err(candle_core::Error::Msg("activations are not f32".to_owned())),
    }
}
