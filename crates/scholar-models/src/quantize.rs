//! Makes a trained model small enough to be shipped inside the program.
//!
//! Products of a transformer round their inputs to 8 bits of mantissa in any case, so weights need no more than that: each
//! matrix is kept in eight bits with one f16 scale for every 32 numbers of a row ([`pack`]), everything else (biases,
//! norms, the classifier) as it is. A model of `MiniLM`'s size becomes 24 MB. In the safetensors file a packed matrix
//! `NAME` is of type I8, and `NAME.scale` beside it is `[rows, columns / 32]`; the matrix is their product block by
//! block, which is what the reader of this crate hands out.

use std::path::Path;

use half::f16;
use safetensors::tensor::{Dtype, TensorView};
use scholar_core::text::hex;
use sha2::{Digest as _, Sha256};

use crate::catalog::ModelFile;
use crate::error::ModelError;
use crate::weights::{SCALE_BLOCK, SCALE_SUFFIX, Tensor, Weights};

const WEIGHTS: &str = "model.safetensors";
/// Smaller tensors are not worth a second one.
const FEWEST: usize = 4 << 10;

/// What a model folder of ours may hold beside the weights; what is there is copied.
const BESIDE: [&str; 9] = [
    "config.json",
    "tokenizer.json",
    "vocab.txt",
    "tokenizer_config.json",
    "calibration.json",
    "judge_ensemble.json",
    "rerank_weights.json",
    // Their names until November 2026.
    "weighing.json",
    "reading.json",
];

/// Files, tensors and error of a quantised model.
#[derive(Debug, Clone, PartialEq)]
pub struct Packed {
    /// The written files, as a catalog names them.
    pub files: Vec<ModelFile>,
    /// Tensors in eight bits.
    pub packed: usize,
    /// Tensors kept as f32.
    pub kept: usize,
    /// Root mean square of the packed tensors' error, relative to that of the tensors.
    pub relative_error: f64,
}

/// Writes the model in folder `from` to folder `to`, which is created, with matrices in eight bits.
///
/// The same model gives the same bytes.
///
/// # Errors
/// When `from` is no model folder, or `to` cannot be written.
pub fn pack(from: &Path, to: &Path) -> Result<Packed, ModelError> {
    let weights = Weights::open_any(from)?;
    let mut files = Vec::new();
    let mut write = |name: &str, bytes: &[u8]| {
        let path = to.join(name);
        let digest = hex(&Sha256::digest(bytes));
        files.push(ModelFile {
            path: name.to_owned(),
            size: Some(bytes.len() as u64),
            sha256: Some(digest),
            optional: false,
        });
        fs_err::write(&path, bytes).map_err(|source| ModelError::WriteFile { path, source })
    };
    fs_err::create_dir_all(to)
        .map_err(|source| ModelError::WriteFile { path: to.to_owned(), source })?;
    let mut tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = Vec::new();
    let (mut packed, mut kept) = (0, 0);
    let (mut error, mut power) = (0.0, 0.0);
    for name in weights.names() {
        let tensor = weights.get_any(&name)?;
        let [rows, columns] = tensor.shape[..] else {
            kept += 1;
            tensors.push((name, Dtype::F32, tensor.shape.clone(), f32_bytes(&tensor.values)));
            continue;
        };
        if !columns.is_multiple_of(SCALE_BLOCK) || rows * columns < FEWEST {
            kept += 1;
            tensors.push((name, Dtype::F32, tensor.shape.clone(), f32_bytes(&tensor.values)));
            continue;
        }
        packed += 1;
        let Blocks { numbers, scales, squared_error, squared } = blocks(&tensor);
        error += squared_error;
        power += squared;
        let scale = format!("{name}{SCALE_SUFFIX}");
        tensors.push((scale, Dtype::F16, vec![rows, columns / SCALE_BLOCK], scales));
        tensors.push((name, Dtype::I8, vec![rows, columns], numbers));
    }
    let out = to.join(WEIGHTS);
    let views = tensors
        .iter()
        .map(|(name, dtype, shape, bytes)| {
            TensorView::new(*dtype, shape.clone(), bytes).map(|view| (name.as_str(), view))
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| ModelError::damaged(&out, e))?;
    let bytes = safetensors::serialize(views, None).map_err(|e| ModelError::damaged(&out, e))?;
    write(WEIGHTS, &bytes)?;
    for file in BESIDE {
        let path = from.join(file);
        // `tokenizer.json` says all that the vocabulary does.
        let twice = file == "vocab.txt" && from.join("tokenizer.json").is_file();
        if path.is_file() && !twice {
            write(file, &fs_err::read(&path).map_err(|e| ModelError::read(&path, e))?)?;
        }
    }
    let relative_error = if power > 0.0 { (error / power).sqrt() } else { 0.0 };
    Ok(Packed { files, packed, kept, relative_error })
}

struct Blocks {
    numbers: Vec<u8>,
    scales: Vec<u8>,
    squared_error: f64,
    squared: f64,
}

/// Blocks of 32 numbers as multiples of a 127th of the largest.
fn blocks(tensor: &Tensor) -> Blocks {
    let mut all = Blocks {
        numbers: Vec::with_capacity(tensor.values.len()),
        scales: Vec::with_capacity(tensor.values.len() / SCALE_BLOCK * 2),
        squared_error: 0.0,
        squared: 0.0,
    };
    for block in tensor.values.chunks(SCALE_BLOCK) {
        let most = block.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        let scale = f16::from_f32(most / 127.0);
        all.scales.extend(scale.to_le_bytes());
        let scale = scale.to_f32();
        for value in block {
            let steps =
                if scale > 0.0 { (value / scale).round().clamp(-127.0, 127.0) } else { 0.0 };
            all.numbers.extend((steps as i8).to_le_bytes());
            all.squared_error += f64::from(value - steps * scale).powi(2);
            all.squared += f64::from(*value).powi(2);
        }
    }
    all
}

fn f32_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}
