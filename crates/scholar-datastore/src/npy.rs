//! Matrices in `NumPy`'s `.npy` files, read through a memory map.
//!
//! Source: the format's description in `NumPy`'s documentation (versions 1.0 to 3.0).

use std::path::{Path, PathBuf};

use half::f16;
use memmap2::Mmap;

use crate::error::Error;
use crate::mapped::map_file;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    F16,
    F32,
    F64,
    I32,
    I64,
    U64,
}

impl Element {
    fn bytes(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }
}

/// An array of one or two dimensions.
#[derive(Debug)]
pub struct Npy {
    path: PathBuf,
    map: Mmap,
    element: Element,
    rows: usize,
    columns: usize,
    data: usize,
}

impl Npy {
    /// Opens `path` and checks that its header fits its length.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`] when it is not such a file or cut short, with what is wrong with it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let map = map_file(path)?;
        let wrong = |what: String| Error::corrupt(path, what);
        let (header, data) = header(&map).ok_or_else(|| wrong("is not a .npy file".to_owned()))?;
        let element = match value_of(header, "descr").map(|text| text.trim_matches(['\'', '"'])) {
            Some("<f2" | "=f2") => Element::F16,
            Some("<f4" | "=f4") => Element::F32,
            Some("<f8") => Element::F64,
            Some("<i4") => Element::I32,
            Some("<i8") => Element::I64,
            Some("<u8") => Element::U64,
            other => {
                let other = other.unwrap_or("nothing").to_owned();
                return Err(wrong(format!("holds {other}; save it as float16 or float32")));
            }
        };
        if value_of(header, "fortran_order") != Some("False") {
            return Err(wrong("is in column order; save numpy.ascontiguousarray of it".to_owned()));
        }
        let shape: Option<Vec<usize>> = shape_of(header)
            .map(|shape| shape.split(',').map(str::trim).filter(|part| !part.is_empty()))
            .and_then(|parts| parts.map(|part| part.parse().ok()).collect());
        let (rows, columns) = match shape.as_deref() {
            Some([rows]) => (*rows, 1),
            Some([rows, columns]) => (*rows, *columns),
            _ => return Err(wrong("is not a matrix".to_owned())),
        };
        let expect = rows
            .checked_mul(columns)
            .and_then(|cells| cells.checked_mul(element.bytes()))
            .and_then(|bytes| bytes.checked_add(data));
        if expect != Some(map.len()) {
            return Err(wrong(format!(
                "{} bytes long, which is not {rows} x {columns} values",
                map.len()
            )));
        }
        Ok(Self { path: path.to_owned(), map, element, rows, columns, data })
    }

    /// Path that the array was opened from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Rows, and values in a row.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// A row as 32-bit floats; `None` beyond the last, or of integers.
    #[expect(clippy::cast_possible_truncation, reason = "vectors are stored with 16 bits")]
    pub fn row(&self, row: usize) -> Option<Vec<f32>> {
        let bytes = self.bytes(row)?;
        Some(match self.element {
            Element::F16 => {
                bytes.chunks_exact(2).map(|b| f16::from_le_bytes([b[0], b[1]]).to_f32()).collect()
            }
            Element::F32 => bytes
                .chunks_exact(4)
                .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                .collect(),
            Element::F64 => {
                bytes.chunks_exact(8).map(|b| f64::from_le_bytes(eight(b)) as f32).collect()
            }
            Element::I32 | Element::I64 | Element::U64 => return None,
        })
    }

    /// The first value of a row as an integer; `None` beyond the last, or of floats.
    pub fn integer(&self, row: usize) -> Option<i64> {
        let bytes = self.bytes(row)?;
        match self.element {
            Element::I32 => bytes.first_chunk().map(|b| i64::from(i32::from_le_bytes(*b))),
            Element::I64 | Element::U64 => bytes.first_chunk().map(|b| i64::from_le_bytes(*b)),
            Element::F16 | Element::F32 | Element::F64 => None,
        }
    }

    fn bytes(&self, row: usize) -> Option<&[u8]> {
        let size = self.columns * self.element.bytes();
        let start = self.data + row.checked_mul(size)?;
        self.map.get(start..start + size).filter(|_| row < self.rows)
    }
}

fn eight(bytes: &[u8]) -> [u8; 8] {
    [0, 1, 2, 3, 4, 5, 6, 7].map(|at| bytes[at])
}

/// The dictionary and where the data begins.
fn header(bytes: &[u8]) -> Option<(&str, usize)> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (length, start): (usize, usize) = match rest.first()? {
        1 => (usize::from(u16::from_le_bytes([*rest.get(2)?, *rest.get(3)?])), 10),
        2 | 3 => {
            let word = [*rest.get(2)?, *rest.get(3)?, *rest.get(4)?, *rest.get(5)?];
            (usize::try_from(u32::from_le_bytes(word)).ok()?, 12)
        }
        _ => return None,
    };
    let end = start.checked_add(length)?;
    Some((std::str::from_utf8(bytes.get(start..end)?).ok()?, end))
}

/// What stands after `'key':` up to the next comma.
fn value_of<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = header.split_once(&format!("'{key}':"))?;
    rest.split([',', '}']).next().map(str::trim)
}

fn shape_of(header: &str) -> Option<&str> {
    let (_, rest) = header.split_once("'shape':")?;
    let (_, rest) = rest.split_once('(')?;
    rest.split(')').next()
}
