//! `ScholarQABench`: tasks, systems under test, predictions, runs, scores and reports.
//!
//! [`load()`] reads upstream's files as they are into [`Item`]s; [`answer`] asks one item of the pipeline, so that a
//! benchmark item is an ordinary question with the task's variant, given contexts and date cutoff; [`journal`] keeps
//! what was answered; [`convert`] reads and writes every shape predictions come in; [`score`] measures them and
//! [`report`] sets runs beside one another and beside what was published.
//!
//! Source: Asai et al. 2024, arXiv 2411.14199 §4, and the benchmark's public files.

pub mod answer;
pub mod cache;
pub mod convert;
pub mod fixed_retriever;
pub mod frozen;
mod item;
pub mod journal;
mod json;
pub mod load;
pub mod ports;
pub mod prediction;
pub mod published;
pub mod report;
pub mod run;
pub mod score;
pub mod system;
pub mod task;

pub use item::{Gold, Item, mark_duplicates, sample};
pub use json::{DataError, Place, finite};
pub use load::{Loaded, load};
pub use prediction::{Context, PREDICTION_SCHEMA, Prediction, PredictionStatus, PredictionUsage};
pub use system::{Ablation, ContextSource, Exploration, System};
pub use task::BenchTask;
