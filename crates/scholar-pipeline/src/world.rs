//! What the algorithms may use of the world.

use std::sync::Arc;

use scholar_core::{Attributor, Encoder, Generator, Reranker, Retriever};

/// The capabilities of one run. A missing generator means evidence-first answers without synthesis; a missing
/// reranker means retrieval order. The outcome says so.
#[derive(Clone)]
pub struct Ports {
    /// Where passages come from.
    pub retriever: Arc<dyn Retriever>,
    /// Orders the pool.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// Writes.
    pub generator: Option<Arc<dyn Generator>>,
    /// Compares sentences (redundancy, evidence selection).
    pub encoder: Option<Arc<dyn Encoder>>,
    /// Judges support.
    pub attributor: Arc<dyn Attributor>,
}
