//! The GGUF container: header, metadata and tensor table, read from a memory map that nobody has vouched for.
//!
//! Layout (GGUF versions 2 and 3, little endian): magic, version, tensor count, metadata count, metadata entries,
//! tensor entries, padding to `general.alignment`, tensor data. Every length is compared with what is left of the
//! file before anything is allocated, and every tensor's extent with the file's length, so that a truncated download
//! is found when the file is opened and not in the middle of an answer.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;

use super::error::GgufError;
use super::formats::Format;

/// The file of a split model whose metadata counts.
const METADATA_PART: usize = 0;
/// Metadata nests in no known file; two levels are generous.
const MAX_ARRAY_DEPTH: usize = 2;
/// Files of one model: far beyond any published one.
const MAX_PARTS: usize = 999;
/// As `GGML_MAX_DIMS`.
const MAX_DIMS: u32 = 4;

/// One metadata value. Integers of all widths are one variant, floats another: readers ask for a meaning, not a width.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Any unsigned or non-negative signed integer.
    Uint(u64),
    /// A negative integer.
    Negative(i64),
    /// Either float width.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Text; invalid UTF-8 is replaced.
    Text(String),
    /// A homogeneous list.
    Array(Vec<Self>),
    /// Bytes of the file that hold texts: vocabularies have 150 000, and to copy each takes longer than to use it.
    Texts(Vec<Range<usize>>),
    /// Floats, likewise.
    Floats(Vec<f32>),
    /// Integers, likewise.
    Ints(Vec<i64>),
}

/// Where a tensor lies and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TensorEntry {
    /// Slowest dimension first: a matrix is `[rows, columns]`, `columns` being the input width.
    pub(super) dims: Vec<usize>,
    /// Format of its blocks.
    pub(super) format: Format,
    /// File that has it, of a model in several files.
    pub(super) part: usize,
    /// First byte, from the start of the file.
    pub(super) start: usize,
    /// Length in bytes.
    pub(super) len: usize,
}

/// An opened file, or all files of a model that was split: mapped bytes, metadata, tensor table.
#[derive(Debug)]
pub(super) struct GgufFile {
    pub(super) path: PathBuf,
    pub(super) maps: Vec<Arc<Mmap>>,
    pub(super) metadata: BTreeMap<String, Value>,
    pub(super) tensors: BTreeMap<String, TensorEntry>,
}

impl GgufFile {
    /// Maps `path` and reads header, metadata and tensor table. Where it is one file of several, the others are read too.
    pub(super) fn open(path: &Path) -> Result<Self, GgufError> {
        let mut file = Self::open_one(path)?;
        let n_parts = file.count_opt("split.count", MAX_PARTS)?.unwrap_or(1);
        if n_parts == 1 {
            return Ok(file);
        }
        let first = part_path(path, n_parts, 0).ok_or_else(|| GgufError::Unsupported {
            path: path.to_owned(),
            what: format!("{n_parts} files whose names do not end in -00001-of-{n_parts:05}.gguf"),
        })?;
        if first != path {
            file = Self::open_part(&first, n_parts, 0)?;
        }
        for part in 1..n_parts {
            let path = part_path(&first, n_parts, part).expect("the first name has the form");
            let other = Self::open_part(&path, n_parts, part)?;
            file.maps.extend(other.maps);
            for (name, entry) in other.tensors {
                file.tensors.insert(name, TensorEntry { part, ..entry });
            }
        }
        Ok(file)
    }

    fn open_part(path: &Path, n_parts: usize, part: usize) -> Result<Self, GgufError> {
        if !path.exists() {
            return Err(GgufError::MissingPart { path: path.to_owned(), part: part + 1, n_parts });
        }
        Self::open_one(path)
    }

    fn open_one(path: &Path) -> Result<Self, GgufError> {
        let open_error = |source| GgufError::Open { path: path.to_owned(), source };
        let file = fs_err::File::open(path).map_err(open_error)?;
        let map = map_file(&file).map_err(open_error)?;
        let (metadata, tensors) = parse(&map).map_err(|fault| match fault {
            Fault::Broken { offset, reason } => {
                GgufError::Malformed { path: path.to_owned(), offset, reason }
            }
            Fault::UnknownFormat { tensor, format } => {
                GgufError::UnsupportedFormat { path: path.to_owned(), tensor, format }
            }
        })?;
        Ok(Self { path: path.to_owned(), maps: vec![Arc::new(map)], metadata, tensors })
    }

    fn missing(&self, key: &str, expected: &'static str) -> GgufError {
        let found = self.metadata.get(key).map_or("nothing", Value::kind);
        GgufError::Metadata { path: self.path.clone(), key: key.to_owned(), expected, found }
    }

    /// A text that must be there.
    pub(super) fn text(&self, key: &str) -> Result<&str, GgufError> {
        self.text_opt(key).ok_or_else(|| self.missing(key, "a text"))
    }

    /// A text that may be absent.
    pub(super) fn text_opt(&self, key: &str) -> Option<&str> {
        match self.metadata.get(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A count in `1..=max` that must be there.
    pub(super) fn count(&self, key: &str, max: usize) -> Result<usize, GgufError> {
        match self.metadata.get(key) {
            Some(Value::Uint(n)) if *n > 0 && *n <= max as u64 => {
                Ok(usize::try_from(*n).unwrap_or(max))
            }
            _ => Err(self.missing(key, "a positive number of sensible size")),
        }
    }

    /// A count that may be absent; present but senseless is an error.
    pub(super) fn count_opt(&self, key: &str, max: usize) -> Result<Option<usize>, GgufError> {
        if self.metadata.contains_key(key) { self.count(key, max).map(Some) } else { Ok(None) }
    }

    /// A token number that may be absent.
    pub(super) fn token_opt(&self, key: &str) -> Option<u32> {
        match self.metadata.get(key) {
            Some(Value::Uint(n)) => u32::try_from(*n).ok(),
            _ => None,
        }
    }

    /// A finite positive float that may be absent.
    pub(super) fn float_opt(&self, key: &str) -> Result<Option<f32>, GgufError> {
        match self.metadata.get(key) {
            None => Ok(None),
            Some(Value::Float(x)) if x.is_finite() && *x > 0.0 => Ok(Some(*x as f32)),
            Some(Value::Uint(n)) if *n > 0 => Ok(Some(*n as f32)),
            Some(_) => Err(self.missing(key, "a positive number")),
        }
    }

    /// A flag that may be absent.
    pub(super) fn bool_opt(&self, key: &str) -> Option<bool> {
        match self.metadata.get(key) {
            Some(Value::Bool(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// A list of texts that must be there.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<Cow<'_, str>>, GgufError> {
        let bytes = &self.maps[METADATA_PART];
        let text = |range: &Range<usize>| String::from_utf8_lossy(&bytes[range.clone()]);
        Ok(self.text_ranges(key)?.iter().map(text).collect())
    }

    /// Length of a list of texts that must be there.
    pub(super) fn n_texts(&self, key: &str) -> Result<usize, GgufError> {
        self.text_ranges(key).map(<[_]>::len)
    }

    fn text_ranges(&self, key: &str) -> Result<&[Range<usize>], GgufError> {
        match self.metadata.get(key) {
            Some(Value::Texts(texts)) => Ok(texts),
            _ => Err(self.missing(key, "a list of texts")),
        }
    }

    /// A list of integers that may be absent.
    pub(super) fn ints_opt(&self, key: &str) -> Option<&[i64]> {
        match self.metadata.get(key) {
            Some(Value::Ints(ints)) => Some(ints),
            _ => None,
        }
    }

    /// A list of floats that may be absent.
    pub(super) fn floats_opt(&self, key: &str) -> Option<&[f32]> {
        match self.metadata.get(key) {
            Some(Value::Floats(floats)) => Some(floats),
            _ => None,
        }
    }

    /// The tensor `name` with exactly these dimensions.
    pub(super) fn tensor(&self, name: &str, dims: &[usize]) -> Result<&TensorEntry, GgufError> {
        let fault = |reason: String| GgufError::Tensor {
            path: self.path.clone(),
            name: name.to_owned(),
            reason,
        };
        let entry = self.tensors.get(name).ok_or_else(|| fault("is missing".to_owned()))?;
        if entry.dims != dims {
            return Err(fault(format!("has shape {:?}, the metadata says {dims:?}", entry.dims)));
        }
        Ok(entry)
    }
}

#[expect(unsafe_code, reason = "memory mapping; the weights are read in place")]
fn map_file(file: &fs_err::File) -> std::io::Result<Mmap> {
    // SAFETY: the map is read-only and private to this process. A writer that changes the file underneath changes
    // numbers (any bit pattern is a valid weight); truncation while mapped raises a signal, as for every mapped file.
    let map = unsafe { Mmap::map(file.file()) }?;
    // Replies read all weights for each token, and looking pages of 4 kB up costs a quarter of the memory's speed. The system
    // maps 2 MB at a time where the file system keeps them so (ext4, XFS and Btrfs of late) and they were not read
    // in smaller ones before.
    #[cfg(target_os = "linux")]
    if let Err(error) = map.advise(memmap2::Advice::HugePage) {
        tracing::debug!(%error, "the system maps weights in small pages");
    }
    Ok(map)
}

impl Value {
    fn kind(&self) -> &'static str {
        match self {
            Self::Uint(_) | Self::Negative(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Bool(_) => "a flag",
            Self::Text(_) => "a text",
            Self::Array(_) => "a nested list",
            Self::Texts(_) => "a list of texts",
            Self::Floats(_) => "a list of floats",
            Self::Ints(_) => "a list of integers",
        }
    }
}

/// The path of file `part` (from 0) beside `path`, which is one of them.
fn part_path(path: &Path, n_parts: usize, part: usize) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(&format!("-of-{n_parts:05}.gguf"))?;
    let (stem, number) = stem.rsplit_once('-')?;
    (number.len() == 5 && number.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| path.with_file_name(format!("{stem}-{:05}-of-{n_parts:05}.gguf", part + 1)))
}

/// What is wrong, and where.
#[derive(Debug)]
enum Fault {
    Broken { offset: usize, reason: String },
    UnknownFormat { tensor: String, format: u32 },
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn fault(&self, reason: impl Into<String>) -> Fault {
        Fault::Broken { offset: self.at, reason: reason.into() }
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Fault> {
        let end = self.at.checked_add(len).filter(|end| *end <= self.bytes.len());
        let Some(end) = end else {
            return Err(self.fault(format!("{len} bytes are announced, the file ends before")));
        };
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    fn u32(&mut self) -> Result<u32, Fault> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Fault> {
        self.array().map(u64::from_le_bytes)
    }

    /// A number of things of at least `min_size` bytes each, refused when the file cannot hold them.
    fn len(&mut self, min_size: usize) -> Result<usize, Fault> {
        let announced = self.u64()?;
        let left = self.bytes.len() - self.at;
        usize::try_from(announced)
            .ok()
            .filter(|n| n.checked_mul(min_size).is_some_and(|size| size <= left))
            .ok_or_else(|| {
                self.fault(format!("{announced} entries are announced, {left} bytes are left"))
            })
    }

    fn text(&mut self) -> Result<String, Fault> {
        let len = self.len(1)?;
        Ok(String::from_utf8_lossy(self.take(len)?).into_owned())
    }

    fn text_range(&mut self) -> Result<Range<usize>, Fault> {
        let len = self.len(1)?;
        self.take(len)?;
        Ok(self.at - len..self.at)
    }

    fn value(&mut self, kind: u32, depth: usize) -> Result<Value, Fault> {
        Ok(match kind {
            0 | 7 => {
                let byte = self.array::<1>()?[0];
                if kind == 7 { Value::Bool(byte != 0) } else { Value::Uint(byte.into()) }
            }
            1 => integer(i8::from_le_bytes(self.array()?).into()),
            2 => Value::Uint(u16::from_le_bytes(self.array()?).into()),
            3 => integer(i16::from_le_bytes(self.array()?).into()),
            4 => Value::Uint(self.u32()?.into()),
            5 => integer(i32::from_le_bytes(self.array()?).into()),
            6 => Value::Float(f32::from_le_bytes(self.array()?).into()),
            8 => Value::Text(self.text()?),
            9 => self.list(depth)?,
            10 => Value::Uint(self.u64()?),
            11 => integer(i64::from_le_bytes(self.array()?)),
            12 => Value::Float(f64::from_le_bytes(self.array()?)),
            other => return Err(self.fault(format!("metadata type {other} is unknown"))),
        })
    }

    fn list(&mut self, depth: usize) -> Result<Value, Fault> {
        if depth >= MAX_ARRAY_DEPTH {
            return Err(self.fault("lists are nested too deep"));
        }
        let kind = self.u32()?;
        let min_size = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            8 | 10..=12 => 8,
            _ => 12,
        };
        let len = self.len(min_size)?;
        match kind {
            8 => (0..len).map(|_| self.text_range()).collect::<Result<_, _>>().map(Value::Texts),
            6 => (0..len)
                .map(|_| self.array().map(f32::from_le_bytes))
                .collect::<Result<_, _>>()
                .map(Value::Floats),
            0..=5 | 10 | 11 => (0..len)
                .map(|_| match self.value(kind, depth)? {
                    Value::Uint(n) => {
                        i64::try_from(n).map_err(|_| self.fault("integer is too large"))
                    }
                    Value::Negative(n) => Ok(n),
                    _ => Err(self.fault("list of mixed types")),
                })
                .collect::<Result<_, _>>()
                .map(Value::Ints),
            _ => (0..len)
                .map(|_| self.value(kind, depth + 1))
                .collect::<Result<_, _>>()
                .map(Value::Array),
        }
    }
}

fn integer(n: i64) -> Value {
    u64::try_from(n).map_or(Value::Negative(n), Value::Uint)
}

type Parsed = (BTreeMap<String, Value>, BTreeMap<String, TensorEntry>);

fn parse(bytes: &[u8]) -> Result<Parsed, Fault> {
    let mut reader = Reader { bytes, at: 0 };
    if reader.take(4)? != b"GGUF" {
        return Err(Fault::Broken {
            offset: 0,
            reason: "the file does not begin with GGUF".to_owned(),
        });
    }
    let version = reader.u32()?;
    if !(2..=3).contains(&version) {
        return Err(reader.fault(format!("version {version} is not read, only 2 and 3")));
    }
    // The smallest tensor entry: empty name, no dimension, type, offset; the smallest metadata entry: empty key,
    // type, one byte.
    let n_tensors = reader.len(24)?;
    let n_metadata = reader.len(13)?;
    let mut metadata = BTreeMap::new();
    for _ in 0..n_metadata {
        let key = reader.text()?;
        let kind = reader.u32()?;
        let value = reader.value(kind, 0)?;
        metadata.insert(key, value);
    }
    let mut entries = Vec::with_capacity(n_tensors);
    for _ in 0..n_tensors {
        entries.push(tensor_entry(&mut reader)?);
    }
    let alignment = match metadata.get("general.alignment") {
        None => 32,
        Some(Value::Uint(n @ 8..=4096)) if n.is_power_of_two() => usize::try_from(*n).unwrap_or(32),
        Some(_) => return Err(reader.fault("general.alignment is not a power of two in 8..=4096")),
    };
    let data = reader.at.next_multiple_of(alignment);
    let mut tensors = BTreeMap::new();
    for (name, mut entry) in entries {
        let end = data.checked_add(entry.start).and_then(|start| start.checked_add(entry.len));
        if end.is_none_or(|end| end > bytes.len()) || !entry.start.is_multiple_of(alignment) {
            return Err(Fault::Broken {
                offset: entry.start.saturating_add(data),
                reason: format!(
                    "tensor {name} needs {} bytes there, the file has {} bytes: the download is incomplete",
                    entry.len,
                    bytes.len()
                ),
            });
        }
        entry.start += data;
        tensors.insert(name, entry);
    }
    Ok((metadata, tensors))
}

/// Reads one tensor entry; `start` is still relative to the data section.
fn tensor_entry(reader: &mut Reader<'_>) -> Result<(String, TensorEntry), Fault> {
    let name = reader.text()?;
    let n_dims = reader.u32()?;
    if n_dims == 0 || n_dims > MAX_DIMS {
        return Err(reader.fault(format!("tensor {name} has {n_dims} dimensions")));
    }
    let mut dims = Vec::new();
    for _ in 0..n_dims {
        dims.push(usize::try_from(reader.u64()?).unwrap_or(usize::MAX));
    }
    let width = dims[0];
    dims.reverse();
    let kind = reader.u32()?;
    let start = usize::try_from(reader.u64()?).unwrap_or(usize::MAX);
    let Some(format) = Format::of(kind) else {
        return Err(Fault::UnknownFormat { tensor: name, format: kind });
    };
    let (numbers, bytes) = format.block();
    let n_elements = dims.iter().try_fold(1usize, |n, dim| n.checked_mul(*dim));
    let len = n_elements
        .filter(|n| *n > 0 && width.is_multiple_of(numbers))
        .and_then(|n| (n / numbers).checked_mul(bytes));
    let Some(len) = len else {
        return Err(reader.fault(format!("tensor {name} has the impossible shape {dims:?}")));
    };
    Ok((name, TensorEntry { dims, format, part: 0, start, len }))
}

/// Writes the file at `from` as two: the second has the tensor that lies last.
#[cfg(test)]
pub(super) fn split_for_tests(from: &Path, first: &Path, second: &Path) {
    let bytes = fs_err::read(from).unwrap();
    let whole = GgufFile::open(from).unwrap();
    let last = whole.tensors.iter().max_by_key(|(_, entry)| entry.start).unwrap();
    let text = |out: &mut Vec<u8>, text: &str| {
        out.extend((text.len() as u64).to_le_bytes());
        out.extend(text.as_bytes());
    };
    // The metadata ends where the name of the first tensor begins.
    let name = whole.tensors.iter().min_by_key(|(_, entry)| entry.start).unwrap().0;
    let mut sought = Vec::new();
    text(&mut sought, name);
    let metadata_end = bytes.windows(sought.len()).position(|window| window == sought).unwrap();
    let n_metadata = u64::from_le_bytes(bytes[16..24].try_into().unwrap());
    for (path, is_second) in [(first, false), (second, true)] {
        let tensors: Vec<_> =
            whole.tensors.iter().filter(|(name, _)| (*name == last.0) == is_second).collect();
        let mut out = bytes[..8].to_vec();
        out.extend((tensors.len() as u64).to_le_bytes());
        out.extend((n_metadata + 1).to_le_bytes());
        out.extend(&bytes[24..metadata_end]);
        text(&mut out, "split.count");
        out.extend(2_u32.to_le_bytes());
        out.extend(2_u16.to_le_bytes());
        let mut data: Vec<u8> = Vec::new();
        for (name, entry) in &tensors {
            text(&mut out, name);
            out.extend((entry.dims.len() as u32).to_le_bytes());
            for dim in entry.dims.iter().rev() {
                out.extend((*dim as u64).to_le_bytes());
            }
            let kind = (0..40).find(|kind| Format::of(*kind) == Some(entry.format)).unwrap();
            out.extend(kind.to_le_bytes());
            out.extend((data.len() as u64).to_le_bytes());
            data.extend(&bytes[entry.start..entry.start + entry.len]);
            data.resize(data.len().next_multiple_of(32), 0);
        }
        out.resize(out.len().next_multiple_of(32), 0);
        out.extend(data);
        fs_err::write(path, out).unwrap();
    }
}
