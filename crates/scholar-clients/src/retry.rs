//! When to try again: exponential back-off with full jitter, the server's wish first, a deadline above all.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use scholar_core::{PortError, PortErrorKind};

/// How often and how long a call is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all, at least 1.
    pub attempts: u32,
    /// The longest first pause; doubles with every attempt.
    pub base: Duration,
    /// The longest pause without a wish of the server.
    pub cap: Duration,
    /// From the first byte sent to the last byte received, pauses included.
    pub deadline: Duration,
}

impl RetryPolicy {
    /// Five attempts within fifteen minutes: long enough for a busy server on a slow machine, and a person is waiting.
    pub fn interactive() -> Self {
        Self {
            attempts: 5,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(30),
            deadline: Duration::from_secs(900),
        }
    }

    /// How long to wait after the `failed`-th attempt (from 1) ended in `error`; `None` when trying again is useless,
    /// forbidden or would end after `remaining`. `uniform` is a number in `[0, 1)`.
    pub fn pause(
        &self,
        failed: u32,
        error: &PortError,
        remaining: Duration,
        uniform: f64,
    ) -> Option<Duration> {
        if !error.is_retryable() || failed >= self.attempts {
            return None;
        }
        let ceiling = self.base.saturating_mul(1 << (failed - 1).min(16)).min(self.cap);
        let jittered = ceiling.mul_f64(uniform.clamp(0.0, 1.0));
        let wish = match error.kind() {
            PortErrorKind::RateLimited { retry_after } => retry_after.unwrap_or_default(),
            PortErrorKind::Transient
            | PortErrorKind::Unavailable
            | PortErrorKind::Rejected
            | PortErrorKind::Corrupt => Duration::ZERO,
        };
        // The jitter goes on top of the wish: clients that were refused together must not come back together.
        let pause = wish + jittered;
        (pause < remaining).then_some(pause)
    }
}

/// A number in `[0, 1)` that differs from call to call. Only pauses depend on it, never an answer.
pub(crate) fn uniform() -> f64 {
    let bits = RandomState::new().hash_one(0u8) >> 11;
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit in an f64 exactly")]
    let fraction = bits as f64 / (1u64 << 53) as f64;
    fraction
}

/// The pause a `Retry-After` header asks for: seconds, or an HTTP date against the answer's own `Date`, so that no
/// clock of this machine is involved. `None` for anything else.
pub fn retry_after(value: &str, date: Option<&str>) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = jiff::fmt::rfc2822::parse(value.trim()).ok()?;
    let now = jiff::fmt::rfc2822::parse(date?.trim()).ok()?;
    let seconds = until.timestamp().as_second() - now.timestamp().as_second();
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(1000);

    fn error(kind: PortErrorKind) -> PortError {
        PortError::new(kind, "x")
    }

    #[test]
    fn pauses_double_up_to_the_cap_and_end_with_the_attempts() {
        let policy = RetryPolicy { attempts: 8, ..RetryPolicy::interactive() };
        let transient = error(PortErrorKind::Transient);
        let pause = |failed| policy.pause(failed, &transient, LONG, 1.0).map(|p| p.as_millis());
        assert_eq!([pause(1), pause(2), pause(3)], [Some(500), Some(1000), Some(2000)]);
        assert_eq!(pause(7), Some(30_000));
        assert_eq!(pause(8), None);
        assert_eq!(policy.pause(1, &transient, LONG, 0.5), Some(Duration::from_millis(250)));
        assert_eq!(policy.pause(1, &transient, Duration::from_millis(100), 1.0), None);
        assert_eq!(policy.pause(1, &error(PortErrorKind::Rejected), LONG, 1.0), None);
    }

    #[test]
    fn the_servers_wish_is_a_floor() {
        let wish = Duration::from_secs(60);
        let limited = error(PortErrorKind::RateLimited { retry_after: Some(wish) });
        let policy = RetryPolicy::interactive();
        assert_eq!(policy.pause(1, &limited, LONG, 0.0), Some(wish));
        assert_eq!(policy.pause(1, &limited, Duration::from_secs(50), 0.0), None);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let date = Some("Wed, 21 Oct 2015 07:28:00 GMT");
        assert_eq!(retry_after(" 2 ", None), Some(Duration::from_secs(2)));
        assert_eq!(retry_after("0.5", None), Some(Duration::from_millis(500)));
        assert_eq!(
            retry_after("Wed, 21 Oct 2015 07:29:30 GMT", date),
            Some(Duration::from_secs(90))
        );
        assert_eq!(retry_after("Wed, 21 Oct 2015 07:27:00 GMT", date), Some(Duration::ZERO));
        for odd in ["soon", "-3", "", "inf", "NaN"] {
            assert_eq!(retry_after(odd, date), None, "{odd}");
        }
    }

    #[test]
    fn jitter_varies_within_bounds() {
        let draws: Vec<f64> = (0..32).map(|_| uniform()).collect();
        assert!(draws.iter().all(|d| (0.0..1.0).contains(d)));
        assert!(draws.iter().any(|d| (d - draws[0]).abs() > 1e-9));
    }
}
