//! One writer per datastore, across processes: an advisory lock on a file that names its holder.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use fs4::TryLockError;

use crate::error::Error;
use crate::layout::LOCK_FILE;

/// Keeps writers out of the datastore at `root` until it is dropped.
#[derive(Debug)]
pub struct DatastoreLock {
    _held: WriterLock,
}

/// Takes the writer's lock of the datastore at `root`, for what is done to its folder as a whole.
///
/// # Errors
/// [`Error::Locked`] names the holder.
pub fn lock(root: &Path) -> Result<DatastoreLock, Error> {
    Ok(DatastoreLock { _held: WriterLock::acquire(root)? })
}

/// The lock; released when dropped or when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct WriterLock {
    file: fs_err::File,
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // Closing the file would do, were it not for a process that another thread has just forked: until it runs its
        // own program it has the file open too.
        let _closing_unlocks_as_well = fs4::FileExt::unlock(self.file.file());
    }
}

impl WriterLock {
    pub(crate) fn acquire(root: &Path) -> Result<Self, Error> {
        let path = root.join(LOCK_FILE);
        let mut file = fs_err::OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(Error::io("open", &path))?;
        match fs4::FileExt::try_lock(file.file()) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // The name is a courtesy: unreadable, the error still says that the store is locked.
                if file.read_to_string(&mut holder).is_err() || holder.trim().is_empty() {
                    "another process".clone_into(&mut holder);
                }
                let holder = holder.trim().to_owned();
                return Err(Error::Locked { path: root.to_owned(), holder });
            }
            Err(TryLockError::Error(source)) => {
                return Err(Error::Io { doing: "lock", path, source });
            }
        }
        let holder = format!("process {} on {}", std::process::id(), host());
        file.file()
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| writeln!(file, "{holder}"))
            .map_err(Error::io("write", &path))?;
        Ok(Self { file })
    }
}

/// Name of this machine where the kernel tells it through a file.
fn host() -> String {
    fs_err::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "this host".to_owned(), |name| name.trim().to_owned())
}
