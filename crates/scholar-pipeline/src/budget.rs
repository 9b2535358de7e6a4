//! What a run may use: estimated before, enforced during, reported after.

use serde::{Deserialize, Serialize};

/// Limits of one run; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// US dollars.
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
}

impl Budget {
    /// No limit at all.
    pub fn unlimited() -> Self {
        Self { max_cost: None, max_tokens: None, max_seconds: None, max_calls: None }
    }
}
