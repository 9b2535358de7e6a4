//! A review as a document for programs, `openscholar.review/1`.

use scholar_core::Notice;
use scholar_review::Review;
use serde::{Deserialize, Serialize};

use super::document::{Timings, Usage};

/// What `review --json` prints and a run stores as `review.json`. The schema is the review's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReviewDocument {
    /// Idea, modules, references, what was left out and what failed.
    #[serde(flatten)]
    pub(crate) review: Review,
    /// What a person should know.
    pub(crate) notices: Vec<Notice>,
    /// What it took.
    pub(crate) usage: Usage,
    /// How long it took.
    pub(crate) timings_ms: Timings,
    /// The run folder's name.
    pub(crate) run: String,
}
