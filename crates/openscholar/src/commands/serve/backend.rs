//! [`Backend`] in the words of the other files of this folder.

use jiff::Timestamp;
use scholar_core::TokenUsage;
use scholar_server::backend::{
    Backend, BackendError, BackendErrorKind, Expected, Export, ExportKind, ExportPart, JobRequest,
    JobTask, Offer, Reserved, RunSummary, RunUsage, RunView,
};

use super::desk::Desk;
use super::{jobs, offer, past, told};
use crate::args::AnswerArgs;
use crate::commands::review::input;
use crate::error::{CommandError, ErrorKind};
use crate::wiring::generator;

impl Backend for Desk {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn secret(&self) -> Result<String, BackendError> {
        crate::private::secret().map_err(|error| {
            BackendError::new(BackendErrorKind::Internal, format!("no random number: {error}"))
        })
    }

    fn offer(&self) -> Result<Offer, BackendError> {
        Ok(offer::offer(self))
    }

    fn estimate(&self, request: &JobRequest) -> Result<Expected, BackendError> {
        jobs::estimate(self, request).map_err(|error| told(&error))
    }

    fn reserve(&self, request: &JobRequest) -> Result<Reserved, BackendError> {
        jobs::reserve(self, request).map_err(|error| told(&error))
    }

    fn release(&self, run: &str) {
        jobs::release(self, run);
    }

    fn carry_out(&self, task: JobTask) -> Result<RunUsage, BackendError> {
        let work = || {
            give_way();
            jobs::carry_out(self, task).map_err(|error| told(&error))
        };
        // A thread of its own, as its priority cannot be raised again.
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("scholar-job".to_owned());
            let thread = thread.spawn_scoped(scope, work).map_err(|error| {
                let error = CommandError::new(
                    ErrorKind::Unavailable,
                    format!("no thread for a job: {error}"),
                );
                told(&error)
            })?;
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn price(&self, usage: TokenUsage) -> Option<f64> {
        let writer = generator::configured(&self.app, &AnswerArgs::default())?;
        let (prompt, completion) = writer.usd_per_million?;
        Some((usage.prompt as f64 * prompt + usage.completion as f64 * completion) / 1e6)
    }

    fn runs(&self, limit: usize) -> Result<Vec<RunSummary>, BackendError> {
        past::runs(self, limit).map_err(|error| told(&error))
    }

    fn run(&self, run: &str) -> Result<RunView, BackendError> {
        past::run(self, run)
    }

    fn idea(&self, name: &str, bytes: Vec<u8>) -> Result<String, BackendError> {
        input::of_bytes(name, bytes, self.limits()).map_err(|error| told(&error))
    }

    fn export(
        &self,
        run: &str,
        kind: ExportKind,
        part: Option<ExportPart>,
    ) -> Result<Export, BackendError> {
        past::export(self, run, kind, part)
    }
}

/// Lets searches and pages, for which somebody waits right now, go before this thread and those that it starts. Where the system knows
/// no priorities of threads, all are treated alike.
fn give_way() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(error = &error as &dyn std::error::Error, "jobs have the usual priority");
    }
}

/// A thread of this niceness gets a tenth of a core that another thread wants, and all of one that nobody wants.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;
