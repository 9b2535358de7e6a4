//! Forward and backward through an encoder.
//!
//! Sequences of a batch lie one after the other without padding; only attention looks at where they begin. What the way
//! back needs is kept in a [`Tape`], whose buffers live as long as the training.

use std::ops::Range;

use super::layer::{Flow, LayerTape, Run};
use super::layout::Block;
use super::packed::Packed;
use super::parameters::{Freeze, Parameters};
use crate::backend::{Backend, Buffer, Dropout, NormTape, Tokens};

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
        backend.embed(&self.values, self.tables(), tokens, hidden, &mut tape.normal);
        let norm = at.norm.of(&self.values);
        backend.layer_norm(
            &mut tape.normal,
            &mut tape.inverse,
            norm,
            self.shape.epsilon,
            &mut tape.embedded,
        );
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
        let normed = NormTape { normal: &tape.normal, inverse: &tape.inverse };
        backend.layer_norm_backward(flow, normed, self.layout.at.norm.of(&self.values), into);
        let positions = batch.positions();
        let tokens = Tokens { words: &batch.ids, types: &batch.types, positions: &positions };
        backend.embed_backward(flow, self.tables(), tokens, self.shape.hidden, into);
    }

    /// The tables of words, positions and types.
    fn tables(&self) -> [&Range<usize>; 3] {
        let at = &self.layout.at;
        [&at.word, &at.position, &at.segment]
    }
}
