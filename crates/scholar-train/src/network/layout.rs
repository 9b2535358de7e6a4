//! Which weight lies where in the flat buffer of all weights.

use std::ops::Range;

use super::Shape;
use crate::backend::Pair;

/// The part of a network a weight belongs to; lower parts can be frozen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Block {
    Embeddings,
    Layer(usize),
    Head,
}

/// One named tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec {
    /// Its name in a checkpoint, without the family's prefix.
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) range: Range<usize>,
    pub(crate) block: Block,
    /// Whether weight decay applies: to all but biases and normalisations.
    pub(crate) decay: bool,
}

/// Places of one layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LayerAt {
    /// Queries, keys and values, which lie one after the other: one weight of `[3 * hidden, hidden]`.
    pub(crate) qkv: Pair,
    pub(crate) out: Pair,
    pub(crate) norm1: Pair,
    pub(crate) up: Pair,
    pub(crate) down: Pair,
    pub(crate) norm2: Pair,
}

/// Places of everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Addresses {
    pub(crate) word: Range<usize>,
    pub(crate) position: Range<usize>,
    pub(crate) segment: Range<usize>,
    pub(crate) norm: Pair,
    pub(crate) layers: Vec<LayerAt>,
    /// Pooler and classifier.
    pub(crate) head: Option<(Pair, Pair)>,
}

/// All tensors in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) specs: Vec<Spec>,
    pub(crate) at: Addresses,
    /// Numbers in all.
    pub(crate) len: usize,
}

impl Layout {
    /// Of an encoder, with a classifier of `labels` logits where there are any.
    pub(crate) fn new(shape: &Shape, labels: usize) -> Self {
        let mut maker = Maker { specs: Vec::new(), len: 0 };
        let (hidden, middle) = (shape.hidden, shape.intermediate);
        let table = |maker: &mut Maker, name: &str, rows: usize| {
            maker.add(
                format!("embeddings.{name}_embeddings.weight"),
                &[rows, hidden],
                Block::Embeddings,
            )
        };
        let word = table(&mut maker, "word", shape.vocabulary);
        let position = table(&mut maker, "position", shape.positions);
        let segment = table(&mut maker, "token_type", shape.segments);
        let norm = maker.pair("embeddings.LayerNorm", &[hidden], Block::Embeddings);
        let layers = (0..shape.layers)
            .map(|layer| {
                let block = Block::Layer(layer);
                let name = |part: &str| format!("encoder.layer.{layer}.{part}");
                let parts = ["query", "key", "value"];
                let mut each = |kind: &str, sizes: &[usize]| {
                    let ranges = parts.map(|part| {
                        maker.add(name(&format!("attention.self.{part}.{kind}")), sizes, block)
                    });
                    ranges[0].start..ranges[2].end
                };
                let qkv = Pair {
                    weight: each("weight", &[hidden, hidden]),
                    bias: each("bias", &[hidden]),
                };
                LayerAt {
                    qkv,
                    out: maker.pair(&name("attention.output.dense"), &[hidden, hidden], block),
                    norm1: maker.pair(&name("attention.output.LayerNorm"), &[hidden], block),
                    up: maker.pair(&name("intermediate.dense"), &[middle, hidden], block),
                    down: maker.pair(&name("output.dense"), &[hidden, middle], block),
                    norm2: maker.pair(&name("output.LayerNorm"), &[hidden], block),
                }
            })
            .collect();
        let head = (labels > 0).then(|| {
            let pooler = maker.pair("pooler.dense", &[hidden, hidden], Block::Head);
            (pooler, maker.pair("classifier", &[labels, hidden], Block::Head))
        });
        let at = Addresses { word, position, segment, norm, layers, head };
        Self { specs: maker.specs, at, len: maker.len }
    }
}

struct Maker {
    specs: Vec<Spec>,
    len: usize,
}

impl Maker {
    fn add(&mut self, name: String, shape: &[usize], block: Block) -> Range<usize> {
        let range = self.len..self.len + shape.iter().product::<usize>();
        self.len = range.end;
        let decay = !name.ends_with(".bias") && !name.contains("LayerNorm");
        let spec = Spec { name, shape: shape.to_vec(), range: range.clone(), block, decay };
        self.specs.push(spec);
        range
    }

    /// A weight and its bias of as many numbers as the weight has rows.
    fn pair(&mut self, name: &str, shape: &[usize], block: Block) -> Pair {
        Pair {
            weight: self.add(format!("{name}.weight"), shape, block),
            bias: self.add(format!("{name}.bias"), &shape[..1], block),
        }
    }
}
