//! Room for results: what all requests together may hold at a time.
//!
//! Results wait in memory from their search until their client has taken them. Each connection alone is bounded; this
//! bounds their sum. A request takes room for what it asked before it is searched, and gives it back passage by passage as
//! the reply is written, so that large requests wait for each other. Room is counted in passages, of about
//! [`PASSAGE_BYTES`] each.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{ApiError, ErrorCode};

/// A passage with its paper and its explanation in memory, roughly; other things a request holds are counted in it.
pub(crate) const PASSAGE_BYTES: usize = 4 << 10;

/// A request up to this part of the room is ordinary: it does not stand in line behind large ones.
const ORDINARY: usize = 60;

/// The room, in two parts, so that a few large requests cannot keep everyone waiting.
#[derive(Debug)]
pub(crate) struct Budget {
    ordinary: Lane,
    large: Lane,
    longest_ordinary: usize,
}

#[derive(Debug)]
struct Lane {
    free: Arc<Semaphore>,
    size: usize,
}

impl Lane {
    fn new(size: usize) -> Self {
        let size = size.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        Self { free: Arc::new(Semaphore::new(size)), size }
    }

    fn held(&self) -> usize {
        self.size.saturating_sub(self.free.available_permits())
    }
}

/// Room that a request has; given back when dropped.
#[derive(Debug)]
pub(crate) struct Hold(Option<OwnedSemaphorePermit>);

impl Budget {
    /// Room for `room` passages, and for one request of `largest` at least.
    pub(crate) fn new(room: usize, largest: usize) -> Self {
        let ordinary = Lane::new(room / 4);
        let longest_ordinary = (room / ORDINARY).clamp(1, ordinary.size);
        Self { ordinary, large: Lane::new((room - room / 4).max(largest)), longest_ordinary }
    }

    /// Waits for room for `passages`.
    pub(crate) async fn reserve(&self, passages: usize) -> Result<Hold, ApiError> {
        let lane = if passages <= self.longest_ordinary { &self.ordinary } else { &self.large };
        let too_many = || ApiError::new(ErrorCode::Internal, "no room is large enough");
        if passages > lane.size {
            return Err(too_many());
        }
        let passages = u32::try_from(passages).map_err(|_| too_many())?;
        match Arc::clone(&lane.free).acquire_many_owned(passages).await {
            Ok(permit) => Ok(Hold(Some(permit))),
            Err(_) => Err(ApiError::new(ErrorCode::Unavailable, "the server is stopping")),
        }
    }

    /// Passages for which room is taken.
    pub(crate) fn held(&self) -> usize {
        self.ordinary.held() + self.large.held()
    }

    /// Passages there is room for.
    pub(crate) fn size(&self) -> usize {
        self.ordinary.size + self.large.size
    }
}

impl Hold {
    /// Room for nothing.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Takes `passages` out of this room, or all there is.
    pub(crate) fn split(&mut self, passages: usize) -> Self {
        let Some(permit) = &mut self.0 else { return Self(None) };
        let passages = passages.min(permit.num_permits());
        Self(permit.split(passages))
    }

    /// Gives back all but `passages`.
    pub(crate) fn keep(&mut self, passages: usize) {
        let kept = self.split(passages);
        *self = kept;
    }
}

/// What a request asks for, as far as it takes memory.
pub(crate) struct Demand {
    /// Queries.
    pub(crate) queries: usize,
    /// Passages of each.
    pub(crate) top_k: usize,
    /// Room that one passage takes: 2 where it is explained.
    pub(crate) passage_cost: usize,
    /// Bytes of the conditions, which every query has a copy of.
    pub(crate) filter_bytes: usize,
}

impl Demand {
    /// Room for one query, in passages.
    pub(crate) fn of_query(&self) -> usize {
        (self.top_k.saturating_mul(self.passage_cost))
            .saturating_add(self.filter_bytes / PASSAGE_BYTES)
    }

    /// Refuses what is more than `most` passages in all.
    pub(crate) fn check(&self, most: usize) -> Result<(), ApiError> {
        let Self { queries, top_k, passage_cost, filter_bytes } = *self;
        if queries.saturating_mul(self.of_query()) <= most {
            return Ok(());
        }
        let passages = queries.saturating_mul(top_k);
        if passages.saturating_mul(passage_cost) <= most {
            let why = format!("{queries} queries with a filter of {filter_bytes} bytes each");
            return Err(ApiError::bad_request(format!("{why} are more than this server holds"))
                .with_hint("send fewer queries at once, or a shorter filter"));
        }
        let most = most / passage_cost;
        let explained = if passage_cost > 1 { " when they are explained" } else { "" };
        let queries_at_once = most / top_k.max(1);
        let hint = match most / queries.max(1) {
            0 => format!("send at most {queries_at_once} queries at once"),
            n => format!(
                "ask for at most {n} passages for each query, or send at most {queries_at_once} queries at once"
            ),
        };
        let why = format!(
            "{queries} queries with {top_k} passages each are {passages} passages, more than the {most} that one \
             request may ask for{explained}"
        );
        Err(ApiError::bad_request(why).with_hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn large_requests_wait_for_each_other_and_not_ordinary_ones_for_them() {
        let budget = Budget::new(240, 100);
        let reserve = |n| budget.reserve(n).now_or_never().map(|hold| hold.expect("room"));
        let first = reserve(100).expect("there is room");
        assert!(reserve(100).is_none(), "180 are for large requests");
        let mut small = reserve(4).expect("of the other part");
        assert_eq!((budget.held(), budget.size()), (104, 240));
        small.keep(1);
        assert_eq!(budget.held(), 101);
        let one = small.split(9);
        drop(small);
        assert_eq!(budget.held(), 101, "it went to the other");
        drop(one);
        drop(first);
        assert_eq!(budget.held(), 0);
        let whole = reserve(180).expect("there is room");
        assert!(reserve(5).is_none());
        drop(whole);
    }

    #[test]
    fn the_largest_request_always_fits_in_the_end() {
        let budget = Budget::new(1, 100);
        assert!(budget.reserve(100).now_or_never().expect("at once").is_ok());
        assert!(budget.reserve(1).now_or_never().expect("at once").is_ok());
        assert!(budget.reserve(101).now_or_never().expect("at once").is_err(), "not for ever");
    }
}
