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
        jobs::carry_out(self, task).map_err(|error| told(&error))
    }

    fn price(&self, usage: TokenUsage) -> Option<f64> {
        let model = generator::configured(&self.app, &AnswerArgs::default())?.model;
        let (prompt, completion) = generator::price(&self.app, &model).ok().flatten()?;
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
