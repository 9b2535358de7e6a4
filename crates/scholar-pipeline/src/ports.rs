//! What the algorithms may use of the world.

use std::sync::Arc;

use scholar_core::{
    Attributor, CitationGraph, Encoder, Generator, Reranker, Retriever, SentenceClassifier,
};

use crate::budget::Meter;
use crate::clock::{Clock, stopped_clock};

/// The capabilities of one run. A missing generator means evidence-first answers without synthesis; a missing
/// reranker means retrieval order. The outcome says so.
#[derive(Clone)]
pub struct Ports {
    /// Where passages come from.
    pub retriever: Arc<dyn Retriever>,
    /// Who cites whom; a run without it expands nothing.
    pub graph: Option<Arc<dyn CitationGraph>>,
    /// Ranks the pool by (question, passage) pairs.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// Writes drafts, feedback and queries.
    pub generator: Option<Arc<dyn Generator>>,
    /// Compares sentences (redundancy, evidence selection).
    pub encoder: Option<Arc<dyn Encoder>>,
    /// Tells which sentences answer the question; it reads the vectors of `encoder`.
    pub sentence_classifier: Option<Arc<dyn SentenceClassifier>>,
    /// Judges whether a passage supports a sentence.
    pub attributor: Arc<dyn Attributor>,
    /// What time budgets are measured with.
    pub clock: Clock,
    /// The account of the budget, if other ports share it (a judging model, wrapped by [`Meter::wrap`]); it takes the
    /// place of the configured budget. `None` opens one account per run. The run meters `generator` in either case,
    /// once, whether or not the caller wrapped it.
    pub meter: Option<Arc<Meter>>,
}

impl Ports {
    /// The least a run needs: passages and a judge; everything else absent, the clock stopped.
    pub fn new(retriever: Arc<dyn Retriever>, attributor: Arc<dyn Attributor>) -> Self {
        Self {
            retriever,
            graph: None,
            reranker: None,
            generator: None,
            encoder: None,
            sentence_classifier: None,
            attributor,
            clock: stopped_clock(),
            meter: None,
        }
    }
}
