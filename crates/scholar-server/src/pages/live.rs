//! An open page of a run: events become pieces of the page.
//!
//! The pieces are made by the functions that make the page, so that the script has nothing to do but to put them in their
//! places, and nothing of a paper's or a model's text is ever made into markup by it.

use axum::response::Response;
use axum::response::sse::Event as Sent;
use maud::Markup;
use serde_json::{Value, json};

use super::progress::{Piece, Progress};
use super::run::state_words;
use crate::backend::{JobKind, RunState};
use crate::jobs::feed::{EventId, Seen};
use crate::native::{EventStream, Told};

/// The stream of `told`, of which the page has what came up to `last` already: `before` are those events.
pub(super) fn respond(stream: EventStream, before: &[Seen], kind: JobKind) -> Response {
    let mut progress = Progress::of(before);
    stream.respond(move |told| match told {
        Told::Queued(ahead) => {
            vec![sent(None, vec![put("state", state_words(Some(ahead)))])]
        }
        Told::Reset => {
            progress = Progress::default();
            vec![sent(None, vec![put("progress", progress.of_kind(kind))])]
        }
        Told::Seen(id, seen) => {
            let mut pieces = progress.see(&seen);
            if id.place == 1 {
                pieces.insert(0, put("state", state_words(None)));
            }
            vec![sent(Some(id), pieces)]
        }
        Told::End(state) => {
            // A server that ends comes back; the browser tries again by itself.
            let state = state.map(RunState::name);
            vec![Sent::default().event("end").data(json!({"state": state}).to_string())]
        }
    })
}

fn put(place: &'static str, html: Markup) -> Piece {
    Piece::Replace(place, html.into_string())
}

/// All pieces of an event are one message: a browser that is cut off has seen all of them or none.
fn sent(id: Option<EventId>, pieces: Vec<Piece>) -> Sent {
    let pieces: Vec<Value> = pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Append(place, html) => json!({"do": "add", "at": place, "html": html}),
            Piece::Replace(place, html) => json!({"do": "put", "at": place, "html": html}),
        })
        .collect();
    let sent = Sent::default().event("pieces").data(Value::from(pieces).to_string());
    match id {
        Some(id) => sent.id(id.to_string()),
        None => sent,
    }
}
