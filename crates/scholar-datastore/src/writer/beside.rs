//! One piece of work on a thread of its own, beside what the writer does.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Between two looks at whether a person wants to wait no longer.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// Work that runs or has ended and was not asked for its outcome yet.
pub(super) struct Beside<T> {
    stop: Arc<AtomicBool>,
    /// Closed when it has ended.
    ended: Receiver<()>,
    thread: JoinHandle<T>,
}

impl<T: Send + 'static> Beside<T> {
    /// Starts `job` on a thread called `name`. It ends early once `stop` is set.
    pub(super) fn begin(
        name: &str,
        stop: Arc<AtomicBool>,
        job: impl FnOnce(&AtomicBool) -> T + Send + 'static,
    ) -> io::Result<Self> {
        let (end, ended) = channel();
        stop.store(false, Ordering::Release);
        let told = Arc::clone(&stop);
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            let _closed_at_the_end = end;
            job(&told)
        })?;
        Ok(Self { stop, ended, thread })
    }

    /// Waits for its end, but not for long; whether it has ended.
    pub(super) fn has_ended(&self, most: Duration) -> bool {
        self.ended.recv_timeout(most) != Err(RecvTimeoutError::Timeout)
    }

    /// Waits for its end and takes what came of it; `Err` is a panic.
    pub(super) fn outcome(self) -> thread::Result<T> {
        self.thread.join()
    }

    /// Tells it to end, and waits until it has.
    pub(super) fn stop(self) -> thread::Result<T> {
        self.stop.store(true, Ordering::Release);
        self.thread.join()
    }
}
