//! Time, as the caller tells it.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

/// Time since a moment the caller chose, never running backwards. The binary passes its monotonic clock, a replay or
/// a test passes [`stopped_clock()`].
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Ready after the given time. The binary passes its runtime's timer, so that a model that falls silent cannot outlive
/// the time limit.
pub type Alarm = Arc<dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync>;

/// A clock that stands still: time budgets never run out.
pub fn stopped_clock() -> Clock {
    Arc::new(|| Duration::ZERO)
}
