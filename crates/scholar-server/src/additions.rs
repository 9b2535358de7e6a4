//! Files that people send: taken from the request within limits, put into a folder, and added one request after the other.
//!
//! Every request is in the database from its first byte to its last file, so that a server that starts again goes on with what
//! was under way: files that arrived are added, from the first of which nothing was told yet, and of those that were still being
//! sent it is said that they did not arrive.

mod receive;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};

use crate::backend::{AddedFile, Backend, BackendError, BackendErrorKind};
use crate::error::ApiError;
use crate::jobs::store::{JobStore, JobStoreError};

pub(crate) use receive::{Received, receive};

/// Most bytes of one request: those of the largest document that is read.
pub(crate) const MOST_BYTES: u64 = 200_000_000;
/// Bytes around the files: names and boundaries.
const AROUND: u64 = 1 << 20;
/// How long sending may take.
const PATIENCE: Duration = Duration::from_secs(900);
/// Routes that take files.
const ROUTES: [&str; 2] = ["/library/add", "/v1/papers/{datastore}"];
/// Most bytes of a form with an idea: a plan is a few pages, and a PDF of them may have pictures.
pub(crate) const MOST_IDEA_BYTES: usize = 20_000_000;
/// Routes that take an idea, which may be a file.
const IDEA_ROUTES: [&str; 2] = ["/review", "/review/estimate"];

/// What a route's requests may be: bytes of the body and time, of a server that otherwise takes `usual`.
pub(crate) fn bounds_of(route: &str, usual: (usize, Duration)) -> (usize, Duration) {
    if ROUTES.contains(&route) {
        (usize::try_from(MOST_BYTES + AROUND).unwrap_or(usize::MAX), PATIENCE)
    } else if IDEA_ROUTES.contains(&route) {
        (MOST_IDEA_BYTES + (1 << 20), PATIENCE)
    } else {
        usual
    }
}

/// Most files of one request.
pub(crate) const MOST_FILES: usize = 200;
/// Requests that are remembered after they are done.
const REMEMBERED: usize = 500;
/// Requests whose files wait for their turn.
const MOST_WAITING: usize = 8;
/// Seconds after which a full queue is worth trying again.
const RETRY_AFTER_S: u64 = 30;
/// What is said of files that were being sent when the server ended.
const NOT_ARRIVED: &str =
    "the server ended before these files had arrived; nothing of them was added: send them again";

/// How far files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// They are being sent.
    Receiving,
    /// They wait, or are read.
    Waiting,
    /// Nothing more will happen.
    Over,
}

impl Stage {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Receiving, Self::Waiting, Self::Over];

    /// As the database has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Receiving => "receiving",
            Self::Waiting => "waiting",
            Self::Over => "over",
        }
    }
}

/// The files of one request, and how far they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Addition {
    /// Its name, which nobody can guess.
    pub(crate) id: String,
    /// Who sent them.
    pub(crate) caller: Arc<str>,
    /// Where they go.
    pub(crate) datastore: String,
    /// Names of the files, in order.
    pub(crate) files: Vec<String>,
    /// What became of the first of them.
    pub(crate) done: Vec<AddedFile>,
    /// Why no more will come of them.
    pub(crate) failed: Option<String>,
    pub(crate) stage: Stage,
    /// Seconds since 1970, UTC.
    pub(crate) submitted: i64,
}

impl Addition {
    /// Whether nothing more will happen.
    pub(crate) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }
}

/// All of them.
pub(crate) struct Additions {
    backend: Arc<dyn Backend>,
    store: Arc<JobStore>,
    /// Hears when the server ends: no file is begun after that.
    stopping: watch::Receiver<bool>,
    /// One at a time: a datastore has one writer.
    turn: Arc<Semaphore>,
}

/// Files that are being sent. Dropped before they have arrived, nothing of them stays.
pub(crate) struct Receiving {
    store: Arc<JobStore>,
    folder: PathBuf,
    id: Option<String>,
}

impl Receiving {
    /// The folder in which that of this request is made.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The request's name.
    pub(crate) fn id(&self) -> String {
        self.id.clone().unwrap_or_default()
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let (store, folder) = (Arc::clone(&self.store), self.folder.join(&id));
        // The disk is waited for on a thread that may wait.
        let forget = move || {
            let _gone = fs_err::remove_dir_all(folder);
            if let Err(error) = store.forget_files(&id) {
                tracing::warn!(error = &error as &dyn std::error::Error, "files are not forgotten");
            }
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(forget)),
            Err(_) => forget(),
        }
    }
}

impl Additions {
    pub(crate) fn new(
        backend: Arc<dyn Backend>,
        store: Arc<JobStore>,
        stopping: watch::Receiver<bool>,
    ) -> Arc<Self> {
        Arc::new(Self { backend, store, stopping, turn: Arc::new(Semaphore::new(1)) })
    }

    /// Goes on with what an earlier process left.
    pub(crate) fn take_up(self: &Arc<Self>) -> Result<(), JobStoreError> {
        for addition in self.store.unfinished_additions()? {
            match self.backend.incoming() {
                Ok(folder) if addition.stage == Stage::Receiving => {
                    let _gone = fs_err::remove_dir_all(folder.join(&addition.id));
                    self.store.files_over(&addition.id, Some(NOT_ARRIVED))?;
                }
                Ok(_) => self.spawn(addition.id),
                Err(error) => self.store.files_over(&addition.id, Some(&told(error)))?,
            }
        }
        Ok(())
    }

    /// The one of that name.
    pub(crate) fn get(&self, id: &str) -> Result<Option<Addition>, JobStoreError> {
        self.store.addition(id)
    }

    /// The newest of `caller`, or of all, the newest first.
    pub(crate) fn recent(
        &self,
        caller: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Addition>, JobStoreError> {
        self.store.additions(caller, limit)
    }

    /// Makes room for files that are to be sent to `datastore`.
    ///
    /// # Errors
    /// Too many wait.
    pub(crate) fn begin(&self, caller: Arc<str>, datastore: String) -> Result<Receiving, ApiError> {
        let unfinished = self.store.unfinished_additions()?;
        let waiting = unfinished.iter().filter(|one| one.stage == Stage::Waiting).count();
        if waiting >= MOST_WAITING {
            let message = format!("files of {waiting} requests are being added");
            return Err(ApiError::busy(message, RETRY_AFTER_S));
        }
        let (folder, id) = (self.backend.incoming()?, self.backend.secret()?);
        let addition = Addition {
            id: id.clone(),
            caller,
            datastore,
            files: Vec::new(),
            done: Vec::new(),
            failed: None,
            stage: Stage::Receiving,
            submitted: self.backend.now().as_second(),
        };
        self.store.receive_files(&addition, REMEMBERED)?;
        Ok(Receiving { store: Arc::clone(&self.store), folder, id: Some(id) })
    }

    /// Adds files as soon as it is their turn; the name under which to ask how far that is.
    pub(crate) fn start(
        self: &Arc<Self>,
        mut receiving: Receiving,
        received: &Received,
    ) -> Result<String, JobStoreError> {
        let id = receiving.id();
        let names: Vec<String> = received.files.iter().map(|path| name_of(path)).collect();
        self.store.received_files(&id, &names)?;
        receiving.id = None;
        self.spawn(id.clone());
        Ok(id)
    }

    fn spawn(self: &Arc<Self>, id: String) {
        let own = Arc::clone(self);
        tokio::spawn(async move {
            let Ok(_turn) = Arc::clone(&own.turn).acquire_owned().await else { return };
            let work = Arc::clone(&own);
            let name = id.clone();
            let failed = match tokio::task::spawn_blocking(move || work.add(&name)).await {
                Ok(Ok(Ended::All)) => None,
                // The next process goes on.
                Ok(Ok(Ended::Stopped)) => return,
                Ok(Err(error)) => Some(told(error)),
                Err(_) => Some("the work broke off; the server's log says where".to_owned()),
            };
            let over = move || own.store.files_over(&id, failed.as_deref());
            if let Ok(Err(error)) = tokio::task::spawn_blocking(over).await {
                tracing::error!(error = &error as &dyn std::error::Error, "an end was not kept");
            }
        });
    }

    /// Adds the files of which nothing was told yet.
    fn add(&self, id: &str) -> Result<Ended, BackendError> {
        let Some(Addition { datastore, files, done, .. }) = self.get(id).map_err(unkept)? else {
            return Ok(Ended::All);
        };
        let folder = self.backend.incoming()?.join(id);
        for (place, name) in files.iter().enumerate().skip(done.len()) {
            if *self.stopping.borrow() {
                return Ok(Ended::Stopped);
            }
            let path = folder.join(name);
            let kept = std::cell::Cell::new(Ok(()));
            let added = self.backend.add(&datastore, std::slice::from_ref(&path), &|file| {
                // A file that gave nothing is looked at by nobody.
                if file.papers.is_empty() && !file.is_unchanged {
                    let _gone = fs_err::remove_file(&path);
                }
                kept.set(self.store.file_added(id, place, &file));
            });
            match added {
                Err(error) if error.kind == BackendErrorKind::Interrupted => {
                    return Ok(Ended::Stopped);
                }
                added => added?,
            }
            kept.into_inner().map_err(unkept)?;
        }
        Ok(Ended::All)
    }
}

/// How the adding of files ended.
enum Ended {
    All,
    /// The server ends; what is left is added by the next.
    Stopped,
}

/// A failure of the database, for whoever sent the files.
fn unkept(error: JobStoreError) -> BackendError {
    tracing::error!(error = &error as &dyn std::error::Error, "the database failed");
    BackendError::new(BackendErrorKind::Internal, "the server's database failed")
        .with_hint("the server's log says why")
}

fn told(error: BackendError) -> String {
    match error.hint {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message,
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
