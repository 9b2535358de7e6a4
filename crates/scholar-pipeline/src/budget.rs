//! What a run may use: estimated before, enforced during, reported after.

use scholar_core::PortError;
use serde::{Deserialize, Serialize};

mod estimate;
mod meter;

pub(crate) use estimate::{ANSWER_TOKENS, KEYWORD_TOKENS, PASSAGE_TOKENS, WORDING_TOKENS};
pub use estimate::{Estimate, ExpectedCalls};
pub use meter::Meter;

/// Limits of one run; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// US dollars that all calls may cost together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// Prompt and completion tokens of the generator together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Seconds since the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<f64>,
    /// Calls of the generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<u64>,
    /// Of [`Budget::max_calls`], those that only calls for the purpose [`RESERVED_PURPOSE`], or for its repair, may use.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reserved_calls: u64,
}

/// The purpose that [`Budget::reserved_calls`] are kept for: the last step of a review, which would otherwise find nothing left.
pub const RESERVED_PURPOSE: &str = "appraisal";

/// Whether there is nothing to write down.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(calls: &u64) -> bool {
    *calls == 0
}

impl Budget {
    /// No limit at all.
    pub fn unlimited() -> Self {
        Self {
            max_cost: None,
            max_tokens: None,
            max_seconds: None,
            max_calls: None,
            reserved_calls: 0,
        }
    }
}

/// The limit that a call would have broken.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum BudgetExceeded {
    /// [`Budget::max_cost`].
    #[error("the budget of ${limit} is used up")]
    Cost {
        /// The limit, in US dollars.
        limit: f64,
    },
    /// [`Budget::max_cost`] of a model whose price nobody stated.
    #[error("a budget of ${limit} cannot be enforced: the price of the model is unknown")]
    UnknownPrice {
        /// The limit, in US dollars.
        limit: f64,
    },
    /// [`Budget::max_tokens`].
    #[error("the budget of {limit} tokens is used up")]
    Tokens {
        /// The limit, in tokens.
        limit: u64,
    },
    /// [`Budget::max_seconds`].
    #[error("the budget of {limit} seconds is used up")]
    Seconds {
        /// The limit, in seconds.
        limit: f64,
    },
    /// [`Budget::max_calls`].
    #[error("the budget of {limit} model calls is used up")]
    Calls {
        /// The limit, in calls.
        limit: u64,
    },
}

impl BudgetExceeded {
    /// The limit behind `error`, if a [`Meter`] refused the call.
    pub fn behind(error: &PortError) -> Option<Self> {
        let source = std::error::Error::source(error)?;
        source.downcast_ref::<Self>().copied()
    }
}
