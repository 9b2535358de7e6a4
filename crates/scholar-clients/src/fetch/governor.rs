//! The one place that decides when a host may be asked: pace, concurrency, pauses that a host asked for, and leaving
//! alone a host that keeps failing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::config::Breaker;
use super::provider::{Pace, Provider};

/// All lanes of this program: one for each provider and host.
#[derive(Default)]
pub(super) struct Governor {
    lanes: Mutex<BTreeMap<(Provider, String), Arc<Lane>>>,
}

impl Governor {
    /// The lane to `host`; its pace is that of its first use.
    pub(super) fn lane(
        &self,
        provider: Provider,
        host: &str,
        pace: Pace,
        breaker: Breaker,
    ) -> Arc<Lane> {
        let mut lanes = self.lanes.lock();
        let lane = lanes
            .entry((provider, host.to_owned()))
            .or_insert_with(|| Arc::new(Lane::new(pace, breaker)));
        Arc::clone(lane)
    }
}

/// Why a request may not be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Its turn comes only after the deadline; this long from now.
    TooLate(Duration),
    /// The host failed too often; it is left alone for this long yet.
    LeftAlone {
        /// Time until it is tried again.
        left: Duration,
        /// Failures in a row.
        failures: u32,
    },
}

/// How an attempt ended, as far as the breaker cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The host answered, whatever it said.
    Answered,
    /// It did not, or not now.
    Failed,
}

/// The way to one host.
pub(super) struct Lane {
    pace: Pace,
    breaker: Breaker,
    slots: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When the next request would be due if every one came at its interval (the theoretical arrival time of GCRA).
    due: Option<Instant>,
    /// The host wants no request before this.
    hold: Option<Instant>,
    failures: u32,
    /// Set while the host is left alone.
    open_until: Option<Instant>,
    /// One request is trying whether the host is back.
    probing: bool,
}

/// Leave to send one request. Dropping it without [`Leave::end`] counts as no outcome: the caller went away.
pub(super) struct Leave {
    lane: Arc<Lane>,
    probe: bool,
    ended: bool,
    _slot: Option<OwnedSemaphorePermit>,
}

impl Lane {
    fn new(pace: Pace, breaker: Breaker) -> Self {
        let slots = Arc::new(Semaphore::new(pace.concurrency.max(1)));
        Self { pace, breaker, slots, state: Mutex::default() }
    }

    /// Waits for the turn of one request, at most until `deadline`.
    pub(super) async fn enter(self: &Arc<Self>, deadline: Instant) -> Result<Leave, Refusal> {
        let probe = self.knock()?;
        let mut leave = Leave { lane: Arc::clone(self), probe, ended: false, _slot: None };
        let slot = tokio::time::timeout_at(deadline, Arc::clone(&self.slots).acquire_owned()).await;
        let late = || Refusal::TooLate(Duration::ZERO);
        // The semaphore is never closed.
        leave._slot = Some(slot.map_err(|_| late())?.map_err(|_| late())?);
        let at = self.reserve(deadline)?;
        tokio::time::sleep_until(at).await;
        // Others may have failed meanwhile.
        while !leave.probe {
            if self.is_left_alone() {
                leave.probe = self.knock()?;
                continue;
            }
            let hold = self.state.lock().hold.filter(|hold| *hold > Instant::now());
            let Some(hold) = hold else { break };
            if hold > deadline {
                return Err(Refusal::TooLate(hold - Instant::now()));
            }
            tokio::time::sleep_until(hold).await;
        }
        Ok(leave)
    }

    fn is_left_alone(&self) -> bool {
        self.state.lock().open_until.is_some()
    }

    /// Whether the host is left alone; if its time is over, this request becomes the one that tries.
    fn knock(&self) -> Result<bool, Refusal> {
        let mut state = self.state.lock();
        let Some(until) = state.open_until else { return Ok(false) };
        let left = until.saturating_duration_since(Instant::now());
        if left > Duration::ZERO || state.probing {
            return Err(Refusal::LeftAlone { left, failures: state.failures });
        }
        state.probing = true;
        Ok(true)
    }

    /// Takes the next free moment, unless it lies after `deadline`.
    fn reserve(&self, deadline: Instant) -> Result<Instant, Refusal> {
        let now = Instant::now();
        let mut state = self.state.lock();
        let due = state.due.map_or(now, |due| due.max(now));
        let slack = self.pace.interval * self.pace.burst.saturating_sub(1);
        let paced = due.checked_sub(slack).map_or(now, |at| at.max(now));
        let at = state.hold.map_or(paced, |hold| hold.max(paced));
        if at > deadline {
            return Err(Refusal::TooLate(at - now));
        }
        state.due = Some(due.max(at) + self.pace.interval);
        Ok(at)
    }

    /// Lets nobody through before `pause` is over.
    pub(super) fn hold(&self, pause: Duration) {
        let until = Instant::now() + pause;
        let mut state = self.state.lock();
        state.hold = Some(state.hold.map_or(until, |hold| hold.max(until)));
    }
}

impl Leave {
    /// Says how the attempt ended.
    pub(super) fn end(mut self, outcome: Outcome) {
        self.ended = true;
        let mut state = self.lane.state.lock();
        if self.probe {
            state.probing = false;
        }
        match outcome {
            Outcome::Answered => {
                state.failures = 0;
                state.open_until = None;
            }
            Outcome::Failed => {
                state.failures = state.failures.saturating_add(1);
                if state.failures >= self.lane.breaker.failures.max(1) {
                    state.open_until = Some(Instant::now() + self.lane.breaker.cool_down);
                }
            }
        }
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        if self.probe && !self.ended {
            self.lane.state.lock().probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const CALM: Breaker = Breaker { failures: 3, cool_down: Duration::from_secs(60) };

    fn lane(interval: Duration, burst: u32, concurrency: usize) -> Arc<Lane> {
        Arc::new(Lane::new(Pace { interval, burst, concurrency }, CALM))
    }

    fn far() -> Instant {
        Instant::now() + SECOND * 10_000
    }

    async fn moments(lane: &Arc<Lane>, count: usize) -> Vec<u128> {
        let start = Instant::now();
        let mut moments = Vec::new();
        for _ in 0..count {
            let leave = lane.enter(far()).await.unwrap_or_else(|refusal| panic!("{refusal:?}"));
            moments.push(start.elapsed().as_millis());
            leave.end(Outcome::Answered);
        }
        moments
    }

    #[tokio::test(start_paused = true)]
    async fn requests_keep_their_interval_and_a_burst_is_paid_back() {
        assert_eq!(moments(&lane(SECOND, 1, 1), 4).await, [0, 1000, 2000, 3000]);
        assert_eq!(moments(&lane(SECOND, 3, 1), 6).await, [0, 0, 0, 1000, 2000, 3000]);
        let lane = lane(SECOND, 3, 1);
        moments(&lane, 3).await;
        tokio::time::sleep(SECOND * 2).await;
        assert_eq!(moments(&lane, 4).await, [0, 0, 1000, 2000], "two seconds bought two requests");
        assert_eq!(moments(&self::lane(Duration::ZERO, 1, 1), 3).await, [0, 0, 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_requests_run_at_once_than_allowed() {
        let lane = lane(Duration::ZERO, 1, 2);
        let _first = lane.enter(far()).await;
        let second = lane.enter(far()).await.ok();
        let soon = Instant::now() + SECOND;
        assert_eq!(lane.enter(soon).await.err(), Some(Refusal::TooLate(Duration::ZERO)));
        drop(second);
        assert!(lane.enter(far()).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_after_the_deadline_is_refused_at_once_and_costs_others_nothing() {
        let lane = lane(SECOND * 10, 1, 4);
        moments(&lane, 1).await;
        let start = Instant::now();
        let refused = lane.enter(start + SECOND).await.err();
        assert_eq!(refused, Some(Refusal::TooLate(SECOND * 10)));
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(moments(&lane, 1).await, [10_000], "the refused request took no turn");
    }

    #[tokio::test(start_paused = true)]
    async fn everybody_waits_when_the_host_asks_one_to() {
        let lane = lane(SECOND, 1, 4);
        lane.hold(SECOND * 7);
        assert_eq!(moments(&lane, 2).await, [7000, 8000]);
        let waiting = Arc::clone(&lane);
        let waiter = tokio::spawn(async move { moments(&waiting, 1).await });
        tokio::task::yield_now().await;
        lane.hold(SECOND * 5);
        assert_eq!(waiter.await.expect("no panic"), [5000], "also those who wait already");
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_keeps_failing_is_left_alone_and_tried_by_one() {
        let lane = lane(Duration::ZERO, 1, 4);
        for _ in 0..3 {
            lane.enter(far()).await.unwrap_or_else(|r| panic!("{r:?}")).end(Outcome::Failed);
        }
        let left_alone = |left| Some(Refusal::LeftAlone { left, failures: 3 });
        assert_eq!(lane.enter(far()).await.err(), left_alone(SECOND * 60));
        tokio::time::sleep(SECOND * 60).await;
        let probe = lane.enter(far()).await.unwrap_or_else(|r| panic!("{r:?}"));
        assert_eq!(lane.enter(far()).await.err(), left_alone(Duration::ZERO), "one is enough");
        probe.end(Outcome::Failed);
        let again = Some(Refusal::LeftAlone { left: SECOND * 60, failures: 4 });
        assert_eq!(lane.enter(far()).await.err(), again);
        tokio::time::sleep(SECOND * 60).await;
        drop(lane.enter(far()).await);
        let probe = lane.enter(far()).await.unwrap_or_else(|r| panic!("{r:?}"));
        probe.end(Outcome::Answered);
        assert_eq!(moments(&lane, 3).await, [0, 0, 0]);
    }
}
