//! A network in training: weights, gradients, tokenizer and device together.

use std::borrow::Cow;
use std::path::Path;

use crate::backend::{Backend, Buffer, DeviceKind, Dropout, Threads};
use crate::error::TrainError;
use crate::network::head::{HeadTape, Pooled, pool_mean, pool_mean_back};
use crate::network::interaction::{InteractionTape, QueryGroup, interact, interact_back};
use crate::network::{Freeze, Needed, Packed, Parameters, Tape, check};
use crate::settings::Settings;
use crate::tokens::BatchTokenizer;

/// Dropout mask of the classifier, apart from those of layers.
const HEAD_SITE: usize = 1 << 20;
/// Tokens of a forward pass in evaluation.
const EVALUATED_TOKENS: usize = 6_144;

pub(crate) struct Model {
    pub(crate) threads: Threads,
    pub(crate) backend: Box<dyn Backend>,
    pub(crate) parameters: Parameters,
    pub(crate) tokenizer: BatchTokenizer,
    pub(crate) freeze: Freeze,
    pub(crate) gradient: Buffer,
    /// Tokens that were learnt from so far.
    pub(crate) tokens: u64,
    normalise: bool,
    tape: Tape,
    head: HeadTape,
    pooled: Pooled,
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
        mut parameters: Parameters,
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
        let tokenizer = BatchTokenizer::open(tokenizer, settings.max_tokens, shape.vocabulary)?;
        let threads = Threads::new(settings.threads)?;
        let backend = settings.device.open(&threads, settings.precision)?;
        if settings.device != DeviceKind::Cpu {
            check(&*backend)?;
        }
        let gradient = backend.put(vec![0.0; parameters.values.len()]);
        parameters.move_to(&*backend);
        Ok(Self {
            threads,
            backend,
            tokenizer,
            freeze: Freeze {
                embeddings: settings.freeze_embeddings || settings.freeze_layers > 0,
                layers: settings.freeze_layers,
            },
            gradient,
            tokens: 0,
            normalise: settings.normalise,
            tape: Tape::default(),
            head: HeadTape::default(),
            pooled: Pooled::default(),
            interaction: InteractionTape::default(),
            parameters,
        })
    }

    /// Forgets the gradient.
    pub(crate) fn clear(&mut self) {
        for range in self.parameters.trainable(self.freeze) {
            self.backend.clear(&mut self.gradient, range);
        }
    }

    /// Logits `[sequences, labels]` of a batch that is about to be learnt from.
    ///
    /// # Errors
    /// When the device failed.
    pub(crate) fn classify(
        &mut self,
        batch: &Packed,
        dropout: Option<Dropout>,
    ) -> Result<Vec<f32>, TrainError> {
        let Self { threads, backend, parameters, tape, head, .. } = self;
        let mask = dropout.map(|dropout| dropout.site(HEAD_SITE));
        threads.run(|| {
            parameters.forward(&**backend, batch, Needed::First, dropout, tape);
            parameters.classify(&**backend, tape.states(), mask, head);
            backend.read(&head.logits).map(Cow::into_owned)
        })
    }

    /// Adds the gradient of the batch that [`Model::classify`] saw last.
    pub(crate) fn classify_back(&mut self, batch: &Packed, grad_logits: &[f32]) {
        self.tokens += batch.tokens() as u64;
        let Self { threads, backend, parameters, tape, head, freeze, gradient, .. } = self;
        let grad_logits = backend.put(grad_logits.to_vec());
        threads.run(|| {
            parameters.classify_back(&**backend, tape.states(), &grad_logits, head, gradient);
            std::mem::swap(tape.gradient(), &mut head.grad_states);
            parameters.backward(&**backend, batch, *freeze, tape, gradient);
        });
    }

    /// Scores of pairs for evaluation: a classifier's logits; without a classifier, scores of late interaction.
    ///
    /// # Errors
    /// When a text cannot be tokenised, or the device failed.
    pub(crate) fn logits(&mut self, pairs: &[(&str, &str)]) -> Result<Vec<f32>, TrainError> {
        if self.parameters.labels == 0 {
            return self.late_interaction_scores(pairs);
        }
        let Self { threads, tokenizer, .. } = self;
        let all = threads.run(|| tokenizer.pairs(pairs))?;
        let mut logits = Vec::with_capacity(all.len() * self.parameters.labels);
        for batch in portions(&all) {
            logits.append(&mut self.classify(&batch, None)?);
        }
        Ok(logits)
    }

    fn late_interaction_scores(&mut self, pairs: &[(&str, &str)]) -> Result<Vec<f32>, TrainError> {
        let mut scores = Vec::with_capacity(pairs.len());
        for of_query in pairs.chunk_by(|a, b| a.0 == b.0) {
            for part in of_query.chunks(EVALUATED_TOKENS / self.tokenizer.limit()) {
                let mut texts = vec![part[0].0];
                texts.extend(part.iter().map(|(_, passage)| *passage));
                let Self { threads, tokenizer, .. } = self;
                let batch = threads.run(|| tokenizer.singles(&texts))?;
                let groups = QueryGroup::in_order(&[part.len()]);
                scores.extend_from_slice(self.interact(&batch, &groups, None)?);
            }
        }
        Ok(scores)
    }

    /// Scores by late interaction of a batch that is about to be learnt from.
    ///
    /// # Errors
    /// When the device failed.
    pub(crate) fn interact(
        &mut self,
        batch: &Packed,
        groups: &[QueryGroup],
        dropout: Option<Dropout>,
    ) -> Result<&[f32], TrainError> {
        let Self { threads, backend, parameters, tape, interaction, .. } = self;
        threads.run(|| {
            parameters.forward(&**backend, batch, Needed::All, dropout, tape);
            let states = backend.read(tape.states())?;
            interact(&states, batch, groups, parameters.shape.hidden, interaction);
            Ok::<_, TrainError>(())
        })?;
        Ok(&self.interaction.scores)
    }

    /// Adds the gradient of the batch that [`Model::interact`] saw last.
    pub(crate) fn interact_back(
        &mut self,
        batch: &Packed,
        groups: &[QueryGroup],
        grad_scores: &[f32],
    ) {
        self.tokens += batch.tokens() as u64;
        let Self { threads, backend, parameters, tape, freeze, gradient, interaction, .. } = self;
        threads.run(|| {
            let hidden = parameters.shape.hidden;
            let flow = interact_back(grad_scores, batch, groups, hidden, interaction);
            *tape.gradient() = backend.put(flow);
            parameters.backward(&**backend, batch, *freeze, tape, gradient);
        });
    }

    /// Vectors `[sequences, hidden]` of a batch that is about to be learnt from.
    ///
    /// # Errors
    /// When the device failed.
    pub(crate) fn encode(
        &mut self,
        batch: &Packed,
        dropout: Option<Dropout>,
    ) -> Result<&[f32], TrainError> {
        let Self { threads, backend, parameters, tape, pooled, normalise, .. } = self;
        threads.run(|| {
            parameters.forward(&**backend, batch, Needed::All, dropout, tape);
            let states = backend.read(tape.states())?;
            *pooled = pool_mean(&states, batch, parameters.shape.hidden, *normalise);
            Ok::<_, TrainError>(())
        })?;
        Ok(&self.pooled.vectors)
    }

    /// Adds the gradient of the batch that [`Model::encode`] saw last.
    pub(crate) fn encode_back(&mut self, batch: &Packed, grad_vectors: &[f32]) {
        self.tokens += batch.tokens() as u64;
        let Self { threads, backend, parameters, tape, freeze, gradient, pooled, .. } = self;
        let normalise = self.normalise;
        threads.run(|| {
            *tape.gradient() = backend.put(pool_mean_back(grad_vectors, pooled, batch, normalise));
            parameters.backward(&**backend, batch, *freeze, tape, gradient);
        });
    }

    /// Vectors of texts, for evaluation.
    ///
    /// # Errors
    /// When a text cannot be tokenised, or the device failed.
    pub(crate) fn vectors(&mut self, texts: &[&str]) -> Result<Vec<f32>, TrainError> {
        let Self { threads, tokenizer, .. } = self;
        let all = threads.run(|| tokenizer.singles(texts))?;
        self.vectors_of(&all)
    }

    /// Vectors of sequences, for evaluation.
    ///
    /// # Errors
    /// When the device failed.
    pub(crate) fn vectors_of(&mut self, all: &Packed) -> Result<Vec<f32>, TrainError> {
        let mut vectors = Vec::with_capacity(all.len() * self.parameters.shape.hidden);
        for batch in portions(all) {
            vectors.extend_from_slice(self.encode(&batch, None)?);
        }
        Ok(vectors)
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
