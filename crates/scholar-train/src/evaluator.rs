//! Evaluation by the caller, beside the held-out rows.
//!
//! A collection with relevance judgements needs a search, which this crate does not have: the caller brings it.

use crate::error::TrainError;
use crate::model::Model;
use crate::task::Measure;

/// Evaluates a model in training.
pub trait Evaluator {
    /// Metrics, higher being better; the first selects the best weights. The names are the same each time.
    ///
    /// # Errors
    /// When a text cannot be tokenised.
    fn evaluate(&mut self, model: &mut EvalModel<'_>) -> Result<Vec<Measure>, TrainError>;
}

/// The model in training, for inference only.
pub struct EvalModel<'a> {
    model: &'a mut Model,
}

impl<'a> EvalModel<'a> {
    pub(crate) fn new(model: &'a mut Model) -> Self {
        Self { model }
    }

    /// Dimensions of a vector.
    pub fn dim(&self) -> usize {
        self.model.parameters.shape.hidden
    }

    /// An encoder's vectors of texts, `[texts, dim]`, row-major.
    ///
    /// # Errors
    /// When a text cannot be tokenised.
    pub fn vectors(&mut self, texts: &[&str]) -> Result<Vec<f32>, TrainError> {
        self.model.vectors(texts)
    }

    /// Logits of pairs, `[pairs, classes]`; of a late-interaction reranker its scores, `[pairs]`.
    ///
    /// # Errors
    /// When a text cannot be tokenised.
    pub fn logits(&mut self, pairs: &[(&str, &str)]) -> Result<Vec<f32>, TrainError> {
        self.model.logits(pairs)
    }
}
