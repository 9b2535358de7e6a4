//! Training and measuring of sentence classifiers: heads over an encoder that stays as it is.
//!
//! Steps of [`train_sentences`]:
//!
//! 1. every text of the rows is encoded once ([`Encoded`]);
//! 2. the role head is trained on the sentences whose role is known, with parts of their context left out at random, and
//!    calibrated by a temperature;
//! 3. the answer head is trained the same way, and reads what the role head says;
//! 4. it is calibrated by a scale and a shift on development rows, and the folder is written that `scholar-models` opens.
//!
//! The same rows, settings and vectors give the same bytes: all randomness derives from the seed.

mod encoded;
mod examples;
mod fit;
mod measure;
mod settings;
mod write;

use std::path::Path;

use scholar_core::Encoder;
use scholar_core::random::SplitMix64;
use scholar_models::SentenceHeads;
use scholar_models::sentence_heads::{
    AnswerCalibration, FORMAT, Features, Mlp, ROLES, SentenceHeadsConfig, StemWeights, softmax,
};

pub use encoded::{Encoded, KnownVectors};
pub use measure::{AnswerMeasures, RoleMeasures, Scorer, SentenceMeasures, measure};
pub use settings::SentenceSettings;
pub use write::write_folder;

use self::examples::{Example, Examples};
use self::fit::{Fit, Loss, Target, platt, temperature};
use crate::data::sentences::SentenceRow;
use crate::error::TrainError;

/// What a training of sentence heads tells while it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Epoch {
    /// `role` or `answers`.
    pub head: &'static str,
    /// Passes over the examples, from 1.
    pub epoch: usize,
    /// Mean loss of the epoch.
    pub loss: f64,
    /// Mean loss on development rows.
    pub dev_loss: f64,
    /// Whether these are the best weights so far.
    pub best: bool,
}

/// Rows of a training.
#[derive(Debug, Clone, Copy)]
pub struct SentenceData<'a> {
    /// For training.
    pub train: &'a [SentenceRow],
    /// For choosing the epoch and for calibration.
    pub dev: &'a [SentenceRow],
    /// Vectors of both.
    pub encoded: &'a Encoded,
}

/// Trains both heads and puts the classifier together.
///
/// # Errors
/// When the settings make no sense, or the rows have too little to learn from.
pub fn train_sentences(
    settings: &SentenceSettings,
    data: SentenceData<'_>,
    encoder: &dyn Encoder,
    say: &mut dyn FnMut(&Epoch),
) -> Result<SentenceHeads, TrainError> {
    settings.check()?;
    let texts = data.train.iter().flat_map(|row| &row.sentences).map(|one| one.text.as_str());
    let weights = StemWeights::of_texts(texts);
    let blocks = settings.answer_blocks.clone();
    let features = Features::new(encoder.info().dim, blocks.clone(), weights.clone());
    let trainer = Trainer { settings, data, features: &features };
    let role = trainer.role(say)?;
    let role_temperature = trainer.role_temperature(&role);
    let speaking = Speaking { head: &role, temperature: role_temperature };
    let answers = trainer.answers(speaking, say)?;
    let answer_calibration = trainer.answer_calibration(speaking, &answers);
    let config = SentenceHeadsConfig {
        format: FORMAT,
        name: settings.name.clone(),
        encoder: encoder.info().name.clone(),
        dim: encoder.info().dim,
        role_hidden: role.hidden(),
        answer_hidden: answers.hidden(),
        answer_blocks: blocks,
        role_temperature,
        answer_calibration,
    };
    SentenceHeads::new(config, weights, role, answers, Path::new(&settings.name))
        .map_err(|error| TrainError::Useless { what: error.to_string() })
}

/// A trained role head, which the answer head reads.
#[derive(Clone, Copy)]
struct Speaking<'a> {
    head: &'a Mlp,
    temperature: f32,
}

impl Speaking<'_> {
    fn probabilities(self, input: &[f32]) -> Vec<[f32; ROLES]> {
        let logits = self.head.forward(input);
        let (rows, _) = logits.as_chunks::<ROLES>();
        rows.iter().map(|row| softmax(row.map(|z| z / self.temperature))).collect()
    }
}

struct Trainer<'a> {
    settings: &'a SentenceSettings,
    data: SentenceData<'a>,
    features: &'a Features,
}

/// Examples of one head, with what tells them apart.
struct Task<'a> {
    head: &'static str,
    loss: Loss,
    hidden: usize,
    width: usize,
    train: Examples<'a>,
    dev: Examples<'a>,
}

impl<'a> Trainer<'a> {
    fn role(&self, say: &mut dyn FnMut(&Epoch)) -> Result<Mlp, TrainError> {
        let task = Task {
            head: "role",
            loss: Loss::Classes,
            hidden: self.settings.role_hidden,
            width: self.features.role_width(),
            train: Examples::of_roles(self.data.train),
            dev: Examples::of_roles(self.data.dev),
        };
        self.fit(&task, &|batch, out| self.role_input(batch, out), say)
    }

    fn answers(&self, role: Speaking<'_>, say: &mut dyn FnMut(&Epoch)) -> Result<Mlp, TrainError> {
        let task = Task {
            head: "answers",
            loss: Loss::Binary,
            hidden: self.settings.answer_hidden,
            width: self.features.answer_width(),
            train: Examples::of_answers(self.data.train),
            dev: Examples::of_answers(self.data.dev),
        };
        self.fit(&task, &|batch, out| self.answer_input(role, batch, out), say)
    }

    fn role_input(&self, batch: &[Example<'a>], out: &mut Vec<f32>) {
        for example in batch {
            self.features.role(&example.context(self.data.encoded), out);
        }
    }

    fn answer_input(&self, role: Speaking<'_>, batch: &[Example<'a>], out: &mut Vec<f32>) {
        let mut seen = Vec::with_capacity(batch.len() * self.features.role_width());
        self.role_input(batch, &mut seen);
        for (example, roles) in batch.iter().zip(role.probabilities(&seen)) {
            let asked = self.features.asked(self.data.encoded.question(&example.row.question));
            self.features.answer(&asked, &example.context(self.data.encoded), &roles, out);
        }
    }

    /// Trains a head; the weights of the best epoch are kept.
    fn fit(
        &self,
        task: &Task<'a>,
        input: &dyn Fn(&[Example<'a>], &mut Vec<f32>),
        say: &mut dyn FnMut(&Epoch),
    ) -> Result<Mlp, TrainError> {
        let Task { head, loss, hidden, width, train, dev } = task;
        let settings = self.settings;
        if train.len() < settings.batch_size || dev.len() == 0 {
            let what = format!(
                "{} training and {} development sentences are too few for the {head} head",
                train.len(),
                dev.len()
            );
            return Err(TrainError::Useless { what });
        }
        let stream = u64::from(*loss == Loss::Binary);
        let mut random = SplitMix64::stream(settings.seed, stream);
        let steps = settings.epochs * (train.len() / settings.batch_size).max(1);
        let mut fit = Fit::new(settings, *loss, [*width, *hidden], steps, &mut random);
        let mut best: Option<(f64, Mlp)> = None;
        for epoch in 1..=settings.epochs {
            let examples = train.epoch(settings, &mut random);
            let (mut sum, mut batches) = (0.0, 0);
            for batch in examples.chunks_exact(settings.batch_size) {
                let mut rows = Vec::with_capacity(batch.len() * width);
                input(batch, &mut rows);
                let targets: Vec<Target> = batch.iter().map(|one| one.target).collect();
                sum += fit.step(&rows, &targets, &mut random);
                batches += 1;
            }
            let dev_loss = self.dev_loss(&fit, dev, input);
            let is_best = best.as_ref().is_none_or(|(least, _)| dev_loss < *least);
            if is_best {
                best = Some((dev_loss, fit.head().clone()));
            }
            let loss = sum / f64::from(batches.max(1));
            say(&Epoch { head, epoch, loss, dev_loss, best: is_best });
        }
        best.filter(|(loss, _)| loss.is_finite())
            .map(|(_, head)| head)
            .ok_or_else(|| TrainError::Useless { what: format!("the {head} head learned nothing") })
    }

    fn dev_loss(
        &self,
        fit: &Fit<'_>,
        dev: &Examples<'a>,
        input: &dyn Fn(&[Example<'a>], &mut Vec<f32>),
    ) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        for batch in dev.balanced(self.settings).chunks(self.settings.batch_size) {
            let mut rows = Vec::new();
            input(batch, &mut rows);
            let targets: Vec<Target> = batch.iter().map(|one| one.target).collect();
            sum += fit.loss(&rows, &targets) * batch.len() as f64;
            count += batch.len();
        }
        sum / count.max(1) as f64
    }

    fn role_temperature(&self, role: &Mlp) -> f32 {
        let mut rows = Vec::new();
        let examples = Examples::of_roles(self.data.dev).balanced(self.settings);
        self.role_input(&examples, &mut rows);
        let targets: Vec<Target> = examples.iter().map(|one| one.target).collect();
        temperature(&role.forward(&rows), &targets)
    }

    fn answer_calibration(&self, role: Speaking<'_>, answers: &Mlp) -> AnswerCalibration {
        let mut rows = Vec::new();
        let examples = Examples::of_answers(self.data.dev).balanced(self.settings);
        self.answer_input(role, &examples, &mut rows);
        let targets: Vec<Target> = examples.iter().map(|one| one.target).collect();
        platt(&answers.forward(&rows), &targets)
    }
}

#[cfg(test)]
mod tests;
