//! The doors between callers and the threads that compute.

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
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}
