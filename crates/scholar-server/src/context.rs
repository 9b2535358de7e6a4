//! What the handlers of pages and of the native interface share.

pub(crate) mod asking;
pub(crate) mod caller;
pub(crate) mod ideas;
pub(crate) mod shelf;

use std::sync::Arc;

use crate::annotate::Studies;
use crate::backend::{Backend, BackendError, BackendErrorKind};
use crate::callers::Access;
use crate::error::{ApiError, ErrorCode};
use crate::gate::Hosts;
use crate::gate::guesses::Guesses;
use crate::jobs::store::{JobStore, JobStoreError};
use crate::jobs::{Jobs, SubmitError};
use shelf::Shelving;

/// Seconds after which a full queue is worth trying again.
const RETRY_AFTER_S: u64 = 30;

/// What the handlers share.
pub(crate) struct SiteState {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) store: Arc<JobStore>,
    pub(crate) shelving: Shelving,
    /// Studies that are served beside everything else.
    pub(crate) studies: Option<Studies>,
    pub(crate) access: Access,
    pub(crate) guesses: Guesses,
    pub(crate) hosts: Hosts,
    pub(crate) max_body_bytes: usize,
    pub(crate) behind_tls: bool,
}

impl SiteState {
    /// Does `work` on a thread that may wait for the disk.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let state = Arc::clone(self);
        tokio::task::spawn_blocking(move || work(&state)).await.map_err(|_| {
            ApiError::new(ErrorCode::Internal, "a request's work broke off")
                .with_hint("the server's log says where")
        })
    }
}

impl From<BackendError> for ApiError {
    fn from(error: BackendError) -> Self {
        let BackendError { kind, message, hint } = error;
        let code = match kind {
            BackendErrorKind::NotFound => ErrorCode::NotFound,
            BackendErrorKind::Invalid => ErrorCode::BadRequest,
            BackendErrorKind::Unavailable | BackendErrorKind::Interrupted => ErrorCode::Unavailable,
            BackendErrorKind::Internal => ErrorCode::Internal,
        };
        Self { hint, ..Self::new(code, message) }
    }
}

impl From<JobStoreError> for ApiError {
    fn from(error: JobStoreError) -> Self {
        // Paths of the server's disk are no business of a client.
        tracing::error!(error = &error as &dyn std::error::Error, "the database failed");
        Self::new(ErrorCode::Internal, "the server's database failed")
            .with_hint("the server's log says why")
    }
}

impl From<SubmitError> for ApiError {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Full(_) | SubmitError::TooMany => {
                Self::busy(error.to_string(), RETRY_AFTER_S)
            }
            SubmitError::Backend(error) => error.into(),
            SubmitError::Store(error) => error.into(),
        }
    }
}
