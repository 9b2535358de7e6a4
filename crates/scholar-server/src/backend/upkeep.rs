//! What can be done with runs that are over, and how the program is.

use serde::Serialize;
use utoipa::ToSchema;

use super::BackendError;

/// Runs looked at again, and the state of everything. Its methods may take seconds.
pub trait Upkeep: Send + Sync + 'static {
    /// In what two runs differ.
    ///
    /// # Errors
    /// When one of them is not there, or has no answer.
    fn compare(&self, left: &str, right: &str) -> Result<RunDifference, BackendError>;

    /// Derives a run's files again, and locates every quotation in the stored papers.
    ///
    /// # Errors
    /// When there is no such run, or its files cannot be read.
    fn verify(&self, run: &str) -> Result<Verified, BackendError>;

    /// Runs the algorithm again on the recorded replies.
    ///
    /// # Errors
    /// When there is no such run, or its journal cannot be used.
    fn replay(&self, run: &str) -> Result<Replayed, BackendError>;

    /// Why each reference is cited, and what led to it; a text for each.
    ///
    /// # Errors
    /// When there is no such run, or it ended early.
    fn explain(&self, run: &str) -> Result<Vec<String>, BackendError>;

    /// What works here and what is missing. Providers of papers are asked only if `ask_providers` says so.
    ///
    /// # Errors
    /// When the state cannot be told.
    fn status(&self, ask_providers: bool) -> Result<Status, BackendError>;
}

/// In what two runs differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunDifference {
    /// Settings, as `path: left → right`.
    pub settings: Vec<String>,
    /// Papers that only the left one cites.
    pub papers_only_left: Vec<String>,
    /// Papers that only the right one cites.
    pub papers_only_right: Vec<String>,
    /// Sentences that only the left one has.
    pub sentences_only_left: Vec<String>,
    /// Sentences that only the right one has.
    pub sentences_only_right: Vec<String>,
}

impl RunDifference {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        let Self {
            settings,
            papers_only_left,
            papers_only_right,
            sentences_only_left,
            sentences_only_right,
        } = self;
        let all = [
            settings,
            papers_only_left,
            papers_only_right,
            sentences_only_left,
            sentences_only_right,
        ];
        all.into_iter().all(Vec::is_empty)
    }
}

/// Whether a run's proof holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Verified {
    /// Whether everything does.
    pub holds: bool,
    /// What was found, a clause each.
    pub lines: Vec<String>,
}

/// What a replay made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Replayed {
    /// Whether every file that can be compared is the same, byte for byte.
    pub is_identical: bool,
    /// A clause for each file.
    pub lines: Vec<String>,
}

/// How the program is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Status {
    /// Its version.
    pub version: String,
    /// Everything that was looked at.
    pub checks: Vec<StatusCheck>,
}

/// One thing looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct StatusCheck {
    /// What it is.
    pub what: String,
    /// Whether it is as it should be.
    pub ok: bool,
    /// How it was found.
    pub found: String,
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub hint: Option<String>,
    /// Whether it tells where files of the server lie, which is no business of other people.
    #[serde(skip)]
    pub is_private: bool,
}
