//! Is a model in its place, and are its files what they should be?

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::at;
use super::plan::{Plan, PlannedFile};
use super::{DownloadError, Event, OnEvent, digest};

/// Name of the record in a model's folder.
pub(super) const RECORD: &str = "openscholar-model.json";

/// What was put in place, and from where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) source: String,
    pub(super) files: Vec<RecordedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordedFile {
    pub(super) path: String,
    pub(super) size: u64,
    pub(super) sha256: String,
    /// When the file was changed last, in nanoseconds since 1970, at the time its digest was found right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) changed: Option<u64>,
}

/// Whether a model is in its place, by names and sizes only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Installed {
    /// The folder, or a file of the model, does not exist.
    Missing,
    /// Every required file is there with the size it should have.
    Complete {
        /// Folder that holds the model's files.
        dir: PathBuf,
        /// Where it came from.
        source: String,
    },
    /// Something is there that cannot be used.
    Damaged {
        /// What is wrong with each file.
        problems: Vec<String>,
    },
}

/// State of one file after its digest was computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// Its digest is the published checksum.
    Verified,
    /// Nobody published a checksum; it is what was downloaded.
    Unverified,
    /// Nobody published a checksum, and it was put there by hand.
    Unknown,
    /// Another digest than published or downloaded.
    Differs {
        /// Published or recorded SHA-256, hexadecimal.
        expected: String,
        /// SHA-256 of the file, hexadecimal.
        found: String,
    },
    /// The folder, or a file of the model, does not exist.
    Missing,
}

/// Looks whether the model of `plan` is under `models_dir`. Cheap: no file is read but the record. Without a record (files
/// copied by hand) names and published sizes decide.
pub fn installed(models_dir: &Path, plan: &Plan) -> Installed {
    let dir = models_dir.join(&plan.name);
    if !dir.is_dir() {
        return Installed::Missing;
    }
    let record = record(&dir);
    let problems: Vec<String> =
        plan.files.iter().filter_map(|file| size_problem(&dir, file, record.as_ref())).collect();
    if problems.is_empty() {
        let source = record.map_or_else(|| "put there by hand".to_owned(), |record| record.source);
        Installed::Complete { dir, source }
    } else {
        Installed::Damaged { problems }
    }
}

fn record(dir: &Path) -> Option<Record> {
    let text = fs_err::read_to_string(dir.join(RECORD)).ok()?;
    serde_json::from_str(&text).ok()
}

impl Record {
    fn file(&self, path: &str) -> Option<&RecordedFile> {
        self.files.iter().find(|file| file.path == path)
    }

    fn put(&mut self, file: RecordedFile) {
        match self.files.iter_mut().find(|known| known.path == file.path) {
            Some(known) => *known = file,
            None => self.files.push(file),
        }
    }
}

impl RecordedFile {
    /// Whether this digest was found for a file of this size and time of change.
    fn stands(&self, sha256: &str, size: u64, changed: Option<u64>) -> bool {
        self.sha256 == sha256 && self.size == size && self.changed == changed
    }
}

fn size_problem(dir: &Path, file: &PlannedFile, record: Option<&Record>) -> Option<String> {
    let path = &file.path;
    let recorded = record.and_then(|record| record.file(path)).map(|file| file.size);
    let Ok(meta) = fs_err::metadata(dir.join(path)) else {
        let wanted = !file.optional || recorded.is_some();
        return wanted.then(|| format!("{path} is missing"));
    };
    let expected = file.size.or(recorded).filter(|expected| *expected != meta.len())?;
    Some(format!("{path} has {} bytes instead of {expected}", meta.len()))
}

/// As [`installed`], and no file has another digest than was published or downloaded.
///
/// A file is read when it has changed since its digest was last found right; of the others names, sizes and times of change
/// decide, so that a model of gigabytes opens at once. What changes without a trace, such as a bit on the disk, is left to
/// [`verify`].
///
/// # Errors
/// [`DownloadError::Local`] when a file cannot be read.
pub async fn checked(models_dir: &Path, plan: &Plan) -> Result<Installed, DownloadError> {
    let found = installed(models_dir, plan);
    let Installed::Complete { dir, source } = &found else { return Ok(found) };
    let before = record(dir);
    let mut after = before.clone().unwrap_or_else(|| Record {
        name: plan.name.clone(),
        source: source.clone(),
        files: Vec::new(),
    });
    let mut problems = Vec::new();
    for file in &plan.files {
        let path = dir.join(&file.path);
        let Ok(meta) = fs_err::metadata(&path) else { continue };
        let recorded = after.file(&file.path);
        let expected = file.sha256.as_ref().or(recorded.map(|recorded| &recorded.sha256));
        let Some(expected) = expected.cloned() else { continue };
        let changed = last_change(&meta);
        if changed.is_some() && recorded.is_some_and(|r| r.stands(&expected, meta.len(), changed)) {
            continue;
        }
        let (sha256, size) = digest::of_file(&path).await.map_err(at(&path))?;
        if sha256 == expected {
            after.put(RecordedFile { path: file.path.clone(), size, sha256, changed });
        } else {
            let path = &file.path;
            problems.push(format!("the checksum of {path} is {sha256} instead of {expected}"));
        }
    }
    if !problems.is_empty() {
        return Ok(Installed::Damaged { problems });
    }
    if !after.files.is_empty() && before.as_ref() != Some(&after) {
        // Where it cannot be kept, the files are read again next time.
        if let Err(error) = keep(dir, &after) {
            tracing::debug!(%error, "what was checked could not be noted");
        }
    }
    Ok(found)
}

/// When a file was changed last, in nanoseconds since 1970; `None` where the system does not tell.
pub(super) fn last_change(meta: &std::fs::Metadata) -> Option<u64> {
    let since = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

/// Replaces the record in one step.
fn keep(dir: &Path, record: &Record) -> std::io::Result<()> {
    let new = dir.join(format!(".{RECORD}.{}", std::process::id()));
    fs_err::write(&new, serde_json::to_vec_pretty(record)?)?;
    fs_err::rename(&new, dir.join(RECORD))
}

/// Computes every digest of an installed model anew.
///
/// # Errors
/// [`DownloadError::Local`] when a file cannot be read.
pub async fn verify(
    models_dir: &Path,
    plan: &Plan,
    on_event: &OnEvent<'_>,
) -> Result<Vec<(String, FileState)>, DownloadError> {
    let dir = models_dir.join(&plan.name);
    let record = record(&dir);
    let mut states = Vec::new();
    for file in &plan.files {
        let path = dir.join(&file.path);
        let recorded = record.as_ref().and_then(|record| record.file(&file.path));
        if !path.is_file() {
            if !file.optional || recorded.is_some() {
                states.push((file.path.clone(), FileState::Missing));
            }
            continue;
        }
        on_event(&Event::Checking { file: &file.path });
        let (found, _) = digest::of_file(&path).await.map_err(at(&path))?;
        let recorded = recorded.map(|recorded| &recorded.sha256);
        let state = match (&file.sha256, recorded) {
            (Some(expected), _) | (None, Some(expected)) if *expected != found => {
                FileState::Differs { expected: expected.clone(), found }
            }
            (Some(_), _) => FileState::Verified,
            (None, Some(_)) => FileState::Unverified,
            (None, None) => FileState::Unknown,
        };
        states.push((file.path.clone(), state));
    }
    Ok(states)
}
