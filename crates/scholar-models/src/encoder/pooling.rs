//! From token states to one vector.

use crate::kernels::{add_scaled, dot};
use crate::simd::SimdLevel;

/// How the token states of a text become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// Their mean, special tokens included.
    ///
    /// Source: Contriever and sentence-transformers (`pooling_mode_mean_tokens`) alike.
    Mean,
    /// The state of the first token.
    Cls,
}

impl Pooling {
    /// Pools `[tokens, dim]` to `[dim]`, of length 1 where `unit` is set.
    pub(super) fn pool(self, states: &[f32], dim: usize, unit: bool) -> Vec<f32> {
        let mut vector = vec![0.0; dim];
        match self {
            Self::Mean => {
                let level = SimdLevel::detect();
                let weight = dim as f32 / states.len() as f32;
                for state in states.chunks_exact(dim) {
                    add_scaled(level, &mut vector, state, 1.0);
                }
                for value in &mut vector {
                    *value *= weight;
                }
            }
            Self::Cls => vector.copy_from_slice(&states[..dim]),
        }
        if unit { self::unit(&vector) } else { vector }
    }
}

/// `vector` scaled to length 1; a zero vector stays zero.
pub(super) fn unit(vector: &[f32]) -> Vec<f32> {
    // sentence-transformers divides by max(norm, 1e-12).
    let norm = dot(SimdLevel::detect(), vector, vector).sqrt().max(1e-12);
    vector.iter().map(|value| value / norm).collect()
}
