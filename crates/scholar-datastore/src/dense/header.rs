//! What the headers of dense files share: 128 bytes, a name and a version in front, a checksum at byte 104.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::error::Error;

/// Bytes before the content; keeps rows aligned to cache lines.
pub const HEADER_BYTES: usize = 128;
const CHECK: std::ops::Range<usize> = 104..112;

/// A header whose name and checksum were read; its fields by their first byte.
pub(crate) struct Fields<'a>(&'a [u8; HEADER_BYTES]);

impl<'a> Fields<'a> {
    /// The header of a file that must start with `magic`, which is to say be `kind`.
    pub(crate) fn read(
        path: &Path,
        file: &'a [u8],
        magic: [u8; 8],
        kind: &str,
    ) -> Result<Self, Error> {
        let bytes: &[u8; HEADER_BYTES] = file
            .get(..HEADER_BYTES)
            .and_then(|head| head.try_into().ok())
            .ok_or_else(|| Error::corrupt(path, "shorter than a header"))?;
        if bytes[..8] != magic {
            return Err(Error::corrupt(path, format!("does not start as {kind} does")));
        }
        Ok(Self(bytes))
    }

    /// Compares the checksum, which covers everything but itself where `whole`, else what stands before it.
    pub(crate) fn check(&self, path: &Path, whole: bool) -> Result<(), Error> {
        if checksum(self.0, whole) == self.0[CHECK] {
            Ok(())
        } else {
            Err(Error::corrupt(path, "the header's checksum does not fit"))
        }
    }

    pub(crate) fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes([0, 1, 2, 3].map(|i| self.0[at + i]))
    }

    pub(crate) fn long(&self, at: usize) -> u64 {
        u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| self.0[at + i]))
    }

    pub(crate) fn digest(&self, at: usize) -> [u8; 32] {
        let mut digest = [0_u8; 32];
        digest.copy_from_slice(&self.0[at..at + 32]);
        digest
    }
}

/// Writes the checksum into an otherwise complete header.
pub(crate) fn seal(bytes: &mut [u8; HEADER_BYTES]) {
    let check = checksum(bytes, true);
    bytes[CHECK].copy_from_slice(&check);
}

fn checksum(bytes: &[u8; HEADER_BYTES], whole: bool) -> [u8; 8] {
    let mut digest = Sha256::new();
    digest.update(&bytes[..CHECK.start]);
    if whole {
        digest.update(&bytes[CHECK.end..]);
    }
    let digest = digest.finalize();
    [0, 1, 2, 3, 4, 5, 6, 7].map(|i| digest[i])
}
