//! Files that people send: taken from the request within limits, put into a folder, and added one request after the other.

mod receive;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::backend::{AddedFile, Backend};
use crate::error::ApiError;

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
const REMEMBERED: usize = 50;
/// Requests whose files wait for their turn.
const MOST_WAITING: usize = 8;
/// Seconds after which a full queue is worth trying again.
const RETRY_AFTER_S: u64 = 30;

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
    /// Whether nothing more will happen.
    pub(crate) is_over: bool,
}

/// All of them.
pub(crate) struct Additions {
    backend: Arc<dyn Backend>,
    all: Mutex<VecDeque<Addition>>,
    /// One at a time: a datastore has one writer.
    turn: Arc<Semaphore>,
}

impl Additions {
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Arc<Self> {
        Arc::new(Self { backend, all: Mutex::default(), turn: Arc::new(Semaphore::new(1)) })
    }

    /// The one of that name.
    pub(crate) fn get(&self, id: &str) -> Option<Addition> {
        self.all.lock().iter().find(|one| one.id == id).cloned()
    }

    /// Whether there is room for another.
    ///
    /// # Errors
    /// Too many wait.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        let waiting = self.all.lock().iter().filter(|one| !one.is_over).count();
        if waiting < MOST_WAITING {
            return Ok(());
        }
        Err(ApiError::busy(format!("files of {waiting} requests are being added"), RETRY_AFTER_S))
    }

    /// Adds files as soon as it is their turn; the name under which to ask how far that is.
    pub(crate) fn start(
        self: &Arc<Self>,
        caller: Arc<str>,
        datastore: String,
        received: Received,
    ) -> String {
        let Received { id, files } = received;
        let names = files.iter().map(|path| name_of(path)).collect();
        let addition = Addition {
            id: id.clone(),
            caller,
            datastore: datastore.clone(),
            files: names,
            done: Vec::new(),
            failed: None,
            is_over: false,
        };
        {
            let mut all = self.all.lock();
            all.push_back(addition);
            while all.len() > REMEMBERED && all.front().is_some_and(|one| one.is_over) {
                all.pop_front();
            }
        }
        let (own, name) = (Arc::clone(self), id.clone());
        tokio::spawn(async move {
            let Ok(_turn) = Arc::clone(&own.turn).acquire_owned().await else { return };
            let work = Arc::clone(&own);
            let of = name.clone();
            let ended =
                tokio::task::spawn_blocking(move || work.add(&of, &datastore, &files)).await;
            let failed = match ended {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(match error.hint {
                    Some(hint) => format!("{}; {hint}", error.message),
                    None => error.message,
                }),
                Err(_) => Some("the work broke off; the server's log says where".to_owned()),
            };
            own.change(&name, |one| (one.failed, one.is_over) = (failed, true));
        });
        id
    }

    fn add(
        &self,
        id: &str,
        datastore: &str,
        files: &[PathBuf],
    ) -> Result<(), crate::backend::BackendError> {
        let done = std::cell::Cell::new(0);
        self.backend.add(datastore, files, &|file| {
            // A file that gave nothing is looked at by nobody.
            if file.papers.is_empty()
                && let Some(path) = files.get(done.get())
            {
                let _gone = fs_err::remove_file(path);
            }
            done.set(done.get() + 1);
            self.change(id, |one| one.done.push(file));
        })
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Addition)) {
        if let Some(one) = self.all.lock().iter_mut().find(|one| one.id == id) {
            change(one);
        }
    }
}

fn name_of(path: &std::path::Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
