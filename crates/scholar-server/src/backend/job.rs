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

use super::{AskRequest, BackendError, ReviewRequest};
use crate::cancel::Cancel;

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// Answers a question.
    Ask,
    /// Reviews a research idea.
    Review,
}

impl JobKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Ask, Self::Review];

    /// As JSON and the database have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Review => "review",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What it is called in a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Ask => "question",
            Self::Review => "review",
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
}

impl From<AskRequest> for JobRequest {
    fn from(request: AskRequest) -> Self {
        Self::Ask(request)
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
        }
    }

    /// Datastore that it names.
    pub fn datastore(&self) -> Option<&str> {
        match self {
            Self::Ask(request) => request.datastore.as_deref(),
            Self::Review(request) => request.datastore.as_deref(),
        }
    }

    /// Run that it follows up on.
    pub fn follows(&self) -> Option<&str> {
        match self {
            Self::Ask(request) => request.follows.as_deref(),
            Self::Review(_) => None,
        }
    }

    /// Lets it spend no more than `most` US dollars.
    pub fn spend_at_most(&mut self, most: f64) {
        let wanted = match self {
            Self::Ask(request) => &mut request.max_cost_usd,
            Self::Review(request) => &mut request.max_cost_usd,
        };
        *wanted = Some(wanted.map_or(most, |wanted| wanted.min(most)));
    }

    /// As the database keeps it, beside its kind.
    pub(crate) fn to_json(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Ask(request) => serde_json::to_string(request),
            Self::Review(request) => serde_json::to_string(request),
        }
    }

    /// What the database kept of a kind.
    pub(crate) fn read(kind: JobKind, json: &str) -> Result<Self, serde_json::Error> {
        match kind {
            JobKind::Ask => serde_json::from_str(json).map(Self::Ask),
            JobKind::Review => serde_json::from_str(json).map(Self::Review),
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
        for mut request in [JobRequest::from(ask), JobRequest::from(review)] {
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
