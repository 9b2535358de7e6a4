//! CPUs without fast bf16 products.

use crate::matmul::{MatMulShape, MatRef};

/// Products of f32 matrices from factors rounded to bf16; this CPU has none.
pub enum Bf16Matmul {}

impl Bf16Matmul {
    /// What this machine can do: nothing.
    pub fn detect() -> Option<Self> {
        None
    }

    /// The instructions used, in words.
    pub fn name(&self) -> &'static str {
        match *self {}
    }

    /// See the other implementation.
    pub fn multiply(
        &self,
        _shape: MatMulShape,
        _left: MatRef<'_>,
        _right: MatRef<'_>,
        _out: &mut [f32],
        _accumulate: bool,
    ) {
        match *self {}
    }
}
