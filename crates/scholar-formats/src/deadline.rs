//! When reading a document has to end.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scholar_core::{Limit, ReadLimits};

use crate::error::{FormatError, FormatErrorKind};

/// A time after which readers give up. They look at it in every loop whose length the input decides.
#[derive(Clone)]
pub struct Deadline {
    elapsed: Arc<dyn Fn() -> Duration + Send + Sync>,
    allowed: Duration,
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

impl Deadline {
    /// `allowed` from now on.
    pub fn after(allowed: Duration) -> Self {
        let began = Instant::now();
        Self::by(move || began.elapsed(), allowed)
    }

    /// `allowed` by a clock that tells how much time has gone by.
    pub fn by(elapsed: impl Fn() -> Duration + Send + Sync + 'static, allowed: Duration) -> Self {
        Self { elapsed: Arc::new(elapsed), allowed }
    }

    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        (self.elapsed)() >= self.allowed
    }

    /// What is to be said when it is.
    pub(crate) fn error(&self, format: &'static str) -> FormatError {
        let message =
            format!("reading took longer than {} s ({})", self.allowed.as_secs(), Limit::Seconds);
        FormatError::new(FormatErrorKind::TooLarge, format, message)
            .with_hint(Limit::Seconds.hint())
    }
}

/// What a reader may use, and until when.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// How much may be read, unpacked and kept.
    pub limits: ReadLimits,
    /// When reading has to end.
    pub deadline: Deadline,
}

impl From<ReadLimits> for Bounds {
    /// The time begins now.
    fn from(limits: ReadLimits) -> Self {
        Self { limits, deadline: Deadline::after(limits.time) }
    }
}

impl Default for Bounds {
    fn default() -> Self {
        ReadLimits::standard().into()
    }
}
