//! The file of an inverted index, read through a memory map.
//!
//! | bytes | content (little-endian) |
//! |---|---|
//! | 0..8 | `SCHOLIVF` |
//! | 8..12 | format version, 1 |
//! | 12..16 | dimension |
//! | 16..24 | rows |
//! | 24..28 | lists |
//! | 28..32 | groups of lists |
//! | 32..40 | seed of the rotation |
//! | 40..72 | SHA-256 of the rows it indexes, as in the header of their file |
//! | 72..104 | SHA-256 of everything from byte 128 |
//! | 104..112 | first 8 bytes of the SHA-256 of bytes 0..104 and 112..128 |
//! | 112..116 | bits per dimension: 1, or 4 where each block is followed by the fine codes of its 32 places |
//! | 116..128 | zero |
//! | 128.. | centroids of groups, first list of each group, centroids of lists, first block of each list, blocks |
//!
//! Each of the five parts starts at a multiple of 64. Centroids are rotated and padded; `+ 1` more first list and first
//! block than groups and lists say where the last one ends. Blocks are described in [`super::scan`], fine codes in
//! [`super::fine`].

use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use sha2::{Digest as _, Sha256};

use super::code::BLOCK;
use super::fine;
use super::rotation::padded;
use super::scan::block_bytes;
pub(crate) use crate::dense::header::HEADER_BYTES;
use crate::dense::header::{Fields, seal};
use crate::error::Error;
use crate::mapped::{map_file, release};

/// Version of this file format.
pub(crate) const IVF_VERSION: u32 = 1;
/// Parts start at multiples of this.
const ALIGNMENT: usize = 64;
const MAGIC: &[u8; 8] = b"SCHOLIVF";

/// Bits that a code has for each dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Bits {
    /// Signs: least memory.
    #[default]
    One,
    /// Signs to scan and 16 levels to choose whom to compare exactly: five times the bytes, a fraction of the vectors read.
    Four,
}

impl Bits {
    /// Bits per dimension: 1 or 4.
    pub fn count(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Four => 4,
        }
    }

    /// The one with so many bits.
    pub fn of_count(count: u32) -> Option<Self> {
        [Self::One, Self::Four].into_iter().find(|bits| u32::from(bits.count()) == count)
    }

    /// Bytes of a block with its fine codes.
    pub(crate) fn block_bytes(self, dim: usize) -> usize {
        let fine = match self {
            Self::One => 0,
            Self::Four => BLOCK * fine::code_bytes(dim),
        };
        block_bytes(padded(dim)) + fine
    }
}

/// The fixed part of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) dim: u32,
    pub(crate) rows: u64,
    pub(crate) nlist: u32,
    pub(crate) groups: u32,
    pub(crate) seed: u64,
    pub(crate) bits: Bits,
    pub(crate) indexed: [u8; 32],
    pub(crate) body: [u8; 32],
}

impl Header {
    pub(crate) fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let Self { dim, rows, nlist, groups, seed, bits, indexed, body } = self;
        let mut bytes = [0_u8; HEADER_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&IVF_VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&dim.to_le_bytes());
        bytes[16..24].copy_from_slice(&rows.to_le_bytes());
        bytes[24..28].copy_from_slice(&nlist.to_le_bytes());
        bytes[28..32].copy_from_slice(&groups.to_le_bytes());
        bytes[32..40].copy_from_slice(&seed.to_le_bytes());
        bytes[40..72].copy_from_slice(indexed);
        bytes[72..104].copy_from_slice(body);
        bytes[112..116].copy_from_slice(&u32::from(bits.count()).to_le_bytes());
        seal(&mut bytes);
        bytes
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let fields = Fields::read(path, bytes, *MAGIC, "an inverted index")?;
        if fields.word(8) != IVF_VERSION {
            let (found, supported) = (fields.word(8), IVF_VERSION);
            return Err(Error::Version { path: path.to_owned(), found, supported });
        }
        fields.check(path, true)?;
        let count = fields.word(112);
        let bits = Bits::of_count(count)
            .ok_or_else(|| Error::corrupt(path, format!("codes of {count} bits are unknown")))?;
        Ok(Self {
            dim: fields.word(12),
            rows: fields.long(16),
            nlist: fields.word(24),
            groups: fields.word(28),
            seed: fields.long(32),
            bits,
            indexed: fields.digest(40),
            body: fields.digest(72),
        })
    }
}

/// Where the parts lie. `blocks` ends with the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) groups: Range<usize>,
    pub(crate) starts: Range<usize>,
    pub(crate) lists: Range<usize>,
    pub(crate) firsts: Range<usize>,
    pub(crate) blocks: usize,
}

impl Layout {
    pub(crate) fn of(dim: usize, groups: usize, lists: usize) -> Self {
        let row = padded(dim) * 4;
        let mut at = HEADER_BYTES;
        let mut part = |bytes: usize| {
            let range = at..at + bytes;
            at = range.end.next_multiple_of(ALIGNMENT);
            range
        };
        let groups_part = part(groups * row);
        let starts = part((groups + 1) * 4);
        let lists_part = part(lists * row);
        let firsts = part((lists + 1) * 8);
        Self { groups: groups_part, starts, lists: lists_part, firsts, blocks: at }
    }
}

/// An open inverted index file, its parts checked for their lengths.
#[derive(Debug)]
pub(crate) struct IvfFile {
    path: PathBuf,
    pub(crate) header: Header,
    layout: Layout,
    block_bytes: usize,
    map: Mmap,
}

impl IvfFile {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let map = map_file(path)?;
        let header = Header::parse(path, &map)?;
        let dim = header.dim as usize;
        let layout = Layout::of(dim, header.groups as usize, header.nlist as usize);
        if map.len() < layout.blocks {
            return Err(Error::corrupt(path, "shorter than its header says"));
        }
        let block_bytes = header.bits.block_bytes(dim);
        let file = Self { path: path.to_owned(), header, layout, block_bytes, map };
        let blocks = file.firsts().last().copied().unwrap_or_default();
        let expect = usize::try_from(blocks)
            .ok()
            .and_then(|blocks| blocks.checked_mul(block_bytes))
            .and_then(|bytes| bytes.checked_add(file.layout.blocks));
        let lists = file.starts().last().copied();
        if expect != Some(file.map.len()) || lists != Some(file.header.nlist) || !file.is_ordered()
        {
            return Err(Error::corrupt(path, "its lists do not fit its length"));
        }
        Ok(file)
    }

    fn is_ordered(&self) -> bool {
        self.firsts().is_sorted() && self.starts().is_sorted()
    }

    fn numbers<T: bytemuck::Pod>(&self, range: &Range<usize>) -> &[T] {
        // Never empty for a range of this file: the map starts at a page and each part at a multiple of 64.
        bytemuck::try_cast_slice(&self.map[range.clone()]).unwrap_or_default()
    }

    /// Rotated centroids of the groups, `[groups][padded]`.
    pub(crate) fn groups(&self) -> &[f32] {
        self.numbers(&self.layout.groups)
    }

    /// First list of each group, and the number of lists.
    pub(crate) fn starts(&self) -> &[u32] {
        self.numbers(&self.layout.starts)
    }

    /// Rotated centroids of the lists, `[lists][padded]`.
    pub(crate) fn lists(&self) -> &[f32] {
        self.numbers(&self.layout.lists)
    }

    /// First block of each list, and the number of blocks.
    fn firsts(&self) -> &[u64] {
        self.numbers(&self.layout.firsts)
    }

    /// The blocks of a list.
    pub(crate) fn blocks(&self, list: usize) -> impl Iterator<Item = &[u8]> {
        let firsts = self.firsts();
        let at = |list: usize| {
            let first = firsts.get(list).copied().unwrap_or_default();
            self.layout.blocks + usize::try_from(first).unwrap_or_default() * self.block_bytes
        };
        self.map.get(at(list)..at(list + 1)).unwrap_or_default().chunks_exact(self.block_bytes)
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        self.map.len() as u64
    }

    pub(crate) fn release(&self) {
        release(&self.map);
    }

    /// Reads everything and compares the checksum.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        let digest: [u8; 32] = Sha256::digest(&self.map[HEADER_BYTES..]).into();
        if digest == self.header.body {
            Ok(())
        } else {
            Err(Error::corrupt(&self.path, "the checksum of its lists does not fit"))
        }
    }
}
