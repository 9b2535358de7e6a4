//! The page of all runs.

use maud::{Markup, html};

use super::layout::badge;
use super::text::{encoded, text};
use crate::backend::{JobKind, RunSummary};

/// The page.
pub(super) fn page(runs: &[RunSummary]) -> Markup {
    html! {
        h1 { "Runs" }
        @if runs.is_empty() {
            p { "Nothing has been asked yet. " a href="/" { "Ask a question" } " or " a href="/review" { "have an idea reviewed" } "." }
        } @else {
            p { a href="/compare" { "Compare two runs" } }
            p.soft { "Every question and every review leaves a run, whether it was asked for here or with " code { "openscholar ask" } " and " code { "openscholar review" } "." }
            div.table tabindex="0" role="region" aria-label="Runs" {
                table {
                    thead { tr { th scope="col" { "Question or idea" } th scope="col" { "Kind" } th scope="col" { "State" } th scope="col" { "Papers" } th scope="col" { "Begun, UTC" } } }
                    tbody {
                        @for run in runs {
                            tr {
                                th scope="row" { a href={ "/runs/" (text(&run.id)) } { (text(&shortened(&run.question))) } }
                                td { (run.verb.noun()) }
                                td { (badge(run.state)) }
                                td { (text(&run.datastore.replace(',', ", "))) }
                                td { (text(run.started.get(..16).unwrap_or(&run.started).replace('T', " ").as_str())) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Address of the page of a run that is no question's.
pub(super) fn page_of(kind: JobKind, run: &str) -> Option<String> {
    match kind {
        JobKind::Table => Some(format!("/tables/{}", encoded(run))),
        JobKind::Screening => Some(format!("/screenings/{}", encoded(run))),
        JobKind::Ask | JobKind::Review => None,
    }
}

/// Characters of a question in the list.
const SHOWN: usize = 140;

fn shortened(question: &str) -> String {
    let one_line = question.split_whitespace().collect::<Vec<_>>().join(" ");
    match one_line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &one_line[..at]),
        None => one_line,
    }
}
