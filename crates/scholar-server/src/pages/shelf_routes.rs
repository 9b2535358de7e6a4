//! What browsers ask of papers and of the library.

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Form, Multipart, Path, Query, State};
use axum::http::header;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use scholar_core::{CharSpan, Passage, PassageId};
use serde::Deserialize;

use super::layout::{Frame, Place};
use super::paper::{self, Quotation};
use super::routes::{framed, see};
use super::{library, paper_page};
use crate::additions::MOST_BYTES;
use crate::backend::{CitedPassage, DrawnPage, PaperQuery};
use crate::context::SiteState;
use crate::context::asking::visible;
use crate::context::caller::Caller;
use crate::context::shelf::paper_id;
use crate::error::{ApiError, ErrorCode};

/// Papers of one page of a list.
const LISTED: usize = 50;
/// Pairs of one page.
const SHOWN_PAIRS: usize = 50;
/// Requests that sent files, on the page of the library.
const SHOWN_ADDITIONS: usize = 10;
/// Longest quotation that is marked, in characters: a passage has some two thousand.
const LONGEST_QUOTATION: usize = 20_000;

type Site = State<Arc<SiteState>>;
type Who = Extension<Caller>;

/// The routes.
pub(super) fn router() -> Router<Arc<SiteState>> {
    Router::new()
        .route("/papers/{datastore}/{paper}", get(show))
        .route("/papers/{datastore}/{paper}/pdf", get(at_quotation))
        .route("/papers/{datastore}/{paper}/pages/{page}", get(page))
        .route("/papers/{datastore}/{paper}/pages/{page}/drawing.svg", get(drawing))
        .route("/library", get(shelf))
        // Its handler counts the bytes itself, and writes them to the disk as they come.
        .route("/library/add", post(add).layer(DefaultBodyLimit::disable()))
        .route("/library/additions/{id}", get(addition))
        .route("/library/duplicates", get(duplicates))
        .route("/library/settle", post(settle))
}

/// The quotation that an address names.
#[derive(Debug, Clone, Default, Deserialize)]
struct Asked {
    /// The passage.
    passage: Option<String>,
    /// Its first character.
    #[serde(default)]
    start: usize,
    /// One past its last one; without it the whole passage.
    end: Option<usize>,
}

impl Asked {
    fn span(&self, passage: &Passage) -> CharSpan {
        let whole = passage.text.chars().count();
        CharSpan::new(self.start, self.end.unwrap_or(whole))
    }

    /// The quotation among the passages of a paper; `None` if the address names none.
    fn among<'p>(&self, passages: &'p [Passage]) -> Option<Result<Quotation<'p>, String>> {
        let name = self.passage.as_deref()?;
        let found = passages.iter().find(|passage| passage.id.to_string() == name);
        let quotation = found.map(|passage| Quotation { passage, span: self.span(passage) });
        let fits = quotation.filter(|quotation| quotation.words().is_some());
        Some(fits.ok_or_else(|| {
            "The quotation is not marked: this paper's text is another than when it was quoted."
                .to_owned()
        }))
    }
}

async fn show(
    State(state): Site,
    Extension(caller): Who,
    Path((datastore, paper)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Html<String>, ApiError> {
    let id = paper_id(&paper)?;
    let name = datastore.clone();
    let mut view = state.blocking(move |state| state.backend.paper(&name, &id)).await??;
    let mut quoted_in = Vec::with_capacity(view.quoted_in.len());
    for one in view.quoted_in {
        // Runs of others are theirs.
        if caller.sees_all || visible(&state, &caller, &one.run).await.is_ok() {
            quoted_in.push(one);
        }
    }
    view.quoted_in = quoted_in;
    let quotation = asked.among(&view.passages);
    let body = paper::page(&datastore, &view, quotation.as_ref());
    let title = view.paper.meta.display_title();
    framed(&state, &caller, Frame::plain(&title, Place::Library), &body).await
}

/// The passage that is asked for, with its paper, and the words of the quotation.
async fn quoted(
    state: &Arc<SiteState>,
    datastore: &str,
    asked: &Asked,
) -> Result<Option<(CitedPassage, CharSpan, String)>, ApiError> {
    let Some(name) = &asked.passage else { return Ok(None) };
    let id: PassageId =
        name.parse().map_err(|_| ApiError::new(ErrorCode::NotFound, "there is no such passage"))?;
    let datastore = datastore.to_owned();
    let found = state.blocking(move |state| state.backend.passage(&datastore, &id)).await??;
    let Some(found) = found else {
        return Err(ApiError::new(ErrorCode::NotFound, "there is no such passage"));
    };
    let span = asked.span(&found.passage);
    let words = span.slice(&found.passage.text).filter(|words| !words.trim().is_empty());
    let Some(words) = words.filter(|_| span.len() <= LONGEST_QUOTATION) else {
        return Err(ApiError::bad_request("the passage is shorter than its quotation"));
    };
    let words = words.to_owned();
    Ok(Some((found, span, words)))
}

/// Leads to the page of the PDF on which the quotation begins, or to the first.
async fn at_quotation(
    State(state): Site,
    Path((datastore, paper)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Response, ApiError> {
    let id = paper_id(&paper)?;
    let Some((found, span, words)) = quoted(&state, &datastore, &asked).await? else {
        return Ok(see(&format!("{}/pages/1", paper::address(&datastore, &id))));
    };
    let (name, of) = (datastore.clone(), id.clone());
    let marks = state.laborious(move |state| state.backend.marks(&name, &of, &words)).await?;
    let page = marks.first().map_or(1, |mark| mark.page);
    let quotation = Quotation { passage: &found.passage, span };
    let own = paper::address(&datastore, &id);
    Ok(see(&format!("{own}/pages/{page}?{}", quotation.query())))
}

async fn page(
    State(state): Site,
    Extension(caller): Who,
    Path((datastore, paper, number)): Path<(String, String, u32)>,
    Query(asked): Query<Asked>,
) -> Result<Html<String>, ApiError> {
    let id = paper_id(&paper)?;
    let quoted = quoted(&state, &datastore, &asked).await?;
    let words = quoted.as_ref().map(|(.., words)| words.clone());
    let name = datastore.clone();
    let (meta, drawn, marks) = state
        .laborious(move |state| {
            let marks = match &words {
                Some(words) => Some(state.backend.marks(&name, &id, words)?),
                None => None,
            };
            let drawn = state.backend.drawn_page(&name, &id, number, None)?;
            Ok((state.backend.meta(&name, &id)?, drawn, marks))
        })
        .await?;
    let here = marks.iter().flatten().find(|mark| mark.page == number);
    let at =
        here.and_then(|mark| mark.boxes.first()).map(|first| f32::from(first.top) / drawn.height);
    let pages: Option<Vec<u32>> = marks.map(|marks| marks.iter().map(|mark| mark.page).collect());
    let elsewhere = pages.as_deref().filter(|pages| !pages.contains(&number));
    let quotation =
        quoted.as_ref().map(|(found, span, _)| Quotation { passage: &found.passage, span: *span });
    let place = elsewhere.map_or(paper_page::Place::Here(at), paper_page::Place::Elsewhere);
    let body = paper_page::page(&datastore, &meta, (number, &drawn), quotation.as_ref(), &place);
    let title = format!("Page {number} of {}", meta.display_title());
    framed(&state, &caller, Frame::plain(&title, Place::Library), &body).await
}

async fn drawing(
    State(state): Site,
    Path((datastore, paper, number)): Path<(String, String, u32)>,
    Query(asked): Query<Asked>,
) -> Result<Response, ApiError> {
    let id = paper_id(&paper)?;
    let words = quoted(&state, &datastore, &asked).await?.map(|(.., words)| words);
    let DrawnPage { svg, .. } = state
        .laborious(move |state| state.backend.drawn_page(&datastore, &id, number, words.as_deref()))
        .await?;
    let head = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        // The file may be replaced by another; until then it is the same drawing.
        (header::CACHE_CONTROL, "private, max-age=600"),
    ];
    Ok((head, svg).into_response())
}

/// Which part of the library is shown.
#[derive(Debug, Default, Deserialize)]
struct Listed {
    datastore: Option<String>,
    #[serde(default)]
    words: String,
    #[serde(default)]
    offset: usize,
}

async fn shelf(
    State(state): Site,
    Extension(caller): Who,
    Query(listed): Query<Listed>,
) -> Result<Html<String>, ApiError> {
    library_page(&state, &caller, listed, None).await
}

async fn library_page(
    state: &Arc<SiteState>,
    caller: &Caller,
    listed: Listed,
    problem: Option<&ApiError>,
) -> Result<Html<String>, ApiError> {
    let Listed { datastore, words, offset } = listed;
    let query = PaperQuery { words, offset, limit: LISTED };
    let asked = query.clone();
    let only = caller.only().map(str::to_owned);
    let additions = state
        .blocking(move |state| state.shelving.additions.recent(only.as_deref(), SHOWN_ADDITIONS))
        .await??;
    let (offer, added_to, name, list) = state
        .laborious(move |state| {
            let offer = state.backend.offer()?;
            let added_to = state.backend.added_to();
            let usual = || offer.datastores.first().map(|one| one.name.clone());
            let name = datastore.or_else(usual).unwrap_or_else(|| added_to.clone());
            let is_there = offer.datastores.iter().any(|one| one.name == name);
            let list = if is_there { Some(state.backend.papers(&name, &asked)?) } else { None };
            Ok((offer, added_to, name, list))
        })
        .await?;
    let shown = library::Shown {
        datastores: &offer.datastores,
        datastore: &name,
        added_to: &added_to,
        query: &query,
        list: list.as_ref(),
        additions: &additions,
        problem,
        most_bytes: MOST_BYTES,
    };
    let body = library::page(&shown);
    framed(state, caller, Frame::plain("Library", Place::Library), &body).await
}

/// A datastore, named in an address.
#[derive(Debug, Deserialize)]
struct Named {
    datastore: String,
}

async fn add(
    State(state): Site,
    Extension(caller): Who,
    Query(Named { datastore }): Query<Named>,
    parts: Multipart,
) -> Result<Response, ApiError> {
    match state.take_in(&caller, datastore.clone(), parts).await {
        Ok(id) => Ok(see(&format!("/library/additions/{id}"))),
        Err(error) => {
            let listed = Listed { datastore: Some(datastore), ..Listed::default() };
            let page = library_page(&state, &caller, listed, Some(&error)).await?;
            Ok((error.status(), page).into_response())
        }
    }
}

async fn addition(
    State(state): Site,
    Extension(caller): Who,
    Path(id): Path<String>,
) -> Result<Html<String>, ApiError> {
    let addition = state.addition(&caller, &id).await?;
    let body = library::addition(&addition);
    let frame =
        Frame { is_changing: !addition.is_over(), ..Frame::plain("Adding papers", Place::Library) };
    framed(&state, &caller, frame, &body).await
}

async fn duplicates(
    State(state): Site,
    Extension(caller): Who,
    Query(Named { datastore }): Query<Named>,
) -> Result<Html<String>, ApiError> {
    let name = datastore.clone();
    let (pairs, total) =
        state.blocking(move |state| state.backend.doubtful(&name, SHOWN_PAIRS)).await??;
    let body = library::duplicates(&datastore, &pairs, total);
    framed(&state, &caller, Frame::plain("Pairs that may be one work", Place::Library), &body).await
}

/// What a person decides about two papers.
#[derive(Debug, Deserialize)]
struct Decision {
    one: String,
    other: String,
    are: String,
}

async fn settle(
    State(state): Site,
    Query(Named { datastore }): Query<Named>,
    Form(Decision { one, other, are }): Form<Decision>,
) -> Result<Response, ApiError> {
    let (one, other) = (paper_id(&one)?, paper_id(&other)?);
    let are_one = match are.as_str() {
        "one" => true,
        "two" => false,
        _ => return Err(ApiError::bad_request("two papers are one work or two")),
    };
    let name = datastore.clone();
    state.blocking(move |state| state.backend.settle(&name, [&one, &other], are_one)).await??;
    Ok(see(&format!("/library/duplicates?datastore={}", super::text::encoded(&datastore))))
}
