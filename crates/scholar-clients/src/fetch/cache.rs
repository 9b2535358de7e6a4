//! Replies kept on disk.
//!
//! ```text
//! FOLDER/
//!   s2-v1/              one folder for each bucket; its name carries the version of what it holds
//!     3f/
//!       3f09…c2.reply   one line of JSON (`Head`), then the body as it was
//! ```
//!
//! A file appears by renaming, so that a reader sees a whole entry or none. An entry that cannot be read is removed
//! and counts as absent: everything here can be asked for again.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::config::CacheConfig;

/// Layout of the files; others are removed when met.
const FORMAT: u32 = 1;

/// After pruning, this part of the allowed size is in use.
const KEPT: f64 = 0.9;

/// What is known about a stored reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    format: u32,
    pub(super) status: u16,
    pub(super) content_type: Option<String>,
    /// The address the reply came from, without secrets.
    pub(super) url: String,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    /// When the provider last said that this is the answer.
    pub(super) confirmed: Timestamp,
    length: usize,
    sha256: String,
}

impl Head {
    pub(super) fn new(status: u16, url: String, confirmed: Timestamp, body: &[u8]) -> Self {
        Self {
            format: FORMAT,
            status,
            content_type: None,
            url,
            etag: None,
            last_modified: None,
            confirmed,
            length: body.len(),
            sha256: digest(body),
        }
    }
}

/// A stored reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CacheEntry {
    pub(super) head: Head,
    pub(super) body: Vec<u8>,
}

/// Name of an entry: bucket and digest of the request.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) bucket: &'static str,
    pub(super) digest: String,
}

/// Replies on disk, a file each, in a folder for each bucket.
pub(super) struct Cache {
    config: CacheConfig,
    /// Bytes in use, once they were counted.
    used: Mutex<Option<u64>>,
}

impl Cache {
    pub(super) fn new(config: CacheConfig) -> Self {
        Self { config, used: Mutex::new(None) }
    }

    fn path(&self, key: &Key) -> PathBuf {
        let shard = key.digest.get(..2).unwrap_or("00");
        self.config.folder.join(key.bucket).join(shard).join(format!("{}.reply", key.digest))
    }

    /// The entry, if there is one that can be read.
    pub(super) fn load(&self, key: &Key) -> Option<CacheEntry> {
        let path = self.path(key);
        let bytes = match fs_err::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::warn!(%error, "a stored reply cannot be read");
                }
                return None;
            }
        };
        let entry = parse(&bytes);
        if entry.is_none() {
            tracing::warn!(path = %path.display(), "removed a damaged stored reply");
            self.remove(key);
        }
        entry
    }

    /// Keeps the entry. A full or read-only disk costs the entry and a warning, not the answer.
    pub(super) fn store(&self, key: &Key, entry: &CacheEntry) {
        if let Err(error) = self.try_store(key, entry) {
            tracing::warn!(%error, "a reply could not be stored");
        }
    }

    fn try_store(&self, key: &Key, entry: &CacheEntry) -> io::Result<()> {
        let path = self.path(key);
        let folder = path.parent().unwrap_or(&self.config.folder);
        create_private(folder)?;
        let mut file = tempfile::Builder::new().suffix(".partial").tempfile_in(folder)?;
        serde_json::to_writer(&mut file, &entry.head)?;
        file.write_all(b"\n")?;
        file.write_all(&entry.body)?;
        let size = file.as_file().metadata()?.len();
        file.persist(&path).map_err(|failed| failed.error)?;
        let mut used = self.used.lock();
        let now = match *used {
            Some(known) => known.saturating_add(size),
            None => files(&self.config.folder).iter().map(|file| file.size).sum(),
        };
        *used = Some(if now > self.config.max_bytes { self.prune() } else { now });
        Ok(())
    }

    /// Forgets the entry.
    pub(super) fn remove(&self, key: &Key) {
        if let Err(error) = fs_err::remove_file(self.path(key))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "a stored reply cannot be removed");
        }
    }

    /// Removes the files that were written first until enough is free; the bytes that remain.
    fn prune(&self) -> u64 {
        let mut files = files(&self.config.folder);
        files.sort_by(|a, b| (a.written, &a.path).cmp(&(b.written, &b.path)));
        let mut used: u64 = files.iter().map(|file| file.size).sum();
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a size to be near, not to meet"
        )]
        let aim = (self.config.max_bytes as f64 * KEPT) as u64;
        for file in files {
            if used <= aim {
                break;
            }
            match fs_err::remove_file(&file.path) {
                Ok(()) => used = used.saturating_sub(file.size),
                Err(error) => tracing::warn!(%error, "a stored reply cannot be removed"),
            }
        }
        used
    }
}

struct File {
    path: PathBuf,
    size: u64,
    written: SystemTime,
}

/// All files two folders below `root`. What cannot be looked at is left out: another process may be pruning too.
fn files(root: &Path) -> Vec<File> {
    let entries = |folder: &Path| fs_err::read_dir(folder).into_iter().flatten().flatten();
    let mut files = Vec::new();
    for bucket in entries(root) {
        for shard in entries(&bucket.path()) {
            for entry in entries(&shard.path()) {
                let Ok(metadata) = entry.metadata() else { continue };
                let Ok(written) = metadata.modified() else { continue };
                files.push(File { path: entry.path(), size: metadata.len(), written });
            }
        }
    }
    files
}

fn parse(bytes: &[u8]) -> Option<CacheEntry> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(bytes.get(..end)?).ok()?;
    let body = bytes.get(end + 1..)?;
    let whole = head.format == FORMAT && head.length == body.len() && head.sha256 == digest(body);
    whole.then(|| CacheEntry { head, body: body.to_vec() })
}

fn digest(body: &[u8]) -> String {
    format!("{:x}", Sha256::digest(body))
}

/// Creates what is missing of `folder`, closed to other users: replies tell what a person asked. The files are closed by
/// how temporary files are made.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.recursive(true).create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key { bucket: "test-v1", digest: digest(name.as_bytes()) }
    }

    fn entry(body: &[u8]) -> CacheEntry {
        let head = Head::new(200, "http://h/p".to_owned(), Timestamp::UNIX_EPOCH, body);
        CacheEntry { head, body: body.to_vec() }
    }

    #[test]
    fn damaged_entries_are_absent_and_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(CacheConfig::new(folder.path()));
        let stored = entry(b"line\nline\0\xff");
        cache.store(&key("a"), &stored);
        assert_eq!(cache.load(&key("a")), Some(stored.clone()));
        assert_eq!(cache.load(&key("b")), None);
        let path = cache.path(&key("a"));
        let whole = fs_err::read(&path).expect("stored");
        let mut flipped = whole.clone();
        *flipped.last_mut().expect("not empty") ^= 1;
        let damages = [&whole[..whole.len() - 1], &whole[..10], b"", b"\n", b"{}\n", &flipped];
        for damaged in damages {
            fs_err::write(&path, damaged).expect("writable");
            assert_eq!(cache.load(&key("a")), None, "{}", String::from_utf8_lossy(damaged));
            assert!(!path.exists());
        }
        let left: Vec<_> = files(folder.path()).into_iter().map(|file| file.path).collect();
        assert!(left.is_empty(), "no partial files: {left:?}");
    }

    #[cfg(unix)]
    #[test]
    fn entries_are_for_their_owner() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("cache/http");
        let cache = Cache::new(CacheConfig::new(&inside));
        cache.store(&key("a"), &entry(b"x"));
        let mode =
            |path: &Path| fs_err::metadata(path).expect("there").permissions().mode() & 0o777;
        let path = cache.path(&key("a"));
        assert_eq!(mode(&path), 0o600);
        let folders = path.ancestors().skip(1).take_while(|path| *path != folder.path());
        assert!(folders.map(mode).all(|mode| mode == 0o700));
    }

    #[test]
    fn the_oldest_entries_make_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let config = CacheConfig { max_bytes: 6000, ..CacheConfig::new(folder.path()) };
        let cache = Cache::new(config.clone());
        let names = ["first", "second", "third", "fourth"];
        for (age, name) in (0u32..).zip(names) {
            cache.store(&key(name), &entry(&[b'x'; 1000]));
            // Two entries in one tick of the file system's clock would have no order.
            let written = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(age.into());
            let file = fs_err::OpenOptions::new().append(true).open(cache.path(&key(name)));
            file.expect("stored").file().set_modified(written).expect("settable");
        }
        // Another process counts what is there by itself.
        Cache::new(config).store(&key("fifth"), &entry(&[b'y'; 2000]));
        let left: Vec<_> =
            names.into_iter().filter(|name| cache.load(&key(name)).is_some()).collect();
        assert_eq!(left, ["third", "fourth"]);
        assert!(cache.load(&key("fifth")).is_some());
    }
}
