//! Benchmarks: retrieval quality, judges, metrics and statistics.
//!
//! - [`metrics`]: what ScholarQABench measures, pure, with the reference scorers' forms as named variants;
//! - [`judge`]: who decides what cannot be counted, pinned by name and prompt;
//! - [`statistics`]: intervals, correlations, agreement, tests;
//! - [`experts`]: what people say of answers, their agreement, and the part of length in it;
//! - [`abstention`]: whether answers are held back where the passages are those of another question;
//! - [`answerable`]: whether a datastore's questions are answered by the right papers, and others are not;
//! - [`metadata`]: whether title, authors, year, venue and identifiers of PDFs are read as they are printed;
//! - [`expansion`]: whether citation links find papers that search misses;
//! - [`tables`]: whether the cells of tables of papers say what people took out of the papers;
//! - [`fit_weights`]: score-fusion weights of judges and rerankers;
//! - [`performance`]: speed and size, and their reports;
//! - [`scholarideas`]: how far reviews of research ideas make the points of expert reviewers, and what of them is wrong;
//! - [`scirag_depth`]: what a question costs by depth of `SciRAG`'s tree;
//! - [`screening`]: reading saved and criteria decided for systematic reviews;
//! - [`retrieval`] and [`attribution`]: quality of search and of judges against people.
//!
//! It is *not* for running systems: it is given what they wrote.

pub mod abstention;
pub mod answerable;
pub mod attribution;
pub mod expansion;
pub mod experts;
pub mod fit_weights;
pub mod gates;
pub mod judge;
pub mod metadata;
pub mod metrics;
pub mod performance;
pub mod plot;
pub mod retrieval;
pub mod scholarideas;
pub mod scholarqa;
pub mod scirag_depth;
pub mod screening;
pub mod statistics;
pub mod tables;
