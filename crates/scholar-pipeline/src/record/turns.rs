//! Replies of a replay in the order of the recording.
//!
//! Where calls run side by side, what a run does next depends on which ends first: who meets the end of a budget, and which
//! reading of the clock it gets. A replay therefore holds a reply back until all that was recorded before it has been taken, and
//! until every call that began before it ended has begun again: what a run says of itself comes in the same order too.

use std::collections::HashSet;
use std::future::poll_fn;
use std::task::Poll;

use parking_lot::Mutex;

use super::{Journal, JournalEntry, Port};

/// Polls for which a reply is held back. A replay of the same program never needs as many; one of another, whose calls come in
/// another order, goes on without order after them.
const PATIENCE: usize = 10_000;

/// What a journal holds in the order of recording, as far as order matters.
pub(super) struct Turns(Mutex<State>);

struct State {
    /// Keys of calls, `None` for readings of the clock.
    order: Vec<Option<String>>,
    /// Places that were taken.
    taken: Vec<bool>,
    /// The first place that was not.
    next: usize,
    /// Keys with a place.
    known: HashSet<String>,
    /// For each place, how many calls with a place had begun when it was taken.
    begun_before: Vec<usize>,
    /// Calls with a place that have begun in this replay.
    begun: usize,
}

impl Turns {
    /// The order of `journal`. Calls that answer at once, without waiting, have no turn: they come where the program comes to
    /// them.
    pub(super) fn of(journal: &Journal) -> Self {
        let mut order = Vec::new();
        // Of each call with a place, the entry before which it began.
        let mut begins = Vec::new();
        let mut places = Vec::new();
        for (at, entry) in journal.entries.iter().enumerate() {
            match entry {
                JournalEntry::Ports(_) => continue,
                // Read where the text of its call is passed on.
                JournalEntry::Clock { during: Some(_), .. } => continue,
                JournalEntry::Clock { .. } => order.push(None),
                JournalEntry::Call(call) if waits(call.port) => {
                    order.push(Some(call.key.clone()));
                    begins.push(at.saturating_sub(call.meanwhile));
                }
                JournalEntry::Call(_) => continue,
            }
            places.push(at);
        }
        begins.sort_unstable();
        let begun_before =
            places.iter().map(|at| begins.partition_point(|began| began <= at)).collect();
        let known = order.iter().flatten().cloned().collect();
        let taken = vec![false; order.len()];
        Self(Mutex::new(State { order, taken, next: 0, known, begun_before, begun: 0 }))
    }

    /// Ready when everything recorded before the next call with this key was taken, and what began before its end has begun;
    /// takes its place.
    pub(super) async fn of_call(&self, key: &str) {
        let mut polls = 0;
        poll_fn(|context| {
            let mut state = self.0.lock();
            if !state.known.contains(key) {
                return Poll::Ready(());
            }
            state.begun += usize::from(polls == 0);
            let is_next = state.is_next(key);
            polls += 1;
            if is_next || polls > PATIENCE || state.next >= state.order.len() {
                state.take(Some(key));
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// A reading of the clock, which waits for nobody.
    pub(super) fn of_clock(&self) {
        self.0.lock().take(None);
    }
}

impl State {
    fn is_next(&self, key: &str) -> bool {
        self.order.get(self.next).is_some_and(|next| next.as_deref() == Some(key))
            && self.begun >= self.begun_before[self.next]
    }

    fn take(&mut self, key: Option<&str>) {
        let from = self.next;
        let place = (from..self.order.len())
            .find(|at| !self.taken[*at] && self.order[*at].as_deref() == key);
        if let Some(place) = place {
            self.taken[place] = true;
        }
        while self.taken.get(self.next).copied().unwrap_or(false) {
            self.next += 1;
        }
    }
}

/// Whether calls of the port are awaited.
fn waits(port: Port) -> bool {
    match port {
        Port::Search
        | Port::Explore
        | Port::Passage
        | Port::Neighbours
        | Port::Rerank
        | Port::Generate
        | Port::Choose
        | Port::Judge
        | Port::Evidence => true,
        Port::CountTokens
        | Port::Encode
        | Port::TokenStates
        | Port::Classify
        | Port::JudgeNotices => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use futures::future::join_all;
    use serde_json::Value;

    use super::*;
    use crate::record::{Call, CallResult};

    fn call(key: &str) -> JournalEntry {
        JournalEntry::Call(Call {
            port: Port::Generate,
            key: key.to_owned(),
            purpose: None,
            request: Value::Null,
            result: CallResult::Reply(Value::Null),
            meanwhile: 0,
        })
    }

    async fn order_of(entries: Vec<JournalEntry>, asked: &[&str]) -> Vec<String> {
        let turns = Arc::new(Turns::of(&Journal { entries }));
        let order = Arc::new(Mutex::new(Vec::new()));
        let calls = asked.iter().map(|key| {
            let (turns, order) = (Arc::clone(&turns), Arc::clone(&order));
            async move {
                turns.of_call(key).await;
                order.lock().push((*key).to_owned());
            }
        });
        tokio::time::timeout(Duration::from_secs(20), join_all(calls)).await.expect("ends");
        Arc::try_unwrap(order).map(Mutex::into_inner).unwrap_or_default()
    }

    #[tokio::test]
    async fn replies_come_as_they_were_recorded() {
        let entries = vec![call("c"), call("a"), call("b"), call("a")];
        assert_eq!(order_of(entries, &["a", "b", "a", "c"]).await, ["c", "a", "b", "a"]);
    }

    #[tokio::test]
    async fn what_was_not_recorded_and_what_never_comes_hold_up_nothing() {
        assert_eq!(order_of(vec![call("b")], &["a"]).await, ["a"]);
        let entries = vec![call("never"), call("a")];
        assert_eq!(order_of(entries, &["a"]).await, ["a"]);
    }

    #[tokio::test]
    async fn a_reply_waits_for_calls_that_began_before_it_came() {
        let beside = |key: &str, meanwhile| match call(key) {
            JournalEntry::Call(call) => JournalEntry::Call(Call { meanwhile, ..call }),
            other => other,
        };
        let turns = Turns::of(&Journal { entries: vec![call("a"), beside("b", 1), call("c")] });
        assert_eq!(turns.0.lock().begun_before, [2, 2, 3]);
        let first = std::pin::pin!(turns.of_call("a"));
        let waker = futures::task::noop_waker();
        let mut context = std::task::Context::from_waker(&waker);
        let mut first = first;
        assert!(first.as_mut().poll(&mut context).is_pending(), "b has not begun");
        let mut second = std::pin::pin!(turns.of_call("b"));
        assert!(second.as_mut().poll(&mut context).is_pending());
        assert!(first.as_mut().poll(&mut context).is_ready());
        assert!(second.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn readings_of_the_clock_have_their_places() {
        let turns = Turns::of(&Journal {
            entries: vec![JournalEntry::Clock { nanos: 1, during: None }, call("a")],
        });
        assert_eq!(turns.0.lock().next, 0);
        turns.of_clock();
        assert_eq!(turns.0.lock().next, 1);
    }
}
