//! Files read through memory maps.

use std::path::Path;

use memmap2::Mmap;

use crate::error::Error;

/// Maps the whole file at `path`.
///
/// # Errors
/// [`Error::Io`] when it cannot be opened or mapped.
#[expect(unsafe_code, reason = "memory maps are unsafe by nature")]
pub(crate) fn map_file(path: &Path) -> Result<Mmap, Error> {
    let file = fs_err::File::open(path).map_err(|source| Error::Io {
        doing: "open",
        path: path.to_owned(),
        source,
    })?;
    // SAFETY: segment files are renamed into place complete, never written again and only unlinked, which keeps
    // mapped pages alive. A person who truncates the file under a running process breaks this, as with any map.
    unsafe { Mmap::map(file.file()) }.map_err(Error::io("map", path))
}

/// Tells the system not to read ahead of the pages that are asked for.
pub(crate) fn expect_no_order(map: &Mmap) {
    #[cfg(unix)]
    if let Err(error) = map.advise(memmap2::Advice::Random) {
        tracing::debug!(%error, "the system reads ahead");
    }
    #[cfg(not(unix))]
    let _ = map;
}

/// Gives the pages of a map back to the system, which keeps them in its cache as long as it likes.
#[cfg(unix)]
#[expect(unsafe_code, reason = "advice about a memory map is unsafe by nature")]
pub(crate) fn release(map: &Mmap) {
    // SAFETY: the map is shared, backed by a file and never written through, so dropped pages read the same again.
    let advised = unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    // Refused advice costs memory, not correctness.
    if let Err(error) = advised {
        tracing::debug!(%error, "mapped pages were not given back");
    }
}

#[cfg(not(unix))]
pub(crate) fn release(_map: &Mmap) {}
