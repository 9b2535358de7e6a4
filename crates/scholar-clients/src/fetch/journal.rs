//! What was asked, when, and how it went: for `doctor` and for tests.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Serialize;

use super::provider::Provider;

/// Attempts that are kept.
const CAPACITY: usize = 10_000;

/// How one attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// This status came back.
    Status(u16),
    /// No whole reply: the reason, without address and secrets.
    Failed(String),
    /// Answered from the cache, without asking anybody; the entry's age.
    Cached(Duration),
    /// Not sent: the reason.
    NotSent(String),
}

/// One attempt to get an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// The service that was asked.
    pub provider: Provider,
    /// Host of the address that was asked.
    pub host: String,
    /// `GET` or `POST`.
    pub method: &'static str,
    /// Path and query without secrets.
    pub path: String,
    /// When it was sent, since the fetcher was made.
    pub at: Duration,
    /// How long it waited for its turn.
    pub waited: Duration,
    /// The reply's status, or why there was none.
    pub outcome: AttemptOutcome,
}

/// The latest attempts.
#[derive(Default)]
pub(super) struct Journal(Mutex<VecDeque<Attempt>>);

impl Journal {
    pub(super) fn add(&self, attempt: Attempt) {
        tracing::debug!(
            provider = attempt.provider.name(),
            path = attempt.path,
            waited = ?attempt.waited,
            outcome = ?attempt.outcome,
            "asked"
        );
        let mut attempts = self.0.lock();
        if attempts.len() == CAPACITY {
            attempts.pop_front();
        }
        attempts.push_back(attempt);
    }

    pub(super) fn all(&self) -> Vec<Attempt> {
        self.0.lock().iter().cloned().collect()
    }
}
