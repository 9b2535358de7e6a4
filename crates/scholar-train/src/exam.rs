//! Exams: what a model in training is measured on besides its held-out rows, by whoever asked for the training.
//!
//! A collection with judgements needs a search to stand behind it, which this crate does not have: the caller brings it.

use crate::error::TrainError;
use crate::lesson::Measure;
use crate::model::Model;

/// Measures a model in training.
pub trait Exam {
    /// Name and value of each measure, higher being better; the first decides which weights are best. The names are the
    /// same each time.
    ///
    /// # Errors
    /// When a text cannot be tokenised.
    fn sit(&mut self, learner: &mut Learner<'_>) -> Result<Vec<Measure>, TrainError>;
}

/// The model in training as an exam sees it.
pub struct Learner<'a> {
    model: &'a mut Model,
}

impl<'a> Learner<'a> {
    pub(crate) fn new(model: &'a mut Model) -> Self {
        Self { model }
    }

    /// Numbers of a vector.
    pub fn dim(&self) -> usize {
        self.model.parameters.shape.hidden
    }

    /// An encoder's vectors of texts, one behind the other.
    ///
    /// # Errors
    /// When a text cannot be tokenised.
    pub fn vectors(&mut self, texts: &[&str]) -> Result<Vec<f32>, TrainError> {
        self.model.vectors(texts)
    }

    /// A classifier's logits of pairs, as many for each as it has classes.
    ///
    /// # Errors
    /// When a text cannot be tokenised.
    pub fn logits(&mut self, pairs: &[(&str, &str)]) -> Result<Vec<f32>, TrainError> {
        self.model.logits(pairs)
    }
}
