//! Score-fusion weights, fitted on data that the model was not trained on.
//!
//! - [`judge`]: a logistic model over a trained judge, the lexical judge and an encoder's `MaxSim`;
//! - [`reranker`]: a grid search over the weights of a reranker's features by nDCG@10.

pub mod judge;
pub mod reranker;
