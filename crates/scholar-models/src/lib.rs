//! Neural models in this process.

pub mod attributor;
pub mod batcher;
pub mod catalog;
pub mod cross_encoder;
pub mod encoder;
pub mod error;
mod fusion;
pub mod gguf;
mod kernels;
pub mod lanes;
pub mod late_interaction;
mod lexical;
mod matmul;
pub mod quantize;
pub mod score_fusion;
pub mod sentence_heads;
pub mod simd;
pub mod t5;
mod tokens;
mod weights;

pub use attributor::TrainedAttributor;
pub use batcher::Batcher;
pub use cross_encoder::{CrossEncoderOptions, LocalCrossEncoder};
pub use encoder::{Backend, EncoderOptions, LocalEncoder, Pooling, Precision};
pub use error::ModelError;
pub use fusion::RERANK_WEIGHTS_FILE;
pub use kernels::Bf16Matmul;
pub use late_interaction::{
    LateInteractionConfig, LateInteractionOptions, LateInteractionReranker, LateInteractionWeights,
    TokenEncoder,
};
pub use matmul::{MatMulShape, MatMut, MatRef, matmul};
pub use score_fusion::{FusionConfig, FusionWeights, ScoreFusionReranker};
pub use sentence_heads::SentenceHeads;
pub use t5::{T5Attributor, T5Precision};
pub use tokens::PairTruncation;
