//! The one queue all queries wait in, and the workers that empty it in batches.
//!
//! A batch is whatever waits when a worker becomes free, up to a limit: an idle server searches a query at once, a busy
//! one encodes many queries together. Nothing waits for a batch to fill. A client that leaves takes its queries out of
//! the queue.

use std::collections::{BTreeMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::FutureExt as _;
use parking_lot::Mutex;
use scholar_core::{PortError, PortErrorKind, Retrieved, Retriever, SearchRequest};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::budget::Hold;
use crate::metrics::Metrics;

/// What a query comes to.
pub type Outcome = Result<Vec<Retrieved>, PortError>;

/// Longest pause a full queue asks for, in seconds.
const MOST_RETRY_AFTER: u64 = 60;

/// A query with the room for what it comes to.
pub(crate) struct PendingSearch {
    /// What is asked of whom.
    pub(crate) retriever: Arc<dyn Retriever>,
    /// What is asked.
    pub(crate) request: SearchRequest,
    /// Room for all passages asked for; also while a search goes on whose client has left.
    pub(crate) hold: Hold,
    /// Room that one passage takes.
    pub(crate) passage_cost: usize,
}

/// What a query came to, with the room it takes.
pub(crate) struct FinishedSearch {
    pub(crate) outcome: Outcome,
    pub(crate) hold: Hold,
}

struct Job {
    retriever: Arc<dyn Retriever>,
    request: SearchRequest,
    waiting: Waiting,
}

/// Who waits for a query.
struct Waiting {
    reply: oneshot::Sender<FinishedSearch>,
    since: Instant,
    hold: Hold,
    passage_cost: usize,
}

/// How much waits, and how it is emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueConfig {
    /// Queries that may wait; one more is answered with 503.
    pub capacity: usize,
    /// Most queries of one batch; at least 1.
    pub batch: usize,
    /// Batches that are searched at the same time; at least 1.
    pub workers: usize,
}

/// The queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full {
    /// Queries that wait to be searched.
    pub waiting: usize,
    /// Seconds after which about that many have been searched.
    pub retry_after_s: u64,
}

/// The queue with what is needed to empty it.
pub struct Queue {
    retriever: Arc<dyn Retriever>,
    jobs: Mutex<VecDeque<Job>>,
    wake: Notify,
    config: QueueConfig,
    metrics: Arc<Metrics>,
    /// Microseconds a query takes in a batch, smoothed.
    pace: AtomicU64,
    running: Mutex<BTreeMap<u64, (String, usize)>>,
    started: AtomicU64,
}

impl Queue {
    pub(crate) fn new(
        retriever: Arc<dyn Retriever>,
        config: QueueConfig,
        metrics: Arc<Metrics>,
    ) -> Arc<Self> {
        Arc::new(Self {
            retriever,
            jobs: Mutex::new(VecDeque::new()),
            wake: Notify::new(),
            config: QueueConfig {
                batch: config.batch.max(1),
                workers: config.workers.max(1),
                ..config
            },
            metrics,
            pace: AtomicU64::new(0),
            running: Mutex::new(BTreeMap::new()),
            started: AtomicU64::new(0),
        })
    }

    /// What searches, where nothing else is named.
    pub(crate) fn retriever(&self) -> &Arc<dyn Retriever> {
        &self.retriever
    }

    /// Queries that wait and whose client is still there.
    pub fn len(&self) -> usize {
        self.jobs.lock().iter().filter(|job| !job.waiting.reply.is_closed()).count()
    }

    /// Whether no query waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first query of every batch that is being searched, the oldest batch first, with its number of passages.
    pub fn running(&self) -> Vec<(String, usize)> {
        self.running.lock().values().cloned().collect()
    }

    /// Puts all of `requests` into the queue, or none.
    pub(crate) fn submit(
        &self,
        requests: Vec<PendingSearch>,
    ) -> Result<Vec<oneshot::Receiver<FinishedSearch>>, Full> {
        let since = Instant::now();
        let mut jobs = self.jobs.lock();
        if jobs.len() + requests.len() > self.config.capacity {
            jobs.retain(|job| !job.waiting.reply.is_closed());
        }
        let waiting = jobs.len();
        if waiting + requests.len() > self.config.capacity {
            self.metrics.refused(requests.len());
            let micros =
                self.pace.load(Ordering::Relaxed) * waiting as u64 / self.config.workers as u64;
            let retry_after_s = micros.div_ceil(1_000_000).clamp(1, MOST_RETRY_AFTER);
            return Err(Full { waiting, retry_after_s });
        }
        let receivers = requests
            .into_iter()
            .map(|PendingSearch { retriever, request, hold, passage_cost }| {
                let (reply, receiver) = oneshot::channel();
                jobs.push_back(Job {
                    retriever,
                    request,
                    waiting: Waiting { reply, since, hold, passage_cost },
                });
                receiver
            })
            .collect();
        drop(jobs);
        self.wake.notify_one();
        Ok(receivers)
    }

    /// Searches batches for ever.
    pub(crate) async fn work(self: Arc<Self>) {
        loop {
            // Created before the queue is looked at, so that what is submitted in between wakes it.
            let woken = self.wake.notified();
            let jobs = self.take();
            if jobs.is_empty() {
                woken.await;
            } else {
                for (retriever, jobs) in by_retriever(jobs) {
                    self.search(&*retriever, jobs).await;
                }
            }
        }
    }

    fn take(&self) -> Vec<Job> {
        let mut jobs = self.jobs.lock();
        let mut taken = Vec::new();
        while taken.len() < self.config.batch {
            let Some(job) = jobs.pop_front() else { break };
            if !job.waiting.reply.is_closed() {
                taken.push(job);
            }
        }
        // One wake-up may stand for many queries: pass it on.
        if !jobs.is_empty() {
            self.wake.notify_one();
        }
        taken
    }

    async fn search(&self, retriever: &dyn Retriever, jobs: Vec<Job>) {
        let (requests, waiting): (Vec<SearchRequest>, Vec<Waiting>) =
            jobs.into_iter().map(|Job { request, waiting, .. }| (request, waiting)).unzip();
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        if let Some(first) = requests.first() {
            let shown = (first.query.as_str().to_owned(), first.top_k);
            self.running.lock().insert(number, shown);
        }
        let began = Instant::now();
        // A panic is the batch's, not the worker's: its callers hear of it, the next batch is searched.
        let outcomes = AssertUnwindSafe(retriever.search_batch(&requests)).catch_unwind().await;
        self.running.lock().remove(&number);
        let spent = began.elapsed();
        drop(requests);
        self.metrics.batch(waiting.len());
        self.keep_pace(u64::try_from(spent.as_micros()).unwrap_or(u64::MAX), waiting.len() as u64);
        let mut outcomes = outcomes.unwrap_or_default().into_iter();
        for Waiting { reply, since, mut hold, passage_cost } in waiting {
            let outcome = outcomes.next().unwrap_or_else(|| {
                Err(PortError::new(PortErrorKind::Unavailable, "the search broke off"))
            });
            self.metrics.searched(since.elapsed(), outcome.is_ok());
            hold.keep(outcome.as_ref().map_or(0, Vec::len) * passage_cost);
            // The client may have left meanwhile.
            let _gone = reply.send(FinishedSearch { outcome, hold });
        }
    }

    fn keep_pace(&self, micros: u64, queries: u64) {
        let now = micros / queries.max(1);
        let before = self.pace.load(Ordering::Relaxed);
        let smoothed = if before == 0 { now } else { (7 * before + now) / 8 };
        self.pace.store(smoothed, Ordering::Relaxed);
    }
}

/// Queries of one retriever are searched together; which comes first is whose query did.
fn by_retriever(jobs: Vec<Job>) -> Vec<(Arc<dyn Retriever>, Vec<Job>)> {
    let mut parts: Vec<(Arc<dyn Retriever>, Vec<Job>)> = Vec::new();
    for job in jobs {
        match parts.iter_mut().find(|(retriever, _)| Arc::ptr_eq(retriever, &job.retriever)) {
            Some((_, part)) => part.push(job),
            None => parts.push((Arc::clone(&job.retriever), vec![job])),
        }
    }
    parts
}
