//! Ctrl-C: the first one ends the work at the next safe point, the second one at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Whether the person asked to stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    requested: AtomicBool,
    notify: Notify,
}

impl Stop {
    /// Whether work should end at the next safe point.
    pub(crate) fn requested(&self) -> bool {
        self.0.requested.load(Ordering::Acquire)
    }

    /// Asks for the end.
    pub(crate) fn request(&self) {
        self.0.requested.store(true, Ordering::Release);
        // `notify_one` keeps a permit for a waiter that comes later.
        self.0.notify.notify_one();
    }

    /// Ready when the end was asked for.
    pub(crate) async fn wait(&self) {
        if !self.requested() {
            self.0.notify.notified().await;
        }
    }
}
