//! What pages and the native interface do with papers alike.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::extract::Multipart;
use scholar_core::PaperId;
use tokio::sync::{Semaphore, SemaphorePermit, watch};

use super::SiteState;
use super::caller::Caller;
use crate::additions::{self, Addition, Additions};
use crate::backend::{Backend, BackendError};
use crate::error::{ApiError, ErrorCode};
use crate::jobs::store::{JobStore, JobStoreError};

/// What takes long and is done at the same time: drawing a page, verifying or replaying a run, looking at the state of everything.
/// Each may take a core, and memory.
const MOST_LABORIOUS: usize = 2;
/// Those that may wait for their turn.
const MOST_WAITING: usize = 32;
/// Requests whose files are taken in at the same time: they fill the disk.
const MOST_RECEIVED: usize = 4;
/// Seconds after which it is worth trying again.
const RETRY_AFTER_S: u64 = 5;

/// The paper that an address names.
pub(crate) fn paper_id(text: &str) -> Result<PaperId, ApiError> {
    text.parse().map_err(|_| ApiError::new(ErrorCode::NotFound, "there is no such paper"))
}

/// What is shared for papers.
pub(crate) struct Shelving {
    /// Files that are being added.
    pub(crate) additions: Arc<Additions>,
    turn: Semaphore,
    receiving: Semaphore,
    waiting: AtomicUsize,
}

impl Shelving {
    /// Goes on with files that an earlier process left; none is begun after `stopping` says so.
    pub(crate) fn start(
        backend: Arc<dyn Backend>,
        store: Arc<JobStore>,
        stopping: watch::Receiver<bool>,
    ) -> Result<Self, JobStoreError> {
        let additions = Additions::new(backend, store, stopping);
        additions.take_up()?;
        Ok(Self {
            additions,
            turn: Semaphore::new(MOST_LABORIOUS),
            receiving: Semaphore::new(MOST_RECEIVED),
            waiting: AtomicUsize::new(0),
        })
    }

    /// A turn to send files, for as long as it is held.
    ///
    /// # Errors
    /// Others are sending files.
    pub(crate) fn receive(&self) -> Result<SemaphorePermit<'_>, ApiError> {
        self.receiving
            .try_acquire()
            .map_err(|_| ApiError::busy("others are sending files", RETRY_AFTER_S))
    }
}

/// One that waits, for as long as it does.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl SiteState {
    /// Does work that takes long, when it is its turn: there may be many who want it, each for the price of a request.
    pub(crate) async fn laborious<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, BackendError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let shelving = &self.shelving;
        let waiting = Waiting(&shelving.waiting);
        if shelving.waiting.fetch_add(1, Ordering::AcqRel) >= MOST_WAITING {
            return Err(ApiError::busy(
                "others have asked for much that takes long",
                RETRY_AFTER_S,
            ));
        }
        // The semaphore is never closed.
        let turn = shelving.turn.acquire().await.ok();
        let done = self.blocking(work).await?;
        drop((turn, waiting));
        Ok(done?)
    }

    /// Takes files in and has them added; the name to ask for how far that is.
    pub(crate) async fn take_in(
        self: &Arc<Self>,
        caller: &Caller,
        datastore: String,
        parts: Multipart,
    ) -> Result<String, ApiError> {
        let _receiving = self.shelving.receive()?;
        let name = Arc::clone(&caller.name);
        let begin = move |state: &Self| {
            state.backend.takes_files(&datastore)?;
            state.shelving.additions.begin(name, datastore)
        };
        let receiving = self.blocking(begin).await??;
        let received = additions::receive(parts, receiving.folder(), &receiving.id()).await?;
        let started = self
            .blocking(move |state| state.shelving.additions.start(receiving, &received))
            .await?;
        Ok(started?)
    }

    /// Files that `caller` sent.
    pub(crate) async fn addition(
        self: &Arc<Self>,
        caller: &Caller,
        id: &str,
    ) -> Result<Addition, ApiError> {
        let id = id.to_owned();
        let found = self.blocking(move |state| state.shelving.additions.get(&id)).await??;
        let own = |one: &Addition| caller.sees_all || *one.caller == *caller.name;
        found.filter(own).ok_or_else(|| {
            ApiError::new(ErrorCode::NotFound, "nothing is known of these files")
                .with_hint("the library shows what is stored")
        })
    }
}
