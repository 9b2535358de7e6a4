//! How well passages are found: BEIR-style collections, `trec_eval`'s measures, one report per collection.
//!
//! A document's score is that of its best passage. Queries without a relevant document are left out and counted.
//!
//! Source: `trec_eval` 9 and BEIR (Thakur et al. 2021): nDCG@10 with gain = grade and discount log2(rank + 1),
//! Recall@100 and MRR@10 over grades above 0.

pub mod collection;
pub mod metrics;
pub mod report;
pub mod run;

pub use collection::{Collection, CollectionError, document_name};
pub use metrics::{Grades, Scores};
pub use report::{Report, SystemReport, markdown};
pub use run::{RERANKED, System, run};
