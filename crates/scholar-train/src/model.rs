//! A network in training: weights, gradients, tokenizer and device together.

use std::path::Path;

use crate::arithmetic::{Device, Noise};
use crate::error::TrainError;
use crate::network::head::{HeadTape, pool_mean, pool_mean_back};
use crate::network::interaction::{Asked, InteractionTape, interact, interact_back};
use crate::network::{Freeze, Needed, Packed, Parameters, Tape};
use crate::settings::Settings;
use crate::tokens::Reader;

/// Dropout mask of the classifier, apart from those of layers.
const HEAD_SITE: usize = 1 << 20;
/// Tokens of a forward pass in evaluation.
const EVALUATED_TOKENS: usize = 6_144;

pub(crate) struct Model {
    pub(crate) device: Device,
    pub(crate) parameters: Parameters,
    pub(crate) reader: Reader,
    pub(crate) freeze: Freeze,
    pub(crate) gradient: Vec<f32>,
    /// Tokens that were learnt from so far.
    pub(crate) tokens: u64,
    normalise: bool,
    tape: Tape,
    head: HeadTape,
    vectors: (Vec<f32>, Vec<f32>),
    interaction: InteractionTape,
}

impl Model {
    /// Opens the folder that `settings` begin from.
    ///
    /// # Errors
    /// When it cannot be read, is of another architecture, or a setting does not fit it.
    pub(crate) fn open(settings: &Settings) -> Result<Self, TrainError> {
        let parameters = Parameters::open(&settings.init, settings.labels(), settings.seed)?;
        Self::with(parameters, &settings.init, settings)
    }

    pub(crate) fn with(
        parameters: Parameters,
        tokenizer: &Path,
        settings: &Settings,
    ) -> Result<Self, TrainError> {
        let shape = &parameters.shape;
        if settings.max_tokens > shape.positions {
            let problem =
                format!("{} is more than the model's {}", settings.max_tokens, shape.positions);
            return Err(TrainError::setting("max_tokens", problem));
        }
        if settings.freeze_layers > shape.layers {
            let problem = format!("the model has {} layers", shape.layers);
            return Err(TrainError::setting("freeze_layers", problem));
        }
        if shape.segments < 2 && settings.labels() > 0 {
            return Err(TrainError::Other {
                path: settings.init.clone(),
                kind: "architecture",
                problem: "it does not tell the two texts of a pair apart".to_owned(),
            });
        }
        let threads = match settings.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let gradient = vec![0.0; parameters.values.len()];
        Ok(Self {
            device: Device::cpu(threads, settings.precision)?,
            reader: Reader::open(tokenizer, settings.max_tokens, shape.vocabulary)?,
            freeze: Freeze {
                embeddings: settings.freeze_embeddings || settings.freeze_layers > 0,
                layers: settings.freeze_layers,
            },
            gradient,
            tokens: 0,
            normalise: settings.normalise,
            tape: Tape::default(),
            head: HeadTape::default(),
            vectors: (Vec::new(), Vec::new()),
            interaction: InteractionTape::default(),
            parameters,
        })
    }

    /// Forgets the gradient.
    pub(crate) fn clear(&mut self) {
        for spec in &self.parameters.layout.specs {
            if !self.freeze.holds(spec.block) {
                self.gradient[spec.range.clone()].fill(0.0);
            }
        }
    }

    /// Logits `[sequences, labels]` of a batch that is about to be learnt from.
    pub(crate) fn classify(&mut self, batch: &Packed, noise: Option<Noise>) -> &[f32] {
        let Self { device, parameters, tape, head, .. } = self;
        let mask = noise.map(|noise| noise.site(HEAD_SITE));
        device.run(|| {
            parameters.forward(device, batch, Needed::First, noise, tape);
            parameters.classify(device, tape.states(), mask, head);
        });
        &self.head.logits
    }

    /// Adds the gradient of the batch that [`Model::classify`] saw last.
    pub(crate) fn classify_back(&mut self, batch: &Packed, slopes: &[f32]) {
        self.tokens += batch.tokens() as u64;
        let Self { device, parameters, tape, head, freeze, gradient, .. } = self;
        device.run(|| {
            let mut states = Vec::new();
            let from = (tape.states(), slopes);
            parameters.classify_back(device, from, head, &mut states, gradient);
            *tape.gradient() = states;
            parameters.backward(device, batch, *freeze, tape, gradient);
        });
    }

    /// Scores of pairs for evaluation: a classifier's logits, without one those of late interaction.
    ///
    /// # Errors
    /// When a text cannot be tokenised.
    pub(crate) fn logits(&mut self, pairs: &[(&str, &str)]) -> Result<Vec<f32>, TrainError> {
        if self.parameters.labels == 0 {
            return self.likeness(pairs);
        }
        let Self { device, reader, .. } = self;
        let all = device.run(|| reader.pairs(pairs))?;
        let mut logits = Vec::with_capacity(all.len() * self.parameters.labels);
        for batch in portions(&all) {
            logits.extend_from_slice(self.classify(&batch, None));
        }
        Ok(logits)
    }

    fn likeness(&mut self, pairs: &[(&str, &str)]) -> Result<Vec<f32>, TrainError> {
        let mut scores = Vec::with_capacity(pairs.len());
        for of_query in pairs.chunk_by(|a, b| a.0 == b.0) {
            for part in of_query.chunks(EVALUATED_TOKENS / self.reader.limit()) {
                let mut texts = vec![part[0].0];
                texts.extend(part.iter().map(|(_, passage)| *passage));
                let Self { device, reader, .. } = self;
                let batch = device.run(|| reader.singles(&texts))?;
                let asked = Asked::in_order(&[part.len()]);
                scores.extend_from_slice(self.interact(&batch, &asked, None));
            }
        }
        Ok(scores)
    }

    /// Scores by late interaction of a batch that is about to be learnt from.
    pub(crate) fn interact(
        &mut self,
        batch: &Packed,
        asked: &[Asked],
        noise: Option<Noise>,
    ) -> &[f32] {
        let Self { device, parameters, tape, interaction, .. } = self;
        device.run(|| {
            parameters.forward(device, batch, Needed::All, noise, tape);
            interact(tape.states(), batch, asked, parameters.shape.hidden, interaction);
        });
        &self.interaction.scores
    }

    /// Adds the gradient of the batch that [`Model::interact`] saw last.
    pub(crate) fn interact_back(&mut self, batch: &Packed, asked: &[Asked], slopes: &[f32]) {
        self.tokens += batch.tokens() as u64;
        let Self { device, parameters, tape, freeze, gradient, interaction, .. } = self;
        device.run(|| {
            let hidden = parameters.shape.hidden;
            interact_back(slopes, batch, asked, hidden, interaction, tape.gradient());
            parameters.backward(device, batch, *freeze, tape, gradient);
        });
    }

    /// Vectors `[sequences, hidden]` of a batch that is about to be learnt from.
    pub(crate) fn encode(&mut self, batch: &Packed, noise: Option<Noise>) -> &[f32] {
        let Self { device, parameters, tape, vectors, normalise, .. } = self;
        device.run(|| {
            parameters.forward(device, batch, Needed::All, noise, tape);
            *vectors = pool_mean(tape.states(), batch, parameters.shape.hidden, *normalise);
        });
        &self.vectors.0
    }

    /// Adds the gradient of the batch that [`Model::encode`] saw last.
    pub(crate) fn encode_back(&mut self, batch: &Packed, slopes: &[f32]) {
        self.tokens += batch.tokens() as u64;
        let Self { device, parameters, tape, freeze, gradient, vectors, normalise, .. } = self;
        device.run(|| {
            let forward = (&vectors.0[..], &vectors.1[..]);
            pool_mean_back(slopes, forward, batch, *normalise, tape.gradient());
            parameters.backward(device, batch, *freeze, tape, gradient);
        });
    }

    /// Vectors of texts, for evaluation.
    ///
    /// # Errors
    /// When a text cannot be tokenised.
    pub(crate) fn vectors(&mut self, texts: &[&str]) -> Result<Vec<f32>, TrainError> {
        let Self { device, reader, .. } = self;
        let all = device.run(|| reader.singles(texts))?;
        Ok(self.vectors_of(&all))
    }

    /// Vectors of sequences, for evaluation.
    pub(crate) fn vectors_of(&mut self, all: &Packed) -> Vec<f32> {
        let mut vectors = Vec::with_capacity(all.len() * self.parameters.shape.hidden);
        for batch in portions(all) {
            vectors.extend_from_slice(self.encode(&batch, None));
        }
        vectors
    }
}

/// The sequences of `all` in batches of bounded size.
fn portions(all: &Packed) -> Vec<Packed> {
    let mut portions = Vec::new();
    let mut current = Packed::new();
    for bounds in all.starts.windows(2) {
        let range = bounds[0]..bounds[1];
        if current.len() > 0 && current.tokens() + range.len() > EVALUATED_TOKENS {
            portions.push(std::mem::replace(&mut current, Packed::new()));
        }
        current.push(&all.ids[range.clone()], &all.types[range]);
    }
    if current.len() > 0 {
        portions.push(current);
    }
    portions
}
