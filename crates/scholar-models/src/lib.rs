//! Neural models in this process.

mod batcher;
pub mod catalog;
pub mod encoder;
pub mod error;
pub mod gguf;
mod kernels;
mod tokens;
mod weights;

pub use encoder::{Backend, EncoderOptions, LocalEncoder, Pooling, Precision};
pub use error::ModelError;
