//! One page of a paper's PDF, as it was printed, with a quotation marked.

use maud::{Markup, html};
use scholar_core::PaperMeta;

use super::paper::{Quotation, about, address};
use super::sentence;
use super::text::text;
use crate::backend::DrawnPage;

/// Width of a drawing on a page, in CSS pixels: 96 to the inch, as it is printed.
const PIXELS_A_POINT: f32 = 96.0 / 72.0;

/// Where a quotation is.
pub(super) enum Place<'a> {
    /// On this page, this share of its height from the top, as far as that is known.
    Here(Option<f32>),
    /// On these pages, and not on this one.
    Elsewhere(&'a [u32]),
}

/// The page.
pub(super) fn page(
    datastore: &str,
    meta: &PaperMeta,
    (number, drawn): (u32, &DrawnPage),
    quotation: Option<&Quotation<'_>>,
    place: &Place<'_>,
) -> Markup {
    let own = address(datastore, &meta.id);
    let query = quotation.map(|quotation| format!("?{}", quotation.query())).unwrap_or_default();
    let to = |page: u32| format!("{own}/pages/{page}{query}");
    let (elsewhere, at) = match place {
        Place::Here(at) => (None, *at),
        Place::Elsewhere(pages) => (Some(*pages), None),
    };
    let marked = quotation.is_some() && elsewhere.is_none();
    let shows = format!(
        "Page {number} of {} of {}{}",
        drawn.pages,
        meta.display_title(),
        if marked { ", with the quotation marked" } else { "" }
    );
    let pixels = |points: f32| (points * PIXELS_A_POINT).round();
    html! {
        h1 { (text(&meta.display_title())) }
        (about(meta))
        @if let Some(words) = quotation.and_then(Quotation::words) { blockquote { mark { (text(words)) } } }
        @if let Some(elsewhere) = elsewhere {
            p.notice.warn role="status" {
                @if elsewhere.is_empty() { "These words were not found in the PDF: its text may be drawn as a picture, or another version of the paper was quoted. " }
                @else {
                    "The quotation stands on another page: "
                    @for page in elsewhere { a href=(to(*page)) { "page " (page) } " " }
                }
            }
        }
        (steps("Pages of the PDF", (number, drawn.pages), &to))
        figure.page data-mark=[at] {
            img src={ (own) "/pages/" (number) "/drawing.svg" (query) } alt=(text(&shows))
                width=(pixels(drawn.width)) height=(pixels(drawn.height));
            figcaption.soft { "Page " (number) " of " (drawn.pages) @for notice in &drawn.notices { " · " (text(&sentence(notice))) } }
        }
        (steps("Pages of the PDF, again", (number, drawn.pages), &to))
        p { a href={ (own) (query) @if quotation.is_some() { "#quotation" } } { "The paper’s text" } }
    }
}

/// To the pages before and after.
fn steps(name: &str, (number, pages): (u32, u32), to: &impl Fn(u32) -> String) -> Markup {
    html! {
        nav.steps-of-pages aria-label=(name) {
            @if number > 1 { a rel="prev" href=(to(number - 1)) { "← Page " (number - 1) } }
            " "
            @if number < pages { a rel="next" href=(to(number + 1)) { "Page " (number + 1) " →" } }
        }
    }
}
