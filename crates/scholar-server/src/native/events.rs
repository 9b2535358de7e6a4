//! Events of a run as server-sent events.
//!
//! Every event has a name by which a client that was cut off goes on (`Last-Event-ID`). Beside those of the run there are `queued`
//! with the number of questions in front, `reset` where what was shown before is void because the run was begun again, and `end`.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, Stream};
use scholar_pipeline::Event;
use serde_json::json;

use crate::backend::RunState;
use crate::context::SiteState;
use crate::jobs::Live;
use crate::jobs::feed::{EventId, Seen};

/// Between two signs of life: a connection that is half open shows at the first that cannot be sent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What a client is told next.
#[derive(Debug, Clone)]
pub(crate) enum Told {
    /// So many questions are answered before.
    Queued(usize),
    /// Everything shown so far is void.
    Reset,
    /// Something happened.
    Seen(EventId, Seen),
    /// Nothing more will happen; how it ended. The server may be ending instead: then the client comes back later.
    End(Option<RunState>),
}

/// The stream of one client.
pub(crate) struct EventStream {
    told: std::pin::Pin<Box<dyn Stream<Item = Told> + Send>>,
}

/// The event after which a client goes on, by its `Last-Event-ID`.
pub(crate) fn last_event(headers: &HeaderMap) -> Option<EventId> {
    headers.get("last-event-id")?.to_str().ok()?.trim().parse().ok()
}

struct Cursor {
    state: Arc<SiteState>,
    live: Arc<Live>,
    place: usize,
    ready: VecDeque<Told>,
    said_ahead: Option<usize>,
    is_over: bool,
}

impl EventStream {
    /// Of a run that waits or is under way.
    pub(crate) fn of_live(state: &Arc<SiteState>, live: Arc<Live>, last: Option<EventId>) -> Self {
        let (place, is_void) = live.feed.resume(last);
        let ready = is_void.then_some(Told::Reset).into_iter().collect();
        let state = Arc::clone(state);
        let cursor = Cursor { state, live, place, ready, said_ahead: None, is_over: false };
        Self { told: Box::pin(stream::unfold(cursor, Cursor::next)) }
    }

    /// Of a run that is over.
    pub(crate) fn of_events(events: Vec<Event>, state: RunState, last: Option<EventId>) -> Self {
        // Kept events have no pieces of text in between, so that places of the live stream say nothing here.
        let void = last.is_some_and(|last| last.attempt != 0).then_some(Told::Reset);
        let from = last.filter(|last| last.attempt == 0).map_or(0, |last| last.place);
        let seen = events.into_iter().enumerate().skip(from).map(|(at, event)| {
            Told::Seen(EventId { attempt: 0, place: at + 1 }, Seen::new(0, event))
        });
        let all = void.into_iter().chain(seen).chain([Told::End(Some(state))]);
        Self { told: Box::pin(stream::iter(all.collect::<Vec<_>>())) }
    }

    /// The same in words of the caller's choice.
    pub(crate) fn respond(
        self,
        mut say: impl FnMut(Told) -> Vec<Sent> + Send + 'static,
    ) -> Response {
        use futures::StreamExt as _;
        let sent = self
            .told
            .flat_map(move |told| stream::iter(say(told).into_iter().map(Ok::<_, Infallible>)));
        let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
        Sse::new(sent).keep_alive(keep_alive).into_response()
    }
}

impl Cursor {
    async fn next(mut self) -> Option<(Told, Self)> {
        let mut stopping = self.state.jobs.stopping();
        let mut changes = self.state.jobs.changes();
        loop {
            if let Some(told) = self.ready.pop_front() {
                return Some((told, self));
            }
            if self.is_over {
                return None;
            }
            changes.borrow_and_update();
            let ahead = self.state.jobs.ahead_of(&self.live.run);
            if ahead.is_some() && ahead != self.said_ahead {
                self.said_ahead = ahead;
                self.ready.extend(ahead.map(Told::Queued));
                continue;
            }
            let ending = async {
                // What is awaited holds a lock, which must not be held any longer.
                drop(stopping.wait_for(|stopping| *stopping).await);
            };
            tokio::select! {
                seen = self.live.feed.after(self.place) => {
                    let attempt = self.live.feed.attempt();
                    for seen in seen {
                        self.place += 1;
                        self.ready.push_back(Told::Seen(EventId { attempt, place: self.place }, seen));
                    }
                    if self.ready.is_empty() {
                        self.is_over = true;
                        self.ready.push_back(Told::End(self.ended().await));
                    }
                }
                _ = changes.changed(), if ahead.is_some() => {}
                () = ending => {
                    self.is_over = true;
                    self.ready.push_back(Told::End(None));
                }
            }
        }
    }

    /// How the run ended; `None` while it is not over, because the server ends.
    async fn ended(&self) -> Option<RunState> {
        let run = self.live.run.clone();
        let job = self.state.blocking(move |state| state.store.job(&run)).await.ok()?;
        job.ok().flatten().map(|job| job.state).filter(|state| state.is_over())
    }
}

impl IntoResponse for EventStream {
    /// JSON of the closed list of events.
    fn into_response(self) -> Response {
        self.respond(|told| {
            let sent = match told {
                Told::Queued(ahead) => {
                    Sent::default().event("queued").data(json!({"ahead": ahead}).to_string())
                }
                Told::Reset => Sent::default().event("reset").data("{}"),
                Told::Seen(id, seen) => Sent::default().id(id.to_string()).data(seen.json()),
                Told::End(state) => {
                    let state = state.map(RunState::name);
                    Sent::default().event("end").data(json!({"state": state}).to_string())
                }
            };
            vec![sent]
        })
    }
}
