//! Shapes of replies, for the document alone: replies are written piece by piece from the types of `scholar-core`, which do
//! not know HTTP. A test checks real replies against these shapes.
#![expect(dead_code, reason = "described, never made")]

use serde::Serialize;
use utoipa::{IntoResponses, ToSchema};

use crate::error::ApiError;

/// Reply to `POST /v1/search`.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchReply {
    /// Name and version of this shape.
    #[schema(example = "openscholar.api-search/1")]
    schema: String,
    /// Names of the datastores that were searched, parted by commas.
    collection: String,
    /// Datastores that are served and could not be searched; the server's log says why.
    #[schema(nullable = false)]
    left_out: Option<Vec<String>>,
    /// Milliseconds from the request's arrival to the first results, waiting included.
    took_ms: u64,
    /// One entry for each query, in order.
    results: Vec<QueryReply>,
}

/// One query with what came of it: either hits or an error.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueryReply {
    /// The query as it was sent.
    query: String,
    /// Best first.
    #[schema(nullable = false)]
    hits: Option<Vec<Hit>>,
    #[schema(nullable = false)]
    error: Option<ApiError>,
}

/// A passage that was found.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hit {
    /// Place among the hits, from 1.
    rank: usize,
    /// The higher the better; comparable within one query only.
    score: f64,
    passage: PassageReply,
    paper: PaperReply,
    #[schema(nullable = false)]
    explanation: Option<ExplanationReply>,
    /// The datastores that have the passage.
    datastores: Vec<String>,
}

/// Consecutive words of one section of a paper.
#[derive(Serialize, ToSchema)]
#[schema(as = Passage)]
#[serde(deny_unknown_fields)]
pub(crate) struct PassageReply {
    /// The paper's identifier, `#` and the passage's number in the paper, from 0.
    #[schema(example = "acl:2020.acl-main.326#0")]
    id: String,
    /// The paper's title.
    title: String,
    /// Heading of the section; left out where there is none.
    #[schema(nullable = false)]
    section: Option<String>,
    kind: PassageKindReply,
    /// An exact slice of the paper's text.
    text: String,
    span: SpanReply,
    /// Where the text stands on the pages, where that is known.
    #[schema(nullable = false)]
    places: Option<Vec<PlaceReply>>,
}

/// What a passage is made of: prose (`abstract`, `body`), or text that is found but not quoted.
#[derive(Serialize, ToSchema)]
#[schema(as = PassageKind)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PassageKindReply {
    Abstract,
    Body,
    Table,
    Caption,
    References,
    Boilerplate,
}

/// Characters (Unicode scalar values) of the paper's text, from `start` up to but not including `end`.
#[derive(Serialize, ToSchema)]
#[schema(as = Span)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpanReply {
    start: usize,
    end: usize,
}

/// From character `start` of the passage on, the text stands here.
#[derive(Serialize, ToSchema)]
#[schema(as = Place)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaceReply {
    start: usize,
    /// From 1.
    page: u32,
    #[schema(nullable = false)]
    r#box: Option<BoxReply>,
}

/// A rectangle in points (1/72 inch) from the page's top left corner.
#[derive(Serialize, ToSchema)]
#[schema(as = PageBox)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoxReply {
    left: u16,
    top: u16,
    right: u16,
    bottom: u16,
}

/// A paper's metadata. What is not known is left out.
#[derive(Serialize, ToSchema)]
#[schema(as = Paper)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaperReply {
    /// Registry, colon, identifier.
    #[schema(example = "doi:10.1000/x")]
    id: String,
    /// The same paper in other registries.
    #[schema(nullable = false)]
    external_ids: Option<Vec<String>>,
    title: String,
    /// In order, as printed.
    #[schema(nullable = false)]
    authors: Option<Vec<String>>,
    #[schema(nullable = false)]
    year: Option<i16>,
    #[schema(nullable = false, format = Date)]
    published: Option<String>,
    /// Journal, conference or repository.
    #[schema(nullable = false)]
    venue: Option<String>,
    #[schema(nullable = false)]
    url: Option<String>,
    #[schema(nullable = false)]
    citation_count: Option<u32>,
    /// As the source names it.
    #[schema(nullable = false)]
    licence: Option<String>,
    retraction: RetractionReply,
}

/// What registries record against a paper.
#[derive(Serialize, ToSchema)]
#[schema(as = Retraction)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RetractionReply {
    Unknown,
    Clean,
    Corrected,
    Concern,
    Retracted,
}

/// Why a score is what it is: a value, its reason, and the explanations it was made from.
#[derive(Serialize, ToSchema)]
#[schema(as = Explanation)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplanationReply {
    value: f64,
    reason: String,
    #[schema(nullable = false, no_recursion)]
    details: Option<Vec<Self>>,
}

/// Reply to `POST /search`: parallel arrays, best passage first.
#[derive(Serialize, ToSchema)]
pub(crate) struct UpstreamReply {
    #[schema(example = "search finished")]
    message: String,
    query: String,
    n_docs: usize,
    results: UpstreamResults,
}

/// With `--upstream-exact` the first three alone.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpstreamResults {
    /// Semantic Scholar's corpus ids where a paper has one, else its identifier.
    #[serde(rename = "pes2o IDs")]
    pes2o_ids: Vec<String>,
    /// As texts.
    scores: Vec<String>,
    passages: Vec<String>,
    #[schema(nullable = false)]
    numeric_scores: Option<Vec<f64>>,
    #[schema(nullable = false)]
    passage_ids: Option<Vec<String>>,
    #[schema(nullable = false)]
    paper_ids: Option<Vec<String>>,
    #[schema(nullable = false)]
    titles: Option<Vec<String>>,
}

/// Reply to `GET /queue_size`.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueueSize {
    /// Queries that wait.
    queue_size: usize,
}

/// Reply to `GET /current_search`: a message, or with `--upstream-exact` the running query.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CurrentSearch {
    #[schema(nullable = false)]
    message: Option<String>,
    #[schema(nullable = false)]
    current_search: Option<String>,
    #[schema(nullable = false)]
    domains: Option<String>,
    #[schema(nullable = false)]
    n_docs: Option<usize>,
}

/// Reply to `GET /health`.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Health {
    live: bool,
    /// Whether a search would be tried.
    ready: bool,
    stopping: bool,
    collection: String,
    /// `null` when the collection cannot be read.
    papers: Option<u64>,
    /// `null` when the collection cannot be read.
    passages: Option<u64>,
    /// Queries that wait.
    queue_size: usize,
}

/// A failure.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErrorReply {
    error: ApiError,
}

/// Why a search gets no results.
#[derive(IntoResponses)]
pub(crate) enum SearchFailures {
    /// The body is not a request; the message says where
    #[response(status = 400)]
    BadRequest(#[to_schema] ErrorReply),
    /// No token, where tokens are needed
    #[response(status = 401)]
    Unauthorized(#[to_schema] ErrorReply),
    /// A page of another server asks
    #[response(status = 403)]
    Forbidden(#[to_schema] ErrorReply),
    /// The body is longer than the server reads
    #[response(status = 413)]
    TooLarge(#[to_schema] ErrorReply),
    /// The request is for a host that this server does not go by
    #[response(status = 421)]
    Misdirected(#[to_schema] ErrorReply),
    /// Damage or a bug; the server's log says which
    #[response(status = 500)]
    Internal(#[to_schema] ErrorReply),
    /// Too much waits already, or the datastore cannot be read; `Retry-After` says when to come again
    #[response(status = 503)]
    Busy(#[to_schema] ErrorReply),
    /// Not answered in time
    #[response(status = 504)]
    Timeout(#[to_schema] ErrorReply),
}
