//! `config.json` of a sentence classifier.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::features::AnswerBlock;
use crate::error::ModelError;

/// Name of the file.
pub const CONFIG_FILE: &str = "config.json";

/// Version of what the heads read; a model of another version is refused.
pub const FORMAT: u32 = 1;

/// Turns a logit into a probability: `1 / (1 + exp(-(scale * logit + shift)))`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AnswerCalibration {
    /// Above 0, so that the order of sentences stays.
    pub scale: f32,
    /// Added after scaling.
    pub shift: f32,
}

impl AnswerCalibration {
    /// The calibrated probability of a logit.
    pub fn probability(self, logit: f32) -> f32 {
        1.0 / (1.0 + (-(self.scale * logit + self.shift)).exp())
    }
}

/// What a sentence classifier is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentenceHeadsConfig {
    /// [`FORMAT`].
    pub format: u32,
    /// Name of the model.
    pub name: String,
    /// Name of the encoder whose vectors it reads.
    pub encoder: String,
    /// Length of these vectors.
    pub dim: usize,
    /// Hidden units of the role head.
    pub role_hidden: usize,
    /// Hidden units of the answer head.
    pub answer_hidden: usize,
    /// Vectors the answer head reads beside its lexical features, in this order.
    pub answer_blocks: Vec<AnswerBlock>,
    /// What role logits are divided by; above 0.
    pub role_temperature: f32,
    /// Of the answer head's logit.
    pub answer_calibration: AnswerCalibration,
}

impl SentenceHeadsConfig {
    /// Reads the file in folder `dir`.
    ///
    /// # Errors
    /// When it cannot be read, is of another format or version, or its numbers make no sense.
    pub fn read(dir: &Path) -> Result<Self, ModelError> {
        let path = dir.join(CONFIG_FILE);
        let text = fs_err::read_to_string(&path).map_err(|error| ModelError::read(&path, error))?;
        let read: Self =
            serde_json::from_str(&text).map_err(|error| ModelError::damaged(&path, error))?;
        if read.format != FORMAT {
            let what = format!("format {} of sentence heads", read.format);
            return Err(ModelError::Unsupported { path, what });
        }
        let positive = |number: f32| number.is_finite() && number > 0.0;
        let sound = positive(read.role_temperature)
            && positive(read.answer_calibration.scale)
            && read.answer_calibration.shift.is_finite()
            && [read.dim, read.role_hidden, read.answer_hidden]
                .iter()
                .all(|n| (1..=8192).contains(n))
            && read.answer_blocks.len() <= 16;
        if sound {
            return Ok(read);
        }
        let problem = "sizes from 1 to 8192, a temperature and a scale above 0 belong in it";
        Err(ModelError::damaged(&path, problem))
    }
}
