//! Floating-point precision of matrix products.

use serde::{Deserialize, Serialize};

/// Precision of the factors of matrix products. Weights, sums and everything between products are f32 in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// f32 throughout.
    F32,
    /// Factors of large products are rounded to bf16 where the CPU multiplies those faster, f32 elsewhere.
    Mixed,
}
