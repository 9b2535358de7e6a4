//! The arithmetic under a training: products of matrices and functions of rows.
//!
//! [`Backend`] is the one door. Everything above it says what is computed, nothing above it says where: numbers lie in a
//! [`Buffer`], which only the device that made it looks into. [`CpuBackend`] computes with the threads of a CPU, `GpuBackend` on
//! a GPU. All orders of summation depend on sizes alone, so the same training gives the same bits on the same
//! machine.

mod buffer;
mod cpu;
mod device_kind;
mod dropout;
#[cfg(feature = "gpu")]
mod gpu;
mod ops;
mod precision;
mod threads;

pub(crate) use buffer::Buffer;
pub(crate) use cpu::CpuBackend;
pub use device_kind::DeviceKind;
pub(crate) use dropout::{Dropout, Mask};
pub(crate) use ops::{
    AdamStep, Attention, AttentionGradients, AttentionTape, Backend, LinearMut, LinearRef, Moments,
    NormTape, Pair, SequenceSpan, Tables, Tokens, WeightRef,
};
pub use precision::Precision;
pub(crate) use threads::Threads;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::gpu_backends;
