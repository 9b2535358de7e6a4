//! The threads of a training.

use crate::error::TrainError;

/// Threads of a CPU: they read texts and compare vectors, and a device on the CPU computes with them.
pub(crate) struct Threads {
    pool: rayon::ThreadPool,
    count: usize,
}

impl Threads {
    /// `count` of them; 0 for as many as the machine has.
    ///
    /// # Errors
    /// When they cannot be started.
    pub(crate) fn new(count: usize) -> Result<Self, TrainError> {
        let count = match count {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            count => count,
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|at| format!("scholar-train-{at}"))
            .build()
            .map_err(|source| TrainError::Threads { source: Box::new(source) })?;
        Ok(Self { pool, count })
    }

    /// Number of threads, at least 1.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Runs `work` on them. A [`super::Backend`] is called inside.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }
}
