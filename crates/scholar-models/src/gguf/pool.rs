//! Threads that compute the parts of one step after the other.
//!
//! A step is a number of independent parts, which the threads take one by one, the calling thread among them. Nobody waits
//! for a thread that took no part: on a busy machine a step ends when its work is done, not when all threads have come by.
#![expect(unsafe_code, reason = "lends a borrowed closure to threads that outlive the call")]

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use std::thread::{JoinHandle, Thread};

/// Looks for work before a thread sleeps: some tens of microseconds, longer than what lies between two steps of a token.
const SPINS: u32 = 4000;
/// The most parts of a step.
pub(super) const MAX_PARTS: usize = u16::MAX as usize;

type Task = *const (dyn Fn(usize) + Sync);

/// What the threads look at. `state` holds the number of the step (32 bits), its parts (16) and the parts taken (16), so
/// that a part can only be taken from the step that was looked at.
struct Shared {
    state: AtomicU64,
    task: UnsafeCell<Task>,
    done: AtomicUsize,
    panicked: AtomicBool,
    closing: AtomicBool,
    sleeping: AtomicUsize,
}

// SAFETY: `task` is written by the caller of `run` only while all parts of the step before are done, and read only by threads that
// hold a part of the current step; `state` orders both.
unsafe impl Sync for Shared {}
// SAFETY: as above; the pointer is not used otherwise.
unsafe impl Send for Shared {}

fn parts_of(state: u64) -> (usize, usize) {
    ((state >> 16 & 0xffff) as usize, (state & 0xffff) as usize)
}

impl Shared {
    /// Takes and computes parts until none is left.
    fn work(&self) {
        loop {
            let state = self.state.load(Ordering::Acquire);
            let (parts, taken) = parts_of(state);
            if taken >= parts {
                return;
            }
            let next =
                self.state.compare_exchange(state, state + 1, Ordering::AcqRel, Ordering::Acquire);
            if next.is_err() {
                continue;
            }
            // SAFETY: this thread holds a part of the step whose number is in `state`, so `run` has not returned and what it
            // borrowed is alive; the exchange synchronised with the store that followed the write of `task`.
            let task = unsafe { &**self.task.get() };
            if catch_unwind(AssertUnwindSafe(|| task(taken))).is_err() {
                self.panicked.store(true, Ordering::Relaxed);
            }
            self.done.fetch_add(1, Ordering::Release);
        }
    }

    fn has_work(&self) -> bool {
        let (parts, taken) = parts_of(self.state.load(Ordering::Acquire));
        taken < parts
    }

    fn serve(&self) {
        while !self.closing.load(Ordering::Acquire) {
            self.work();
            let mut spins = 0;
            while !self.has_work() && !self.closing.load(Ordering::Relaxed) {
                spins += 1;
                if spins < SPINS {
                    std::hint::spin_loop();
                    continue;
                }
                self.sleeping.fetch_add(1, Ordering::SeqCst);
                fence(Ordering::SeqCst);
                if !self.has_work() && !self.closing.load(Ordering::SeqCst) {
                    std::thread::park();
                }
                self.sleeping.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }
}

/// The threads, of which the calling one counts as one.
pub(super) struct Pool {
    shared: Arc<Shared>,
    handles: Vec<(Thread, Option<JoinHandle<()>>)>,
}

impl Pool {
    /// A pool of `threads` threads, at least the caller's; the others are called `name`.
    pub(super) fn start(threads: usize, name: &str) -> std::io::Result<Self> {
        let nothing: &'static (dyn Fn(usize) + Sync) = &|_| ();
        let shared = Arc::new(Shared {
            state: AtomicU64::new(0),
            task: UnsafeCell::new(nothing),
            done: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            sleeping: AtomicUsize::new(0),
        });
        let mut pool = Self { shared, handles: Vec::new() };
        for i in 1..threads {
            let shared = Arc::clone(&pool.shared);
            let handle = std::thread::Builder::new()
                .name(format!("{name}-{i}"))
                .spawn(move || shared.serve())?;
            pool.handles.push((handle.thread().clone(), Some(handle)));
        }
        Ok(pool)
    }

    /// Threads, with the caller's.
    pub(super) fn threads(&self) -> usize {
        self.handles.len() + 1
    }

    /// Runs `task(part)` for every part below `parts`, each once, and returns when all are done.
    ///
    /// Takes the pool mutably: a step has one caller.
    ///
    /// # Panics
    /// When a part panicked, or there are more than [`MAX_PARTS`].
    pub(super) fn run(&self, parts: usize, task: &(dyn Fn(usize) + Sync)) {
        if parts <= 1 || self.handles.is_empty() {
            (0..parts).for_each(task);
            return;
        }
        assert!(parts <= MAX_PARTS, "a step has at most {MAX_PARTS} parts");
        let shared = &*self.shared;
        let number = (shared.state.load(Ordering::Relaxed) >> 32).wrapping_add(1) & 0xffff_ffff;
        shared.done.store(0, Ordering::Relaxed);
        // SAFETY: no part of an earlier step is still running (`run` waits for all), so no thread reads `task`. The lifetime is
        // erased; the wait below keeps the closure borrowed until no thread can hold a part.
        unsafe {
            *shared.task.get() =
                std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), Task>(task);
        }
        shared.state.store(number << 32 | (parts as u64) << 16, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if shared.sleeping.load(Ordering::SeqCst) > 0 {
            for (thread, _) in &self.handles {
                thread.unpark();
            }
        }
        shared.work();
        let mut spins = 0u32;
        while shared.done.load(Ordering::Acquire) < parts {
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        if shared.panicked.swap(false, Ordering::Relaxed) {
            resume_unwind(Box::new("a part of a step of the local generator panicked"));
        }
    }

    /// Runs `work(i, chunk i)` over the chunks of `data`.
    pub(super) fn chunks<T: Send>(
        &self,
        data: &mut [T],
        chunk: usize,
        work: impl Fn(usize, &mut [T]) + Sync,
    ) {
        let (len, chunk) = (data.len(), chunk.max(1));
        let shared = Disjoint::new(data);
        self.run(len.div_ceil(chunk), &|i| {
            let start = i * chunk;
            // SAFETY: every part is computed once, and the ranges of different parts do not meet.
            work(i, unsafe { shared.range(start, chunk.min(len - start)) });
        });
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        for (thread, handle) in &mut self.handles {
            thread.unpark();
            if let Some(handle) = handle.take() {
                // Its panics were caught and reported by `run`.
                let _ = handle.join();
            }
        }
    }
}

/// A slice of which threads write disjoint ranges.
pub(super) struct Disjoint<T> {
    start: *mut T,
    len: usize,
}

// SAFETY: ranges are handed out under the contract of `range`.
unsafe impl<T: Send> Sync for Disjoint<T> {}

impl<T> Disjoint<T> {
    /// The caller keeps `data` borrowed for as long as ranges are in use.
    pub(super) fn new(data: &mut [T]) -> Self {
        Self { start: data.as_mut_ptr(), len: data.len() }
    }

    /// `len` elements from `from` on.
    ///
    /// # Safety
    /// No other range that is in use at the same time meets this one.
    #[expect(clippy::mut_from_ref, reason = "the ranges are disjoint by contract")]
    pub(super) unsafe fn range(&self, from: usize, len: usize) -> &mut [T] {
        assert!(from + len <= self.len, "a range lies within its slice");
        // SAFETY: within the slice by the assertion, disjoint from other ranges by contract.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(from), len) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn every_part_is_computed_once_in_every_step() {
        for threads in [1, 2, 5] {
            let pool = Pool::start(threads, "test").unwrap();
            for parts in [0, 1, 2, 3, 100, 1000] {
                let counts: Vec<AtomicU32> = (0..parts).map(|_| AtomicU32::new(0)).collect();
                pool.run(parts, &|part| {
                    counts[part].fetch_add(1, Ordering::Relaxed);
                });
                assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            }
            let mut numbers = vec![0usize; 1001];
            pool.chunks(&mut numbers, 10, |chunk, part| part.fill(chunk));
            assert!(numbers.iter().enumerate().all(|(i, chunk)| *chunk == i / 10));
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_goes_on() {
        let pool = Pool::start(3, "test").unwrap();
        let result =
            catch_unwind(AssertUnwindSafe(|| pool.run(50, &|part| assert!(part != 31, "odd"))));
        assert!(result.is_err());
        let sum = AtomicUsize::new(0);
        pool.run(50, &|part| {
            sum.fetch_add(part, Ordering::Relaxed);
        });
        assert_eq!(sum.into_inner(), 49 * 50 / 2);
    }
}
