//! What every page has.

use maud::{DOCTYPE, Markup, html};

use super::text::text;
use crate::backend::RunState;
use crate::jobs::store::ThreadLine;

/// The stylesheet.
pub(super) const STYLE: &str = include_str!("app.css");
/// What makes pages live. Everything but that works without.
pub(super) const SCRIPT: &str = include_str!("app.js");
/// The sign in the browser's tab.
pub(super) const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\">\
<rect width=\"16\" height=\"16\" rx=\"3\" fill=\"#0b5394\"/>\
<path d=\"M4 5h8M4 8h8M4 11h5\" stroke=\"#fff\" stroke-width=\"1.5\" stroke-linecap=\"round\"/></svg>\n";

/// Seconds after which a page without a script is loaded again.
const REFRESH_S: u32 = 3;

/// Pages that are reached from everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Asking.
    Ask,
    /// Having an idea reviewed.
    Review,
    /// Tables of papers.
    Tables,
    /// Papers held against criteria.
    Screenings,
    /// Papers.
    Library,
    /// What was asked.
    Runs,
    /// Comparing answers.
    Annotate,
    /// How the program is.
    Status,
    /// None of them.
    Elsewhere,
}

/// Their addresses and names, in order.
pub(super) const PLACES: &[(Place, &str, &str)] = &[
    (Place::Ask, "/", "Ask"),
    (Place::Review, "/review", "Review"),
    (Place::Tables, "/tables", "Tables"),
    (Place::Screenings, "/screenings", "Screening"),
    (Place::Library, "/library", "Library"),
    (Place::Runs, "/runs", "Runs"),
    (Place::Annotate, crate::annotate::WITHIN, "Annotate"),
    (Place::Status, "/status", "Status"),
];

/// What a page is like beside its content.
pub(super) struct Frame<'a> {
    /// What stands in the browser's tab.
    pub(super) title: &'a str,
    /// Where it is.
    pub(super) place: Place,
    /// Threads at its side; `None`: no side at all.
    pub(super) threads: Option<&'a [ThreadLine]>,
    /// The run that is shown, to mark its thread.
    pub(super) thread: Option<&'a str>,
    /// Who is signed in, where people sign in.
    pub(super) caller: Option<&'a str>,
    /// Whether it changes by itself: without a script it is loaded again and again.
    pub(super) is_changing: bool,
    /// Whether answers are compared here.
    pub(super) has_studies: bool,
    /// Whether it is as wide as the window, for a table.
    pub(super) is_wide: bool,
}

impl<'a> Frame<'a> {
    /// A page without a side.
    pub(super) fn plain(title: &'a str, place: Place) -> Self {
        Self {
            title,
            place,
            threads: None,
            thread: None,
            caller: None,
            is_changing: false,
            has_studies: false,
            is_wide: false,
        }
    }
}

/// A whole page.
pub(super) fn page(frame: &Frame<'_>, body: &Markup) -> Markup {
    let Frame { title, place, threads, thread, caller, is_changing, has_studies, is_wide } = frame;
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                title { (text(title)) " · OpenScholar" }
                link rel="stylesheet" href="/style.css";
                link rel="icon" href="/icon.svg" type="image/svg+xml";
                @if *is_changing { noscript { meta http-equiv="refresh" content=(REFRESH_S); } }
                script type="module" src="/app.js" {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.brand href="/" { "OpenScholar" }
                    nav aria-label="Pages" {
                        ul {
                            @for (one, address, name) in PLACES.iter().filter(|(one, ..)| *one != Place::Annotate || *has_studies) {
                                li { a href=(address) aria-current=[(one == place).then_some("page")] { (name) } }
                            }
                        }
                    }
                    @if let Some(caller) = caller {
                        form.who method="post" action="/sign-out" {
                            span { (text(caller)) } " "
                            button.link type="submit" { "Sign out" }
                        }
                    }
                }
                div.columns.wide[*is_wide] {
                    main #main tabindex="-1" { (body) }
                    @if let (Some(threads), false) = (threads, *is_wide) { (side(threads, *thread)) }
                }
            }
        }
    }
}

/// Earlier questions.
fn side(threads: &[ThreadLine], shown: Option<&str>) -> Markup {
    html! {
        aside aria-labelledby="threads" {
            h2 #threads { "Your runs" }
            @if threads.is_empty() {
                p.soft { "What you ask is listed here: questions with their follow-ups, and reviews." }
            } @else {
                ul.threads {
                    @for ThreadLine { run, title, n_runs, state } in threads {
                        li {
                            a href={ "/runs/" (run) } aria-current=[(shown == Some(run)).then_some("true")] { (text(title)) }
                            @if *n_runs > 1 { " " span.soft { "+" (n_runs - 1) } }
                            @if *state != RunState::Done { " " (badge(*state)) }
                        }
                    }
                }
                p { a href="/runs" { "All runs" } }
            }
        }
    }
}

/// How far a run came, in a word.
pub(super) fn badge(state: RunState) -> Markup {
    let words = match state {
        RunState::Queued => "waiting",
        RunState::Running => "under way",
        RunState::Done => "done",
        RunState::Failed => "failed",
        RunState::Interrupted => "interrupted",
        RunState::Cancelled => "cancelled",
    };
    html! { span class={ "badge " (state.name()) } { (words) } }
}
