//! Checksums compared as files are opened. An index or dense segment of this crate is opened with [`Checks`], which say
//! how many of its files are read whole first: there is no way around them, so what rewrites files cannot forget to.
//!
//! | who opens | which files |
//! |---|---|
//! | a writer, and whoever copies, exports or merges | every one: what is rewritten gets a checksum of its own |
//! | whoever searches and reads | as many as [`READ_BYTES`] and [`READ_DENSE_BYTES`] allow |
//!
//! A file is checked once for each open datastore: files are written once and never changed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::footer::Footer;
use tantivy::directory::{FileHandle, FileSlice};

use crate::dense::DenseSegment;
use crate::error::Error;
use crate::store::guard::attempt;
use crate::store::stored::index_fits;

/// Bytes of lexical files that a reader checks when it opens them: less than a tenth of a second. A larger store is
/// searched without, because reading all of it before the first question costs minutes: that is `datastore verify`.
const READ_BYTES: u64 = 256 << 20;
/// The same of dense files, whose digest is slower.
const READ_DENSE_BYTES: u64 = 64 << 20;

/// Which files are checked, and which have been.
#[derive(Debug, Clone)]
pub(crate) struct Checks(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Bytes left to check; [`EVERY`] is no limit.
    lexical: AtomicU64,
    dense: AtomicU64,
    whole: Mutex<HashSet<PathBuf>>,
}

const EVERY: u64 = u64::MAX;

impl Checks {
    fn new(lexical: u64, dense: u64) -> Self {
        let whole = Mutex::new(HashSet::new());
        Self(Arc::new(Inner { lexical: lexical.into(), dense: dense.into(), whole }))
    }

    /// Every file: for whatever rewrites what it reads.
    pub(crate) fn all() -> Self {
        Self::new(EVERY, EVERY)
    }

    /// Files of small stores: for whatever reads.
    pub(crate) fn small() -> Self {
        Self::new(READ_BYTES, READ_DENSE_BYTES)
    }

    /// No file: for files that this process has just written, and where damage is looked for by other means.
    pub(crate) fn none() -> Self {
        Self::new(0, 0)
    }

    /// Checks a file of tantivy, which ends with its checksum, unless that was done or is not wanted.
    pub(crate) fn lexical(&self, path: &Path, handle: &Arc<dyn FileHandle>) -> Result<(), Damage> {
        let stores = path.extension().is_some_and(|ending| ending == "store");
        let wanted = self.wants(path, &self.0.lexical, handle.len() as u64);
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

    /// Checks the files of a dense segment, unless that was done or is not wanted.
    pub(crate) fn dense(&self, segment: &DenseSegment) -> Result<(), Error> {
        if !self.wants(segment.path(), &self.0.dense, segment.size_bytes()) {
            return Ok(());
        }
        segment.verify()?;
        self.0.whole.lock().insert(segment.path().to_owned());
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

/// A file of tantivy that is not as it was written, on its way through tantivy's errors.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{} is damaged: {what}", path.display())]
pub(crate) struct Damage {
    pub(crate) path: PathBuf,
    pub(crate) what: String,
}

impl From<Damage> for OpenReadError {
    fn from(damage: Damage) -> Self {
        let path = damage.path.clone();
        Self::wrap_io_error(std::io::Error::new(std::io::ErrorKind::InvalidData, damage), path)
    }
}

impl Damage {
    /// The damage that made tantivy fail, if it was that.
    pub(crate) fn behind(error: &TantivyError) -> Option<&Self> {
        match error {
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => {
                io_error.get_ref()?.downcast_ref()
            }
            _ => None,
        }
    }
}
