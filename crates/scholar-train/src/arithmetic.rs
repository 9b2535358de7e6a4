//! The arithmetic under a training: products of matrices and functions of rows, on all threads of one device.
//!
//! [`Device`] is the one door. Everything above it says what is computed, nothing above it says where.
//! All orders of summation depend on sizes alone, so the same training gives the same bits on the same machine.

mod device;
pub(crate) mod elementwise;
mod matrix;
mod noise;

pub use device::{Device, Precision};
pub(crate) use device::{LinearGradient, fit};
pub(crate) use elementwise::AdamStep;
pub(crate) use matrix::{View, ViewMut, multiply};
pub(crate) use noise::{Mask, Noise};
