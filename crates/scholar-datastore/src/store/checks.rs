//! Checksums compared as files are opened. An index or dense segment of this crate is opened with [`Checks`], which say
//! how many of its files are read whole first: there is no way around them, so what rewrites files cannot forget to.
//!
//! | who opens | which files |
//! |---|---|
//! | a writer, and whoever copies, exports or merges | every one: what is rewritten gets a checksum of its own |
//! | whoever searches and reads | columns up to [`READ_COLUMN_BYTES`], others as [`READ_BYTES`] and [`READ_DENSE_BYTES`] allow |
//!
//! A file is checked once for each open datastore: files are written once and never changed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tantivy::directory::footer::Footer;
use tantivy::directory::{FileHandle, FileSlice};

use crate::damage::Damage;
use crate::error::Error;
use crate::store::guard::attempt;
use crate::store::stored::index_fits;

/// Bytes of lexical files that a reader checks when it opens them: less than a tenth of a second. A larger store is
/// searched without, because reading all of it before the first question costs minutes: that is `datastore verify`.
const READ_BYTES: u64 = 256 << 20;
/// The same of dense files, whose digest is slower.
const READ_DENSE_BYTES: u64 = 64 << 20;
/// Bytes of columns that a reader checks in any case, about 25 for each passage: a wrong length in a column can make tantivy
/// ask for terabytes, and a failed allocation ends the process. Every search reads them, so they are in memory soon.
const READ_COLUMN_BYTES: u64 = 2 << 30;
/// The ending of tantivy's files of columns.
const COLUMNS: &str = "fast";

/// Which files are checked, and which have been.
#[derive(Debug, Clone)]
pub(crate) struct Checks(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Bytes left to check; [`EVERY`] is no limit.
    lexical: AtomicU64,
    columns: AtomicU64,
    dense: AtomicU64,
    whole: Mutex<HashSet<PathBuf>>,
}

const EVERY: u64 = u64::MAX;

impl Checks {
    fn new(lexical: u64, columns: u64, dense: u64) -> Self {
        let whole = Mutex::new(HashSet::new());
        let (lexical, columns, dense) = (lexical.into(), columns.into(), dense.into());
        Self(Arc::new(Inner { lexical, columns, dense, whole }))
    }

    /// Every file: for whatever rewrites what it reads.
    pub(crate) fn all() -> Self {
        Self::new(EVERY, EVERY, EVERY)
    }

    /// Columns, and every file of small stores: for whatever reads.
    pub(crate) fn small() -> Self {
        Self::new(READ_BYTES, READ_COLUMN_BYTES, READ_DENSE_BYTES)
    }

    /// No file: for files that this process has just written, and where damage is looked for by other means.
    pub(crate) fn none() -> Self {
        Self::new(0, 0, 0)
    }

    /// Checks a file of tantivy, which ends with its checksum, unless that was done or is not wanted.
    pub(crate) fn lexical(&self, path: &Path, handle: &Arc<dyn FileHandle>) -> Result<(), Damage> {
        let ends_with = |kind: &str| path.extension().is_some_and(|ending| ending == kind);
        let stores = ends_with("store");
        let left = if ends_with(COLUMNS) { &self.0.columns } else { &self.0.lexical };
        let wanted = self.wants(path, left, handle.len() as u64);
        if !wanted && !stores {
            return Ok(());
        }
        let damage = |what: &str| Damage { path: path.to_owned(), what: what.to_owned() };
        let (footer, body) = footer_and_body(FileSlice::new(Arc::clone(handle)))
            .ok_or_else(|| damage("its footer cannot be read"))?;
        // Of what is not compared with its checksum, at least nothing may end the process: a failed allocation would.
        if stores && !index_fits(&body) {
            return Err(damage("its index says more than it holds"));
        }
        if !wanted {
            return Ok(());
        }
        let bytes = body.read_bytes().map_err(|error| damage(&error.to_string()))?;
        if crc32fast::hash(bytes.as_slice()) != footer.crc {
            return Err(damage("its checksum does not fit"));
        }
        self.0.whole.lock().insert(path.to_owned());
        Ok(())
    }

    /// Calls `verify`, which checks the files of the dense segment at `path`, `bytes` in all, unless that was done or is
    /// not wanted.
    pub(crate) fn dense(
        &self,
        path: &Path,
        bytes: u64,
        verify: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        if !self.wants(path, &self.0.dense, bytes) {
            return Ok(());
        }
        verify()?;
        self.0.whole.lock().insert(path.to_owned());
        Ok(())
    }

    fn wants(&self, path: &Path, left: &AtomicU64, bytes: u64) -> bool {
        if left.load(Ordering::Relaxed) == 0 || self.0.whole.lock().contains(path) {
            return false;
        }
        let take = |left: u64| match left {
            EVERY => Some(EVERY),
            left => left.checked_sub(bytes),
        };
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

/// A file of tantivy taken apart; `None` when its end is damaged, about some forms of which tantivy panics.
pub(crate) fn footer_and_body(file: FileSlice) -> Option<(Footer, FileSlice)> {
    attempt(|| Footer::extract_footer(file).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use tantivy::directory::OwnedBytes;

    use super::*;

    /// A datastore too large to be checked whole is opened as if there were no room left for its other files.
    #[test]
    fn columns_are_checked_however_large_the_rest_is() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat/v1/lexical");
        for (kind, is_checked) in [("fast", true), ("fieldnorm", false), ("term", false)] {
            let path = folder.join("e0e9094ea07143e598b10db7c1f8a3df").with_extension(kind);
            let whole = fs_err::read(&path).expect("read");
            let check = |bytes: Vec<u8>| {
                let handle: Arc<dyn FileHandle> = Arc::new(OwnedBytes::new(bytes));
                Checks::new(0, READ_COLUMN_BYTES, 0).lexical(&path, &handle)
            };
            let mut damaged = whole.clone();
            damaged[whole.len() / 3] ^= 1;
            check(whole).expect("whole");
            assert_eq!(check(damaged).is_err(), is_checked, "{kind}");
        }
    }
}
