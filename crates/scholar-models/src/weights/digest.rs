//! A digest of large files that is quick to take.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::error::ModelError;

const ENDS_BYTES: u64 = 1 << 20;
const SAMPLES: u64 = 64;
const SAMPLE_BYTES: u64 = 64 << 10;

/// Feeds the length of `path`, its first and last MiB and 64 evenly spaced blocks of 64 KiB to `hash`.
///
/// Reads at most 6 MiB, so that opening a model of two gigabytes does not cost seconds. Training changes every tensor, so
/// a model trained further has another digest; a bit flipped between two samples goes unseen, which is what
/// `openscholar models verify` is for: it hashes everything.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn sampled_digest(path: &Path, hash: &mut Sha256) -> Result<(), ModelError> {
    let read = |e| ModelError::read(path, e);
    let mut file = fs_err::File::open(path).map_err(read)?;
    let len = file.metadata().map_err(read)?.len();
    hash.update(len.to_le_bytes());
    let mut block = Vec::new();
    let mut feed = |start: u64, bytes: u64| -> Result<(), ModelError> {
        file.seek(SeekFrom::Start(start)).map_err(read)?;
        block.clear();
        (&mut file).take(bytes).read_to_end(&mut block).map_err(read)?;
        hash.update(&block);
        Ok(())
    };
    feed(0, ENDS_BYTES)?;
    if len > ENDS_BYTES {
        feed(len - ENDS_BYTES, ENDS_BYTES)?;
        let span = len.saturating_sub(SAMPLE_BYTES);
        for sample in 1..=SAMPLES {
            feed(span / (SAMPLES + 1) * sample, SAMPLE_BYTES)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(bytes: &[u8]) -> Vec<u8> {
        let file = tempfile_with(bytes);
        let mut hash = Sha256::new();
        sampled_digest(file.as_ref(), &mut hash).expect("a readable file");
        hash.finalize().to_vec()
    }

    fn tempfile_with(bytes: &[u8]) -> tempfile::TempPath {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        fs_err::write(file.path(), bytes).expect("written");
        file.into_temp_path()
    }

    #[test]
    fn length_ends_and_samples_all_count() {
        let base = vec![7_u8; 5 << 20];
        let whole = digest(&base);
        assert_eq!(whole, digest(&base), "the digest is a function of the bytes");
        for at in [0, 100, base.len() - 1, base.len() / 65 * 30 + 10] {
            let mut changed = base.clone();
            changed[at] = 8;
            assert_ne!(whole, digest(&changed), "byte {at}");
        }
        assert_ne!(whole, digest(&base[..base.len() - 1]));
    }
}
