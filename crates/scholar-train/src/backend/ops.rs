//! The seam between what a training computes and where.

use std::borrow::Cow;
use std::ops::Range;

use super::{Buffer, Mask};
use crate::error::TrainError;

/// A linear layer's or normalisation's place among all weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) weight: Range<usize>,
    pub(crate) bias: Range<usize>,
}

/// A weight matrix or vector by its place in the buffer of all weights.
#[derive(Clone, Copy)]
pub(crate) struct WeightRef<'a> {
    pub(crate) buffer: &'a Buffer,
    pub(crate) range: &'a Range<usize>,
}

impl<'a> WeightRef<'a> {
    pub(crate) fn new(buffer: &'a Buffer, range: &'a Range<usize>) -> Self {
        Self { buffer, range }
    }
}

/// Weight and bias of a linear layer, or scale and shift of a normalisation, in the buffer of all weights.
#[derive(Clone, Copy)]
pub(crate) struct LinearRef<'a> {
    pub(crate) weights: &'a Buffer,
    pub(crate) at: &'a Pair,
}

/// Their gradients, in the buffer of all gradients.
pub(crate) struct LinearMut<'a> {
    pub(crate) gradient: &'a mut Buffer,
    pub(crate) at: &'a Pair,
}

impl Pair {
    /// This layer in the buffer of all weights.
    pub(crate) fn of<'a>(&'a self, weights: &'a Buffer) -> LinearRef<'a> {
        LinearRef { weights, at: self }
    }

    /// This layer in the buffer of all gradients.
    pub(crate) fn of_mut<'a>(&'a self, gradient: &'a mut Buffer) -> LinearMut<'a> {
        LinearMut { gradient, at: self }
    }
}

/// What a layer normalisation leaves for its backward pass: normalised rows, and one over each row's deviation.
#[derive(Clone, Copy)]
pub(crate) struct NormTape<'a> {
    pub(crate) normal: &'a Buffer,
    pub(crate) inverse: &'a Buffer,
}

/// The embedding tables of words, positions and token types, in the buffer of all weights or gradients.
pub(crate) type Tables<'a> = [&'a Range<usize>; 3];

/// What attention leaves for its backward pass; `queries` where they lie apart from keys and values.
#[derive(Clone, Copy)]
pub(crate) struct AttentionTape<'a> {
    pub(crate) queries: Option<&'a Buffer>,
    pub(crate) qkv: &'a Buffer,
    /// Attention weights before dropout.
    pub(crate) weights: &'a Buffer,
}

/// Gradients of queries, keys and values, laid out as in [`AttentionTape`].
pub(crate) struct AttentionGradients<'a> {
    pub(crate) queries: Option<&'a mut Buffer>,
    pub(crate) qkv: &'a mut Buffer,
}

/// The tokens of a batch: word, type and position of each.
#[derive(Clone, Copy)]
pub(crate) struct Tokens<'a> {
    pub(crate) words: &'a [u32],
    pub(crate) types: &'a [u32],
    pub(crate) positions: &'a [u32],
}

impl<'a> Tokens<'a> {
    /// Words, positions and types, as the tables of weights are ordered.
    pub(crate) fn each(self) -> [&'a [u32]; 3] {
        [self.words, self.positions, self.types]
    }
}

/// What attends to what in one sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SequenceSpan {
    /// Tokens whose states are asked for.
    pub(crate) queries: usize,
    /// The first of them among the rows of all queries.
    pub(crate) first_query: usize,
    /// Tokens of the sequence.
    pub(crate) keys: usize,
    /// The first of them among all tokens.
    pub(crate) first_key: usize,
}

/// Attention of a batch. Weights lie sequence by sequence, `[heads, queries, keys]` in each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Attention {
    pub(crate) sequences: Vec<SequenceSpan>,
    pub(crate) heads: usize,
    /// Numbers of a head.
    pub(crate) width: usize,
    /// Dropout of the weights.
    pub(crate) mask: Option<Mask>,
}

impl Attention {
    /// Numbers of all heads.
    pub(crate) fn hidden(&self) -> usize {
        self.heads * self.width
    }

    /// What inner products of queries and keys are multiplied with.
    pub(crate) fn scale(&self) -> f32 {
        1.0 / (self.width as f32).sqrt()
    }

    /// Weights of each sequence.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        self.sequences.iter().map(|span| self.heads * span.queries * span.keys)
    }
}

/// The numbers of one step of `AdamW`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AdamStep {
    /// What the gradient is multiplied with first: clipping and averaging.
    pub(crate) gradient_scale: f32,
    /// Decay of the running mean of gradients.
    pub(crate) beta1: f32,
    /// Decay of the running mean of their squares.
    pub(crate) beta2: f32,
    /// Learning rate over the bias correction of the mean.
    pub(crate) rate: f32,
    /// One over the square root of the bias correction of the squares.
    pub(crate) square_scale: f32,
    /// Added to the root.
    pub(crate) epsilon: f32,
    /// One minus learning rate times weight decay.
    pub(crate) shrink: f32,
}

/// First and second moments of `AdamW`, laid out as the weights; 0 for frozen ones.
pub(crate) struct Moments {
    /// Running mean of gradients.
    pub(crate) mean: Buffer,
    /// Running mean of squared gradients.
    pub(crate) square: Buffer,
}

impl Moments {
    pub(crate) fn new(backend: &dyn Backend, len: usize) -> Self {
        Self { mean: backend.put(vec![0.0; len]), square: backend.put(vec![0.0; len]) }
    }
}

/// What computes: buffers, products, functions of rows, and the derivatives of those.
///
/// Matrices are row-major. Weights and gradients of a whole network are one buffer, in which ranges and [`Pair`]s are places.
/// A device that works while others go on reports what went wrong when something is read.
pub(crate) trait Backend: Send + Sync {
    /// What computes, in words.
    fn describe(&self) -> String;

    /// Gives `buffer` exactly `len` numbers; what they are is for the caller to write.
    fn fit(&self, buffer: &mut Buffer, len: usize);

    /// A buffer of these numbers.
    fn put(&self, values: Vec<f32>) -> Buffer;

    /// The numbers of `buffer`.
    ///
    /// # Errors
    /// When the device failed at this or something before.
    fn read<'a>(&self, buffer: &'a Buffer) -> Result<Cow<'a, [f32]>, TrainError>;

    /// Makes `to` what `from` is.
    fn copy(&self, from: &Buffer, to: &mut Buffer);

    /// A buffer of the same numbers.
    fn duplicate(&self, from: &Buffer) -> Buffer {
        let mut to = Buffer::default();
        self.copy(from, &mut to);
        to
    }

    /// Puts zeros into a range.
    fn clear(&self, buffer: &mut Buffer, range: Range<usize>);

    /// `out[rows, n] = input[rows, k] * weight[n, k]ᵀ`, without bias.
    fn linear(&self, input: &Buffer, weight: WeightRef<'_>, k: usize, out: &mut Buffer);

    /// As [`Backend::linear`], with the bias added.
    fn linear_bias(&self, input: &Buffer, layer: LinearRef<'_>, out: &mut Buffer);

    /// What reaches a linear layer's input, `gradient[rows, n] * weight[n, k]`, put into `out` or added to it.
    fn linear_input(
        &self,
        gradient: &Buffer,
        weight: WeightRef<'_>,
        n: usize,
        out: &mut Buffer,
        accumulate: bool,
    );

    /// Adds to a linear layer's gradients what `gradient[rows, n]` of its output means for weight and bias.
    fn linear_weight(&self, gradient: &Buffer, input: &Buffer, n: usize, into: LinearMut<'_>);

    /// Adds a bias, keeps the sum in `values` and puts its GELU into `out`.
    fn bias_gelu(&self, values: &mut Buffer, bias: WeightRef<'_>, out: &mut Buffer);

    /// Multiplies `gradient` with the derivative of GELU at `input`.
    fn gelu_backward(&self, gradient: &mut Buffer, input: &Buffer);

    /// The hyperbolic tangent of each number.
    fn tanh(&self, values: &mut Buffer);

    /// Multiplies `gradient` with the derivative of the tangent that has these `values`.
    fn tanh_backward(&self, gradient: &mut Buffer, values: &Buffer);

    /// Layer normalisation of every row of `values`, which become the normalised numbers before scale and shift; `inverse` gets
    /// one over the deviation of each row. `epsilon` is added to variances.
    fn layer_norm(
        &self,
        values: &mut Buffer,
        inverse: &mut Buffer,
        norm: LinearRef<'_>,
        epsilon: f32,
        out: &mut Buffer,
    );

    /// Turns the gradient of a normalisation's output into that of its input, and adds that of scale and shift to `into`.
    fn layer_norm_backward(
        &self,
        gradient: &mut Buffer,
        tape: NormTape<'_>,
        norm: LinearRef<'_>,
        into: &mut Buffer,
    );

    /// `sums += values`.
    fn add(&self, sums: &mut Buffer, values: &Buffer);

    /// Drops out elements of a tensor, forward and backward alike.
    fn drop_out(&self, values: &mut Buffer, mask: Mask);

    /// The rows of `from` with these numbers.
    fn gather(&self, from: &Buffer, rows: &[usize], width: usize, out: &mut Buffer);

    /// Adds the rows of `from` to the rows of `into` with these numbers, which differ from each other.
    fn scatter(&self, from: &Buffer, rows: &[usize], width: usize, into: &mut Buffer);

    /// The sum of each token's word, position and type, which are rows of three tables of weights.
    fn embed(
        &self,
        weights: &Buffer,
        tables: Tables<'_>,
        tokens: Tokens<'_>,
        width: usize,
        out: &mut Buffer,
    );

    /// Adds the gradient of each token's sum to those of the rows it was made from.
    fn embed_backward(
        &self,
        gradient: &Buffer,
        tables: Tables<'_>,
        tokens: Tokens<'_>,
        width: usize,
        into: &mut Buffer,
    );

    /// Puts weights before dropout into `weights` and the weighted values into `context`, `[queries, hidden]`.
    ///
    /// Keys and values lie side by side in the rows of `qkv`, behind the queries, or without those where `queries` are apart.
    fn attend(
        &self,
        attention: &Attention,
        queries: Option<&Buffer>,
        qkv: &Buffer,
        weights: &mut Buffer,
        context: &mut Buffer,
    );

    /// The way back: from `gradient` of the context to those of queries, keys and values, which are overwritten.
    fn attend_backward(
        &self,
        attention: &Attention,
        tape: AttentionTape<'_>,
        gradient: &Buffer,
        into: AttentionGradients<'_>,
    );

    /// Sum of the squares of the numbers in all `ranges`.
    ///
    /// # Errors
    /// As [`Backend::read`].
    fn squares(&self, values: &Buffer, ranges: &[Range<usize>]) -> Result<f64, TrainError>;

    /// One step of `AdamW` on a range of weights; the others have the same place.
    fn adam(
        &self,
        weights: &mut Buffer,
        gradient: &Buffer,
        moments: &mut Moments,
        range: &Range<usize>,
        step: AdamStep,
    );

    /// `values = values * keep + others * (1 - keep)`.
    fn blend(&self, values: &mut Buffer, others: &Buffer, keep: f32);
}
