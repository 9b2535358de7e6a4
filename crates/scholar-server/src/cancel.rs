//! Asking work to stop.

use tokio::sync::watch;

/// Why work is to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelReason {
    /// Whoever asked wants no answer any more.
    Asked,
    /// The server ends; the next one goes on with it.
    Stopping,
}

/// Tells work whether to stop. Clones hear the same.
#[derive(Debug, Clone)]
pub struct Cancel(watch::Receiver<Option<CancelReason>>);

/// The other end of a [`Cancel`].
#[derive(Debug)]
pub struct Canceller(watch::Sender<Option<CancelReason>>);

/// Both ends.
pub fn cancellation() -> (Canceller, Cancel) {
    let (sender, receiver) = watch::channel(None);
    (Canceller(sender), Cancel(receiver))
}

impl Canceller {
    /// Asks to stop; the first reason counts.
    pub fn cancel(&self, reason: CancelReason) {
        self.0.send_if_modified(|now| {
            let is_first = now.is_none();
            if is_first {
                *now = Some(reason);
            }
            is_first
        });
    }

    /// The reason that was given.
    pub fn reason(&self) -> Option<CancelReason> {
        *self.0.borrow()
    }
}

impl Cancel {
    /// Ready when the work is to stop.
    pub async fn wait(&self) -> CancelReason {
        let mut receiver = self.0.clone();
        let reason = match receiver.wait_for(Option::is_some).await {
            Ok(reason) => *reason,
            // Nobody is left who could ask.
            Err(_) => None,
        };
        match reason {
            Some(reason) => reason,
            None => std::future::pending().await,
        }
    }

    /// The reason that was given.
    pub fn reason(&self) -> Option<CancelReason> {
        *self.0.borrow()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn the_first_reason_counts_and_everybody_hears_it() {
        let (canceller, cancel) = cancellation();
        let other = cancel.clone();
        assert!(cancel.wait().now_or_never().is_none());
        canceller.cancel(CancelReason::Asked);
        canceller.cancel(CancelReason::Stopping);
        for heard in [&cancel, &other] {
            assert_eq!(heard.wait().now_or_never(), Some(CancelReason::Asked));
        }
        let (canceller, cancel) = cancellation();
        drop(canceller);
        assert!(cancel.wait().now_or_never().is_none(), "nobody asked");
    }
}
