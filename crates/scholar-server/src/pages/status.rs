//! How the program is: models, datastores, sources, disk.

use maud::{Markup, html};

use super::text::{grouped, text};
use crate::backend::{DatastoreOffer, Offer, Status, StatusCheck};

/// The page. `asked` says whether providers of papers were asked.
pub(super) fn page(status: &Status, offer: &Offer, waiting: usize, asked: bool) -> Markup {
    let wrong = status.checks.iter().filter(|check| !check.ok).count();
    html! {
        h1 { "Status" }
        p.soft { "OpenScholar " (text(&status.version)) @if offer.offline { ", offline: nobody outside this machine is asked" } ". " (grouped(waiting as u64)) " questions wait or are under way." }
        div class={ "notice" @if wrong > 0 { " warn" } } role="status" {
            p { @if wrong == 0 { "● Everything is as it should be." } @else { "▲ " (wrong) " of " (status.checks.len()) " checks want attention." } }
        }
        section aria-labelledby="datastores" {
            h2 #datastores { "Datastores" }
            @if offer.datastores.is_empty() { p.soft { "None yet: the first question builds the starter papers." } }
            @else {
                div.table tabindex="0" role="region" aria-label="Table of datastores" { table {
                    thead { tr { th scope="col" { "Name" } th scope="col" { "Papers" } th scope="col" { "Passages" } } }
                    tbody { @for DatastoreOffer { name, papers, passages, .. } in &offer.datastores {
                        tr { th scope="row" { a href={ "/library?datastore=" (super::text::encoded(name)) } { (text(name)) } } td { (grouped(*papers)) } td { (grouped(*passages)) } }
                    } }
                } }
            }
        }
        section aria-labelledby="models" {
            h2 #models { "Who writes" }
            p { @match &offer.generator { Some(name) => { (text(name)) } None => { "No language model is configured: answers are made of quotations." } } }
        }
        section aria-labelledby="checks" {
            h2 #checks { "Checks" }
            div.table tabindex="0" role="region" aria-label="Table of checks" { table {
                thead { tr { th scope="col" { "What" } th scope="col" { "State" } th scope="col" { "Found" } } }
                tbody { @for check in &status.checks { (row(check)) } }
            } }
            @if !asked {
                form.inline method="post" action="/status" { button type="submit" { "Ask sources of papers and model hubs, too" } }
            }
        }
    }
}

fn row(check: &StatusCheck) -> Markup {
    let StatusCheck { what, ok, found, hint, is_private: _ } = check;
    html! {
        tr {
            th scope="row" { (text(what)) }
            td { @if *ok { span.supported { span aria-hidden="true" { "● " } "as it should be" } } @else { span.unsupported { span aria-hidden="true" { "▲ " } "look at this" } } }
            td { (text(found)) @if let Some(hint) = hint { br; span.soft { (text(hint)) } } }
        }
    }
}
