//! Neural models in this process.

pub mod batcher;
pub mod catalog;
pub mod cross_encoder;
pub mod encoder;
pub mod error;
pub mod gguf;
mod kernels;
pub mod late_interaction;
mod tokens;
mod weights;

pub use batcher::Batcher;
pub use cross_encoder::{CrossEncoderOptions, LocalCrossEncoder};
pub use encoder::{Backend, EncoderOptions, LocalEncoder, Pooling, Precision};
pub use error::ModelError;
pub use kernels::HalfProducts;
pub use late_interaction::{LateInteractionOptions, LateInteractionReranker, Reading};
