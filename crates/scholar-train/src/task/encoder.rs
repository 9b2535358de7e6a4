//! An encoder: by pairs with hard negatives, or by two crops of the same window of text.

use std::borrow::Cow;
use std::ops::Range;

use safetensors::SafeTensors;
use scholar_core::SplitMix64;
use serde::Deserialize;

use super::reranker::{ranked, sample};
use super::rows::read;
use super::{
    Evaluation, Rejected, Split, StateDict, StepContext, TaskData, TrainingTask, measures,
};
use crate::backend::{Backend, Dropout};
use crate::data::RerankRow;
use crate::error::TrainError;
use crate::loss::{Contrast, Side, contrastive};
use crate::model::Model;
use crate::network::{Packed, Parameters, read_numbers};
use crate::settings::{Objective, Settings};

/// Negatives that a held-out query is measured on.
const MOST_NEGATIVES: usize = 31;
/// Windows of a held-out contrast.
const CONTRASTED: usize = 64;

/// Queries against the passages of the batch.
pub(super) struct Pairs {
    split: Split<RerankRow>,
    group: usize,
    temperature: f32,
    dropout: f32,
}

impl Pairs {
    pub(super) fn open(settings: &Settings) -> Result<Self, TrainError> {
        Ok(Self {
            split: Split::read(settings, |row: &RerankRow| &row.query, RerankRow::check)?,
            group: settings.group_size,
            temperature: settings.temperature,
            dropout: settings.dropout,
        })
    }
}

impl TrainingTask for Pairs {
    fn data(&self) -> TaskData<'_> {
        self.split.data()
    }

    fn training_step(
        &mut self,
        model: &mut Model,
        items: &[usize],
        context: StepContext,
    ) -> Result<f64, TrainError> {
        let mut random = context.random();
        let rows: Vec<&RerankRow> = items.iter().map(|item| &self.split.rows[*item]).collect();
        let mut texts_of = |row| -> Vec<&str> {
            sample(row, self.group, false, &mut random).into_iter().map(|(text, _)| text).collect()
        };
        let groups: Vec<Vec<&str>> = rows.iter().map(|row| texts_of(row)).collect();
        // Queries, then the right passages in the same order, then all hard negatives.
        let mut texts: Vec<&str> = rows.iter().map(|row| row.query.as_str()).collect();
        texts.extend(groups.iter().map(|group| group[0]));
        texts.extend(groups.iter().flat_map(|group| &group[1..]));
        let tokenizer = &model.tokenizer;
        let batch = model.threads.run(|| tokenizer.singles(&texts))?;
        let dropout = context.dropout(self.dropout);
        contrast(model, &batch, items.len(), self.temperature, dropout)
    }

    fn evaluate(&mut self, model: &mut Model) -> Result<Evaluation, TrainError> {
        let hidden = model.parameters.shape.hidden;
        let (mut scores, mut sizes) = (Vec::new(), Vec::new());
        let mut texts = Vec::new();
        for row in &self.split.held_out {
            texts.push(row.query.as_str());
            texts.push(&row.pos[0]);
            texts.extend(row.neg.iter().take(MOST_NEGATIVES).map(String::as_str));
            sizes.push((1, 1 + row.neg.len().min(MOST_NEGATIVES)));
        }
        let vectors = model.vectors(&texts)?;
        let mut start = 0;
        for (_, size) in &sizes {
            let rows = &vectors[start * hidden..(start + 1 + size) * hidden];
            let (query, passages) = rows.split_at(hidden);
            scores.extend(passages.chunks_exact(hidden).map(|passage| {
                query.iter().zip(passage).map(|(a, b)| a * b).sum::<f32>() / self.temperature
            }));
            start += 1 + size;
        }
        Ok(ranked(&scores, &sizes))
    }
}

/// Learns from `n` queries, their keys and what follows those as wrong keys; returns the loss.
fn contrast(
    model: &mut Model,
    batch: &Packed,
    n: usize,
    temperature: f32,
    dropout: Option<Dropout>,
) -> Result<f64, TrainError> {
    let hidden = model.parameters.shape.hidden;
    let vectors = model.encode(batch, dropout)?;
    let (queries, keys) = vectors.split_at(n * hidden);
    let mut grad_vectors = vec![0.0; vectors.len()];
    let (grad_queries, grad_keys) = grad_vectors.split_at_mut(n * hidden);
    let Contrast { loss, .. } = contrastive(
        Side { vectors: &[queries], gradient: grad_queries },
        Side { vectors: &[keys], gradient: grad_keys },
        hidden,
        temperature,
    );
    model.encode_back(batch, &grad_vectors);
    Ok(loss)
}

/// A text as peS2o has it, or a paper's title and abstract.
#[derive(Debug, Deserialize)]
struct TrainingText {
    text: Option<String>,
    /// Read where there is no text, as is the abstract.
    title: Option<String>,
    #[serde(rename = "abstract")]
    summary: Option<String>,
}

impl TrainingText {
    fn check(&self) -> Result<(), String> {
        if self.joined().is_empty() {
            return Err("it has neither text nor title nor abstract".to_owned());
        }
        Ok(())
    }

    /// Everything it says.
    fn joined(&self) -> String {
        let parts = match &self.text {
            Some(text) => vec![text.as_str()],
            None => {
                [&self.title, &self.summary].into_iter().flatten().map(String::as_str).collect()
            }
        };
        parts.join(" ").trim().to_owned()
    }
}

/// Two crops of a window: with a queue of earlier keys from a slowly following network, or against the batch.
///
/// Source: Contriever's pre-training, `MoCo` (He et al. 2020); details and traps as the paper's continuation used them.
/// Differs from the reference in one thing: special tokens are always put around a crop, which the reference does only
/// for models with `bert-` in their name.
pub(super) struct Crops {
    stream: Vec<u32>,
    held_out: Range<usize>,
    rejected: Vec<Rejected>,
    window: usize,
    crop: (f64, f64),
    delete: f64,
    temperature: f32,
    dropout: f32,
    queue: Option<Queue>,
}

/// Keys of earlier batches and the network that made them.
struct Queue {
    network: Parameters,
    keys: Vec<f32>,
    /// Where the next keys go, in keys; held as a number so that it is saved beside the others.
    next: [f32; 1],
    momentum: f32,
}

impl Crops {
    pub(super) fn open(settings: &Settings, model: &mut Model) -> Result<Self, TrainError> {
        let read = read(&settings.rows, settings.max_rejected_fraction, TrainingText::check)?;
        let mut stream = Vec::new();
        for row in &read.rows {
            stream.extend(model.tokenizer.ids(&row.joined())?);
        }
        let window = settings.window;
        // The last twentieth of the text, at most as many windows as are asked for, is never learnt from.
        let kept = (stream.len() / 20 / window).clamp(2, settings.held_out_rows.max(2)) * window;
        let enough = kept + (settings.batch_size + 1) * window;
        if stream.len() < enough {
            let what = format!("{} tokens of text are too few: {enough} are needed", stream.len());
            return Err(TrainError::Useless { what });
        }
        if window + 2 > settings.max_tokens {
            let problem = format!("{window} and two special tokens are more than max_tokens");
            return Err(TrainError::setting("window", problem));
        }
        let held_out = stream.len() - kept..stream.len();
        let queue = (settings.objective == Objective::Queue).then(|| {
            let dim = model.parameters.shape.hidden;
            Queue::new(settings, model.parameters.duplicate(&*model.backend), dim)
        });
        Ok(Self {
            stream,
            held_out,
            rejected: read.rejected,
            window,
            crop: (settings.crop_min, settings.crop_max),
            delete: settings.token_deletion,
            temperature: settings.temperature,
            dropout: settings.dropout,
            queue,
        })
    }

    /// One crop of the window at `start`.
    fn crop(&self, start: usize, random: &mut SplitMix64) -> Vec<u32> {
        let (least, most) = self.crop;
        let fraction = least + (most - least) * random.unit();
        let len = ((self.window as f64 * fraction) as usize).max(1);
        let from = start + random.below(self.window - len + 1);
        let crop = &self.stream[from..from + len];
        let kept: Vec<u32> =
            crop.iter().copied().filter(|_| random.unit() >= self.delete).collect();
        // A crop that lost everything keeps its first token: an empty text has no meaning to learn.
        if kept.is_empty() { vec![crop[0]] } else { kept }
    }

    /// First crops of all windows, then second ones.
    fn views(&self, model: &Model, starts: &[usize], random: &mut SplitMix64) -> [Packed; 2] {
        let mut views = [Packed::new(), Packed::new()];
        for start in starts {
            for view in &mut views {
                model.tokenizer.push(view, &self.crop(*start, random));
            }
        }
        views
    }
}

impl Queue {
    fn new(settings: &Settings, network: Parameters, dim: usize) -> Self {
        let mut random = SplitMix64::stream(settings.seed, 0x9e0e);
        let mut keys: Vec<f32> =
            (0..settings.queue_size * dim).map(|_| random.normal() as f32).collect();
        for key in keys.chunks_exact_mut(dim) {
            let length = key.iter().map(|value| value * value).sum::<f32>().sqrt();
            for value in key {
                *value /= length;
            }
        }
        Self { network, keys, next: [0.0], momentum: settings.momentum }
    }

    /// The new keys take the place of the oldest.
    fn push(&mut self, keys: &[f32]) {
        let dim = self.network.shape.hidden;
        let size = self.keys.len() / dim;
        let at = self.next[0] as usize;
        let count = keys.len() / dim;
        self.keys[at * dim..(at + count) * dim].copy_from_slice(keys);
        self.next[0] = ((at + count) % size) as f32;
    }
}

impl TrainingTask for Crops {
    fn data(&self) -> TaskData<'_> {
        TaskData {
            training: self.held_out.start / self.window - 1,
            held_out: self.held_out.len() / self.window,
            rejected: &self.rejected,
        }
    }

    fn training_step(
        &mut self,
        model: &mut Model,
        items: &[usize],
        context: StepContext,
    ) -> Result<f64, TrainError> {
        let offset =
            SplitMix64::stream(context.seed ^ 0x0ff5_e700, context.epoch).below(self.window);
        let starts: Vec<usize> = items.iter().map(|item| item * self.window + offset).collect();
        let [first, second] = self.views(model, &starts, &mut context.random());
        let dropout = context.dropout(self.dropout);
        let temperature = self.temperature;
        let Some(queue) = &mut self.queue else {
            let mut both = first;
            for bounds in second.starts.windows(2) {
                let range = bounds[0]..bounds[1];
                both.push(&second.ids[range.clone()], &second.types[range]);
            }
            return contrast(model, &both, items.len(), temperature, dropout);
        };
        let (backend, followed) = (&model.backend, &model.parameters.values);
        model.threads.run(|| backend.blend(&mut queue.network.values, followed, queue.momentum));
        // The key network runs in the model's place, with dropout of its own, as in the reference.
        std::mem::swap(&mut queue.network.values, &mut model.parameters.values);
        let apart =
            StepContext { seed: context.seed ^ 0x6b65_7973, ..context }.dropout(self.dropout);
        let keys = model.encode(&second, apart).map(<[f32]>::to_vec);
        std::mem::swap(&mut queue.network.values, &mut model.parameters.values);
        let (keys, queries) = (keys?, model.encode(&first, dropout)?.to_vec());
        let hidden = model.parameters.shape.hidden;
        let mut grad_vectors = vec![0.0; queries.len()];
        let mut loss = 0.0;
        // Each query against its own key and the queue; the keys of the others are not among its wrong ones.
        let rows = queries.chunks_exact(hidden).zip(keys.chunks_exact(hidden));
        for ((query, key), grad_vectors) in rows.zip(grad_vectors.chunks_exact_mut(hidden)) {
            let queries = Side { vectors: &[query], gradient: grad_vectors };
            let keys = Side { vectors: &[key, &queue.keys], gradient: &mut [] };
            loss += contrastive(queries, keys, hidden, temperature).loss;
        }
        for grad in &mut grad_vectors {
            *grad /= items.len() as f32;
        }
        model.encode_back(&first, &grad_vectors);
        queue.push(&keys);
        Ok(loss / items.len() as f64)
    }

    /// Contrastive loss among held-out windows with fixed crops, and how often a window's own second crop is the nearest.
    fn evaluate(&mut self, model: &mut Model) -> Result<Evaluation, TrainError> {
        let hidden = model.parameters.shape.hidden;
        let starts: Vec<usize> =
            (self.held_out.start..self.held_out.end).step_by(self.window).collect();
        let (mut loss, mut right, mut count) = (0.0, 0.0, 0_usize);
        let mut random = SplitMix64::new(0xe7a1_0a7e);
        for starts in starts.chunks(CONTRASTED).filter(|starts| starts.len() > 1) {
            let [first, second] = self.views(model, starts, &mut random);
            let (queries, keys) = (model.vectors_of(&first)?, model.vectors_of(&second)?);
            let mut unused = vec![0.0; queries.len()];
            let queries = Side { vectors: &[&queries], gradient: &mut unused };
            let keys = Side { vectors: &[&keys], gradient: &mut [] };
            let Contrast { loss: mean, accuracy } =
                contrastive(queries, keys, hidden, self.temperature);
            loss += mean * starts.len() as f64;
            right += accuracy * starts.len() as f64;
            count += starts.len();
        }
        let count = count.max(1) as f64;
        Ok(Evaluation {
            score: -loss / count,
            values: measures([("held_out_loss", loss / count), ("accuracy", right / count)]),
            calibration: None,
        })
    }

    fn state_dict(&self, backend: &dyn Backend) -> Result<StateDict<'_>, TrainError> {
        let Some(queue) = &self.queue else { return Ok(Vec::new()) };
        Ok(vec![
            ("queue.keys".to_owned(), Cow::Borrowed(&queue.keys[..])),
            ("queue.next".to_owned(), Cow::Borrowed(&queue.next[..])),
            ("queue.network".to_owned(), backend.read(&queue.network.values)?),
        ])
    }

    fn load_state_dict(
        &mut self,
        saved: &SafeTensors<'_>,
        backend: &dyn Backend,
    ) -> Result<(), String> {
        let Some(queue) = &mut self.queue else { return Ok(()) };
        let mut network = vec![0.0; queue.network.values.len()];
        let targets = [
            ("task.queue.keys", &mut queue.keys[..]),
            ("task.queue.next", &mut queue.next[..]),
            ("task.queue.network", &mut network[..]),
        ];
        for (name, into) in targets {
            let tensor = saved.tensor(name).map_err(|_| format!("{name} is missing"))?;
            read_numbers(&tensor, into)?;
        }
        queue.network.values = backend.put(network);
        Ok(())
    }
}
