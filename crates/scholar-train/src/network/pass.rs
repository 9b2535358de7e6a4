//! Forward and backward through an encoder.
//!
//! Sequences of a batch lie one after the other without padding; only attention looks at where they begin. What the way
//! back needs is kept in a [`Tape`], whose buffers live as long as the training.

use std::ops::Range;

use super::layer::{Flow, LayerTape, Run};
use super::layout::Block;
use super::parameters::{Freeze, Parameters};
use crate::backend::{Backend, Buffer, Dropout, Tokens};

/// A batch of sequences, packed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Packed {
    pub(crate) ids: Vec<u32>,
    pub(crate) types: Vec<u32>,
    /// First token of each sequence, and the number of tokens at the end.
    pub(crate) starts: Vec<usize>,
}

impl Packed {
    /// No sequence yet.
    pub(crate) fn new() -> Self {
        Self { ids: Vec::new(), types: Vec::new(), starts: vec![0] }
    }

    /// Adds a sequence, which has at least one token.
    pub(crate) fn push(&mut self, ids: &[u32], types: &[u32]) {
        debug_assert!(!ids.is_empty() && ids.len() == types.len());
        self.ids.extend_from_slice(ids);
        self.types.extend_from_slice(types);
        self.starts.push(self.ids.len());
    }

    /// Sequences.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Tokens of all sequences.
    pub(crate) fn tokens(&self) -> usize {
        self.ids.len()
    }

    /// The place of each token in its sequence.
    fn positions(&self) -> Vec<u32> {
        self.lengths().flat_map(|len| 0..len as u32).collect()
    }

    /// Tokens of each sequence.
    fn lengths(&self) -> impl Iterator<Item = usize> + '_ {
        self.starts.windows(2).map(|pair| pair[1] - pair[0])
    }
}

/// Which of the last layer's states are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needed {
    /// Every token's.
    All,
    /// The first token's of each sequence: all that a classifier reads, and most of the last layer's work saved.
    First,
}

/// What a forward pass leaves for the backward one.
#[derive(Default)]
pub(crate) struct Tape {
    normal: Buffer,
    inverse: Buffer,
    /// The states below the first layer.
    embedded: Buffer,
    layers: Vec<LayerTape>,
    /// Gradients under way.
    flow: Flow,
    needed: Option<Needed>,
    dropout: Option<Dropout>,
}

impl Tape {
    /// The last layer's states: `[tokens, hidden]` or `[sequences, hidden]`, as was asked for.
    pub(crate) fn states(&self) -> &Buffer {
        self.layers.last().map_or(&self.embedded, |layer| &layer.out)
    }

    /// Where the gradient of [`Tape::states`] is put before [`Parameters::backward`].
    pub(crate) fn gradient(&mut self) -> &mut Buffer {
        &mut self.flow.states
    }
}

impl Parameters {
    /// Runs the encoder over `batch`; results are in [`Tape::states`].
    pub(crate) fn forward(
        &self,
        backend: &dyn Backend,
        batch: &Packed,
        needed: Needed,
        dropout: Option<Dropout>,
        tape: &mut Tape,
    ) {
        self.embed(backend, batch, dropout, tape);
        tape.needed = Some(needed);
        tape.dropout = dropout;
        tape.layers.resize_with(self.shape.layers, LayerTape::default);
        for (layer, at) in self.layout.at.layers.iter().enumerate() {
            let (below, rest) = tape.layers.split_at_mut(layer);
            let states = below.last().map_or(&tape.embedded, |below| &below.out);
            let first = needed == Needed::First && layer + 1 == self.shape.layers;
            let run = Run { net: self, backend, batch, dropout, layer, at, first };
            run.attend(states, &mut rest[0]);
            run.think(states, &mut rest[0]);
        }
    }

    fn embed(
        &self,
        backend: &dyn Backend,
        batch: &Packed,
        dropout: Option<Dropout>,
        tape: &mut Tape,
    ) {
        let hidden = self.shape.hidden;
        let at = &self.layout.at;
        let size = batch.tokens() * hidden;
        backend.fit(&mut tape.normal, size);
        backend.fit(&mut tape.inverse, batch.tokens());
        backend.fit(&mut tape.embedded, size);
        let positions = batch.positions();
        let tokens = Tokens { words: &batch.ids, types: &batch.types, positions: &positions };
        backend.embed((&self.values, self.tables()), tokens, hidden, &mut tape.normal);
        let norm = (&self.values, &at.norm, self.shape.epsilon);
        backend.layer_norm(&mut tape.normal, &mut tape.inverse, norm, &mut tape.embedded);
        if let Some(dropout) = dropout {
            backend.drop_out(&mut tape.embedded, dropout.site(0));
        }
    }

    /// Adds to `into`, the gradient of all weights, what [`Tape::gradient`] means for them.
    ///
    /// `batch` is that of the forward pass.
    pub(crate) fn backward(
        &self,
        backend: &dyn Backend,
        batch: &Packed,
        freeze: Freeze,
        tape: &mut Tape,
        into: &mut Buffer,
    ) {
        let dropout = tape.dropout;
        for (layer, at) in self.layout.at.layers.iter().enumerate().rev() {
            if freeze.holds(Block::Layer(layer)) {
                return;
            }
            let first = tape.needed == Some(Needed::First) && layer + 1 == self.shape.layers;
            let run = Run { net: self, backend, batch, dropout, layer, at, first };
            let (below, rest) = tape.layers.split_at_mut(layer);
            let states = below.last().map_or(&tape.embedded, |below| &below.out);
            let deeper = layer > freeze.layers || !freeze.holds(Block::Embeddings);
            run.think_back(&rest[0], &mut tape.flow, into);
            run.attend_back(states, &rest[0], &mut tape.flow, deeper, into);
        }
        if !freeze.holds(Block::Embeddings) {
            self.embed_back(backend, batch, tape, into);
        }
    }

    fn embed_back(
        &self,
        backend: &dyn Backend,
        batch: &Packed,
        tape: &mut Tape,
        into: &mut Buffer,
    ) {
        let flow = &mut tape.flow.states;
        if let Some(dropout) = tape.dropout {
            backend.drop_out(flow, dropout.site(0));
        }
        let normal = (&tape.normal, &tape.inverse);
        backend.layer_norm_backward(flow, normal, (&self.values, &self.layout.at.norm), into);
        let positions = batch.positions();
        let tokens = Tokens { words: &batch.ids, types: &batch.types, positions: &positions };
        backend.embed_backward(flow, tokens, self.shape.hidden, (into, self.tables()));
    }

    /// The tables of words, positions and types.
    fn tables(&self) -> [&Range<usize>; 3] {
        let at = &self.layout.at;
        [&at.word, &at.position, &at.segment]
    }
}
