//! Training data made by our own pipeline.
//!
//! [`source`] says which collections there are and under which licences, and reads them; [`evaluation`] holds what
//! models are measured on and keeps it out; [`duplicates`] leaves repetitions out; [`ledger`] counts what stays and
//! what does not, and by which rule. [`rows`] are what trainers read.
//!
//! It is *not* for training itself, nor for searching: negatives are mined through the core's `Retriever`, and the
//! binary says which datastore stands behind it.

pub mod abstracts;
mod attribution;
pub mod card;
pub mod duplicates;
pub mod error;
pub mod evaluation;
pub mod export;
mod leaks;
pub mod ledger;
pub mod lines;
pub mod nearest;
pub mod ranking;
pub mod rows;
pub mod sentences;
pub mod source;
pub mod split;
pub mod statement;
mod texts;
pub mod wording;

pub use attribution::attribution_rows;
pub use card::{Account, DataCard, write_all};
pub use error::DataError;
pub use evaluation::{Conflict, Evaluation};
pub use leaks::refuse_leaks;
pub use ledger::Ledger;
pub use lines::{BadRow, Rows, read_rows};
pub use rows::{AttributionRow, EvidenceLabel, RerankRow, TextRow, write_file, write_rows};
pub use source::{Source, SourceName};
pub use split::{Settings, Splits};
pub use texts::{has_papers, text_rows};
