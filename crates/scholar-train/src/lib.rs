//! Training of the encoder, the reranker and the attributor.
//!
//! [`train()`] is the entry: [`Settings`] and an output folder in, a model folder that `scholar-models` opens out.
//! `network` is a BERT-shaped encoder with a hand-written backward pass, `backend` what computes it, on CPU or GPU; `task`
//! holds what differs between the three tasks, `train` the loop they share; `checkpoint`, `output` and `curves` are what
//! a training writes to disk. It is *not* for inference, which is `scholar-models`; nor for benchmarks, which are
//! `scholar-bench`. [`data`] makes the rows that are trained on.

mod backend;
mod checkpoint;
mod curves;
pub mod data;
mod error;
mod evaluator;
mod files;
mod loss;
pub mod metrics;
mod model;
mod network;
mod optimiser;
mod output;
pub mod sentences;
mod settings;
pub mod speed;
mod task;
mod tokens;
mod train;

pub use backend::{DeviceKind, Precision};
pub use error::TrainError;
pub use evaluator::{EvalModel, Evaluator};
pub use loss::evidence_score;
pub use network::Shape;
pub use settings::{Objective, RerankerArchitecture, SaveDtype, Settings, Task};
pub use task::{Measure, Rejected};
pub use train::{Control, Ended, Event, Progress, Report, train};
