//! The doors between callers and the threads that compute.
//!
//! [`Batcher`] is the async door: one named thread per loaded model, a queue bounded in tokens, replies through one-shot
//! channels. Inside, a job may spread over several threads for its own duration with [`in_parallel`]. No other place of
//! this crate starts threads for encoders and rerankers.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use futures::channel::oneshot;
use scholar_core::{PortError, PortErrorKind};

use crate::error::ModelError;

/// Tokens that may wait for a model before callers are turned away: about half a minute of work on two cores.
pub const QUEUE_TOKENS: usize = 400_000;

type Job = Box<dyn FnOnce() + Send>;

/// One named thread that runs the jobs of one model in order of arrival.
///
/// Dropping it ends the thread after the jobs that still wait.
pub struct Batcher {
    model: String,
    jobs: mpsc::Sender<Job>,
    waiting: Arc<AtomicUsize>,
    capacity: usize,
}

impl Batcher {
    /// Starts the thread `thread` (for example `scholar-reranker-0`) for `model`. At most `capacity` tokens wait.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(thread: &str, model: &str, capacity: usize) -> Result<Self, ModelError> {
        let (jobs, queue) = mpsc::channel::<Job>();
        std::thread::Builder::new()
            .name(thread.to_owned())
            .spawn(move || {
                for job in queue {
                    // A panic ends the job, whose dropped reply tells the caller, not the thread.
                    if catch_unwind(AssertUnwindSafe(job)).is_err() {
                        tracing::error!("a model panicked; the next job goes on");
                    }
                }
            })
            .map_err(|source| ModelError::Thread { model: model.to_owned(), source })?;
        Ok(Self { model: model.to_owned(), jobs, waiting: Arc::default(), capacity })
    }

    /// Runs `job`, which costs about `tokens`, on the model's thread and waits for its result. A caller that stops waiting
    /// before the job starts cancels it.
    ///
    /// # Errors
    /// `RateLimited` when the queue is full, `Unavailable` when the job panicked. A job that alone exceeds the
    /// capacity is taken when nothing else waits.
    pub async fn run<T: Send + 'static>(
        &self,
        tokens: usize,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PortError> {
        let reserved = Reserved::new(&self.waiting, tokens, self.capacity).ok_or_else(|| {
            PortError::new(
                PortErrorKind::RateLimited { retry_after: None },
                format!("{} has {} tokens of work waiting", self.model, self.capacity),
            )
            .with_hint("ask again in a while, or with fewer passages")
        })?;
        let (reply, result) = oneshot::channel();
        let span = tracing::Span::current();
        let job: Job = Box::new(move || {
            if !reply.is_canceled() {
                let value = span.in_scope(job);
                // The room is free before the caller can know that the job is done.
                drop(reserved);
                // The caller may have gone meanwhile; then nobody wants the value.
                drop(reply.send(value));
            }
        });
        let gone = || {
            PortError::new(
                PortErrorKind::Unavailable,
                format!("{} stopped in the middle of its work", self.model),
            )
        };
        self.jobs.send(job).map_err(|_| gone())?;
        result.await.map_err(|_| gone())
    }
}

/// Tokens taken from the queue's room, given back on drop.
struct Reserved {
    waiting: Arc<AtomicUsize>,
    tokens: usize,
}

impl Reserved {
    fn new(waiting: &Arc<AtomicUsize>, tokens: usize, capacity: usize) -> Option<Self> {
        let update = |waiting: usize| {
            let after = waiting.saturating_add(tokens);
            (waiting == 0 || after <= capacity).then_some(after)
        };
        waiting
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, update)
            .ok()
            .map(|_| Self { waiting: Arc::clone(waiting), tokens })
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.tokens, Ordering::AcqRel);
    }
}

/// Runs `worker` on `threads` threads, this one among them, and returns what each returned, this thread's first.
///
/// # Panics
/// When a worker panics, its panic goes on here; [`Batcher`] turns it into an error at the crate's async door.
pub(crate) fn in_parallel<T: Send>(threads: usize, worker: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.max(1)).map(|_| scope.spawn(&worker)).collect();
        let mut results = vec![worker()];
        for other in others {
            match other.join() {
                Ok(result) => results.push(result),
                Err(panic) => resume_unwind(panic),
            }
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use futures::future::join;

    use super::*;

    #[test]
    fn jobs_run_in_order_on_the_named_thread() {
        let batcher = Batcher::start("scholar-test-0", "toy", 100).expect("a thread");
        let name = || std::thread::current().name().map(str::to_owned);
        assert_eq!(
            block_on(batcher.run(1, name)).expect("a name").as_deref(),
            Some("scholar-test-0")
        );
        let order = Arc::new(parking_lot::Mutex::new(Vec::new()));
        let push = |number: i32| {
            let order = Arc::clone(&order);
            move || order.lock().push(number)
        };
        let (first, second) = block_on(join(batcher.run(1, push(1)), batcher.run(1, push(2))));
        assert!(first.is_ok() && second.is_ok());
        assert_eq!(*order.lock(), [1, 2]);
    }

    #[test]
    fn a_panic_is_an_error_for_its_caller_only() {
        let batcher = Batcher::start("scholar-test-1", "toy", 100).expect("a thread");
        let error = block_on(batcher.run(1, || panic!("on purpose"))).expect_err("a panic");
        assert_eq!(error.kind(), PortErrorKind::Unavailable);
        assert_eq!(block_on(batcher.run(1, || 7)).expect("the next job runs"), 7);
    }

    #[test]
    fn a_full_queue_turns_callers_away_and_frees_its_room() {
        let batcher = Batcher::start("scholar-test-2", "toy", 10).expect("a thread");
        let (open, gate) = mpsc::channel::<()>();
        let long = batcher.run(9, move || gate.recv().is_ok());
        let rest = async {
            let full = batcher.run(2, || ()).await.expect_err("9 + 2 exceed 10");
            assert_eq!(full.kind(), PortErrorKind::RateLimited { retry_after: None });
            open.send(()).expect("the long job waits");
        };
        let (long, ()) = block_on(join(long, rest));
        assert!(long.expect("the long job ends"));
        block_on(batcher.run(50, || ())).expect("an oversized job runs alone");
    }

    #[test]
    fn a_caller_that_left_cancels_its_job() {
        let batcher = Batcher::start("scholar-test-3", "toy", 100).expect("a thread");
        let (open, gate) = mpsc::channel::<()>();
        let ran = Arc::new(AtomicUsize::new(0));
        let count = || {
            let ran = Arc::clone(&ran);
            move || ran.fetch_add(1, Ordering::SeqCst)
        };
        block_on(async {
            let first = batcher.run(1, move || gate.recv().is_ok());
            let left = batcher.run(1, count());
            futures::pin_mut!(first);
            {
                futures::pin_mut!(left);
                // Both are sent; the second is dropped while the first holds the thread.
                assert!(futures::poll!(&mut first).is_pending());
                assert!(futures::poll!(&mut left).is_pending());
            }
            open.send(()).expect("the first job waits");
            assert!(first.await.expect("the first job ends"));
            assert!(batcher.run(1, count()).await.is_ok());
        });
        // `left` was moved into the pinned block and dropped at its end.
        assert_eq!(ran.load(Ordering::SeqCst), 1);
    }
}
