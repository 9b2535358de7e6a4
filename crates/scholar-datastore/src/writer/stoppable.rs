//! A directory of tantivy's whose files stop being written when they are told to.
//!
//! tantivy has no way to end a merge that runs. One whose next write fails ends at once: what it wrote belongs to no
//! commit and is swept. What is small and must be whole, as the list of segments, is written in any case.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, TerminatingWrite, WatchCallback, WatchHandle,
    WritePtr,
};

/// Another directory, until its flag is set.
#[derive(Debug, Clone)]
pub(super) struct StoppableDirectory {
    inner: Box<dyn Directory>,
    stop: Arc<AtomicBool>,
}

impl StoppableDirectory {
    pub(super) fn new(inner: Box<dyn Directory>, stop: Arc<AtomicBool>) -> Self {
        Self { inner, stop }
    }
}

impl Directory for StoppableDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = self.inner.open_write(path)?;
        let stoppable = StoppableFile { file, stop: Arc::clone(&self.stop) };
        Ok(BufWriter::new(Box::new(stoppable)))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.inner.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.inner.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.inner.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}

struct StoppableFile {
    file: WritePtr,
    stop: Arc<AtomicBool>,
}

impl StoppableFile {
    fn go_on(&self) -> io::Result<()> {
        match self.stop.load(Ordering::Acquire) {
            true => Err(io::Error::other("the merge was stopped")),
            false => Ok(()),
        }
    }
}

impl Write for StoppableFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.go_on()?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl TerminatingWrite for StoppableFile {
    fn terminate_ref(&mut self, token: AntiCallToken) -> io::Result<()> {
        self.go_on()?;
        self.file.terminate_ref(token)
    }
}

#[cfg(test)]
mod tests {
    use tantivy::directory::RamDirectory;

    use super::*;

    #[test]
    fn files_stop_and_lists_do_not() {
        let stop = Arc::new(AtomicBool::new(false));
        let inner: Box<dyn Directory> = Box::new(RamDirectory::create());
        let directory = StoppableDirectory::new(inner, Arc::clone(&stop));
        let write = |name: &str| -> io::Result<()> {
            let mut file = directory.open_write(Path::new(name)).map_err(io::Error::other)?;
            file.write_all(b"words")?;
            file.terminate()
        };
        write("before").expect("written");
        stop.store(true, Ordering::Release);
        assert!(write("meanwhile").is_err());
        directory.atomic_write(Path::new("list"), b"[]").expect("written");
        stop.store(false, Ordering::Release);
        write("after").expect("written");
        assert_eq!(directory.atomic_read(Path::new("after")).expect("read"), b"words");
    }
}
