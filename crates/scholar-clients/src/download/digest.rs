//! Digests and copies in pieces, so that a large file neither fills memory nor blocks the other work of a thread.

use std::io::{Read, Write};
use std::path::Path;

use scholar_core::text::hex;
use sha2::{Digest as _, Sha256};

/// Read at a time.
const PIECE: usize = 1 << 20;

/// SHA-256 of a file in lower-case hexadecimal, and its length.
pub(super) async fn of_file(path: &Path) -> std::io::Result<(String, u64)> {
    let mut file = fs_err::File::open(path)?;
    pump(&mut file, &mut std::io::sink()).await
}

/// Copies all of `from` to `to` and returns SHA-256 and length of what was copied.
pub(super) async fn pump(
    from: &mut (dyn Read + Send),
    to: &mut (dyn Write + Send),
) -> std::io::Result<(String, u64)> {
    let mut hasher = Sha256::new();
    let mut length = 0u64;
    let mut piece = vec![0u8; PIECE];
    loop {
        let n = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&piece[..n]);
        to.write_all(&piece[..n])?;
        length = length.saturating_add(u64::try_from(n).unwrap_or(u64::MAX));
        tokio::task::yield_now().await;
    }
    Ok((hex(&hasher.finalize()), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn known_digest() {
        let mut copy = Vec::new();
        let (digest, length) = pump(&mut &b"abc"[..], &mut copy).await.expect("in memory");
        assert_eq!(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!((length, copy.as_slice()), (3, &b"abc"[..]));
    }
}
