//! The page of all runs.

use maud::{Markup, html};

use super::layout::badge;
use super::text::text;
use crate::backend::{JobKind, RunSummary};

/// The page.
pub(super) fn page(runs: &[RunSummary]) -> Markup {
    html! {
        h1 { "Runs" }
        @if runs.is_empty() {
            p { "Nothing has been asked yet. " a href="/" { "Ask a question" } }
        } @else {
            p { a href="/compare" { "Compare two runs" } }
            p.soft { "Every question leaves a run, whether it was asked here or with " code { "openscholar ask" } "." }
            div.table tabindex="0" role="region" aria-label="Runs" {
                table {
                    thead { tr { th scope="col" { "Question" } th scope="col" { "State" } th scope="col" { "Papers" } th scope="col" { "Begun, UTC" } } }
                    tbody {
                        @for run in runs {
                            tr {
                                th scope="row" { a href={ "/runs/" (text(&run.id)) } { (text(&shortened(&run.question))) } @if run.verb != JobKind::Ask { " " span.soft { "(" (run.verb.noun()) ")" } } }
                                td { (badge(run.state)) }
                                td { (text(&run.datastore)) }
                                td { (text(run.started.get(..16).unwrap_or(&run.started).replace('T', " ").as_str())) }
                            }
                        }
                    }
                }
            }
        }
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
