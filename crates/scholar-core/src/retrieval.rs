//! Requests to and results of passage search.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::explanation::Explanation;
use crate::filter::SearchFilter;
use crate::notice::Notice;
use crate::paper::PaperMeta;
use crate::passage::Passage;
use crate::question::Query;
use crate::score::{RerankScore, RetrievalScore};

/// Which of the two indexes are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    /// Embeddings and BM25, whose rankings are fused.
    Hybrid,
    /// Embeddings only: the paper's setting.
    Dense,
    /// BM25 only, which needs no encoder.
    Lexical,
}

/// What a [`Retriever`](crate::Retriever) is asked in one search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchRequest {
    /// What to look for.
    pub query: Query,
    /// At most this many passages come back.
    pub top_k: usize,
    /// Which indexes are asked.
    pub mode: SearchMode,
    /// Which papers may come back.
    pub filter: SearchFilter,
}

/// A passage found by a retriever.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Retrieved {
    /// What was found, text included.
    pub passage: Passage,
    /// Metadata of the paper it was cut from.
    pub paper: Arc<PaperMeta>,
    /// Higher is better; comparable within one search only.
    pub score: RetrievalScore,
    /// Why it has this score.
    pub explanation: Explanation,
    /// The sources beyond the datastore that found the paper, by name and in order of the names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found_by: Vec<String>,
}

/// What looking everywhere brought, and what a person should know about it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// Passages by descending score, ties by identifier.
    pub hits: Vec<Retrieved>,
    /// Sources that were skipped or limited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// A retrieved passage with the reranker's opinion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// What the retriever returned.
    pub retrieved: Retrieved,
    /// The score it is ranked by: raw, plus the citation bonus where that option is on.
    pub score: RerankScore,
    /// Why it has this score.
    pub explanation: Explanation,
}
