//! Signals: the first SIGINT (Ctrl-C), SIGTERM or SIGHUP ends the work at the next safe point, the second one at once.
//!
//! A signal that comes before anybody looks for one ends the program at once too: there is nothing yet to be kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use tokio::runtime::Runtime;
use tokio::sync::Notify;

use crate::printer::Printer;

/// A request to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// What service managers, `timeout` and `kill` send.
    #[cfg(unix)]
    Terminate,
    /// The terminal is gone.
    #[cfg(unix)]
    Hangup,
}

impl Signal {
    /// 128 and the signal's number, as shells count.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            #[cfg(unix)]
            Self::Terminate => 143,
            #[cfg(unix)]
            Self::Hangup => 129,
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::Interrupt => "stopping; press Ctrl-C again to stop at once",
            #[cfg(unix)]
            Self::Terminate => "stopping on SIGTERM; a second signal stops at once",
            #[cfg(unix)]
            Self::Hangup => "stopping on SIGHUP; a second signal stops at once",
        }
    }
}

/// Whether the end was asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Exit code of the first signal; 0: none came.
    signal: AtomicU8,
    /// Whether somebody looks for signals at safe points.
    heeded: AtomicBool,
    notify: Notify,
}

impl Stop {
    /// Whether work should end at the next safe point.
    pub(crate) fn requested(&self) -> bool {
        self.heed();
        self.exit_code().is_some()
    }

    /// From now on a signal is left to who looks for it.
    pub(crate) fn heed(&self) {
        self.0.heeded.store(true, Ordering::Release);
    }

    /// Ready when the end was asked for. Who waits ends the work in good order.
    pub(crate) async fn wait(&self) {
        self.heed();
        self.asked().await;
    }

    /// As [`Stop::wait`], for who only drops the work.
    pub(crate) async fn asked(&self) {
        let notified = self.0.notify.notified();
        tokio::pin!(notified);
        // Enlisted before the look: a signal in between is not missed.
        notified.as_mut().enable();
        if self.exit_code().is_none() {
            notified.await;
        }
    }

    /// The exit code that the signal asks for; `None` when none came.
    pub(crate) fn exit_code(&self) -> Option<u8> {
        Some(self.0.signal.load(Ordering::Acquire)).filter(|code| *code != 0)
    }

    /// What a signal does; the exit code with which the program ends at once.
    fn take(&self, signal: Signal) -> Option<u8> {
        let code = signal.exit_code();
        let first = self.0.signal.compare_exchange(0, code, Ordering::AcqRel, Ordering::Acquire);
        self.0.notify.notify_waiters();
        let at_once = first.is_err() || !self.0.heeded.load(Ordering::Acquire);
        at_once.then_some(code)
    }

    /// Watches for signals on `runtime`, from now until it ends.
    ///
    /// # Errors
    /// When the system lets nobody watch.
    pub(crate) fn watch(&self, runtime: &Runtime, printer: &Printer) -> std::io::Result<()> {
        // Registered here, not in the task: the first signal may come before the task runs.
        let inside = runtime.enter();
        let mut signals = Signals::new()?;
        drop(inside);
        let (stop, printer) = (self.clone(), printer.clone());
        runtime.spawn(async move {
            while let Some(signal) = signals.next().await {
                if let Some(code) = stop.take(signal) {
                    #[expect(
                        clippy::disallowed_methods,
                        reason = "nobody is there to return a code, or the second signal means at once"
                    )]
                    std::process::exit(i32::from(code));
                }
                printer.say(signal.message());
            }
        });
        Ok(())
    }
}

/// What `work` ends with; `None` when `stop` was ready first.
///
/// `stop` is looked at first: from the first step of the work on, a signal is left to who looks for it.
pub(crate) async fn unless_stopped<T>(
    stop: impl Future<Output = ()>,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        () = stop => None,
        done = work => Some(done),
    }
}

/// Where signals come from.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` under `nohup` and where that cannot be known.
    hangup: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        // Looked up first: a watch replaces what the parent process chose.
        let hangup = (!hangup_is_ignored()).then(|| signal(SignalKind::hangup())).transpose()?;
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup,
        })
    }

    async fn next(&mut self) -> Option<Signal> {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            came = self.interrupt.recv() => came.map(|()| Signal::Interrupt),
            came = self.terminate.recv() => came.map(|()| Signal::Terminate),
            came = hangup => came.map(|()| Signal::Hangup),
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> Option<Signal> {
        tokio::signal::ctrl_c().await.ok().map(|()| Signal::Interrupt)
    }
}

/// Whether this process was started to outlive its terminal. Linux tells; elsewhere nothing is changed about hang-ups.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The lowest bit is signal 1, SIGHUP.
    mask.is_none_or(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_signal_is_left_to_who_looks_and_the_second_ends_at_once() {
        let stop = Stop::default();
        assert!(!stop.requested());
        assert_eq!(stop.take(Signal::Interrupt), None);
        assert!(stop.requested());
        assert_eq!(stop.exit_code(), Some(130));
        assert_eq!(stop.take(Signal::Interrupt), Some(130));
        #[cfg(unix)]
        assert_eq!(stop.take(Signal::Terminate), Some(143));
        assert_eq!(stop.exit_code(), Some(130), "the first one says how it ended");
    }

    #[test]
    fn a_signal_for_which_nobody_looks_ends_at_once() {
        let stop = Stop::default();
        assert_eq!(stop.take(Signal::Interrupt), Some(130));
    }

    #[tokio::test]
    async fn a_signal_in_the_first_step_of_the_work_is_left_to_who_looks() {
        // Often, since an order taken by chance is right every second time.
        for _ in 0..50 {
            let stop = Stop::default();
            let work = async {
                assert_eq!(stop.take(Signal::Interrupt), None, "it ends in good order");
                std::future::pending::<()>().await;
            };
            assert_eq!(unless_stopped(stop.wait(), work).await, None);
        }
        assert_eq!(unless_stopped(Stop::default().wait(), async { 7 }).await, Some(7));
    }

    #[tokio::test]
    async fn everybody_who_waits_is_woken() {
        let stop = Stop::default();
        let ask = async { stop.take(Signal::Interrupt) };
        let (_, (), (), _) = tokio::join!(stop.wait(), stop.wait(), stop.asked(), ask);
        // And who comes later does not wait.
        stop.wait().await;
    }
}
