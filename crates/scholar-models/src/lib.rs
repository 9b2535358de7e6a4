//! Neural models in this process.

pub mod attributor;
pub mod batcher;
pub mod catalog;
pub mod cross_encoder;
pub mod encoder;
pub mod error;
pub mod gguf;
mod kernels;
pub mod late_interaction;
mod lexical;
pub mod second_reading;
pub mod shipping;
pub mod t5;
mod tokens;
mod weights;

pub use attributor::TrainedAttributor;
pub use batcher::Batcher;
pub use cross_encoder::{CrossEncoderOptions, LocalCrossEncoder};
pub use encoder::{Backend, EncoderOptions, LocalEncoder, Pooling, Precision};
pub use error::ModelError;
pub use kernels::HalfProducts;
pub use late_interaction::{
    LateInteractionOptions, LateInteractionReranker, LateRules, LateWeights, Reading,
};
pub use second_reading::{READING_FILE, ReadingRules, ReadingWeights, SecondReadingReranker};
pub use t5::{T5Attributor, T5Precision};
pub use tokens::PairTruncation;
