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
}

/// Whether a model is in its place, by names and sizes only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Installed {
    /// Not there.
    Missing,
    /// Every required file is there with the size it should have.
    Complete {
        /// Its folder.
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
    /// The published checksum.
    Verified,
    /// Nobody published a checksum; it is what was downloaded.
    Unverified,
    /// Nobody published a checksum, and it was put there by hand.
    Unknown,
    /// Another digest than published or downloaded.
    Differs {
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// Not there.
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
