//! The pages on which people ask, read and check.
//!
//! Pages are made on the server by functions from values to markup (`maud`), which escape everything; text of papers, models and
//! people goes through [`text::text`] besides, so that nothing of it is obeyed. Everything but live updates works without a
//! script: buttons are forms, and popovers are the browser's own. A new page is a module with a function that makes it, a route
//! in [`routes`], and a line in [`layout::PLACES`] if it is to be reached from everywhere.

mod again;
mod annotate;
mod answer;
mod ask;
mod chips;
mod explored;
mod form;
mod layout;
mod library;
mod live;
mod paper;
mod paper_page;
mod progress;
mod reference;
mod report;
mod review;
mod review_routes;
mod routes;
mod run;
mod runs;
mod screenings;
mod sheet_form;
mod sheet_routes;
mod shelf_routes;
mod sign_in;
mod status;
mod tables;
mod text;
mod upkeep_routes;

use std::sync::Arc;

use axum::Router;
use maud::{Markup, html};
use utoipa::openapi::OpenApi;

use crate::context::SiteState;
use crate::error::{ApiError, ErrorCode};
use layout::{Frame, Place};
use text::text;

/// The page that describes the interface of programs, from its document.
pub(crate) fn reference(document: &OpenApi, has_studies: bool) -> Markup {
    reference::page(document, has_studies)
}

/// The routes.
pub(crate) fn router() -> Router<Arc<SiteState>> {
    routes::router()
        .merge(review_routes::router())
        .merge(shelf_routes::router())
        .merge(sheet_routes::router())
        .merge(upkeep_routes::router())
}

/// A page of a few words.
pub(crate) fn message(title: &str, words: &str, has_studies: bool) -> Markup {
    let body = html! {
        h1 { (text(title)) }
        p { (text(words)) }
        p { a href="/" { "Ask a question" } }
    };
    layout::page(&Frame { has_studies, ..Frame::plain(title, Place::Elsewhere) }, &body)
}

/// What a person reads of a failed request.
pub(crate) fn error(error: &ApiError, has_studies: bool) -> Markup {
    let title = match error.code {
        ErrorCode::NotFound => "There is nothing at this address",
        ErrorCode::OverBudget => "Over budget",
        ErrorCode::Busy => "The server is busy",
        ErrorCode::Unavailable => "Not reachable",
        ErrorCode::Timeout => "That took too long",
        ErrorCode::Internal => "The server has a fault",
        _ => "That did not work",
    };
    let body = html! {
        h1 { (title) }
        p.notice { (text(&sentence(&error.message))) }
        @if let Some(hint) = &error.hint { p { strong { "What you can do: " } (text(&sentence(hint))) } }
        @if let Some(seconds) = error.retry_after_s { p { "Try again in " (seconds) " s." } }
        p { a href="/" { "Ask a question" } }
    };
    layout::page(&Frame { has_studies, ..Frame::plain(title, Place::Elsewhere) }, &body)
}

/// A clause as a sentence.
pub(crate) fn sentence(clause: &str) -> String {
    // A command is typed as it is.
    let begins_with_command = clause.starts_with("openscholar ");
    let mut chars = clause.chars();
    let head: String = match chars.next() {
        Some(first) if begins_with_command => first.to_string(),
        first => first.map(|c| c.to_uppercase().collect()).unwrap_or_default(),
    };
    let whole = format!("{head}{}", chars.as_str());
    if whole.ends_with(['.', '!', '?', '…']) { whole } else { format!("{whole}.") }
}
