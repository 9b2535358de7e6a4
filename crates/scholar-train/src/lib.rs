//! Training of the encoder, the reranker and the attributor.
//!
//! [`train()`] is the entry: [`Settings`] and an output folder in, a model folder that `scholar-models` opens out.
//! `network` is a BERT-shaped encoder with a backward pass written by hand, `arithmetic` what it computes with; `lesson`
//! holds what differs between the three tasks, `train` the loop that does not; `checkpoint`, `output` and `curves` are what
//! a training leaves on disk. It is *not* for inference, which is `scholar-models`; nor for benchmarks, which are
//! `scholar-bench`. [`data`] makes the rows that are trained on.

mod arithmetic;
mod checkpoint;
mod curves;
pub mod data;
mod error;
mod exam;
mod files;
mod lesson;
mod loss;
pub mod metrics;
mod model;
mod network;
mod optimiser;
mod output;
mod settings;
pub mod speed;
mod tokens;
mod train;

pub use arithmetic::{Hardware, Precision};
pub use error::TrainError;
pub use exam::{Exam, Learner};
pub use lesson::{Measure, Rejected};
pub use loss::evidence_score;
pub use network::Shape;
pub use settings::{Objective, Reads, Settings, Store, Task};
pub use train::{Control, Ended, Event, Progress, Report, train};
