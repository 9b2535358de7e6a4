//! The file of a dense segment, read through a memory map.
//!
//! | bytes | content (little-endian) |
//! |---|---|
//! | 0..8 | `SCHOLVEC` |
//! | 8..12 | format version, 2; files of version 1 are read, they end with the rows |
//! | 12..16 | element: 1 = f16 |
//! | 16..20 | dimension |
//! | 20..24 | similarity: 0 = dot, 1 = cosine |
//! | 24..32 | vector ordinal of row 0 |
//! | 32..40 | ordinals covered |
//! | 40..72 | SHA-256 of the encoder's fingerprint |
//! | 72..104 | SHA-256 of everything from byte 128 |
//! | 104..112 | first 8 bytes of the SHA-256 of bytes 0..104 and 112..128; in version 1 of 0..104 |
//! | 112..120 | rows; in version 1 zero, and each ordinal has a row |
//! | 120..128 | zero |
//! | 128.. | rows |
//! | then | where there are fewer rows than ordinals, one bit per ordinal in words of 64: whether it has a row |

use std::path::{Path, PathBuf};

use half::f16;
use half::slice::{HalfBitsSliceExt as _, HalfFloatSliceExt as _};
use memmap2::Mmap;
use scholar_core::{EncoderInfo, Similarity};
use sha2::{Digest as _, Sha256};

pub use super::header::HEADER_BYTES;
use super::header::{Fields, seal};
use super::ivf::file::IvfFile;
use super::ivf::{IvfSearch, Rows};
use super::present::Present;
use crate::error::Error;
use crate::manifest::SegmentEntry;
use crate::mapped::{expect_no_order, map_file, release};
use crate::store::checks::Checks;

/// Version of this file format.
pub const DENSE_VERSION: u32 = 2;
/// The first version, without removed rows.
const DENSE_VERSION_1: u32 = 1;
const MAGIC: &[u8; 8] = b"SCHOLVEC";
const ELEMENT_F16: u32 = 1;

/// The fixed part of a dense segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) dim: u32,
    pub(crate) similarity: Similarity,
    pub(crate) first: u64,
    /// Ordinals covered.
    pub(crate) count: u64,
    /// Rows stored; fewer than `count` when some were removed.
    pub(crate) rows: u64,
    pub(crate) fingerprint: [u8; 32],
    pub(crate) data: [u8; 32],
}

pub(crate) fn fingerprint_digest(info: &EncoderInfo) -> [u8; 32] {
    Sha256::digest(info.fingerprint.as_bytes()).into()
}

impl Header {
    pub(crate) fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let Self { dim, similarity, first, count, rows, fingerprint, data } = self;
        let mut bytes = [0_u8; HEADER_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&DENSE_VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&ELEMENT_F16.to_le_bytes());
        bytes[16..20].copy_from_slice(&dim.to_le_bytes());
        let similarity: u32 = match similarity {
            Similarity::Dot => 0,
            Similarity::Cosine => 1,
        };
        bytes[20..24].copy_from_slice(&similarity.to_le_bytes());
        bytes[24..32].copy_from_slice(&first.to_le_bytes());
        bytes[32..40].copy_from_slice(&count.to_le_bytes());
        bytes[40..72].copy_from_slice(fingerprint);
        bytes[72..104].copy_from_slice(data);
        bytes[112..120].copy_from_slice(&rows.to_le_bytes());
        seal(&mut bytes);
        bytes
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let fields = Fields::read(path, bytes, *MAGIC, "a dense segment")?;
        let version = fields.word(8);
        if version != DENSE_VERSION && version != DENSE_VERSION_1 {
            return Err(Error::Version {
                path: path.to_owned(),
                found: version,
                supported: DENSE_VERSION,
            });
        }
        fields.check(path, version != DENSE_VERSION_1)?;
        let similarity = match fields.word(20) {
            0 => Similarity::Dot,
            1 => Similarity::Cosine,
            other => return Err(Error::corrupt(path, format!("unknown similarity {other}"))),
        };
        if fields.word(12) != ELEMENT_F16 {
            return Err(Error::corrupt(path, format!("unknown element type {}", fields.word(12))));
        }
        Ok(Self {
            dim: fields.word(16),
            similarity,
            first: fields.long(24),
            count: fields.long(32),
            rows: if version == DENSE_VERSION_1 { fields.long(32) } else { fields.long(112) },
            fingerprint: fields.digest(40),
            data: fields.digest(72),
        })
    }
}

/// An open dense segment, with its inverted index where it has one.
#[derive(Debug)]
pub struct DenseSegment {
    path: PathBuf,
    entry: SegmentEntry,
    header: Header,
    row_bytes: usize,
    present: Option<Present>,
    index: Option<IvfSearch>,
    map: Mmap,
}

impl DenseSegment {
    /// Opens the segment that a commit lists, and checks header, length and encoder; the rows as `checks` say.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a file that is cut short or belongs to something else, [`Error::Version`], [`Error::Io`].
    pub(crate) fn open(
        folder: &Path,
        entry: &SegmentEntry,
        encoder: &EncoderInfo,
        checks: &Checks,
    ) -> Result<Self, Error> {
        let path = folder.join(&entry.file);
        let map = map_file(&path)?;
        let header = Header::parse(&path, &map)?;
        let row_bytes = header.dim as usize * 2;
        if header.dim as usize != encoder.dim || header.fingerprint != fingerprint_digest(encoder) {
            return Err(Error::corrupt(&path, "holds vectors of another encoder"));
        }
        if (header.first, header.count) != (entry.first, entry.count) {
            return Err(Error::corrupt(&path, "is not the segment the commit lists"));
        }
        let size = |count: u64, bytes: usize| {
            usize::try_from(count).ok().and_then(|count| count.checked_mul(bytes))
        };
        let has_holes = header.rows != header.count;
        let bits = if has_holes { size(header.count.div_ceil(64), 8) } else { Some(0) };
        let rows_end =
            size(header.rows, row_bytes).and_then(|bytes| bytes.checked_add(HEADER_BYTES));
        let expect = rows_end.zip(bits).and_then(|(rows, bits)| rows.checked_add(bits));
        if expect != Some(map.len()) || header.rows > header.count {
            return Err(Error::corrupt(
                &path,
                format!("{} bytes long, which is not {} rows", map.len(), header.rows),
            ));
        }
        let present = has_holes.then(|| {
            let words = map[rows_end.unwrap_or(map.len())..].chunks_exact(8);
            Present::new(
                words.map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default())).collect(),
            )
        });
        if present.as_ref().is_some_and(|present| u64::from(present.rows()) != header.rows) {
            return Err(Error::corrupt(&path, "its rows are not those its bits count"));
        }
        let index = match &entry.index {
            Some(name) => Some(open_index(&folder.join(name), &header)?),
            None => None,
        };
        if index.is_some() {
            // Only the rows that look best are read.
            expect_no_order(&map);
        }
        let segment = Self { path, entry: entry.clone(), header, row_bytes, present, index, map };
        segment.check(checks)?;
        Ok(segment)
    }

    /// Compares the digests of the segment's files, unless `checks` know them to be whole or do not want them read.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Io`].
    pub(crate) fn check(&self, checks: &Checks) -> Result<(), Error> {
        checks.dense(self.path(), self.size_bytes(), || self.verify())
    }

    /// What a commit would list of the rows in the file called `name`, by its own header.
    pub(crate) fn entry_of(folder: &Path, name: &str) -> Result<SegmentEntry, Error> {
        let path = folder.join(name);
        let header = Header::parse(&path, &map_file(&path)?)?;
        let Header { first, count, .. } = header;
        Ok(SegmentEntry { file: name.to_owned(), first, count, index: None })
    }

    /// The vector of an ordinal: `dim` little-endian f16 values. `None` outside this segment and for a removed row.
    pub fn row(&self, ordinal: u64) -> Option<&[u8]> {
        let offset = usize::try_from(ordinal.checked_sub(self.header.first)?).ok()?;
        if offset as u64 >= self.header.count {
            return None;
        }
        let row = match &self.present {
            Some(present) => present.row(offset)? as usize,
            None => offset,
        };
        self.stored(row)
    }

    /// The vector in place `row` of the file.
    pub(crate) fn stored(&self, row: usize) -> Option<&[u8]> {
        let start = row.checked_mul(self.row_bytes)?.checked_add(HEADER_BYTES)?;
        if row as u64 >= self.header.rows {
            return None;
        }
        self.map.get(start..start + self.row_bytes)
    }

    /// The ordinal of place `row`.
    pub(crate) fn ordinal(&self, row: u32) -> Option<u64> {
        let offset = match &self.present {
            Some(present) => present.offset(row)? as u64,
            None => u64::from(row),
        };
        (u64::from(row) < self.header.rows).then_some(self.header.first + offset)
    }

    /// First ordinal and number of ordinals.
    pub fn range(&self) -> (u64, u64) {
        (self.header.first, self.header.count)
    }

    /// Vectors in the file; at most as many as ordinals.
    pub fn rows(&self) -> u64 {
        self.header.rows
    }

    /// The file of the rows.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What the commit says of it.
    pub(crate) fn entry(&self) -> &SegmentEntry {
        &self.entry
    }

    pub(crate) fn data_digest(&self) -> [u8; 32] {
        self.header.data
    }

    /// Its inverted index.
    pub(crate) fn index(&self) -> Option<&IvfSearch> {
        self.index.as_ref()
    }

    /// Size of its files.
    pub fn size_bytes(&self) -> u64 {
        self.map.len() as u64 + self.index_bytes()
    }

    /// Size of its inverted index.
    pub fn index_bytes(&self) -> u64 {
        self.index.as_ref().map_or(0, |index| index.file().size_bytes())
    }

    /// Gives mapped vectors back to the system, and with `codes` the inverted index as well.
    pub(crate) fn release(&self, codes: bool) {
        release(&self.map);
        if let Some(index) = self.index.as_ref().filter(|_| codes) {
            index.file().release();
        }
    }

    /// Reads everything and compares the checksums.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when one differs.
    pub fn verify(&self) -> Result<(), Error> {
        let digest: [u8; 32] = Sha256::digest(&self.map[HEADER_BYTES..]).into();
        if digest != self.header.data {
            return Err(Error::corrupt(&self.path, "the checksum of its rows does not fit"));
        }
        self.index.as_ref().map_or(Ok(()), |index| index.file().verify())
    }
}

impl Rows for DenseSegment {
    fn count(&self) -> usize {
        usize::try_from(self.header.rows).unwrap_or(usize::MAX)
    }

    fn dim(&self) -> usize {
        self.header.dim as usize
    }

    fn expect_no_order(&self) {
        expect_no_order(&self.map);
    }

    fn read(&self, row: usize, out: &mut [f32]) {
        let stored = self.stored(row).unwrap_or_default();
        match bytemuck::try_cast_slice::<u8, u16>(stored) {
            // Rows start at even addresses, so this only fails where numbers are stored the other way round.
            Ok(bits) if cfg!(target_endian = "little") && bits.len() == out.len() => {
                bits.reinterpret_cast::<f16>().convert_to_f32_slice(out);
            }
            _ => {
                for (value, bytes) in out.iter_mut().zip(stored.chunks_exact(2)) {
                    *value = f16::from_le_bytes([bytes[0], bytes[1]]).to_f32();
                }
            }
        }
    }
}

fn open_index(path: &Path, header: &Header) -> Result<IvfSearch, Error> {
    let file = IvfFile::open(path)?;
    let of = &file.header;
    if (of.dim, of.rows, of.indexed) != (header.dim, header.rows, header.data) {
        return Err(Error::corrupt(path, "is the index of another segment"));
    }
    Ok(IvfSearch::new(file))
}
