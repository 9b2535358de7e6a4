//! The one bridge between async callers and the threads that search.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::channel::oneshot;
use scholar_core::{PortError, PortErrorKind};

/// Named threads for index scans, with a bounded queue in front.
#[derive(Debug)]
pub struct SearchPool {
    threads: rayon::ThreadPool,
    queued: Arc<AtomicUsize>,
    capacity: usize,
}

/// Gives the place in the queue back, however the job ends.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl SearchPool {
    /// A pool of `threads` (0 = one per logical CPU) that refuses work when `capacity` jobs wait or run.
    ///
    /// # Errors
    /// `Unavailable` when the system gives no threads.
    pub fn new(threads: usize, capacity: usize) -> Result<Self, PortError> {
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|number| format!("scholar-search-{number}"))
            .build()
            .map_err(|error| {
                PortError::new(PortErrorKind::Unavailable, "cannot start search threads")
                    .with_source(error)
            })?;
        Ok(Self { threads, queued: Arc::new(AtomicUsize::new(0)), capacity })
    }

    /// Runs `job` on the pool. A caller that leaves before the job starts takes it out of the queue.
    ///
    /// # Errors
    /// `RateLimited` when the queue is full, `Unavailable` when the job panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PortError> {
        if self.queued.fetch_add(1, Ordering::AcqRel) >= self.capacity {
            self.queued.fetch_sub(1, Ordering::AcqRel);
            return Err(PortError::new(
                PortErrorKind::RateLimited { retry_after: None },
                format!("{} searches are waiting already", self.capacity),
            )
            .with_hint("try again in a moment"));
        }
        let place = Place(Arc::clone(&self.queued));
        let (sender, receiver) = oneshot::channel();
        let span = tracing::Span::current();
        self.threads.spawn(move || {
            let _place = place;
            if sender.is_canceled() {
                return;
            }
            // A dropped sender is how a panic shows on the other side; rayon would end the process.
            if let Ok(value) = catch_unwind(AssertUnwindSafe(|| span.in_scope(job))) {
                // The caller may have left meanwhile.
                let _ = sender.send(value);
            }
        });
        receiver
            .await
            .map_err(|_| PortError::new(PortErrorKind::Unavailable, "a search thread panicked"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_the_pool_lives_on() {
        let pool = SearchPool::new(1, 4).expect("threads");
        let error = futures::executor::block_on(pool.run(|| panic!("as the test wants")))
            .map(|(): ()| ())
            .expect_err("panicked");
        assert_eq!(error.kind(), PortErrorKind::Unavailable);
        assert_eq!(futures::executor::block_on(pool.run(|| 7)).expect("lives"), 7);
    }

    #[test]
    fn a_full_queue_refuses() {
        let pool = SearchPool::new(1, 0).expect("threads");
        let error = futures::executor::block_on(pool.run(|| 7)).expect_err("full");
        assert!(error.is_retryable());
    }
}
