//! Waiting for what another thread or process does.

use std::time::{Duration, Instant};

/// How long a test waits before it fails: a fault would otherwise hang it. What takes seconds alone takes minutes beside other tests
/// on a small machine.
pub const PATIENCE: Duration = Duration::from_secs(300);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// The first value that `look` gives.
///
/// ```
/// let mut looks = 0;
/// let third = scholar_testing::until("a third look", || {
///     looks += 1;
///     (looks == 3).then_some(looks)
/// });
/// assert_eq!(third, 3);
/// ```
///
/// # Panics
/// With the words of `what`, when there is none for five minutes.
#[track_caller]
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(value) = look() {
            return value;
        }
        assert!(began.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain for {what}");
        std::thread::park_timeout(PAUSE);
    }
}
