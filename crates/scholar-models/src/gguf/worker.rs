//! The generator thread: a bounded queue in, events out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use futures::channel::{mpsc, oneshot};
use scholar_core::{Generation, PortError, PortErrorKind, Sampling};
use serde_json::Value;
use tracing::Span;

use super::engine::{Call, Engine, Halt};

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
    /// Starts a thread that serves up to `queue` waiting jobs.
    pub(super) fn start(engine: Engine, queue: usize) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(queue.max(1));
        let closing = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&closing);
        let number = THREADS.fetch_add(1, Ordering::Relaxed);
        let thread = std::thread::Builder::new()
            .name(format!("scholar-generator-{number}"))
            .spawn(move || serve(engine, &receiver, &flag))?;
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

fn serve(mut engine: Engine, jobs: &Receiver<Job>, closing: &AtomicBool) {
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
                let result = attempt(&mut engine, |engine| {
                    engine.generate(&call, &sampling, schema.as_ref(), &mut emit)
                });
                if let Some(result) = result {
                    let _ = events.unbounded_send(Event::Done(result));
                }
            }
            JobKind::Choose { choices, done } => {
                let cancelled = || done.is_canceled() || closing.load(Ordering::Relaxed);
                let call = Call { prompt: &prompt, cancelled: &cancelled };
                let result = attempt(&mut engine, |engine| engine.choose(&call, &choices));
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
    call: impl FnOnce(&mut Engine) -> Result<T, Halt>,
) -> Option<Result<T, PortError>> {
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
