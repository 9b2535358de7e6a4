//! What callers may still spend.

use super::store::{JobStore, JobStoreError};
use crate::callers::CallerLimits;

/// Seconds of the window in which dollars are counted.
const DAY_S: i64 = 24 * 3_600;

/// A caller's budget, and what of it their runs of the last 24 hours cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Allowance {
    /// US dollars.
    spent: f64,
    /// US dollars.
    most: f64,
}

impl Allowance {
    /// That of `caller` at `now`, in seconds since 1970; `None` where their budget has no limit.
    pub(crate) fn of(
        store: &JobStore,
        caller: &str,
        limits: CallerLimits,
        now: i64,
    ) -> Result<Option<Self>, JobStoreError> {
        let Some(most) = limits.usd_per_day else { return Ok(None) };
        let (_, spent) = store.spent(caller, now - DAY_S)?;
        Ok(Some(Self { spent, most }))
    }

    /// US dollars that are left, or why there are none.
    pub(crate) fn left(self) -> Result<f64, String> {
        let Self { spent, most } = self;
        match spent >= most {
            true => Err(format!("your runs of the last 24 hours cost ${spent:.2}, of ${most:.2}")),
            false => Ok(most - spent),
        }
    }
}

/// What to do where nothing is left.
pub(crate) const HINT: &str = "ask again later, or let the operator raise usd-per-day";
