//! The generator thread: a bounded queue in, events out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use candle_core::utils::barrier_pool;
use futures::channel::{mpsc, oneshot};
use scholar_core::{Generation, PortError, PortErrorKind, Sampling};
use serde_json::Value;
use tracing::Span;

use super::engine::{Call, Engine, Halt};
use super::model::Model;

/// Numbers the threads of a process.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// What a caller who waits for a reply hears.
pub(super) enum Event {
    /// Text generated since the last message.
    Text(String),
    /// The generation is over.
    Done(Result<Generation, PortError>),
}

/// A question to the model.
pub(super) enum JobKind {
    /// Write a reply.
    Generate {
        /// How tokens are drawn.
        sampling: Sampling,
        /// The JSON schema it must meet.
        schema: Option<Value>,
        /// Dropping the other end cancels. Unbounded, but a reply has at most `max_tokens` pieces.
        events: mpsc::UnboundedSender<Event>,
    },
    /// Compute the probability of each choice.
    Choose {
        /// Each as tokens.
        choices: Vec<Vec<u32>>,
        /// Dropping the other end cancels.
        done: oneshot::Sender<Result<Vec<f32>, PortError>>,
    },
}

/// A question with its prompt.
pub(super) struct Job {
    pub(super) prompt: Vec<u32>,
    pub(super) work: JobKind,
    pub(super) span: Span,
}

/// The thread's handle. Dropping it lets the thread finish its step and waits for it.
pub(super) struct Worker {
    queue: Option<SyncSender<Job>>,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts a thread that prepares `model` and then serves up to `queue` waiting jobs. `prepared` runs once the
    /// weights are packed.
    pub(super) fn start(
        model: Arc<Model>,
        engine: Engine,
        queue: usize,
        prepared: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(queue.max(1));
        let closing = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&closing);
        let number = THREADS.fetch_add(1, Ordering::Relaxed);
        let thread = std::thread::Builder::new()
            .name(format!("scholar-generator-{number}"))
            .spawn(move || {
                let started = Instant::now();
                let packed = guarded(|| pack(&model, &flag));
                drop(model);
                prepared();
                let seconds = started.elapsed().as_secs_f32();
                tracing::info!(duration_s = seconds, "the local generator is ready");
                serve(engine, &receiver, &flag, packed.err());
            })?;
        Ok(Self { queue: Some(sender), closing, thread: Some(thread) })
    }

    /// Hands a job over, or says that the queue is full or the thread gone.
    pub(super) fn submit(&self, job: Job) -> Result<(), PortError> {
        let queue = self.queue.as_ref().ok_or_else(gone)?;
        queue.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => PortError::new(
                PortErrorKind::RateLimited { retry_after: None },
                "the local generator has too many waiting calls",
            ),
            TrySendError::Disconnected(_) => gone(),
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Relaxed);
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported to the callers it concerned.
            let _ = thread.join();
        }
    }
}

/// What callers hear when the thread has ended.
pub(super) fn gone() -> PortError {
    PortError::new(PortErrorKind::Unavailable, "the local generator's thread has ended")
}

/// Runs `f`; a panic becomes an error.
fn guarded<T>(f: impl FnOnce() -> Result<T, Halt>) -> Result<T, Halt> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| {
        let what = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Err(Halt::Failed(PortError::new(
            PortErrorKind::Unavailable,
            format!("the local generator broke down: {what}"),
        )))
    })
}

/// Lets the kernels arrange the weights, on as many threads as compute later: each tensor is arranged by one.
fn pack(model: &Model, closing: &AtomicBool) -> Result<(), Halt> {
    let next = AtomicUsize::new(0);
    let run = || {
        loop {
            let step = next.fetch_add(1, Ordering::Relaxed);
            if step >= model.pack_steps() || closing.load(Ordering::Relaxed) {
                return Ok(());
            }
            model.pack(step).map_err(Halt::from)?;
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> =
            (0..barrier_pool().n_workers()).map(|_| scope.spawn(|| guarded(run))).collect();
        let own = guarded(run);
        others.into_iter().fold(own, |result, other| {
            result.and(other.join().unwrap_or_else(|_| Err(Halt::Failed(gone()))))
        })
    })
}

fn serve(mut engine: Engine, jobs: &Receiver<Job>, closing: &AtomicBool, mut broken: Option<Halt>) {
    while let Ok(Job { prompt, work, span }) = jobs.recv() {
        if closing.load(Ordering::Relaxed) {
            return;
        }
        let _entered = span.entered();
        match work {
            JobKind::Generate { sampling, schema, events } => {
                let cancelled = || events.is_closed() || closing.load(Ordering::Relaxed);
                let call = Call { prompt: &prompt, cancelled: &cancelled };
                let mut emit = |text: &str| {
                    // A caller who left is noticed before the next token.
                    let _ = events.unbounded_send(Event::Text(text.to_owned()));
                };
                let result = attempt(&mut engine, &mut broken, |engine| {
                    engine.generate(&call, &sampling, schema.as_ref(), &mut emit)
                });
                if let Some(result) = result {
                    let _ = events.unbounded_send(Event::Done(result));
                }
            }
            JobKind::Choose { choices, done } => {
                let cancelled = || done.is_canceled() || closing.load(Ordering::Relaxed);
                let call = Call { prompt: &prompt, cancelled: &cancelled };
                let result =
                    attempt(&mut engine, &mut broken, |engine| engine.choose(&call, &choices));
                if let Some(result) = result {
                    let _ = done.send(result);
                }
            }
        }
    }
}

/// One call; `None` when the caller left. After a panic the kept sequences are forgotten.
fn attempt<T>(
    engine: &mut Engine,
    broken: &mut Option<Halt>,
    call: impl FnOnce(&mut Engine) -> Result<T, Halt>,
) -> Option<Result<T, PortError>> {
    if let Some(halt) = broken {
        let reason = match halt {
            Halt::Failed(error) => error.to_string(),
            Halt::Cancelled => "its preparation was interrupted".to_owned(),
        };
        return Some(Err(PortError::new(
            PortErrorKind::Unavailable,
            format!("the local generator could not be prepared: {reason}"),
        )));
    }
    let mut finished = false;
    let result = guarded(|| {
        let result = call(engine);
        finished = true;
        result
    });
    if !finished {
        engine.reset();
    }
    match result {
        Ok(value) => Some(Ok(value)),
        Err(Halt::Failed(error)) => Some(Err(error)),
        Err(Halt::Cancelled) => None,
    }
}
