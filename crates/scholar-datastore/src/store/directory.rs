//! tantivy's directory: readable where nothing can be written, its files checked as they are opened.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, META_LOCK, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

use super::checks::Checks;

/// [`MmapDirectory`], except that a reader does without the lock that keeps files from being removed while it opens
/// them where the lock's file cannot be made. Where others still write, a file that is gone is noticed and opening
/// starts over, as after any commit that comes in between.
///
/// Every file that tantivy reads, in whatever thread, is opened here, and checked first as its [`Checks`] say.
#[derive(Debug, Clone)]
pub(super) struct CheckedDirectory {
    files: MmapDirectory,
    path: PathBuf,
    checks: Checks,
}

impl CheckedDirectory {
    pub(super) fn open(path: &Path, checks: &Checks) -> tantivy::Result<Self> {
        let files = MmapDirectory::open(path)?;
        Ok(Self { files, path: path.to_owned(), checks: checks.clone() })
    }
}

impl Directory for CheckedDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let handle = self.files.get_file_handle(path)?;
        self.checks.lexical(&self.path.join(path), &handle)?;
        Ok(handle)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.files.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.files.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.files.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.files.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        match self.files.acquire_lock(lock) {
            Err(LockError::IoError(error))
                if lock.filepath == META_LOCK.filepath && is_read_only(error.kind()) =>
            {
                Ok(DirectoryLock::from(Box::new(())))
            }
            acquired => acquired,
        }
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.files.watch(callback)
    }
}

fn is_read_only(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied)
}
