//! Papers from beyond the datastore, in the same pool as the datastore's.
//!
//! ```text
//! question or keywords ─┬─ datastore ──────────────────────────────────────────┐
//!                       └─ every source: find ─ most cited ─ one paper each ──►│ interleaved hits
//!                                          (reconcile)   └ full text ─ cut ────┘
//! ```
//!
//! [`WideRetriever`] is a [`Retriever`](scholar_core::Retriever): `search` asks what is stored or was found before in the same run,
//! `explore` asks every source too. [`WideGraph`] does the same for the citation graph. What was found is kept for the run, so that quotations can be located in it.
//!
//! Source: arXiv 2411.14199 §2.1 (three sources, keywords, top 10 papers of each keyword by citations).

mod graph;
mod keywords;
mod passages;
mod reconcile;
mod wide;

use serde::{Deserialize, Serialize};

pub use graph::{LinkSource, LinkedPaper, LinkedPapers, WideGraph};
pub use reconcile::{Candidate, KnownPapers, Provenance, join_meta as merge_meta, reconcile};
pub use wide::WideRetriever;

/// How far beyond the datastore a run looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcesConfig {
    /// Keyword queries made in code of the question itself, 1 when a generator names keywords too.
    pub keywords: usize,
    /// Papers asked of a source for one text, in its order of relevance.
    pub found: usize,
    /// How many of them stay, the most cited first; of sources that rank whole questions the first stay.
    pub kept: usize,
    /// Papers of one exploration whose whole text is asked for. 0 reads abstracts only.
    pub full_texts: usize,
    /// Passages of a paper that join the pool, those nearest to the question by their words.
    pub passages_per_paper: usize,
    /// Requests of one exploration that are under way at once.
    pub concurrency: usize,
}

impl SourcesConfig {
    /// The paper's: ten papers a keyword by citations, whole texts where they are open.
    pub fn paper() -> Self {
        Self { found: 10, kept: 10, full_texts: usize::MAX, ..Self::quick() }
    }

    /// Ours, because a person waits: a wider look for each text, whole texts of the few papers nearest to the question.
    pub fn quick() -> Self {
        Self {
            keywords: 3,
            found: 20,
            kept: 10,
            full_texts: 3,
            passages_per_paper: 4,
            concurrency: 4,
        }
    }
}
