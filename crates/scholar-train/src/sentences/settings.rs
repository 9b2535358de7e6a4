//! Settings of a training of sentence heads.

use std::path::Path;

use scholar_models::sentence_heads::AnswerBlock;
use serde::{Deserialize, Serialize};

use crate::error::TrainError;

/// Every setting; a file states those that differ from [`SentenceSettings::paper`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentenceSettings {
    /// Name of the model.
    pub name: String,
    /// Random seed of initial weights, order, dropout and what is left out.
    pub seed: u64,
    /// Passes over the examples.
    pub epochs: usize,
    /// Sentences of one step.
    pub batch_size: usize,
    /// Peak learning rate of `AdamW`; it falls to zero along a cosine.
    pub learning_rate: f32,
    /// Decoupled weight decay; biases are exempt.
    pub weight_decay: f32,
    /// Dropout of the hidden layer, 0 to below 1.
    pub dropout: f32,
    /// Hidden units of the role head.
    pub role_hidden: usize,
    /// Hidden units of the answer head.
    pub answer_hidden: usize,
    /// Vectors the answer head reads.
    pub answer_blocks: Vec<AnswerBlock>,
    /// Sentences of one kind of source in an epoch at most, so that no source outweighs the others.
    pub source_sentences: usize,
    /// Probability that the title is left out.
    pub drop_title: f64,
    /// Probability that the neighbours are left out.
    pub drop_neighbours: f64,
    /// Probability that heading or label is left out.
    pub drop_section: f64,
    /// Probability that the place in the passage is left out.
    pub drop_place: f64,
    /// Probability that a heading that was kept is another one: headings of body sections are less sure than labels.
    pub wrong_section: f64,
}

impl SentenceSettings {
    /// Of the shipped model.
    pub fn paper() -> Self {
        Self {
            name: "scholar-sentences-granite".to_owned(),
            seed: 7,
            epochs: 8,
            batch_size: 128,
            learning_rate: 1e-3,
            weight_decay: 0.05,
            dropout: 0.3,
            role_hidden: 64,
            answer_hidden: 64,
            answer_blocks: vec![AnswerBlock::Product, AnswerBlock::Difference],
            source_sentences: 12_000,
            drop_title: 0.4,
            drop_neighbours: 0.3,
            drop_section: 0.6,
            drop_place: 0.4,
            wrong_section: 0.15,
        }
    }

    /// Reads a TOML file over [`SentenceSettings::paper`].
    ///
    /// # Errors
    /// When it cannot be read, names an unknown setting, or makes no sense.
    pub fn read(path: &Path) -> Result<Self, TrainError> {
        let text = fs_err::read_to_string(path).map_err(|source| TrainError::read(path, source))?;
        let damaged = |problem: &dyn ToString| TrainError::damaged(path, problem.to_string());
        let stated: toml::Table = text.parse().map_err(|e: toml::de::Error| damaged(&e))?;
        let mut all = toml::Table::try_from(Self::paper()).map_err(|e| damaged(&e))?;
        all.extend(stated);
        let settings: Self = all.try_into().map_err(|e| damaged(&e))?;
        settings.check()?;
        Ok(settings)
    }

    /// Whether they make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn check(&self) -> Result<(), TrainError> {
        let sizes = [
            ("epochs", self.epochs),
            ("batch_size", self.batch_size),
            ("role_hidden", self.role_hidden),
            ("answer_hidden", self.answer_hidden),
            ("source_sentences", self.source_sentences),
        ];
        if let Some((name, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(TrainError::setting(name, "must be above 0"));
        }
        let shares = [
            ("drop_title", self.drop_title),
            ("drop_neighbours", self.drop_neighbours),
            ("drop_section", self.drop_section),
            ("drop_place", self.drop_place),
            ("wrong_section", self.wrong_section),
            ("dropout", f64::from(self.dropout)),
        ];
        if let Some((name, _)) = shares.iter().find(|(_, share)| !(0.0..1.0).contains(share)) {
            return Err(TrainError::setting(name, "must be from 0 to below 1"));
        }
        let rates = [("learning_rate", self.learning_rate), ("weight_decay", self.weight_decay)];
        match rates.iter().find(|(_, rate)| !(rate.is_finite() && *rate >= 0.0)) {
            Some((name, _)) => Err(TrainError::setting(name, "must be a number from 0")),
            None => Ok(()),
        }
    }
}
