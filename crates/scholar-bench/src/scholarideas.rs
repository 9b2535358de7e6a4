//! `ScholarIdeas`: research ideas with what expert reviewers said of them, and how well a report on an idea says the same.
//!
//! - [`Dataset`]: ideas, rubrics and cut-off dates in the published layout or as JSON lines; [`counts`] checks its totals;
//! - [`reports`]: what systems wrote about the ideas, as text with links;
//! - [`baseline`]: what a model writes without literature, to compare with;
//! - [`coverage`]: how far a report makes a reviewer's point, 1 to 5, by a model as judge; [`trained`] measures the same by the
//!   small models, calibrated on a judge's grades;
//! - [`invalidity`]: links of a report that lead nowhere;
//! - [`pairwise`]: two reports on one idea compared by a judge in both orders;
//! - [`compare`]: systems beside each other and beside the paper's [`published`] tables;
//! - [`curate`]: how such a dataset is made of papers and their reviews;
//! - [`dry`]: calls and tokens before anything is asked.
//!
//! It is *not* for writing reports but those of the baseline; and it never tells a judge which system it reads.
//!
//! Source: arXiv 2510.16234 (`ScholarEval`), section 4 and appendices.

pub mod baseline;
pub mod compare;
pub mod counts;
pub mod coverage;
pub mod curate;
pub mod dry;
pub mod invalidity;
mod links;
mod load;
mod model;
pub mod pairwise;
pub mod published;
pub mod reports;
#[cfg(test)]
mod tests;
pub mod trained;

pub use links::links_of;
pub use load::{LoadError, load};
pub use model::{Axis, Dataset, Discipline, Filter, Idea, IdeaId, Rubric, RubricType, Severity};
