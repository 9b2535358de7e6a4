//! Prompts in, replies out: prefix reuse, decoding with guesses, choices. Runs on the generator thread.

use std::sync::Arc;
use std::time::Instant;

use scholar_core::{FinishReason, Generation, PortError, PortErrorKind, Sampling, TokenUsage};
use serde_json::Value;

use super::activations::MAX_ROWS;
use super::constraint::{Constraint, ConstraintError, Grammars};
use super::guess::Guesser;
use super::model::{Cache, Model};
use super::repetition::Repetition;
use super::reply::Reply;
use super::sampler::{Sampler, log_sum_exp};
use super::vocab::Vocabulary;

/// Prompt tokens read at once: enough rows for the matrix kernels, few enough that leaving takes a second or two.
pub(super) const READ_CHUNK: usize = 256;

/// Why a call ended without a result.
pub(super) enum Halt {
    /// The caller left.
    Cancelled,
    /// The generation failed.
    Failed(PortError),
}

/// A sequence whose keys and values are kept for the next prompt that begins alike.
struct Slot {
    cache: Cache,
    tokens: Vec<u32>,
    used: u64,
}

/// The model with its kept sequences.
pub(super) struct Engine {
    model: Model,
    vocabulary: Arc<Vocabulary>,
    name: Arc<str>,
    lookup: bool,
    slots: Vec<Slot>,
    max_slots: usize,
    clock: u64,
    grammars: Option<Grammars>,
}

/// What was computed beyond the last token of a reply.
#[derive(Default)]
struct Ahead {
    guesser: Guesser,
    /// Tokens that may follow.
    guess: Vec<u32>,
    /// How many of them came.
    held: usize,
    /// Logits after the token before the guess and after each token of it.
    logits: Vec<f32>,
    /// Tokens guessed and right in the whole reply.
    guessed: usize,
    kept: usize,
}

impl Ahead {
    /// The logits after `token`, if it is what was guessed.
    fn take(&mut self, token: u32, n_vocab: usize) -> Option<Vec<f32>> {
        if self.guess.get(self.held) != Some(&token) {
            return None;
        }
        self.held += 1;
        Some(self.logits[self.held * n_vocab..][..n_vocab].to_vec())
    }

    /// Forgets the guess and learns from it.
    fn settle(&mut self) {
        if !self.guess.is_empty() {
            self.guesser.learn(self.held);
            self.guessed += self.guess.len();
            self.kept += self.held;
        }
        self.guess.clear();
        self.held = 0;
    }
}

/// What a call computes with.
pub(super) struct Call<'a> {
    /// The whole prompt.
    pub(super) prompt: &'a [u32],
    /// Whether the caller left.
    pub(super) cancelled: &'a dyn Fn() -> bool,
}

impl Engine {
    /// Keeps up to `max_slots` sequences.
    pub(super) fn new(
        model: Model,
        vocabulary: Arc<Vocabulary>,
        name: Arc<str>,
        max_slots: usize,
        lookup: bool,
    ) -> Self {
        Self {
            model,
            vocabulary,
            name,
            lookup,
            slots: Vec::new(),
            max_slots,
            clock: 0,
            grammars: None,
        }
    }

    /// Forgets all sequences; their contents are unknown after a panic.
    pub(super) fn reset(&mut self) {
        self.slots.clear();
    }

    /// Writes a reply; `emit` sees each new piece of text.
    pub(super) fn generate(
        &mut self,
        call: &Call<'_>,
        sampling: &Sampling,
        schema: Option<&Value>,
        emit: &mut dyn FnMut(&str),
    ) -> Result<Generation, Halt> {
        let mut constraint = schema.map(|schema| self.constrain(schema)).transpose()?;
        let started = Instant::now();
        let (slot, mut logits, reused) = self.read_prompt(call)?;
        let read = started.elapsed();
        let mut sampler = Sampler::new(sampling);
        let mut reply = Reply::new(&sampling.stop);
        let mut repetition = Repetition::default();
        let mut ahead = Ahead::default();
        let mut completion = 0;
        let capacity = self.slots[slot].cache.capacity();
        let finish = loop {
            if completion == sampling.max_tokens || call.prompt.len() + completion == capacity {
                break FinishReason::Length;
            }
            if (call.cancelled)() {
                return Err(Halt::Cancelled);
            }
            if let Some(constraint) = &mut constraint {
                constraint.mask(&mut logits).map_err(constraint_failed)?;
            }
            let Some(token) = sampler.draw(&logits) else {
                let message = format!("{} computed no number for any token", self.name);
                let hint = "check the file with `openscholar models verify`";
                return Err(Halt::Failed(
                    PortError::new(PortErrorKind::Corrupt, message).with_hint(hint),
                ));
            };
            completion += 1;
            if self.vocabulary.ends().contains(&token) {
                break FinishReason::Stop;
            }
            let text = reply.push(self.vocabulary.bytes(token));
            if !text.is_empty() {
                emit(text);
            }
            // JSON has to be whole.
            if constraint.is_none() && repetition.goes_on(text) {
                break FinishReason::Repetition;
            }
            let complete = match &mut constraint {
                Some(constraint) => constraint.accept(token).map_err(constraint_failed)?,
                None => false,
            };
            if reply.stopped() || complete {
                break FinishReason::Stop;
            }
            if completion < sampling.max_tokens {
                logits = self.next(slot, token, &mut ahead, constraint.as_mut());
            }
        };
        ahead.settle();
        let (rest, text) = reply.finish();
        if !rest.is_empty() {
            emit(&rest);
        }
        tracing::debug!(
            tokens.prompt = call.prompt.len(),
            tokens.reused = reused,
            tokens.completion = completion,
            tokens.guessed = ahead.guessed,
            tokens.guessed_right = ahead.kept,
            read_ms = u64::try_from(read.as_millis()).unwrap_or(u64::MAX),
            duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "wrote a reply"
        );
        Ok(Generation {
            text,
            finish,
            usage: TokenUsage { prompt: call.prompt.len() as u64, completion: completion as u64 },
            usage_estimated: false,
            model: self.name.to_string(),
        })
    }

    /// Log-probability of each choice (as tokens) as the start of the reply, normalised over the choices.
    ///
    /// Choices are visited in the order of their tokens, so that what two of them share is computed once.
    pub(super) fn choose(
        &mut self,
        call: &Call<'_>,
        choices: &[Vec<u32>],
    ) -> Result<Vec<f32>, Halt> {
        let (slot, first, reused) = self.read_prompt(call)?;
        let mut order: Vec<usize> = (0..choices.len()).collect();
        order.sort_by(|a, b| choices[*a].cmp(&choices[*b]));
        let mut sums = vec![0.0f64; choices.len()];
        // `path[d]` is the token at depth d, `logits[d]` what stands before it.
        let mut path: Vec<u32> = Vec::new();
        let mut logits = vec![first];
        for choice in order {
            let tokens = &choices[choice];
            let shared = path.iter().zip(tokens).take_while(|(a, b)| a == b).count();
            path.truncate(shared);
            logits.truncate(shared + 1);
            self.slots[slot].tokens.truncate(call.prompt.len() + shared);
            for (depth, token) in tokens.iter().enumerate() {
                if depth == logits.len() {
                    if (call.cancelled)() {
                        return Err(Halt::Cancelled);
                    }
                    let before = tokens[depth - 1];
                    path.push(before);
                    logits.push(self.step(slot, before));
                }
                let row = logits[depth].iter().map(|logit| f64::from(*logit));
                sums[choice] += f64::from(logits[depth][*token as usize]) - log_sum_exp(row);
            }
        }
        tracing::debug!(
            tokens.prompt = call.prompt.len(),
            tokens.reused = reused,
            choices = choices.len(),
            "weighed choices"
        );
        let norm = log_sum_exp(sums.iter().copied());
        if !norm.is_finite() {
            let message = format!("{} gives none of the choices a probability", self.name);
            return Err(Halt::Failed(PortError::new(PortErrorKind::Corrupt, message)));
        }
        Ok(sums.into_iter().map(|sum| (sum - norm) as f32).collect())
    }

    fn constrain(&mut self, schema: &Value) -> Result<Constraint, Halt> {
        let rejected = |source| {
            let message = "the JSON schema of the reply cannot be enforced by the local model";
            Halt::Failed(
                PortError::new(PortErrorKind::Rejected, message)
                    .with_hint("simplify the schema, or use a server that supports it")
                    .with_source(source),
            )
        };
        if self.grammars.is_none() {
            self.grammars = Some(Grammars::new(&self.vocabulary).map_err(rejected)?);
        }
        self.grammars
            .as_ref()
            .expect("the grammars were built above")
            .json(schema)
            .map_err(rejected)
    }

    /// Computes the logits after one more token of a slot's sequence.
    fn step(&mut self, slot: usize, token: u32) -> Vec<f32> {
        let Slot { cache, tokens, .. } = &mut self.slots[slot];
        let logits = self.model.forward(cache, &[token], tokens.len());
        tokens.push(token);
        logits
    }

    /// As [`Engine::step`], from a guess that was computed before, or with a new one.
    fn next(
        &mut self,
        slot: usize,
        token: u32,
        ahead: &mut Ahead,
        constraint: Option<&mut Constraint>,
    ) -> Vec<f32> {
        let n_vocab = self.model.vocabulary();
        if let Some(logits) = ahead.take(token, n_vocab) {
            self.slots[slot].tokens.push(token);
            return logits;
        }
        ahead.settle();
        let Slot { cache, tokens, .. } = &mut self.slots[slot];
        let position = tokens.len();
        tokens.push(token);
        if self.lookup {
            let forced = constraint.map(Constraint::forced).unwrap_or_default();
            let guess = if forced.is_empty() { ahead.guesser.guess(tokens) } else { &forced[..] };
            let room = (cache.capacity() - tokens.len()).min(MAX_ROWS - 1);
            ahead.guess.extend(guess.iter().take(room));
        }
        if ahead.guess.is_empty() {
            return self.model.forward(cache, &[token], position);
        }
        let read = [&[token], &ahead.guess[..]].concat();
        ahead.logits = self.model.forward_all(cache, &read, position);
        ahead.logits[..n_vocab].to_vec()
    }

    /// Reads a prompt into a slot, as little of it as possible. Returns the slot, the logits after the prompt and how
    /// many tokens were not read again. The prompt is not empty and fits.
    fn read_prompt(&mut self, call: &Call<'_>) -> Result<(usize, Vec<f32>, usize), Halt> {
        let (slot, reused) = self.place(call.prompt);
        let model = &self.model;
        let Slot { cache, tokens, .. } = &mut self.slots[slot];
        tokens.truncate(reused);
        let (last, before) = call.prompt[reused..]
            .chunks(READ_CHUNK)
            .collect::<Vec<_>>()
            .split_last()
            .map(|(last, before)| (*last, before.to_vec()))
            .expect("at least one token of a prompt is read");
        for chunk in before {
            if (call.cancelled)() {
                return Err(Halt::Cancelled);
            }
            model.read(cache, chunk, tokens.len());
            tokens.extend_from_slice(chunk);
        }
        let logits = model.forward(cache, last, tokens.len());
        tokens.extend_from_slice(last);
        Ok((slot, logits, reused))
    }

    /// Chooses the slot for a prompt and brings the longest known beginning of it there; returns both.
    ///
    /// Beginnings can be copied between slots for next to nothing, so the slot to overwrite is the one that loses
    /// least: a long evidence prompt survives any number of short questions. Age halves the worth of a sequence for
    /// every eight calls in which nobody asked for it.
    fn place(&mut self, prompt: &[u32]) -> (usize, usize) {
        self.clock += 1;
        let shared: Vec<usize> = self
            .slots
            .iter()
            .map(|slot| slot.tokens.iter().zip(prompt).take_while(|(a, b)| a == b).count())
            .collect();
        let source = (0..self.slots.len()).max_by_key(|i| shared[*i]);
        if let Some(source) = source {
            self.slots[source].used = self.clock;
        }
        let loss = |i: usize| {
            let slot = &self.slots[i];
            let age = (self.clock - slot.used) / 8;
            (slot.tokens.len() - shared[i]) >> age.min(20)
        };
        let cheapest = (0..self.slots.len()).min_by_key(|i| (loss(*i), self.slots[*i].used));
        let target = match cheapest {
            Some(cheapest) if self.slots.len() == self.max_slots || loss(cheapest) == 0 => cheapest,
            _ => {
                let cache = self.model.cache();
                self.slots.push(Slot { cache, tokens: Vec::new(), used: self.clock });
                self.slots.len() - 1
            }
        };
        // The last token is always read: its logits are wanted.
        let reused = source.map_or(0, |source| shared[source].min(prompt.len() - 1));
        if let Some(source) = source
            && source != target
            && reused > 0
        {
            let [from, to] = self
                .slots
                .get_disjoint_mut([source, target])
                .expect("source and target are two of the slots");
            to.cache.copy_prefix(&from.cache, reused);
            to.tokens.clear();
            to.tokens.extend_from_slice(&from.tokens[..reused]);
        }
        self.slots[target].used = self.clock;
        (target, reused)
    }
}

fn constraint_failed(source: ConstraintError) -> Halt {
    let message = "the JSON constraint of the reply broke down";
    Halt::Failed(PortError::new(PortErrorKind::Unavailable, message).with_source(source))
}
