//! The arithmetic under a training: products of matrices and functions of rows.
//!
//! [`Device`] is the one door. Everything above it says what is computed, nothing above it says where: numbers lie in a
//! [`Buffer`], which only the device that made it looks into. [`Cpu`] computes with the threads of a processor, `Graphics` on
//! a graphics card. All orders of summation depend on sizes alone, so the same training gives the same bits on the same
//! machine.

mod buffer;
mod cpu;
mod device;
#[cfg(feature = "graphics")]
mod graphics;
mod hardware;
mod noise;
mod threads;

pub(crate) use buffer::Buffer;
pub(crate) use cpu::{Cpu, View, ViewMut, multiply};
pub(crate) use device::{AdamStep, Attention, Device, Pair, Reach, Tokens};
pub use hardware::{Hardware, Precision};
pub(crate) use noise::{Mask, Noise};
pub(crate) use threads::Threads;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::cards;
