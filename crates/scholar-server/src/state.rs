//! What the handlers of a search server share.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use scholar_core::{PortError, Query, Question};
use tokio::time::Instant;

use crate::backend::{Backend, SearchedDatastores};
use crate::body::Bodies;
use crate::budget::Budget;
use crate::config::ServerConfig;
use crate::connection::Traffic;
use crate::error::{ApiError, ErrorCode};
use crate::gate::guesses::Guesses;
use crate::metrics::Metrics;
use crate::queue::{FinishedSearch, PendingSearch, Queue};

/// How much is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionSize {
    /// Papers of the newest commit.
    pub papers: u64,
    /// Passages of the newest commit.
    pub passages: u64,
}

/// Looks whether the collection can be read, cheaply.
pub type Probe = Arc<dyn Fn() -> Result<CollectionSize, PortError> + Send + Sync>;

/// Sees every query that is accepted. Nobody does unless the server's owner asks for it.
pub type OnQuery = Arc<dyn Fn(&Query) + Send + Sync>;

/// What the handlers share.
pub(crate) struct Shared {
    pub(crate) config: ServerConfig,
    pub(crate) queue: Arc<Queue>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) probe: Probe,
    pub(crate) budget: Budget,
    pub(crate) bodies: Bodies,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) stopping: AtomicBool,
    pub(crate) on_query: Option<OnQuery>,
    /// What is measured beside searches: name, meaning, value.
    pub(crate) gauges: OnceLock<Gauges>,
    /// The datastores that a search may name, where there are several.
    pub(crate) shelf: OnceLock<Arc<dyn Backend>>,
    pub(crate) guesses: Guesses,
}

/// What is measured now: name, meaning, value of each.
pub(crate) type Gauges = Box<dyn Fn() -> Vec<(&'static str, &'static str, u64)> + Send + Sync>;

impl Shared {
    /// The text as a query, checked as questions are.
    pub(crate) fn query(&self, text: &str) -> Result<Query, ApiError> {
        let query = Question::new(text)
            .map(|question| Query::from(&question))
            .map_err(|error| ApiError::bad_request(error.to_string()))?;
        if let Some(on_query) = &self.on_query {
            on_query(&query);
        }
        Ok(query)
    }

    /// What searches the datastores called `names`, or all that are served where none is named.
    pub(crate) async fn searched(
        &self,
        names: Vec<String>,
    ) -> Result<SearchedDatastores, ApiError> {
        let own = &self.config.name;
        let Some(shelf) = self.shelf.get().cloned() else {
            if let Some(other) = names.iter().find(|name| *name != own) {
                return Err(ApiError::bad_request(format!("there is no datastore {other:?} here"))
                    .with_hint(format!("there is: {own}")));
            }
            let retriever = Arc::clone(self.queue.retriever());
            return Ok(SearchedDatastores {
                names: vec![own.clone()],
                left_out: Vec::new(),
                retriever,
            });
        };
        // The first search of a datastore opens it.
        let opened = tokio::task::spawn_blocking(move || shelf.searched(&names)).await;
        opened
            .map_err(|_| ApiError::new(ErrorCode::Internal, "the search broke off"))?
            .map_err(ApiError::from)
    }

    /// A number of passages within the server's limit.
    pub(crate) fn top_k(&self, field: &str, asked: usize) -> Result<usize, ApiError> {
        let most = self.config.max_top_k;
        if (1..=most).contains(&asked) {
            Ok(asked)
        } else {
            Err(ApiError::bad_request(format!("{field} is {asked}, which is not 1 to {most}")))
        }
    }

    /// When a reply that begins now must have been taken.
    pub(crate) fn reply_deadline(&self) -> Instant {
        Instant::now() + self.config.reply_timeout
    }

    /// Waits in the queue for the outcome of each of `requests`.
    pub(crate) async fn search(
        &self,
        requests: Vec<PendingSearch>,
    ) -> Result<Vec<FinishedSearch>, ApiError> {
        let receivers = self.queue.submit(requests).map_err(|full| {
            ApiError::busy(
                format!("{} queries are waiting already", full.waiting),
                full.retry_after_s,
            )
        })?;
        let mut outcomes = Vec::with_capacity(receivers.len());
        for receiver in receivers {
            outcomes.push(
                receiver
                    .await
                    .map_err(|_| ApiError::new(ErrorCode::Internal, "the search broke off"))?,
            );
        }
        Ok(outcomes)
    }
}
