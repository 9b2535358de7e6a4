//! Classification heads over an encoder's embeddings: which sentences answer a question, and which role they have.
//!
//! Two multilayer perceptrons with one hidden layer read vectors that the caller has computed anyway, and a few lexical
//! features ([`features`]):
//!
//! 1. the role head reads the sentence, its neighbours, its place and its heading;
//! 2. the answer head reads how question and sentence compare, and what the role head said;
//! 3. both are calibrated on held-out rows: roles by a temperature, answers by a scale and a shift (Platt).
//!
//! A sentence costs about 0.1 million multiplications. It is *not* for training, which is `scholar-train`.
//!
//! Source: calibration as in Platt, *Probabilistic outputs for support vector machines*, 1999, and Guo et al., *On
//! calibration of modern neural networks*, 2017.

mod config;
pub mod features;
mod mlp;
pub mod wording;

use std::path::Path;

use safetensors::{Dtype, SafeTensors};
use scholar_core::{
    EmbeddedText, PortError, PortErrorKind, RoleProbabilities, SentenceClassifier,
    SentenceClassifierInfo, SentenceInContext, SentenceScores,
};

pub use self::config::{AnswerCalibration, CONFIG_FILE, FORMAT, SentenceHeadsConfig};
pub use self::features::{AnswerBlock, Features, StemWeights};
pub use self::mlp::Mlp;
use crate::error::ModelError;

/// Weights of the heads.
pub const WEIGHTS_FILE: &str = "model.safetensors";

/// Number of roles.
pub const ROLES: usize = 5;

/// Sentences in one matrix product.
const BATCH: usize = 256;

/// A trained sentence classifier.
#[derive(Debug, Clone)]
pub struct SentenceHeads {
    info: SentenceClassifierInfo,
    config: SentenceHeadsConfig,
    features: Features,
    role: Mlp,
    answers: Mlp,
}

impl SentenceHeads {
    /// Puts a classifier together.
    ///
    /// # Errors
    /// When the heads do not take what `features` gives or do not give what is asked; `path` is named.
    pub fn new(
        config: SentenceHeadsConfig,
        stem_weights: StemWeights,
        role: Mlp,
        answers: Mlp,
        path: &Path,
    ) -> Result<Self, ModelError> {
        let features = Features::new(config.dim, config.answer_blocks.clone(), stem_weights);
        let widths = [
            ("role", &role, features.role_width(), ROLES),
            ("answers", &answers, features.answer_width(), 1),
        ];
        for (name, head, inputs, outputs) in widths {
            if (head.inputs(), head.outputs()) != (inputs, outputs) {
                let problem = format!(
                    "maps {} numbers to {}, and {inputs} to {outputs} are needed",
                    head.inputs(),
                    head.outputs()
                );
                return Err(ModelError::Tensor {
                    path: path.to_owned(),
                    tensor: name.to_owned(),
                    problem,
                });
            }
        }
        let info = SentenceClassifierInfo {
            name: config.name.clone(),
            encoder: config.encoder.clone(),
            dim: config.dim,
        };
        Ok(Self { info, config, features, role, answers })
    }

    /// Opens the model in folder `dir`: `config.json` and `model.safetensors`.
    ///
    /// # Errors
    /// When a file is missing, damaged or of another format.
    pub fn open(dir: &Path) -> Result<Self, ModelError> {
        let config = SentenceHeadsConfig::read(dir)?;
        let path = dir.join(WEIGHTS_FILE);
        let bytes = fs_err::read(&path).map_err(|error| ModelError::read(&path, error))?;
        let tensors =
            SafeTensors::deserialize(&bytes).map_err(|error| ModelError::damaged(&path, error))?;
        let read = |name: &str| tensor(&tensors, name, &path);
        let head = |name: &str, hidden: usize| -> Result<Mlp, ModelError> {
            let parts = ["hidden.weight", "hidden.bias", "output.weight", "output.bias"];
            let [first, first_bias, second, second_bias] =
                parts.map(|part| read(&format!("{name}.{part}")));
            Mlp::new(hidden, [first?, first_bias?, second?, second_bias?]).map_err(|problem| {
                ModelError::Tensor { path: path.clone(), tensor: name.to_owned(), problem }
            })
        };
        let role = head("role", config.role_hidden)?;
        let answers = head("answers", config.answer_hidden)?;
        let weights = StemWeights::new(read("stem_weights")?).map_err(|problem| {
            let tensor = "stem_weights".to_owned();
            ModelError::Tensor { path: path.clone(), tensor, problem }
        })?;
        Self::new(config, weights, role, answers, &path)
    }

    /// What the heads read.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// What the model is made of.
    pub fn config(&self) -> &SentenceHeadsConfig {
        &self.config
    }

    /// The head for roles, logits in the order of `SentenceRole::ALL`.
    pub fn role_head(&self) -> &Mlp {
        &self.role
    }

    /// The head for answers, one logit.
    pub fn answer_head(&self) -> &Mlp {
        &self.answers
    }

    /// Calibrated role probabilities, `[sentences, 5]`.
    fn roles(&self, sentences: &[SentenceInContext<'_>]) -> Vec<[f32; ROLES]> {
        let mut input = Vec::with_capacity(sentences.len() * self.features.role_width());
        for one in sentences {
            self.features.role(one, &mut input);
        }
        let logits = self.role.forward(&input);
        let (rows, _) = logits.as_chunks::<ROLES>();
        rows.iter().map(|row| softmax(row.map(|z| z / self.config.role_temperature))).collect()
    }

    fn batch(
        &self,
        asked: &features::Asked<'_>,
        sentences: &[SentenceInContext<'_>],
        out: &mut Vec<SentenceScores>,
    ) {
        let roles = self.roles(sentences);
        let mut input = Vec::with_capacity(sentences.len() * self.features.answer_width());
        for (one, role) in sentences.iter().zip(&roles) {
            self.features.answer(asked, one, role, &mut input);
        }
        let logits = self.answers.forward(&input);
        let calibration = self.config.answer_calibration;
        out.extend(logits.into_iter().zip(roles).map(|(logit, role)| SentenceScores {
            answers: calibration.probability(logit),
            role: RoleProbabilities::from_array(role),
        }));
    }
}

impl SentenceClassifier for SentenceHeads {
    fn info(&self) -> &SentenceClassifierInfo {
        &self.info
    }

    fn classify(
        &self,
        question: EmbeddedText<'_>,
        sentences: &[SentenceInContext<'_>],
    ) -> Result<Vec<SentenceScores>, PortError> {
        let vectors = |one: &SentenceInContext<'_>| {
            let title = one.title.map(|title| title.vector.len());
            let beside = [one.before, one.after].map(|beside| beside.map(<[f32]>::len));
            [Some(one.sentence.vector.len()), title, beside[0], beside[1]]
        };
        let lengths = sentences.iter().flat_map(vectors).flatten();
        if let Some(other) =
            lengths.chain([question.vector.len()]).find(|length| *length != self.info.dim)
        {
            let Self { info, .. } = self;
            let message = format!(
                "{} reads vectors of {} numbers and got one of {other}",
                info.name, info.dim
            );
            return Err(PortError::new(PortErrorKind::Rejected, message));
        }
        let asked = self.features.asked(question);
        let mut out = Vec::with_capacity(sentences.len());
        for batch in sentences.chunks(BATCH) {
            self.batch(&asked, batch, &mut out);
        }
        Ok(out)
    }
}

/// Probabilities of logits.
pub fn softmax(logits: [f32; ROLES]) -> [f32; ROLES] {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers = logits.map(|z| (z - largest).exp());
    let sum: f32 = powers.iter().sum();
    powers.map(|power| power / sum)
}

fn tensor(tensors: &SafeTensors<'_>, name: &str, path: &Path) -> Result<Vec<f32>, ModelError> {
    let wrong = |problem: String| ModelError::Tensor {
        path: path.to_owned(),
        tensor: name.to_owned(),
        problem,
    };
    let view = tensors.tensor(name).map_err(|error| wrong(error.to_string()))?;
    if view.dtype() != Dtype::F32 {
        return Err(wrong(format!("has type {:?}, not F32", view.dtype())));
    }
    let (numbers, _) = view.data().as_chunks::<4>();
    let numbers: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    match numbers.iter().all(|number| number.is_finite()) {
        true => Ok(numbers),
        false => Err(wrong("has a number that is not finite".to_owned())),
    }
}

#[cfg(test)]
mod tests;
