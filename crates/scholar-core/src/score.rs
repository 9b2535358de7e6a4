//! Scores with a total order: no NaN, no infinity, and no comparing a retrieval score with a rerank score.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// A value that was NaN or infinite where a score was expected.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("score {0} is not a finite number")]
pub struct NotFinite(pub f32);

macro_rules! score {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        #[serde(try_from = "f32", into = "f32")]
        pub struct $name(f32);

        impl $name {
            /// Accepts any finite value.
            ///
            /// # Errors
            /// [`NotFinite`] for NaN and infinities.
            pub fn new(value: f32) -> Result<Self, NotFinite> {
                if value.is_finite() { Ok(Self(value)) } else { Err(NotFinite(value)) }
            }

            /// The finite number that was wrapped.
            pub fn value(self) -> f32 {
                self.0
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.total_cmp(&other.0)
            }
        }

        impl TryFrom<f32> for $name {
            type Error = NotFinite;

            fn try_from(value: f32) -> Result<Self, NotFinite> {
                Self::new(value)
            }
        }

        impl From<$name> for f32 {
            fn from(score: $name) -> f32 {
                score.0
            }
        }
    };
}

score! {
    /// How well a retriever thinks a passage fits a query; only comparable within one search.
    RetrievalScore
}
score! {
    /// A reranker's raw score of a (query, passage) pair, before any citation bonus unless stated.
    RerankScore
}
