//! Benchmarks: retrieval quality, judges, metrics and statistics.

pub mod attribution;
