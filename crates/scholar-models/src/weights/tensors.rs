//! Safetensors files, mapped into memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use memmap2::Mmap;
use safetensors::{Dtype, SafeTensors};

use super::{Source, Tensor};
use crate::error::ModelError;

/// Numbers of a row that share one scale in a packed matrix.
pub(crate) const SCALE_BLOCK: usize = 32;
/// What follows a packed matrix's name in the name of its scales.
pub(crate) const SCALE_SUFFIX: &str = ".scale";

/// One or several safetensors files.
pub(super) struct Safetensors {
    files: Vec<(PathBuf, Mmap)>,
    /// Name to (file, shape, dtype, byte range in the file).
    entries: BTreeMap<String, Entry>,
}

struct Entry {
    file: usize,
    shape: Vec<usize>,
    dtype: Dtype,
    start: usize,
    end: usize,
}

/// The shard files an index names, without repetition.
///
/// # Errors
/// When the index cannot be read or is not of the usual form.
pub(super) fn shards(index: &Path) -> Result<Vec<PathBuf>, ModelError> {
    #[derive(serde::Deserialize)]
    struct Index {
        weight_map: BTreeMap<String, String>,
    }
    let text = fs_err::read_to_string(index).map_err(|e| ModelError::read(index, e))?;
    let parsed: Index = serde_json::from_str(&text).map_err(|e| ModelError::damaged(index, e))?;
    let mut names: Vec<&String> = parsed.weight_map.values().collect();
    names.sort();
    names.dedup();
    if names.is_empty() || names.iter().any(|name| name.contains(['/', '\\'])) {
        return Err(ModelError::damaged(
            index,
            "weight_map names no file or one outside its folder",
        ));
    }
    Ok(names.iter().map(|name| index.with_file_name(name)).collect())
}

impl Safetensors {
    /// Maps the files and reads their headers.
    ///
    /// # Errors
    /// When a file cannot be opened or its header does not fit its length.
    pub(super) fn open(paths: &[PathBuf]) -> Result<Self, ModelError> {
        let mut files = Vec::new();
        let mut entries = BTreeMap::new();
        for path in paths {
            let map = map(path)?;
            // Checks that the offsets tile the file exactly, so a truncated download fails here.
            let (header_len, metadata) = SafeTensors::read_metadata(&map)
                .map_err(|e| ModelError::damaged(path, format!("its header does not fit: {e}")))?;
            let data_start = 8 + header_len;
            if map.len() - data_start != metadata.data_len() {
                return Err(ModelError::damaged(
                    path,
                    format!(
                        "its header promises {} bytes of tensors and {} are there",
                        metadata.data_len(),
                        map.len() - data_start
                    ),
                ));
            }
            #[expect(clippy::iter_over_hash_type, reason = "collected into a sorted map")]
            for (name, info) in metadata.tensors() {
                let entry = Entry {
                    file: files.len(),
                    shape: info.shape.clone(),
                    dtype: info.dtype,
                    start: data_start + info.data_offsets.0,
                    end: data_start + info.data_offsets.1,
                };
                entries.insert(name, entry);
            }
            files.push((path.clone(), map));
        }
        Ok(Self { files, entries })
    }
}

impl Source for Safetensors {
    fn read(&self, name: &str) -> Result<Option<Tensor>, ModelError> {
        let Some(entry) = self.entries.get(name) else { return Ok(None) };
        let (path, map) = &self.files[entry.file];
        let bytes = map
            .get(entry.start..entry.end)
            .ok_or_else(|| ModelError::damaged(path, format!("tensor {name} lies outside it")))?;
        let values: Vec<f32> = match entry.dtype {
            Dtype::F32 => bytes
                .chunks_exact(4)
                .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                .collect(),
            Dtype::F16 => {
                bytes.chunks_exact(2).map(|b| f16::from_le_bytes([b[0], b[1]]).to_f32()).collect()
            }
            Dtype::BF16 => {
                bytes.chunks_exact(2).map(|b| bf16::from_le_bytes([b[0], b[1]]).to_f32()).collect()
            }
            Dtype::I8 => self.unpacked(name, entry, bytes)?,
            other => {
                return Err(ModelError::Unsupported {
                    path: path.clone(),
                    what: format!("numbers of type {other:?} in tensor {name}"),
                });
            }
        };
        Ok(Some(Tensor { shape: entry.shape.clone(), values }))
    }

    fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    fn names(&self) -> Vec<String> {
        self.entries.keys().filter(|name| !self.is_scale(name)).cloned().collect()
    }
}

impl Safetensors {
    /// Whether a tensor is the scales of another.
    fn is_scale(&self, name: &str) -> bool {
        let of = name.strip_suffix(SCALE_SUFFIX).and_then(|name| self.entries.get(name));
        of.is_some_and(|entry| entry.dtype == Dtype::I8)
    }

    /// A packed matrix: each block of a row times its scale.
    fn unpacked(&self, name: &str, entry: &Entry, bytes: &[u8]) -> Result<Vec<f32>, ModelError> {
        let path = &self.files[entry.file].0;
        let scales = format!("{name}{SCALE_SUFFIX}");
        let Some(Tensor { shape, values }) = self.read(&scales)? else {
            return Err(ModelError::damaged(
                path,
                format!("tensor {name} has no scales beside it"),
            ));
        };
        let blocks = match (&entry.shape[..], &shape[..]) {
            ([rows, columns], [scaled, blocks])
                if rows == scaled && *columns == blocks * SCALE_BLOCK =>
            {
                bytes.chunks_exact(SCALE_BLOCK)
            }
            _ => return Err(ModelError::damaged(path, format!("{scales} does not fit {name}"))),
        };
        let numbers = blocks.zip(values).flat_map(|(block, scale)| {
            block.iter().map(move |byte| f32::from(i8::from_le_bytes([*byte])) * scale)
        });
        Ok(numbers.collect())
    }
}

#[expect(unsafe_code, reason = "mapping a file has no safe form")]
fn map(path: &Path) -> Result<Mmap, ModelError> {
    let file = fs_err::File::open(path).map_err(|e| ModelError::read(path, e))?;
    // SAFETY: model files are written once by `models pull` under another name and renamed, so nobody truncates the
    // mapped file; its bytes are only read, through checked ranges.
    unsafe { Mmap::map(file.file()) }.map_err(|e| ModelError::read(path, e))
}
