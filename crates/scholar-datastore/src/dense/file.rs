//! The file of a dense segment, read through a memory map.
//!
//! | bytes | content (little-endian) |
//! |---|---|
//! | 0..8 | `SCHOLVEC` |
//! | 8..12 | format version, 1 |
//! | 12..16 | element: 1 = f16 |
//! | 16..20 | dimension |
//! | 20..24 | similarity: 0 = dot, 1 = cosine |
//! | 24..32 | vector ordinal of row 0 |
//! | 32..40 | rows |
//! | 40..72 | SHA-256 of the encoder's fingerprint |
//! | 72..104 | SHA-256 of the rows |
//! | 104..112 | first 8 bytes of the SHA-256 of bytes 0..104 |
//! | 112..128 | zero |
//! | 128.. | rows |

use std::path::{Path, PathBuf};

use memmap2::Mmap;
use scholar_core::{EncoderInfo, Similarity};
use sha2::{Digest as _, Sha256};

use crate::error::Error;
use crate::manifest::SegmentEntry;

/// Version of this file format.
pub const DENSE_VERSION: u32 = 1;
/// Bytes before the first row; keeps rows aligned to cache lines.
pub const HEADER_BYTES: usize = 128;
const MAGIC: &[u8; 8] = b"SCHOLVEC";
const ELEMENT_F16: u32 = 1;

/// The fixed part of a dense segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) dim: u32,
    pub(crate) similarity: Similarity,
    pub(crate) first: u64,
    pub(crate) count: u64,
    pub(crate) fingerprint: [u8; 32],
    pub(crate) data: [u8; 32],
}

pub(crate) fn fingerprint_digest(info: &EncoderInfo) -> [u8; 32] {
    Sha256::digest(info.fingerprint.as_bytes()).into()
}

impl Header {
    pub(crate) fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let Self { dim, similarity, first, count, fingerprint, data } = self;
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
        let check = Sha256::digest(&bytes[..104]);
        bytes[104..112].copy_from_slice(&check[..8]);
        bytes
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let bytes: &[u8; HEADER_BYTES] = bytes
            .get(..HEADER_BYTES)
            .and_then(|head| head.try_into().ok())
            .ok_or_else(|| Error::corrupt(path, "shorter than a header"))?;
        if &bytes[..8] != MAGIC {
            return Err(Error::corrupt(path, "does not start as a dense segment does"));
        }
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[at + i]));
        let long = |at: usize| u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| bytes[at + i]));
        if word(8) != DENSE_VERSION {
            return Err(Error::Version {
                path: path.to_owned(),
                found: word(8),
                supported: DENSE_VERSION,
            });
        }
        if Sha256::digest(&bytes[..104])[..8] != bytes[104..112] {
            return Err(Error::corrupt(path, "the header's checksum does not fit"));
        }
        let similarity = match word(20) {
            0 => Similarity::Dot,
            1 => Similarity::Cosine,
            other => return Err(Error::corrupt(path, format!("unknown similarity {other}"))),
        };
        if word(12) != ELEMENT_F16 {
            return Err(Error::corrupt(path, format!("unknown element type {}", word(12))));
        }
        let digest = |at: usize| {
            let mut digest = [0_u8; 32];
            digest.copy_from_slice(&bytes[at..at + 32]);
            digest
        };
        Ok(Self {
            dim: word(16),
            similarity,
            first: long(24),
            count: long(32),
            fingerprint: digest(40),
            data: digest(72),
        })
    }
}

/// An open dense segment.
#[derive(Debug)]
pub struct DenseSegment {
    path: PathBuf,
    header: Header,
    row_bytes: usize,
    map: Mmap,
}

impl DenseSegment {
    /// Opens the segment that a commit lists, and checks header, length and encoder; not the rows.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a file that is cut short or belongs to something else, [`Error::Version`], [`Error::Io`].
    pub(crate) fn open(
        folder: &Path,
        entry: &SegmentEntry,
        encoder: &EncoderInfo,
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
        let expect = usize::try_from(header.count)
            .ok()
            .and_then(|count| count.checked_mul(row_bytes))
            .and_then(|bytes| bytes.checked_add(HEADER_BYTES));
        if expect != Some(map.len()) {
            return Err(Error::corrupt(
                &path,
                format!("{} bytes long, which is not {} rows", map.len(), header.count),
            ));
        }
        Ok(Self { path, header, row_bytes, map })
    }

    /// The row of a vector ordinal: `dim` little-endian f16 values. `None` outside this segment.
    pub fn row(&self, ordinal: u64) -> Option<&[u8]> {
        let row = ordinal.checked_sub(self.header.first)?;
        if row >= self.header.count {
            return None;
        }
        let start = HEADER_BYTES + usize::try_from(row).ok()? * self.row_bytes;
        self.map.get(start..start + self.row_bytes)
    }

    /// First ordinal and number of rows.
    pub fn range(&self) -> (u64, u64) {
        (self.header.first, self.header.count)
    }

    /// Size of the file.
    pub fn size_bytes(&self) -> u64 {
        self.map.len() as u64
    }

    /// Reads every row and compares the checksum.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it differs.
    pub fn verify(&self) -> Result<(), Error> {
        let digest: [u8; 32] = Sha256::digest(&self.map[HEADER_BYTES..]).into();
        if digest == self.header.data {
            Ok(())
        } else {
            Err(Error::corrupt(&self.path, "the checksum of its rows does not fit"))
        }
    }
}

#[expect(unsafe_code, reason = "memory maps are unsafe by nature")]
fn map_file(path: &Path) -> Result<Mmap, Error> {
    let file = fs_err::File::open(path).map_err(|source| Error::Io {
        doing: "open",
        path: path.to_owned(),
        source,
    })?;
    // SAFETY: segment files are renamed into place complete, never written again and only unlinked, which keeps
    // mapped pages alive. A person who truncates the file under a running process breaks this, as with any map.
    unsafe { Mmap::map(file.file()) }.map_err(Error::io("map", path))
}
