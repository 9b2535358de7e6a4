//! What happens during a run, kept for everybody who watches it.
//!
//! A watcher reads at its own pace from one list, so that a slow one costs nobody anything and nothing is sent twice. An
//! event's name is the run's attempt and its place, as `3.17`: a watcher that comes back after the server was restarted has
//! the name of another attempt, and is told to begin anew.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use scholar_core::TokenUsage;
use scholar_core::text::untrusted;
use scholar_pipeline::{Event, Observer};
use tokio::sync::watch;

/// The name of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventId {
    /// How often the run was begun, this time included.
    pub(crate) attempt: u32,
    /// The event's place, from 1; 0 is before all.
    pub(crate) place: usize,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.attempt, self.place)
    }
}

impl FromStr for EventId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (attempt, place) = text.split_once('.').unwrap_or((text, ""));
        Ok(Self { attempt: attempt.parse()?, place: place.parse()? })
    }
}

/// An event with when it was seen.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// Milliseconds since the run began.
    pub(crate) at_ms: u64,
    pub(crate) event: Arc<Event>,
    /// Written when the first watcher wants it, and then for all of them: evidence is long, and hundreds may watch.
    json: Arc<OnceLock<String>>,
}

impl Seen {
    pub(crate) fn new(at_ms: u64, event: Event) -> Self {
        Self { at_ms, event: Arc::new(event), json: Arc::default() }
    }

    /// The event as JSON that a terminal can be shown.
    pub(crate) fn json(&self) -> &str {
        self.json.get_or_init(|| {
            let json = serde_json::to_string(&*self.event).unwrap_or_default();
            untrusted::json(&json).into_owned()
        })
    }
}

/// The events of one run, as they come.
#[derive(Debug)]
pub(crate) struct Feed {
    attempt: u32,
    began: tokio::time::Instant,
    events: Mutex<Vec<Seen>>,
    /// How many there are, and whether that is all.
    state: watch::Sender<(usize, bool)>,
}

impl Feed {
    /// Nothing has happened yet.
    pub(crate) fn new(attempt: u32) -> Arc<Self> {
        let (state, _) = watch::channel((0, false));
        let began = tokio::time::Instant::now();
        Arc::new(Self { attempt, began, events: Mutex::default(), state })
    }

    /// How often the run was begun.
    pub(crate) fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Nothing more will happen.
    pub(crate) fn close(&self) {
        self.state.send_modify(|state| state.1 = true);
    }

    /// Ready when nothing more will happen.
    pub(crate) async fn closed(&self) {
        let mut state = self.state.subscribe();
        // The sender lives as long as the feed.
        let _always = state.wait_for(|(_, closed)| *closed).await;
    }

    /// Milliseconds since the run began.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Tokens of the model's calls so far.
    pub(crate) fn usage(&self) -> TokenUsage {
        let mut all = TokenUsage::default();
        for seen in self.events.lock().iter() {
            if let Event::Generated { usage, .. } = &*seen.event {
                all += *usage;
            }
        }
        all
    }

    /// Everything so far.
    pub(crate) fn all(&self) -> Vec<Seen> {
        self.events.lock().clone()
    }

    /// The events after `place`, as soon as there is one; none when there will be none.
    pub(crate) async fn after(&self, place: usize) -> Vec<Seen> {
        let mut state = self.state.subscribe();
        let there = |(n, closed): &(usize, bool)| *n > place || *closed;
        // The sender lives as long as the feed.
        let _always = state.wait_for(there).await;
        self.events.lock().get(place..).map(<[Seen]>::to_vec).unwrap_or_default()
    }

    /// Where a watcher goes on that has seen the event called `last`: its place, or the beginning where that is of another
    /// attempt. The second value says that what it has shown so far is void.
    pub(crate) fn resume(&self, last: Option<EventId>) -> (usize, bool) {
        match last {
            Some(EventId { attempt, place }) if attempt == self.attempt => {
                (place.min(self.events.lock().len()), false)
            }
            Some(_) => (0, true),
            None => (0, false),
        }
    }
}

impl Observer for Feed {
    fn on_event(&self, event: &Event) {
        let seen = Seen::new(self.elapsed_ms(), event.clone());
        let n = {
            let mut events = self.events.lock();
            events.push(seen);
            events.len()
        };
        self.state.send_modify(|state| state.0 = n);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn pooled(n: usize) -> Event {
        Event::Pooled { candidates: n, kept: n }
    }

    #[tokio::test]
    async fn every_watcher_sees_every_event_once_from_where_it_was() {
        let feed = Feed::new(2);
        assert!(feed.after(0).now_or_never().is_none(), "it waits");
        feed.on_event(&pooled(1));
        feed.on_event(&pooled(2));
        assert_eq!(feed.after(0).await.len(), 2);
        let later = feed.after(2);
        feed.on_event(&pooled(3));
        assert_eq!(*later.await[0].event, pooled(3));
        feed.close();
        assert!(feed.after(3).await.is_empty() && feed.closed().now_or_never().is_some());
        assert_eq!(feed.after(1).await.len(), 2, "what was is kept");
    }

    #[test]
    fn a_watcher_goes_on_after_its_last_event_and_anew_after_a_restart() {
        let feed = Feed::new(2);
        feed.on_event(&pooled(1));
        let id = |text: &str| text.parse::<EventId>().ok();
        assert_eq!(feed.resume(id("2.1")), (1, false));
        assert_eq!(feed.resume(id("2.99")), (1, false), "it has seen no more than there is");
        assert_eq!(feed.resume(id("1.7")), (0, true));
        assert_eq!(feed.resume(id("nonsense")), (0, false));
        assert_eq!(id("2.17").map(|id| id.to_string()).as_deref(), Some("2.17"));
        assert_eq!(id("2"), None);
    }
}
