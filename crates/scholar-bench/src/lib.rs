//! Benchmarks: retrieval quality, judges, metrics and statistics.

pub mod attribution;
pub mod retrieval;
pub mod statistics;
