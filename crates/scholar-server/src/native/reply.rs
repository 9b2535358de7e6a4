//! Shapes of replies.

use scholar_core::{Answer, Notice};
use scholar_pipeline::budget::Estimate;
use serde::Serialize;
use utoipa::{IntoResponses, ToSchema};

use crate::backend::{AnswerView, Expected, RunSummary, RunUsage, RunView};
use crate::openapi::replies::ErrorReply;

/// Schema of [`RunReply`].
const RUN_SCHEMA: &str = "openscholar.api-run/1";

/// A question or an idea was taken.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Accepted {
    /// Name of its run.
    #[schema(example = "20260101-120000-ab12")]
    pub(super) run: String,
    /// Address of the run.
    pub(super) url: String,
    /// Address of its events.
    pub(super) events_url: String,
    /// Address of its page.
    pub(super) page_url: String,
}

impl Accepted {
    /// Of a review.
    pub(super) fn of_review(run: String) -> Self {
        Self { url: format!("/v1/reviews/{run}"), ..Self::of(run) }
    }

    pub(super) fn of(run: String) -> Self {
        Self {
            url: format!("/v1/runs/{run}"),
            events_url: format!("/v1/runs/{run}/events"),
            page_url: format!("/runs/{run}"),
            run,
        }
    }
}

/// What answering is expected to use.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct EstimateReply {
    /// Model calls.
    pub(super) calls: u64,
    /// Tokens read and written.
    pub(super) tokens: u64,
    /// US dollars; `null` where the price of the model is unknown.
    pub(super) usd: Option<f64>,
}

impl EstimateReply {
    pub(super) fn of(estimate: &Estimate) -> Self {
        let Estimate { calls, usage, usd } = *estimate;
        Self { calls, tokens: usage.total(), usd }
    }
}

/// What a job is expected to use.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ExpectedReply {
    /// At least.
    least: EstimateReply,
    /// At most.
    most: EstimateReply,
}

impl ExpectedReply {
    pub(super) fn of(expected: &Expected) -> Self {
        let Expected { least, most } = expected;
        Self { least: EstimateReply::of(least), most: EstimateReply::of(most) }
    }
}

/// Runs, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RunsReply {
    pub(super) runs: Vec<RunSummary>,
}

/// A run.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RunReply {
    /// Name and version of this shape.
    #[schema(example = "openscholar.api-run/1")]
    schema: &'static str,
    #[serde(flatten)]
    pub(super) run: RunSummary,
    /// Questions that are answered before this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) waiting_behind: Option<usize>,
    /// The answer as `openscholar ask --json` prints it, without what is beside it here; `null` while there is none.
    #[schema(value_type = Option<Object>)]
    answer: Option<Answer>,
    /// What a person should know.
    #[schema(value_type = Vec<Object>)]
    notices: Vec<Notice>,
    /// What it took.
    usage: Option<RunUsage>,
}

impl RunReply {
    pub(super) fn new(run: RunSummary, answer: Option<AnswerView>) -> Self {
        let (answer, notices, usage) = match answer {
            Some(AnswerView { answer, notices, usage }) => (Some(answer), notices, Some(usage)),
            None => (None, Vec::new(), None),
        };
        Self { schema: RUN_SCHEMA, run, waiting_behind: None, answer, notices, usage }
    }
}

/// Schema of [`ReviewReply`].
const REVIEW_SCHEMA: &str = "openscholar.api-review/1";

/// A review.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ReviewReply {
    /// Name and version of this shape.
    #[schema(example = "openscholar.api-review/1")]
    schema: &'static str,
    #[serde(flatten)]
    run: RunSummary,
    /// Jobs that are done before this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) waiting_behind: Option<usize>,
    /// `openscholar.review/1`, as `openscholar review --json` prints it; `null` while there is none.
    #[schema(value_type = Option<Object>)]
    review: Option<serde_json::Value>,
    /// What it took.
    usage: Option<RunUsage>,
}

impl ReviewReply {
    pub(super) fn new(run: RunSummary, view: Option<RunView>) -> Self {
        let (answer, review) = view.map_or((None, None), |view| (view.answer, view.review));
        Self {
            schema: REVIEW_SCHEMA,
            run,
            waiting_behind: None,
            review: review.map(|review| review.document),
            usage: answer.map(|answer| answer.usage),
        }
    }
}

/// A run was told to end, or to go on.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Told {
    /// Whether there was anything to end or to go on with.
    pub(super) done: bool,
}

/// Why there is no such reply.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "described, never made")]
pub(super) enum Failures {
    /// The request cannot be done as it is; the message says why
    #[response(status = 400)]
    BadRequest(#[to_schema] ErrorReply),
    /// No token, where tokens are needed
    #[response(status = 401)]
    Unauthorized(#[to_schema] ErrorReply),
    /// A page of another server asks
    #[response(status = 403)]
    Forbidden(#[to_schema] ErrorReply),
    /// There is no such run, or it is somebody else's
    #[response(status = 404)]
    NotFound(#[to_schema] ErrorReply),
    /// The body is longer than the server reads
    #[response(status = 413)]
    TooLarge(#[to_schema] ErrorReply),
    /// The request is for a host that this server does not go by
    #[response(status = 421)]
    Misdirected(#[to_schema] ErrorReply),
    /// The caller has asked or spent as much as they may
    #[response(status = 429)]
    OverBudget(#[to_schema] ErrorReply),
    /// Damage or a bug; the server's log says which
    #[response(status = 500)]
    Internal(#[to_schema] ErrorReply),
    /// Too much waits already, or something that is needed cannot be reached
    #[response(status = 503)]
    Busy(#[to_schema] ErrorReply),
}
