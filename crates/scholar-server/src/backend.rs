//! What pages and the native interface need of the program: the one seam between a web server and runs, papers and models.
//!
//! The program implements [`Backend`]; tests do, with values in memory. Its methods may wait for the disk or, for
//! [`Backend::carry_out`], for minutes: the server calls all of them on threads that may wait.

mod export;
mod job;
mod offer;
mod request;
mod review;
mod run;
mod shelf;
mod upkeep;
mod workbench;

use jiff::Timestamp;
use scholar_core::TokenUsage;

pub use export::Export;
pub use job::{Expected, JobKind, JobRequest, JobTask, Reserved};
pub use offer::{DatastoreOffer, ModeOffer, Offer, SourceOffer};
pub use request::{AskFilter, AskRequest, Length};
pub use review::{ReviewForm, ReviewHalf, ReviewPreset, ReviewRequest};
pub use run::{
    AnswerView, CitedPassage, ExportKind, ExportPart, ReviewView, RunState, RunSummary, RunUsage,
    RunView,
};
pub use shelf::{
    AddedFile, AddedPaper, CitedWork, DoubtfulPair, DrawnPage, MarkedPage, NO_DOCUMENT, PaperList,
    PaperQuery, PaperView, QuotedIn, SearchedDatastores, Shelf,
};
pub use upkeep::{Replayed, RunDifference, Status, StatusCheck, Upkeep, Verified};
pub use workbench::{
    CriterionRequest, MOST_ROWS, ReadBy, ScreeningFile, ScreeningRequest, ScreeningView, TableFile,
    TableRequest, USUAL_TOP, Workbench,
};

/// Why the program could not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BackendError {
    /// What kind it is.
    pub kind: BackendErrorKind,
    /// One clause, for people.
    pub message: String,
    /// The next step, where there is one.
    pub hint: Option<String>,
}

/// Kinds of failure, as pages and programs tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendErrorKind {
    /// There is no such run, paper or datastore.
    NotFound,
    /// The request cannot be done as it is.
    Invalid,
    /// A server, a source or a model cannot be reached.
    Unavailable,
    /// It was cancelled; what was done is kept.
    Interrupted,
    /// Damage or a bug.
    Internal,
}

impl BackendError {
    /// A failure without a hint.
    pub fn new(kind: BackendErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    /// There is no such thing.
    pub fn not_found(what: impl Into<String>) -> Self {
        Self::new(BackendErrorKind::NotFound, what)
    }

    /// Adds the next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The program behind the pages.
pub trait Backend: Shelf + Upkeep + Workbench + Send + Sync + 'static {
    /// Now, UTC.
    fn now(&self) -> Timestamp;

    /// A name that has never been used before and that nobody can guess: 128 bits in hexadecimal digits.
    ///
    /// # Errors
    /// When the system has no random numbers.
    fn secret(&self) -> Result<String, BackendError>;

    /// What can be asked, of what and how.
    ///
    /// # Errors
    /// When a datastore cannot be read.
    fn offer(&self) -> Result<Offer, BackendError>;

    /// What a job is expected to use. Opens no model.
    ///
    /// # Errors
    /// When the request cannot be done as it is.
    fn estimate(&self, request: &JobRequest) -> Result<Expected, BackendError>;

    /// Checks a request and gives it the name of a run, which is kept for it.
    ///
    /// # Errors
    /// When the request cannot be done as it is, or no run can be kept.
    fn reserve(&self, request: &JobRequest) -> Result<Reserved, BackendError>;

    /// Gives up a reserved name whose run never began.
    fn release(&self, run: &str);

    /// Does what was asked, and keeps the run as the command line does. Returns when the run is over.
    ///
    /// # Errors
    /// When there is no result; [`BackendErrorKind::Interrupted`] when `task.cancel` said so.
    fn carry_out(&self, task: JobTask) -> Result<RunUsage, BackendError>;

    /// US dollars of these tokens at the price of the model that writes; `None` where no price is known. For runs that ended without a
    /// result, whose backend reports no cost.
    fn price(&self, usage: TokenUsage) -> Option<f64>;

    /// The newest `limit` runs, the newest first, whoever made them.
    ///
    /// # Errors
    /// When they cannot be listed.
    fn runs(&self, limit: usize) -> Result<Vec<RunSummary>, BackendError>;

    /// A run with its answer, as far as it has one.
    ///
    /// # Errors
    /// When there is no such run, or it is damaged.
    fn run(&self, run: &str) -> Result<RunView, BackendError>;

    /// The text of an idea that was sent as the file `name`, whatever of the readable formats it has.
    ///
    /// # Errors
    /// When it cannot be read: another format, pictures of pages, a bomb.
    fn idea(&self, name: &str, bytes: Vec<u8>) -> Result<String, BackendError>;

    /// What a run wrote as a file, or of it one part with what that cites.
    ///
    /// # Errors
    /// When there is no such run, or it has no answer.
    fn export(
        &self,
        run: &str,
        kind: ExportKind,
        part: Option<ExportPart>,
    ) -> Result<Export, BackendError>;
}
