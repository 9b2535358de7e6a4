//! `/v1/papers…`: papers, the pages of their PDFs, and files that are added.
#![expect(unused_qualifications, reason = "utoipa names the types of parameters by paths")]

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Multipart, Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use scholar_core::{PageBox, PaperMeta, Passage};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::reply::Failures;
use crate::additions;
use crate::backend::{AddedFile, PaperList, PaperQuery, PaperView, QuotedIn};
use crate::context::SiteState;
use crate::context::asking::visible;
use crate::context::caller::Caller;
use crate::context::shelf::paper_id;
use crate::error::ApiError;
use crate::reply::Json;

/// Papers of one list at most.
const MOST_LISTED: usize = 500;
/// Longest text that is looked for on the pages of a PDF, in characters.
const LONGEST_WORDS: usize = 4_000;

/// Which papers.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Listed {
    /// Name of a datastore.
    datastore: String,
    /// Words of title, authors or venue; all must be there.
    #[serde(default)]
    words: String,
    /// How many of those that fit are passed over.
    #[serde(default)]
    offset: usize,
    /// How many at most, up to 500.
    #[serde(default = "fifty")]
    #[param(default = 50)]
    limit: usize,
}

fn fifty() -> usize {
    50
}

/// Papers of a datastore.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PapersReply {
    /// How many the datastore has.
    total: usize,
    /// How many fit.
    found: usize,
    /// Metadata, as `openscholar papers list --json` prints them.
    #[schema(value_type = Vec<Object>)]
    papers: Vec<PaperMeta>,
}

/// Papers of a datastore, in the order in which they are stored
#[utoipa::path(
    get,
    path = "/v1/papers",
    tag = "papers",
    operation_id = "list_papers",
    params(Listed),
    responses((status = 200, description = "Papers", body = PapersReply), Failures),
)]
pub(super) async fn list(
    State(state): State<Arc<SiteState>>,
    Query(Listed { datastore, words, offset, limit }): Query<Listed>,
) -> Result<Json<PapersReply>, ApiError> {
    let query = PaperQuery { words, offset, limit: limit.min(MOST_LISTED) };
    let PaperList { papers, found, total } =
        state.laborious(move |state| state.backend.papers(&datastore, &query)).await?;
    Ok(Json(PapersReply { total, found, papers }))
}

/// A section of a paper.
#[derive(Debug, Serialize, ToSchema)]
struct SectionReply {
    /// The path of headings that leads to it.
    heading: String,
    /// Its text.
    text: String,
}

/// A work that a paper cites.
#[derive(Debug, Serialize, ToSchema)]
struct CitedReply {
    /// Its identifier, if it is known.
    id: Option<String>,
    /// As it is printed, or its title.
    text: String,
    /// Whether the datastore has it.
    stored: bool,
}

/// A quotation of a paper in an answer.
#[derive(Debug, Serialize, ToSchema)]
struct QuotedReply {
    /// The run.
    run: String,
    /// What it was asked.
    question: String,
    /// The words.
    quotation: String,
    /// The passage they stand in.
    passage: String,
    /// First character in the passage.
    start: usize,
    /// One past the last.
    end: usize,
}

/// A paper.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PaperReply {
    /// Its metadata.
    #[schema(value_type = Object)]
    paper: PaperMeta,
    /// Its text.
    sections: Vec<SectionReply>,
    /// How the text was cut: what is searched and quoted.
    #[schema(value_type = Vec<Object>)]
    passages: Vec<Passage>,
    /// What it cites, in order.
    references: Vec<CitedReply>,
    /// Papers of the datastore that cite it.
    #[schema(value_type = Vec<Object>)]
    cited_by: Vec<PaperMeta>,
    /// Where your runs quote it.
    quoted_in: Vec<QuotedReply>,
    /// Whether pages of its PDF can be looked at.
    has_pdf: bool,
}

/// A paper with its text, its references, who cites it and where it was quoted
#[utoipa::path(
    get,
    path = "/v1/papers/{datastore}/{paper}",
    tag = "papers",
    operation_id = "show_paper",
    params(
        ("datastore" = String, Path, description = "Name of a datastore"),
        ("paper" = String, Path, description = "Identifier of a paper, its slashes encoded", example = "doi:10.1000%2Fx"),
    ),
    responses((status = 200, description = "The paper", body = PaperReply), Failures),
)]
pub(super) async fn show(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path((datastore, paper)): Path<(String, String)>,
) -> Result<Json<PaperReply>, ApiError> {
    let id = paper_id(&paper)?;
    let view = state.blocking(move |state| state.backend.paper(&datastore, &id)).await??;
    let PaperView { paper, passages, references, cited_by, quoted_in, has_pdf } = view;
    let mut quoted = Vec::new();
    for QuotedIn { run, question, quotation, passage, start, end } in quoted_in {
        if caller.sees_all || visible(&state, &caller, &run).await.is_ok() {
            let passage = passage.to_string();
            quoted.push(QuotedReply { run, question, quotation, passage, start, end });
        }
    }
    let sections = paper.sections.into_iter();
    let references = references.into_iter().map(|work| CitedReply {
        id: work.id.map(|id| id.to_string()),
        text: work.text,
        stored: work.is_stored,
    });
    Ok(Json(PaperReply {
        paper: paper.meta,
        sections: sections
            .map(|section| SectionReply { heading: section.heading, text: section.text })
            .collect(),
        passages,
        references: references.collect(),
        cited_by,
        quoted_in: quoted,
        has_pdf,
    }))
}

/// What is marked on a page.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Marked {
    /// Words to be marked, for example a quotation.
    words: Option<String>,
}

impl Marked {
    fn words(self) -> Result<Option<String>, ApiError> {
        let words = self.words.filter(|words| !words.trim().is_empty());
        match &words {
            Some(long) if long.chars().count() > LONGEST_WORDS => {
                let message = format!("words has more than {LONGEST_WORDS} characters");
                Err(ApiError::bad_request(message))
            }
            _ => Ok(words),
        }
    }
}

/// What words cover of a page.
#[derive(Debug, Serialize, ToSchema)]
struct MarkReply {
    /// The page, from 1.
    page: u32,
    /// One rectangle a line: `left`, `top`, `right`, `bottom` in points from the upper left.
    #[schema(value_type = Vec<Object>)]
    boxes: Vec<PageBox>,
}

/// A page of a PDF.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PageReply {
    /// Which one, from 1.
    page: u32,
    /// How many there are.
    pages: u32,
    /// Width in points.
    width: f32,
    /// Height in points.
    height: f32,
    /// Where the words stand, on this page and others; empty if they do not.
    marks: Vec<MarkReply>,
    /// What the drawing lacks.
    notices: Vec<String>,
}

/// A page of a paper's PDF, and where words stand
#[utoipa::path(
    get,
    path = "/v1/papers/{datastore}/{paper}/pages/{page}",
    tag = "papers",
    operation_id = "show_page",
    params(
        ("datastore" = String, Path, description = "Name of a datastore"),
        ("paper" = String, Path, description = "Identifier of a paper, its slashes encoded"),
        ("page" = u32, Path, description = "Number of the page, from 1"),
        Marked,
    ),
    responses((status = 200, description = "The page", body = PageReply), Failures),
)]
pub(super) async fn page(
    State(state): State<Arc<SiteState>>,
    Path((datastore, paper, page)): Path<(String, String, u32)>,
    Query(marked): Query<Marked>,
) -> Result<Json<PageReply>, ApiError> {
    let (id, words) = (paper_id(&paper)?, marked.words()?);
    let (drawn, marks) = state
        .laborious(move |state| {
            let marks = match &words {
                Some(words) => state.backend.marks(&datastore, &id, words)?,
                None => Vec::new(),
            };
            Ok((state.backend.drawn_page(&datastore, &id, page, None)?, marks))
        })
        .await?;
    let marks = marks.into_iter().map(|mark| MarkReply { page: mark.page, boxes: mark.boxes });
    Ok(Json(PageReply {
        page,
        pages: drawn.pages,
        width: drawn.width,
        height: drawn.height,
        marks: marks.collect(),
        notices: drawn.notices,
    }))
}

/// A page of a paper's PDF, drawn, with words marked
#[utoipa::path(
    get,
    path = "/v1/papers/{datastore}/{paper}/pages/{page}/drawing.svg",
    tag = "papers",
    operation_id = "draw_page",
    params(
        ("datastore" = String, Path, description = "Name of a datastore"),
        ("paper" = String, Path, description = "Identifier of a paper, its slashes encoded"),
        ("page" = u32, Path, description = "Number of the page, from 1"),
        Marked,
    ),
    responses((status = 200, description = "The drawing", content_type = "image/svg+xml", body = String), Failures),
)]
pub(super) async fn drawing(
    State(state): State<Arc<SiteState>>,
    Path((datastore, paper, page)): Path<(String, String, u32)>,
    Query(marked): Query<Marked>,
) -> Result<Response, ApiError> {
    let (id, words) = (paper_id(&paper)?, marked.words()?);
    let drawn = state
        .laborious(move |state| state.backend.drawn_page(&datastore, &id, page, words.as_deref()))
        .await?;
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], drawn.svg).into_response())
}

/// Files that are being added.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AdditionReply {
    /// The name to ask for how far it is.
    id: String,
    /// Where the papers go.
    datastore: String,
    /// Names of the files, in order.
    files: Vec<String>,
    /// What became of the first of them.
    done: Vec<AddedFile>,
    /// Why no more will come of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    failed: Option<String>,
    /// Whether nothing more will happen.
    is_over: bool,
}

impl From<additions::Addition> for AdditionReply {
    fn from(addition: additions::Addition) -> Self {
        let is_over = addition.is_over();
        let additions::Addition { id, datastore, files, done, failed, .. } = addition;
        Self { id, datastore, files, done, failed, is_over }
    }
}

/// Adds files to a datastore: PDFs, JATS, TEI, HTML, text, BibTeX, RIS, CSL-JSON, each a part `files`
#[utoipa::path(
    post,
    path = "/v1/papers/{datastore}",
    tag = "papers",
    operation_id = "add_papers",
    params(("datastore" = String, Path, description = "Name of a datastore")),
    request_body(content = Vec<u8>, content_type = "multipart/form-data"),
    responses((status = 202, description = "They wait for their turn", body = AdditionReply), Failures),
)]
pub(super) async fn add(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path(datastore): Path<String>,
    parts: Multipart,
) -> Result<Response, ApiError> {
    let id = state.take_in(&caller, datastore, parts).await?;
    let addition = state.addition(&caller, &id).await?;
    Ok((StatusCode::ACCEPTED, Json(AdditionReply::from(addition))).into_response())
}

/// How far the adding of files is
#[utoipa::path(
    get,
    path = "/v1/additions/{id}",
    tag = "papers",
    operation_id = "show_addition",
    params(("id" = String, Path, description = "The name that adding gave")),
    responses((status = 200, description = "How far it is", body = AdditionReply), Failures),
)]
pub(super) async fn addition(
    State(state): State<Arc<SiteState>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<AdditionReply>, ApiError> {
    Ok(Json(state.addition(&caller, &id).await?.into()))
}
