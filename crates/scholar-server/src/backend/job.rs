//! What a run is to do: one variant for each kind of job, with its request.
//!
//! The queue, the database, budgets and restarts treat all kinds alike, through the methods of [`JobRequest`]. A new kind is a
//! variant here with its request type, a pair of lines in [`JobRequest::to_json`] and [`JobRequest::read`], and whatever the program
//! does in [`Backend::carry_out`](super::Backend::carry_out).

use std::sync::Arc;

use scholar_pipeline::Observer;
use scholar_pipeline::budget::Estimate;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{AskRequest, BackendError, ReviewRequest, ScreeningRequest, TableRequest};
use crate::cancel::Cancel;

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// Answers a question.
    Ask,
    /// Reviews a research idea.
    Review,
    /// Makes a table of papers.
    Table,
    /// Screens papers by criteria.
    Screening,
}

impl JobKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Ask, Self::Review, Self::Table, Self::Screening];

    /// As JSON and the database have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Review => "review",
            Self::Table => "table",
            Self::Screening => "screening",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether what it gives is a run folder; tables and screenings have folders of their own.
    pub fn has_run_folder(self) -> bool {
        match self {
            Self::Ask | Self::Review => true,
            Self::Table | Self::Screening => false,
        }
    }

    /// What it is called in a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Ask => "question",
            Self::Review => "review",
            Self::Table => "table",
            Self::Screening => "screening",
        }
    }
}

/// A request of any kind.
#[derive(Debug, Clone, PartialEq)]
pub enum JobRequest {
    /// A question.
    Ask(AskRequest),
    /// An idea to be reviewed.
    Review(ReviewRequest),
    /// A table to be made.
    Table(TableRequest),
    /// Papers to be screened.
    Screening(ScreeningRequest),
}

impl From<AskRequest> for JobRequest {
    fn from(request: AskRequest) -> Self {
        Self::Ask(request)
    }
}

impl From<TableRequest> for JobRequest {
    fn from(request: TableRequest) -> Self {
        Self::Table(request)
    }
}

impl From<ScreeningRequest> for JobRequest {
    fn from(request: ScreeningRequest) -> Self {
        Self::Screening(request)
    }
}

impl From<ReviewRequest> for JobRequest {
    fn from(request: ReviewRequest) -> Self {
        Self::Review(request)
    }
}

impl JobRequest {
    /// Its kind.
    pub fn kind(&self) -> JobKind {
        match self {
            Self::Ask(_) => JobKind::Ask,
            Self::Review(_) => JobKind::Review,
            Self::Table(_) => JobKind::Table,
            Self::Screening(_) => JobKind::Screening,
        }
    }

    /// Whether it can be meant, as far as that can be told without a datastore.
    ///
    /// # Errors
    /// When something of the request cannot be meant.
    pub fn check(&self) -> Result<(), BackendError> {
        match self {
            Self::Ask(request) => request.check().map(drop),
            Self::Review(request) => request.check(),
            Self::Table(request) => request.check().map(drop),
            Self::Screening(request) => request.check().map(drop),
        }
    }

    /// Datastore that it names.
    pub fn datastore(&self) -> Option<&str> {
        match self {
            Self::Ask(request) => request.datastore.as_deref(),
            Self::Review(request) => request.datastore.as_deref(),
            Self::Table(request) => request.datastore.as_deref(),
            Self::Screening(request) => request.datastore.as_deref(),
        }
    }

    /// Run that it follows up on.
    pub fn follows(&self) -> Option<&str> {
        match self {
            Self::Ask(request) => request.follows.as_deref(),
            Self::Review(_) | Self::Table(_) | Self::Screening(_) => None,
        }
    }

    /// Whether one that is done may be begun once more: what was decided since, and papers that came, change what it gives.
    pub fn may_go_on(&self) -> bool {
        matches!(self, Self::Screening(_))
    }

    /// Lets it spend no more than `most` US dollars.
    pub fn spend_at_most(&mut self, most: f64) {
        let wanted = match self {
            Self::Ask(request) => &mut request.max_cost_usd,
            Self::Review(request) => &mut request.max_cost_usd,
            Self::Table(request) => &mut request.max_cost_usd,
            Self::Screening(request) => &mut request.max_cost_usd,
        };
        *wanted = Some(wanted.map_or(most, |wanted| wanted.min(most)));
    }

    /// As the database keeps it, beside its kind.
    pub(crate) fn to_json(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Ask(request) => serde_json::to_string(request),
            Self::Review(request) => serde_json::to_string(request),
            Self::Table(request) => serde_json::to_string(request),
            Self::Screening(request) => serde_json::to_string(request),
        }
    }

    /// What the database kept of a kind.
    pub(crate) fn read(kind: JobKind, json: &str) -> Result<Self, serde_json::Error> {
        match kind {
            JobKind::Ask => serde_json::from_str(json).map(Self::Ask),
            JobKind::Review => serde_json::from_str(json).map(Self::Review),
            JobKind::Table => serde_json::from_str(json).map(Self::Table),
            JobKind::Screening => serde_json::from_str(json).map(Self::Screening),
        }
    }
}

/// A run that is kept for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reserved {
    /// Its name.
    pub run: String,
    /// What it is called in lists: the question, the title of an idea.
    pub title: String,
}

/// What a job is expected to use; the two are alike where that can be told exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// At least.
    pub least: Estimate,
    /// At most.
    pub most: Estimate,
}

impl Expected {
    /// Exactly that.
    pub fn exactly(estimate: Estimate) -> Self {
        Self { least: estimate, most: estimate }
    }
}

/// A job whose turn it is.
pub struct JobTask {
    /// The run's name, from [`Backend::reserve`](super::Backend::reserve).
    pub run: String,
    /// What is to be done.
    pub request: JobRequest,
    /// Whether an earlier process began it: what its journal holds is not asked again.
    pub resume: bool,
    /// Sees every event as it happens.
    pub observer: Arc<dyn Observer>,
    /// Says when to stop.
    pub cancel: Cancel,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_kept_as_json_and_read_again() {
        let ask = AskRequest { question: "Why?".to_owned(), ..AskRequest::default() };
        let review = ReviewRequest { idea: "We plan.".to_owned(), ..ReviewRequest::default() };
        let table = TableRequest { columns: vec!["n".to_owned()], ..TableRequest::default() };
        let screening = ScreeningRequest { title: "x".to_owned(), ..ScreeningRequest::default() };
        let all: [JobRequest; 4] = [ask.into(), review.into(), table.into(), screening.into()];
        for mut request in all {
            request.spend_at_most(2.0);
            request.spend_at_most(3.0);
            let json = request.to_json().expect("JSON");
            assert!(json.contains("\"max_cost_usd\":2.0"), "{json}");
            let kind = JobKind::named(request.kind().name()).expect("a kind");
            assert_eq!(JobRequest::read(kind, &json).expect("a request"), request);
        }
        assert_eq!(JobKind::named("dance"), None);
    }
}
