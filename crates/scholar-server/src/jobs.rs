//! Questions, reviews and other jobs that are done in turn: the queue, the runs under way, and how they end.
//!
//! Every job is in the [`store`] before its caller hears of it, and leaves it only by ending. A server that stops, or is
//! killed, takes up what was waiting or under way when it starts again: waiting jobs wait again, and those under way go
//! on from the journals of their runs. Nothing here knows what kind of job it is.

pub(crate) mod allowance;
pub(crate) mod feed;
pub(crate) mod queue;
pub(crate) mod store;

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

use crate::backend::{
    Backend, BackendError, BackendErrorKind, JobRequest, JobTask, Reserved, RunState, RunUsage,
};
use crate::callers::Access;
use crate::cancel::{Cancel, CancelReason, Canceller, cancellation};
use allowance::Allowance;
use feed::Feed;
use queue::{FairQueue, Refused, WaitingLimits};
use store::{Job, JobStore, JobStoreError, NewJob, Outcome};

/// How jobs wait and how many are done at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobsConfig {
    /// Jobs that are done at the same time; at least 1.
    pub concurrency: usize,
    /// How many may wait.
    pub waiting: WaitingLimits,
}

impl JobsConfig {
    /// One machine and its users.
    pub fn local(concurrency: usize) -> Self {
        let waiting = WaitingLimits { all: 200, each: 50 };
        Self { concurrency: concurrency.max(1), waiting }
    }
}

/// Why a job was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SubmitError {
    /// Too many wait.
    #[error("{0} runs are waiting already")]
    Full(usize),
    /// Too many of this caller wait.
    #[error("too many of your runs are waiting already")]
    TooMany,
    /// It cannot be done as it is, or no run can be kept.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The database.
    #[error(transparent)]
    Store(#[from] JobStoreError),
}

/// A job that waits or is under way.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) run: String,
    pub(crate) caller: String,
    pub(crate) request: JobRequest,
    pub(crate) feed: Arc<Feed>,
    /// Whether an earlier process began it.
    resume: bool,
    canceller: Canceller,
    cancel: Cancel,
}

impl Live {
    fn new(run: String, caller: String, request: JobRequest, begun: u32) -> Arc<Self> {
        let (canceller, cancel) = cancellation();
        let feed = Feed::new(begun + 1);
        Arc::new(Self { run, caller, request, feed, resume: begun > 0, canceller, cancel })
    }
}

struct State {
    queue: FairQueue<Arc<Live>>,
    /// Waiting and under way, by run.
    live: BTreeMap<String, Arc<Live>>,
    under_way: usize,
}

/// The queue with what is needed to empty it.
pub(crate) struct Jobs {
    backend: Arc<dyn Backend>,
    pub(crate) store: Arc<JobStore>,
    /// Who may spend how much.
    access: Access,
    state: Mutex<State>,
    wake: Notify,
    /// Counts changes of the queue, for those who wait in it.
    changes: watch::Sender<u64>,
    stopping: watch::Sender<bool>,
    /// Held by whoever takes up a run.
    resuming: Mutex<()>,
}

impl Jobs {
    /// Takes up what an earlier process left.
    pub(crate) fn start(
        backend: Arc<dyn Backend>,
        store: Arc<JobStore>,
        access: Access,
        config: JobsConfig,
    ) -> Result<Arc<Self>, JobStoreError> {
        let mut state =
            State { queue: FairQueue::new(config.waiting), live: BTreeMap::new(), under_way: 0 };
        for job in store.unfinished()? {
            let Job { run, caller, request, attempt, .. } = job;
            let live = Live::new(run, caller, request, attempt);
            state.live.insert(live.run.clone(), Arc::clone(&live));
            state.queue.push(&live.caller, Arc::clone(&live));
        }
        let (changes, _) = watch::channel(0);
        let (stopping, _) = watch::channel(false);
        let state = Mutex::new(state);
        let (wake, resuming) = (Notify::new(), Mutex::new(()));
        Ok(Arc::new(Self { backend, store, access, state, wake, changes, stopping, resuming }))
    }

    /// Puts a job into the queue; returns the name of its run.
    pub(crate) fn submit(&self, caller: &str, request: JobRequest) -> Result<String, SubmitError> {
        let refused = |state: &State| match state.queue.check(caller) {
            Ok(()) => Ok(()),
            Err(Refused::Full) => Err(SubmitError::Full(state.queue.len())),
            Err(Refused::TooMany) => Err(SubmitError::TooMany),
        };
        refused(&self.state.lock())?;
        let Reserved { run, title } = self.backend.reserve(&request)?;
        let new = NewJob { run: &run, caller, request: &request, title: &title, now: self.now() };
        let kept = self.store.add(&new);
        if let Err(error) = kept {
            self.backend.release(&run);
            return Err(error.into());
        }
        self.enqueue(Live::new(run.clone(), caller.to_owned(), request, 0));
        Ok(run)
    }

    /// Takes up a run that failed or was interrupted or cancelled; what it knows is not asked again.
    pub(crate) fn resume(&self, run: &str) -> Result<bool, JobStoreError> {
        // Of several who ask for it at the same time one is told so.
        let _turn = self.resuming.lock();
        if self.live(run).is_some() {
            return Ok(false);
        }
        let Some(job) = self.store.job(run)? else { return Ok(false) };
        if !self.store.requeue(run, job.request.may_go_on())? {
            return Ok(false);
        }
        self.enqueue(Live::new(job.run, job.caller, job.request, job.attempt));
        Ok(true)
    }

    fn enqueue(&self, live: Arc<Live>) {
        let mut state = self.state.lock();
        state.live.insert(live.run.clone(), Arc::clone(&live));
        state.queue.push(&live.caller.clone(), live);
        drop(state);
        self.changed();
        self.wake.notify_one();
    }

    fn changed(&self) {
        self.changes.send_modify(|n| *n += 1);
    }

    fn now(&self) -> i64 {
        self.backend.now().as_second()
    }

    /// The run, while it waits or is under way.
    pub(crate) fn live(&self, run: &str) -> Option<Arc<Live>> {
        self.state.lock().live.get(run).cloned()
    }

    /// How many jobs are done before this one; `None` when it does not wait.
    pub(crate) fn ahead_of(&self, run: &str) -> Option<usize> {
        self.state.lock().queue.ahead_of(|live| live.run == run)
    }

    /// Jobs that wait, and those under way.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.queue.len(), state.under_way)
    }

    /// Hears of changes of the queue.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Hears when the server ends.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }

    /// Gives a job up; whether there was anything to give up. One under way ends at its next safe point.
    pub(crate) fn cancel(&self, run: &str) -> Result<bool, JobStoreError> {
        let mut state = self.state.lock();
        let waiting = state.queue.remove(|live| live.run == run);
        if let Some(live) = waiting {
            state.live.remove(run);
            drop(state);
            let cancelled = Outcome {
                state: RunState::Cancelled,
                error: None,
                hint: None,
                cost_usd: None,
                tokens: 0,
            };
            self.store.end(run, &cancelled, self.now())?;
            if !live.resume {
                self.backend.release(run);
            }
            live.feed.close();
            self.changed();
            return Ok(true);
        }
        Ok(state.live.get(run).is_some_and(|live| {
            live.canceller.cancel(CancelReason::Asked);
            true
        }))
    }

    /// Begins nothing more and asks what is under way to stop where it can go on later.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
        for live in self.state.lock().live.values() {
            live.canceller.cancel(CancelReason::Stopping);
        }
        self.wake.notify_waiters();
    }

    /// Does what waits until the server ends.
    pub(crate) async fn work(self: Arc<Self>) {
        let mut stopping = self.stopping();
        loop {
            // Created before the queue is looked at, so that what is submitted in between wakes it.
            let woken = self.wake.notified();
            if *stopping.borrow() {
                return;
            }
            match self.take() {
                Some(live) => self.run(live).await,
                None => tokio::select! {
                    () = woken => {}
                    _ = stopping.wait_for(|stopping| *stopping) => return,
                },
            }
        }
    }

    fn take(&self) -> Option<Arc<Live>> {
        let mut state = self.state.lock();
        // What a run will cost is known when it is over: of those with a budget one at a time, so that none is spent twice.
        let has_no_budget = |caller: &str| self.access.limits(caller).usd_per_day.is_none();
        let live = state.queue.pop(has_no_budget)?;
        state.under_way += 1;
        // One wake-up may stand for many jobs: pass it on.
        if state.queue.len() > 0 {
            self.wake.notify_one();
        }
        drop(state);
        self.changed();
        Some(live)
    }

    async fn run(self: &Arc<Self>, live: Arc<Live>) {
        let (jobs, job) = (Arc::clone(self), Arc::clone(&live));
        let ended = tokio::task::spawn_blocking(move || jobs.carry_out(&job)).await;
        if let Ok(Err(error)) = &ended {
            tracing::error!(error = error as &dyn std::error::Error, "a run's end was not kept");
        }
        let mut state = self.state.lock();
        // It may have been taken up again by now.
        if state.live.get(&live.run).is_some_and(|known| Arc::ptr_eq(known, &live)) {
            state.live.remove(&live.run);
        }
        state.under_way -= 1;
        state.queue.finished(&live.caller);
        drop(state);
        live.feed.close();
        self.changed();
    }

    /// Does it, and keeps how that ended. One that the server's end interrupted stays as it is, to be taken up.
    fn carry_out(&self, live: &Arc<Live>) -> Result<(), JobStoreError> {
        let limits = self.access.limits(&live.caller);
        let mut request = live.request.clone();
        // What was left when it was asked for may have been spent while it waited.
        match Allowance::of(&self.store, &live.caller, limits, self.now())?.map(Allowance::left) {
            None => {}
            Some(Ok(left)) => request.spend_at_most(left),
            Some(Err(message)) => {
                let error = BackendError::new(BackendErrorKind::Invalid, message);
                let error = error.with_hint(allowance::HINT);
                if !live.resume {
                    self.backend.release(&live.run);
                }
                return self.store.end(
                    &live.run,
                    &self.failed(live, RunState::Failed, error),
                    self.now(),
                );
            }
        }
        self.store.begin(&live.run)?;
        let task = JobTask {
            run: live.run.clone(),
            request,
            resume: live.resume,
            observer: live.feed.clone(),
            cancel: live.cancel.clone(),
        };
        // A panic is this run's, not the server's: its reader hears of it, and the next job is done.
        let work = std::panic::AssertUnwindSafe(|| self.backend.carry_out(task));
        let ended = std::panic::catch_unwind(work).unwrap_or_else(|_| {
            Err(BackendError::new(BackendErrorKind::Internal, "the work broke off")
                .with_hint("this is a bug; the server's log says where"))
        });
        let outcome = match ended {
            Ok(usage) => done(&usage),
            Err(error) => match (error.kind, live.canceller.reason()) {
                (BackendErrorKind::Interrupted, Some(CancelReason::Stopping)) => return Ok(()),
                (BackendErrorKind::Interrupted, _) => self.failed(live, RunState::Cancelled, error),
                _ => self.failed(live, RunState::Failed, error),
            },
        };
        self.store.end(&live.run, &outcome, self.now())
    }

    /// A run without a result has its cost all the same.
    fn failed(&self, live: &Live, state: RunState, error: BackendError) -> Outcome {
        let BackendError { kind: _, message, hint } = error;
        let usage = live.feed.usage();
        let (cost_usd, tokens) = (self.backend.price(usage), usage.total());
        Outcome { state, error: Some(message), hint, cost_usd, tokens }
    }
}

fn done(usage: &RunUsage) -> Outcome {
    let RunUsage { cost_usd, tokens, .. } = usage;
    Outcome { state: RunState::Done, error: None, hint: None, cost_usd: *cost_usd, tokens: *tokens }
}
