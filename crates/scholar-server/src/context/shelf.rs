//! What pages and the native interface do with papers alike.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::extract::Multipart;
use scholar_core::PaperId;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::SiteState;
use super::caller::Caller;
use crate::additions::{self, Additions};
use crate::backend::{Backend, BackendError};
use crate::error::{ApiError, ErrorCode};

/// Pages of PDFs that are drawn at the same time: each may take a core, and memory for its images.
const MOST_DRAWN: usize = 2;
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
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Self {
        Self {
            additions: Additions::new(backend),
            turn: Semaphore::new(MOST_DRAWN),
            receiving: Semaphore::new(MOST_RECEIVED),
            waiting: AtomicUsize::new(0),
        }
    }
}

impl Shelving {
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
    /// Does work on the pages of a PDF, when it is its turn.
    pub(crate) async fn drawing<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, BackendError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let shelving = &self.shelving;
        let waiting = Waiting(&shelving.waiting);
        if shelving.waiting.fetch_add(1, Ordering::AcqRel) >= MOST_WAITING {
            return Err(ApiError::busy("too many pages are being drawn", RETRY_AFTER_S));
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
        let additions = &self.shelving.additions;
        additions.check()?;
        let _receiving = self.shelving.receive()?;
        let (folder, id) = self
            .blocking(|state| {
                Ok::<_, BackendError>((state.backend.incoming()?, state.backend.secret()?))
            })
            .await??;
        let received = additions::receive(parts, &folder, id).await?;
        Ok(additions.start(Arc::clone(&caller.name), datastore, received))
    }
}
